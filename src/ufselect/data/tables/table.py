"""A user's table in memory: numbers, names, and what was done to get them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Names = NDArray[np.str_]
BLOCK_CELLS = 1 << 22
# A first column of one of these names holds no measurement, even if it is numeric.
ID_NAMES = {"", "id", "ids", "index", "unnamed: 0", "row", "rownames", "row_names"}
ID_NAMES |= {"sample", "samples", "sample_id", "sampleid", "sample id", "barcode"}
MOST_LISTED = 8
# A feature with fewer known values than this share is made up when it is filled in.
LEAST_KNOWN = 0.5
FILLINGS: Mapping[str, Callable[[NDArray[Any]], Any]] = {
    "mean": np.mean,
    "median": np.median,
    "zero": lambda known: 0.0,
}


class TableError(ValueError):
    """A file that cannot be read or written as a table: one sentence says why."""


class Request(NamedTuple):
    """What the caller of :func:`read_table` asked for, as every reader gets it."""

    labels: str | None = None
    id_column: str | None = None
    drop: tuple[str, ...] = ()
    transpose: bool | None = None
    variable: str | None = None
    sheet: str | None = None
    header: bool | None = None
    dtype: Any = np.float64
    na_values: tuple[str, ...] = ()
    skip_rows: int = 0


class File(NamedTuple):
    """A file to read: where it is, how it is compressed, what messages call it."""

    path: Path
    compression: str | None
    name: str


@dataclass(frozen=True, eq=False)
class Origin:
    """Where a table came from and how it was stored, for writing it the same way.

    ``details`` belongs to the format: the delimiter of a text file, the name of a
    variable, the types of columns. ``positions`` are the features' places in the
    file, where some of its columns were left out. ``holder`` keeps a temporary copy
    of standard input on disk for as long as the table is in use.
    """

    path: Path
    name: str
    compression: str | None = None
    details: dict[str, Any] = field(default_factory=dict)
    positions: NDArray[np.intp] | None = None
    holder: Any = None


@dataclass(frozen=True, eq=False)
class Table:
    """Samples in rows, features in columns, and their names.

    Attributes
    ----------
    values : ndarray, memmap or csr_array of shape (n_samples, n_features)
        Floating-point numbers. Missing cells of a dense table are NaN.
    feature_names, sample_names : ndarray of str, or None
        None where the file has no such names.
    id_column : str or None
        Name of the column that the sample names come from, which may be empty.
    labels : ndarray of str, or None
        The column asked for as labels: for evaluation only, never for selection.
    label_column : str or None
        Its name.
    format : str
        One of ``text``, ``parquet``, ``feather``, ``excel``, ``npy``, ``npz``,
        ``mat``, ``mtx``, ``h5ad`` and ``10x``.
    notes : tuple of str
        A sentence for everything that was detected, changed or left out.
    origin : Origin
        What :func:`write_table` needs to write the table as it was stored.
    """

    values: Any
    feature_names: Names | None
    sample_names: Names | None
    id_column: str | None
    labels: Names | None
    label_column: str | None
    format: str
    notes: tuple[str, ...]
    origin: Origin

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples and number of features."""
        n_samples, n_features = self.values.shape
        return int(n_samples), int(n_features)

    def names(self) -> Names:
        """Return the names of the features, made up where the file has none.

        Features without a name are called by their place: ``x1``, ``x2``, ...
        """
        if self.feature_names is not None:
            return self.feature_names
        return as_names(placed_names(self.shape[1]))

    def incomplete(self) -> Names:
        """Return the names of the features with a value that is missing or infinite.

        Selectors refuse them: drop them, or fill them in.
        """
        return self.names()[self.n_incomplete() > 0]

    def n_incomplete(self, axis: int = 0) -> NDArray[np.intp]:
        """Count missing and infinite values of each feature (0) or sample (1)."""
        counts = np.zeros(self.shape[1 - axis], dtype=np.intp)
        step = max(1, BLOCK_CELLS // max(1, self.shape[1]))
        for start in range(0, self.shape[0], step):
            block = self.values[start : start + step]
            if is_sparse(block):
                block = sp.coo_array(block)
                bad = ~np.isfinite(block.data)
                place = block.col[bad] if axis == 0 else start + block.row[bad]
                counts += np.bincount(place, minlength=len(counts))
            elif axis == 0:
                counts += np.count_nonzero(~np.isfinite(block), axis=0)
            else:
                counts[start : start + step] = np.count_nonzero(
                    ~np.isfinite(block), axis=1
                )
        return counts


@dataclass(frozen=True, eq=False)
class Parts:
    """What a reader finds in a file, before it is checked and becomes a table."""

    values: Any
    feature_names: Sequence[str] | None = None
    sample_names: Sequence[str] | None = None
    id_column: str | None = None
    labels: Sequence[str] | None = None
    label_column: str | None = None
    details: dict[str, Any] = field(default_factory=dict)
    positions: Sequence[int] | None = None


class Roles(NamedTuple):
    """Places of the columns that are no features."""

    index_column: int | None
    labels: int | None
    dropped: frozenset[int]

    @property
    def taken(self) -> frozenset[int]:
        """All of them."""
        named = {self.index_column, self.labels} - {None}
        return self.dropped | frozenset(place for place in named if place is not None)


def roles(names: Sequence[str], request: Request, name: str) -> Roles:
    """Find the columns that the caller named."""
    index, labels = (
        None if wanted is None else place_of(wanted, names, name)
        for wanted in (request.id_column, request.labels)
    )
    dropped = frozenset(place_of(each, names, name) for each in request.drop)
    twice = dropped & {index, labels}
    if twice:
        raise TableError(
            f"column {names[min(twice)]!r} is both to be dropped and to be used; "
            "name it once"
        )
    return Roles(index, labels, dropped)


def place_of(wanted: str, names: Sequence[str], name: str, kind: str = "column") -> int:
    """Return the place of a name among names; say which are near if it is not there.

    Examples
    --------
    >>> place_of("age", ["id", "age"], "people.csv")
    1
    >>> place_of("Agee", ["id", "age"], "people.csv")
    Traceback (most recent call last):
    ...
    ufselect.data.tables.table.TableError: people.csv has no column 'Agee'; did you \
mean 'age'?
    """
    wanted = str(wanted)
    if wanted in names:
        return list(names).index(wanted)
    by_lower_case = {each.lower(): each for each in reversed(names)}
    near = get_close_matches(wanted.lower(), by_lower_case, n=3)
    remedy = (
        f"did you mean {' or '.join(repr(by_lower_case[each]) for each in near)}?"
        if near
        else f"it has {listed(names)}"
    )
    raise TableError(f"{name} has no {kind} {wanted!r}; {remedy}")


def listed(names: Iterable[str], most: int = MOST_LISTED) -> str:
    """Return names in a sentence, not more than a few of them.

    Examples
    --------
    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    every = [repr(str(each)) for each in names]
    if len(every) > most:
        return f"{', '.join(every[:most])} and {len(every) - most} more"
    return " and ".join([", ".join(every[:-1]), every[-1]] if every[1:] else every)


def unique_names(names: Sequence[str], notes: list[str]) -> list[str]:
    """Return names of which no two are the same; a note says which were changed.

    Examples
    --------
    >>> unique_names(["a", "a", "a_2"], [])
    ['a', 'a_3', 'a_2']
    """
    taken, seen, result, changed = set(names), set(), [], {}
    for each in names:
        fresh, number = each, 2
        if each in seen:
            while fresh in taken:
                fresh, number = f"{each}_{number}", number + 1
            taken.add(fresh)
            changed[each] = fresh
        seen.add(each)
        result.append(fresh)
    if changed:
        notes.append(
            f"Names that occur more than once were numbered: {listed(changed)}."
        )
    return result


def placed_names(length: int) -> list[str]:
    """Return names for columns without any: x1, x2, ..."""
    return [f"x{place + 1}" for place in range(length)]


def by_place(request: Request) -> Request:
    """Let the caller name columns without names by their place: 3 is x3."""

    def spelled(each: str) -> str:
        return f"x{each}" if str(each).isdigit() else each

    return request._replace(
        labels=None if request.labels is None else spelled(request.labels),
        id_column=None if request.id_column is None else spelled(request.id_column),
        drop=tuple(map(spelled, request.drop)),
    )


def as_names(names: Any) -> Names:
    """Return names as an array of str, empty ones included.

    Halves of characters, which no file of text can hold, become question marks.
    """
    texts = (str(name).encode("utf-8", "replace").decode() for name in names)
    return np.array(list(texts), dtype=np.str_)


def is_sparse(values: Any) -> bool:
    """Tell whether a matrix is one of SciPy's sparse ones."""
    return bool(sp.issparse(values))


def filled(table: Table, by: str) -> Table:
    r"""Return the table with nothing missing or infinite, and a note of what was done.

    Features with fewer known values than missing ones are left out, with a note.

    Parameters
    ----------
    table : Table
        What :func:`read_table` returned; it is left as it is.
    by : {"mean", "median", "zero"}
        What is put in place of a value: the mean or the median of the other values of
        its column, or 0.

    Examples
    --------
    >>> import io
    >>> from ufselect.data import read_table
    >>> table = read_table(io.BytesIO(b"a,b\n1,5\n,6\n3,7\n"))
    >>> filled(table, "mean").values[:, 0].tolist()
    [1.0, 2.0, 3.0]
    """
    if by not in FILLINGS:
        raise ValueError(f"by={by!r} is unknown; it could be {', '.join(FILLINGS)}.")
    table = _mostly_known(table)
    places = np.flatnonzero(table.n_incomplete()).tolist()
    if not places:
        return table
    values = table.values.copy() if is_sparse(table.values) else np.array(table.values)
    n_cells = sum(_fill_column(values, place, FILLINGS[by]) for place in places)
    value = "0" if by == "zero" else f"the {by} of their columns"
    note = (
        f"{n_cells} missing or infinite values, in {len(places)} of {table.shape[1]} "
        f"columns, were replaced by {value}."
    )
    return replace(table, values=values, notes=(*table.notes, note))


def without_incomplete(table: Table) -> Table:
    r"""Return the table without the samples that have missing or infinite values.

    Features with fewer known values than missing ones are left out first, with a
    note, so that they do not cost all samples.

    Examples
    --------
    >>> import io
    >>> from ufselect.data import read_table
    >>> table = read_table(io.BytesIO(b"a,b\n1,5\n,6\n3,7\n"))
    >>> without_incomplete(table).values[:, 0].tolist()
    [1.0, 3.0]
    """
    table = _mostly_known(table)
    keep = np.flatnonzero(table.n_incomplete(axis=1) == 0)
    n_left_out = table.shape[0] - len(keep)
    if not n_left_out:
        return table
    if len(keep) < 2:
        raise TableError(
            f"{table.origin.name} has {len(keep) or 'no'} row{'s' * (len(keep) != 1)} "
            "without missing values, but selection needs two samples; fill them in "
            "(--fill median)"
        )
    samples, labels = (
        None if each is None else each[keep]
        for each in (table.sample_names, table.labels)
    )
    rows = "row was" if n_left_out == 1 else "rows were"
    note = f"{n_left_out} {rows} left out for missing or infinite values."
    return replace(
        table,
        values=table.values[keep],
        sample_names=samples,
        labels=labels,
        notes=(*table.notes, note),
    )


def _mostly_known(table: Table) -> Table:
    """Leave out the features of which most values are missing."""
    known = table.shape[0] - table.n_incomplete()
    keep = np.flatnonzero(known >= LEAST_KNOWN * table.shape[0])
    if len(keep) == table.shape[1]:
        return table
    if not len(keep):
        raise TableError(
            f"{table.origin.name} has more missing values than known ones in every "
            "column; give a table with more of them"
        )
    left_out = np.delete(table.names(), keep)
    plural = "columns are" if len(left_out) > 1 else "column is"
    note = f"{len(left_out)} {plural} mostly missing and left out: {listed(left_out)}."
    places = table.origin.positions
    positions = keep if places is None else places[keep]
    return replace(
        table,
        values=table.values[:, keep],
        feature_names=table.names()[keep],
        notes=(*table.notes, note),
        origin=replace(table.origin, positions=positions),
    )


def _fill_column(values: Any, place: int, value_of: Callable[[Any], Any]) -> int:
    """Fill in one column in place; return how many of its cells had no value."""
    sparse = is_sparse(values)
    column = values[:, [place]].toarray().ravel() if sparse else values[:, place]
    known = np.isfinite(column)
    value = value_of(column[known])
    if sparse:
        values.data[(values.indices == place) & ~np.isfinite(values.data)] = value
    else:
        values[~known, place] = value
    return int(np.count_nonzero(~known))
