"""The part of a table that is written: chosen features, with names and labels."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ufselect.data.tables.matrices import is_sparse
from ufselect.data.tables.table import Names, Table


class Choice(NamedTuple):
    """Chosen features in the order of the file, with what belongs to the samples."""

    table: Table
    columns: NDArray[np.intp]
    values: Any
    names: Names

    @property
    def has_names(self) -> bool:
        """Whether the names come from the file, and are not made up."""
        return self.table.feature_names is not None

    @property
    def details(self) -> dict[str, Any]:
        """How the table was stored."""
        return self.table.origin.details

    def dense(self) -> NDArray[Any]:
        """Return the values as an array that is not sparse."""
        return np.asarray(
            self.values.toarray() if is_sparse(self.values) else self.values
        )


class Column(NamedTuple):
    """A column to write: text, or numbers."""

    title: str
    cells: Any
    is_text: bool


def choice(table: Table, selected: ArrayLike) -> Choice:
    """Return the chosen features; they are given as places or as a mask."""
    columns = _places(np.asarray(selected), table.shape[1])
    return Choice(table, columns, table.values[:, columns], table.names()[columns])


def _places(selected: NDArray[Any], width: int) -> NDArray[np.intp]:
    if selected.dtype == bool:
        if selected.shape != (width,):
            raise ValueError(
                f"the mask has shape {selected.shape} for {width} features; "
                "give one truth value for each"
            )
        return np.flatnonzero(selected)
    places = np.unique(selected).astype(np.intp)
    if places.size and (places[0] < 0 or places[-1] >= width):
        raise ValueError(
            f"selected columns reach from {places[0]} to {places[-1]}, but the table "
            f"has columns 0 to {width - 1}"
        )
    return places


def columns_to_write(chosen: Choice) -> list[Column]:
    """Return the columns of a file of columns, in their order in the original."""
    if chosen.details.get("turned"):
        return _columns_of_samples(chosen)
    return _columns_of_features(chosen)


def _columns_of_features(chosen: Choice) -> list[Column]:
    table = chosen.table
    positions = table.origin.positions
    places = chosen.columns if positions is None else positions[chosen.columns]
    id_place, label_place = chosen.details.get("places", (None, None))
    values = chosen.dense()
    found: list[tuple[float, Column]] = [
        (float(place), Column(str(name), values[:, index], False))
        for index, (place, name) in enumerate(zip(places, chosen.names, strict=True))
    ]
    if table.sample_names is not None:
        column = Column(_title(table.id_column, "sample"), table.sample_names, True)
        found.append((-1 if id_place is None else id_place, column))
    if table.labels is not None:
        column = Column(_title(table.label_column, "label"), table.labels, True)
        found.append((np.inf if label_place is None else label_place, column))
    return [column for _, column in sorted(found, key=lambda pair: pair[0])]


def _title(title: str | None, instead: str) -> str:
    return instead if title is None else title


def _columns_of_samples(chosen: Choice) -> list[Column]:
    """Return the columns of a file whose rows are features; labels have no place."""
    table = chosen.table
    values = chosen.dense()
    samples = table.sample_names
    if samples is None:
        samples = np.array([f"x{row + 1}" for row in range(len(values))])
    columns = [
        Column(str(name), values[row], False) for row, name in enumerate(samples)
    ]
    if not chosen.has_names:
        return columns
    return [Column(_title(table.id_column, "feature"), chosen.names, True), *columns]
