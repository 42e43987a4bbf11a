"""Parquet, Feather and Arrow files, whose columns have names and types."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ufselect.data.tables.columns import (
    ID_NAMES,
    Roles,
    listed,
    place_of,
    roles,
    unique_names,
)
from ufselect.data.tables.matrices import column_text, transposed
from ufselect.data.tables.orientation import FEATURE_WORDS, features_in_rows
from ufselect.data.tables.packages import needed
from ufselect.data.tables.table import File, Parts, Request, TableError

BATCH_CELLS = 1 << 21


class _Frame(NamedTuple):
    """A file of columns: its schema, its number of rows, and how to read columns."""

    schema: Any
    n_rows: int
    batches: Any


def read_parquet(file: File, request: Request, notes: list[str]) -> Parts:
    """Read a Parquet file, a batch of rows at a time."""
    parquet = needed("pyarrow.parquet", file.name)
    with parquet.ParquetFile(file.path) as source:

        def batches(names: Sequence[str]) -> Iterable[Any]:
            size = max(1, BATCH_CELLS // max(1, len(names)))
            return source.iter_batches(size, columns=list(names))

        frame = _Frame(source.schema_arrow, source.metadata.num_rows, batches)
        return _parts(frame, file, request, notes)


def read_feather(file: File, request: Request, notes: list[str]) -> Parts:
    """Read a Feather or Arrow file, mapped into memory."""
    feather = needed("pyarrow.feather", file.name)
    table = feather.read_table(file.path, memory_map=True)

    def batches(names: Sequence[str]) -> Iterable[Any]:
        size = max(1, BATCH_CELLS // max(1, len(names)))
        return table.select(list(names)).to_batches(max_chunksize=size)

    return _parts(_Frame(table.schema, table.num_rows, batches), file, request, notes)


def _parts(frame: _Frame, file: File, request: Request, notes: list[str]) -> Parts:
    names = list(frame.schema.names)
    if len(set(names)) < len(names):
        raise TableError(
            f"{file.name} has two columns of one name, {listed(_twice(names))}; "
            "rename one of them"
        )
    identity = _identity(frame, names, file, request)
    texts = None if identity is None else _text(frame, names[identity])
    title = None if identity is None else names[identity]
    turned = _is_turned(request, title, texts)
    named = request._replace(id_column=title)
    found = roles(
        names, named._replace(labels=None, drop=()) if turned else named, file.name
    )
    free = sorted(set(range(len(names))) - found.taken)
    numeric = [place for place in free if _is(frame, place)]
    _note(names, found, numeric, file, notes)
    values = _numbers(frame, [names[j] for j in numeric], request)
    if turned:
        notes.append("The table was turned: its columns are samples.")
        columns = [names[j] for j in numeric]
        return _turned(values, columns, texts, title, file, request, notes)
    return Parts(
        values,
        [names[j] for j in numeric],
        texts,
        id_column=title,
        labels=None if found.labels is None else _text(frame, names[found.labels]),
        label_column=request.labels,
        details={
            "types": dict(zip(names, frame.schema.types, strict=True)),
            "places": (found.identity, found.labels),
        },
        positions=numeric,
    )


def _twice(names: Sequence[str]) -> list[str]:
    return sorted({name for name in names if names.count(name) > 1})


def _identity(
    frame: _Frame, names: list[str], file: File, request: Request
) -> int | None:
    """Find the column that names the rows: named, stored by pandas, or the first."""
    if request.id_column is not None:
        return place_of(request.id_column, names, file.name)
    others = {request.labels, *request.drop}
    place = _index_place(frame, names)
    if place is None and names and _names_rows(frame, names):
        place = 0
    return None if place is None or names[place] in others else place


def _index_place(frame: _Frame, names: list[str]) -> int | None:
    stored = (frame.schema.pandas_metadata or {}).get("index_columns", [])
    index = [each for each in stored if isinstance(each, str) and each in names]
    return names.index(index[0]) if len(index) == 1 else None


def _names_rows(frame: _Frame, names: list[str]) -> bool:
    """Tell whether the first column is no feature: by its name, or unique text."""
    if names[0].lower() in ID_NAMES | FEATURE_WORDS:
        return True
    if _is(frame, 0):
        return False
    values = _text(frame, names[0])
    return len(set(values)) == len(values)


def _is(frame: _Frame, place: int) -> bool:
    """Tell whether a column holds numbers or truth values."""
    types = needed("pyarrow.types", "the file")
    kind = frame.schema.field(place).type
    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_boolean(kind)
        or types.is_decimal(kind)
    )


def _note(
    names: list[str], found: Roles, numeric: list[int], file: File, notes: list[str]
) -> None:
    """Say which columns are no features; refuse a file in which none is."""
    if not numeric:
        raise TableError(
            f"{file.name} has no numeric column to select from, only {listed(names)}"
        )
    used = {*numeric, *found.taken}
    others = [name for place, name in enumerate(names) if place not in used]
    if others:
        notes.append(f"Columns without numbers were left out: {listed(others)}.")
    if found.identity is not None:
        notes.append(f"Column {names[found.identity]!r} names the rows.")


def _numbers(frame: _Frame, names: Sequence[str], request: Request) -> NDArray[Any]:
    """Return columns as one array, filled a batch at a time; null is NaN."""
    arrow = needed("pyarrow", "the file")
    result = np.empty((frame.n_rows, len(names)), dtype=_kind(frame, names, request))
    start = 0
    for batch in frame.batches(names):
        stop = start + batch.num_rows
        for place, column in enumerate(batch.columns):
            numbers = column.cast(arrow.float64(), safe=False)
            result[start:stop, place] = numbers.to_numpy(zero_copy_only=False)
        start = stop
    _check_length(start, frame)
    return result


def _check_length(length: int, frame: _Frame) -> None:
    """Refuse a file that has fewer rows than it says: the rest would be anything."""
    if length != frame.n_rows:
        raise ValueError(f"it has {length} rows, but says {frame.n_rows}")


def _kind(frame: _Frame, names: Sequence[str], request: Request) -> Any:
    """Return float32 if all columns are, else what was asked for."""
    types = {str(frame.schema.field(name).type) for name in names}
    return np.dtype(np.float32) if types == {"float"} else request.dtype


def _text(frame: _Frame, name: str) -> list[str]:
    columns = (batch.column(0).to_pylist() for batch in frame.batches([name]))
    texts = ["" if each is None else str(each) for each in chain(*columns)]
    _check_length(len(texts), frame)
    return texts


def _is_turned(
    request: Request, title: str | None, identity: Sequence[str] | None
) -> bool:
    if request.transpose is not None or identity is None:
        return bool(request.transpose)
    return features_in_rows(title, identity)


def _turned(
    values: NDArray[Any],
    columns: list[str],
    identity: Sequence[str] | None,
    title: str | None,
    file: File,
    request: Request,
    notes: list[str],
) -> Parts:
    """Return a table whose rows are features; labels and drop then name rows."""
    turned = transposed(values)
    names = unique_names(
        identity or [f"x{row + 1}" for row in range(len(values))], notes
    )
    found = roles(names, request._replace(id_column=None), file.name)
    keep = sorted(set(range(len(names))) - found.taken)
    labels = None if found.labels is None else column_text(turned, found.labels)
    return Parts(
        turned[:, keep] if len(keep) < len(names) else turned,
        [names[row] for row in keep],
        columns,
        id_column=title,
        labels=labels,
        label_column=request.labels,
        details={"turned": True},
    )
