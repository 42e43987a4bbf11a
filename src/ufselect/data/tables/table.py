"""A table in memory: its numbers, its names, and notes on how it was read."""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ufselect._names import similar

Names = NDArray[np.str_]
BLOCK_CELLS = 1 << 22
MAX_LISTED = 8
# Places of sample names, labels and groups that are not columns of the file.
UNPLACED = (-np.inf, np.inf, np.inf)
# Features with a smaller share of known values are left out, not filled in.
MIN_KNOWN_SHARE = 0.5
MAX_MESSAGE_LENGTH = 1000
# Why one column is left out, and why several are.
LABELS = ("seems to hold labels", "seem to hold labels")
INDEX = ("counts or dates the samples", "count or date the samples")
MOSTLY_MISSING = ("is mostly missing", "are mostly missing")
EMPTY = ("is empty", "are empty")
TEXT = ("is text", "are text")
NO_NUMBERS = ("holds no numbers", "hold no numbers")


class Remedy(NamedTuple):
    """A way around an error: a label for people, options for the command."""

    label: str
    options: tuple[str, ...]


class TableError(ValueError):
    """A file that cannot be read or written as a table: one sentence says why.

    Parameters
    ----------
    message : str
        What is wrong, where, and what to do about it.
    remedies : sequence of Remedy
        Options of ``ufselect select`` that may solve it, the likeliest first.

    Examples
    --------
    >>> error = TableError("no", [Remedy("Leave 'x' out", ("--drop=x",))])
    >>> error.remedies[0].options
    ('--drop=x',)
    """

    def __init__(self, message: str, remedies: Iterable[Remedy] = ()) -> None:
        if len(message) > MAX_MESSAGE_LENGTH:  # a damaged file can have very long names
            half = MAX_MESSAGE_LENGTH // 2
            message = f"{message[:half]} ... {message[-half:]}"
        super().__init__(" ".join(message.splitlines()))
        self.remedies = tuple(remedies)


class Request(NamedTuple):
    """What the caller of :func:`read_table` asked for."""

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
    use: tuple[str, ...] = ()
    groups: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    thousands: str | None = None

    def decimal_sign(self) -> str | None:
        """Return the decimal sign, which a point or comma for thousands settles."""
        return self.decimal or {",": ".", ".": ","}.get(self.thousands or "")


class File(NamedTuple):
    """A file to read: where it is, how it is compressed, what messages call it.

    ``allow_large`` says that it may expand to more than the free memory.
    """

    path: Path
    compression: str | None
    name: str
    allow_large: bool = False


@dataclass(frozen=True, eq=False)
class Origin:
    """The file of a table and how it was stored, to write it the same way.

    ``details`` belongs to the format: the delimiter of a text file, the name of a
    variable, the types of columns. ``positions`` are the features' places in the
    file, where some of its columns were left out. ``holder`` keeps a temporary copy
    of standard input on disk for as long as the table is in use. ``use`` has the
    columns that the caller wants as features in any case, ``rows`` the places of the
    samples, where some were left out.
    """

    path: Path
    name: str
    compression: str | None = None
    details: dict[str, Any] = field(default_factory=dict)
    positions: NDArray[np.intp] | None = None
    holder: Any = None
    use: tuple[str, ...] = ()
    rows: NDArray[np.intp] | None = None


@dataclass(frozen=True, eq=False)
class OtherColumn:
    """A column that is not a feature.

    ``cells`` are numbers, or objects: text, dates, None. ``role`` is "label" if it
    holds labels, or seems to, "sample names", "group" or "left out"; ``why`` is a
    sentence. Of a transposed table it is a row, or, if it is ``of_features``, a column
    with a cell for each feature.
    """

    name: str
    place: float
    cells: NDArray[Any]
    role: str = "left out"
    why: str = ""
    of_features: bool = False
    written: bool = True

    def for_features(self, keep: Any) -> "OtherColumn":
        """Return the column for some of the features."""
        return replace(self, cells=self.cells[keep]) if self.of_features else self


class FilledCells(NamedTuple):
    """Cells that were filled in: their places, and their values before."""

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    values: NDArray[Any]


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
    groups : ndarray of str, or None
        The column asked for as groups: which samples belong together.
    group_column : str or None
        Its name.
    suspected_labels : tuple of str
        Columns that are left out because they seem to hold labels.
    others : tuple of OtherColumn
        Columns that are not features: of text, or left out with a note.
    filled_cells : FilledCells or None
        What :func:`~ufselect.data.tables.missing.filled` replaced.
    """

    values: Any
    feature_names: Names | None = None
    sample_names: Names | None = None
    id_column: str | None = None
    labels: Names | None = None
    label_column: str | None = None
    format: str = ""
    notes: tuple[str, ...] = ()
    origin: Origin = Origin(Path(), "")
    groups: Names | None = None
    group_column: str | None = None
    suspected_labels: tuple[str, ...] = ()
    others: tuple[OtherColumn, ...] = ()
    filled_cells: FilledCells | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples and number of features."""
        n_samples, n_features = self.values.shape
        return int(n_samples), int(n_features)

    @property
    def places(self) -> NDArray[np.intp]:
        """Places of the features in the file."""
        positions = self.origin.positions
        return np.arange(self.shape[1]) if positions is None else positions

    def names(self) -> Names:
        """Return the names of the features, made up where the file has none.

        Features without a name are called by their place: ``x1``, ``x2``, ...
        """
        if self.feature_names is not None:
            return self.feature_names
        return as_names(f"x{place + 1}" for place in self.places)

    def other_columns(self) -> list[OtherColumn]:
        """Return sample names, labels, groups and the other columns left out."""
        index, labels, groups = self.origin.details.get("places", UNPLACED)
        asked = (
            (self.id_column, "sample", index, self.sample_names, "sample names"),
            (self.label_column, "label", labels, self.labels, "label"),
            (self.group_column, "group", groups, self.groups, "group"),
        )
        found: dict[tuple[float, str], OtherColumn] = {}
        for name, usual, place, cells, role in asked:
            if cells is not None:
                title = usual if name is None else name
                # A column may be both labels and groups.
                other = OtherColumn(title, place, cells, role)
                found.setdefault((place, title), other)
        return [*found.values(), *self.others]

    def incomplete(self) -> Names:
        """Return the names of the features with a value that is missing or infinite.

        Selectors refuse them: drop them, or fill them in.
        """
        return self.names()[self.n_incomplete() > 0]

    def n_incomplete(self, axis: int = 0) -> NDArray[np.intp]:
        """Count missing and infinite values of each feature (0) or sample (1)."""
        counts = np.zeros(self.shape[1 - axis], dtype=np.intp)
        step = max(1, BLOCK_CELLS // max(1, self.shape[1]))
        cells: Any
        for start in range(0, self.shape[0], step):
            block = self.values[start : start + step]
            if is_sparse(block):
                block = block.tocoo()
                bad = ~np.isfinite(block.data)
                cells = block.row[bad], block.col[bad]
            else:
                cells = np.nonzero(~np.isfinite(block))
            places = cells[1] if axis == 0 else start + cells[0]
            counts += np.bincount(places, minlength=len(counts))
        return counts


def place_of(wanted: str, names: Sequence[str], name: str, kind: str = "column") -> int:
    """Return the place of a name; if it is not there, the error has similar names.

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
    near = " or ".join(map(repr, similar(wanted, names)))
    remedy = f"did you mean {near}?" if near else f"it has {listed(names)}"
    raise TableError(f"{name} has no {kind} {wanted!r}; {remedy}")


def several(value: str | Iterable[str]) -> tuple[str, ...]:
    """Return one name or several as a tuple."""
    return (value,) if isinstance(value, str) else tuple(value)


def listed(names: Iterable[str], most: int = MAX_LISTED) -> str:
    """Return the first few names, for a sentence.

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
    """Return names, with numbers after those that occur more than once, and a note.

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
    """Return names for columns without names: x1, x2, ..."""
    return [f"x{place + 1}" for place in range(length)]


def named_option(option: str, value: str) -> str:
    """Return an option with its value, quoted for a shell.

    Examples
    --------
    >>> named_option("--drop", "body mass"), named_option("--drop", "-x")
    ("--drop 'body mass'", '--drop=-x')
    """
    sign = "=" if value.startswith("-") else " "
    return f"{option}{sign}{shlex.quote(value)}"


def number_text(values: Any) -> list[str]:
    """Return numbers as the shortest text that is read as the same numbers.

    Examples
    --------
    >>> import numpy as np
    >>> number_text(np.array([1.0, 0.1, np.nan, 1e300], dtype=np.float64))
    ['1', '0.1', '', '1e+300']
    >>> number_text(np.array([0.1], dtype=np.float32))
    ['0.1']
    """
    single = values.dtype == np.float32
    texts = map(str, values if single else values.tolist())
    return ["" if text == "nan" else text.removesuffix(".0") for text in texts]


def cell_text(cell: str | float) -> str:
    """Return one cell as text, a number as in `number_text`."""
    return cell if isinstance(cell, str) else number_text(np.array([cell]))[0]


def as_names(names: Any) -> Names:
    """Return names as an array of str, empty ones included.

    Lone surrogates, which UTF-8 cannot store, become question marks.
    """
    texts = (str(name).encode("utf-8", "replace").decode() for name in names)
    return np.array(list(texts), dtype=np.str_)


def is_sparse(values: Any) -> bool:
    """Tell whether a matrix is a sparse one of SciPy."""
    if isinstance(values, np.ndarray):
        return False
    import scipy.sparse as sp  # not loaded for a text file that has an error

    return bool(sp.issparse(values))


def mostly_known(table: Table) -> Table:
    """Leave out features that are mostly missing, except those to ``use``."""
    known = table.shape[0] - table.n_incomplete()
    enough = known >= MIN_KNOWN_SHARE * table.shape[0]
    if not enough.all() and table.origin.use:
        enough |= np.isin(table.names(), table.origin.use)
    return table if enough.all() else without_features(table, ~enough, MOSTLY_MISSING)


def left_out(names: Sequence[str], why: tuple[str, str]) -> str:
    """Return the note that columns were left out, and why.

    Examples
    --------
    >>> left_out(["a"], EMPTY), left_out(["a", "b"], EMPTY)
    ("Column 'a' is empty and was left out", \
"2 columns ('a' and 'b') are empty and were left out")
    """
    if len(names) == 1:
        return f"Column {listed(names)} {why[0]} and was left out"
    return f"{len(names)} columns ({listed(names)}) {why[1]} and were left out"


def without_features(
    table: Table, unwanted: NDArray[np.bool_], why: tuple[str, str]
) -> Table:
    """Leave out features, with a note; they stay in the table as other columns."""
    names, places = table.names(), table.places
    keep, gone = np.flatnonzero(~unwanted), np.flatnonzero(unwanted)
    others = [
        OtherColumn(
            str(names[j]),
            int(places[j]),
            column_of(table.values, int(j)),
            "label" if why == LABELS else "left out",
            f"It {why[0]}.",
            written=why != MOSTLY_MISSING,
        )
        for j in gone
    ]
    first = str(names[gone[0]])
    use = f"{named_option('--use-column', first)} takes it as a feature"
    if why == LABELS:
        use = f"{named_option('--labels', first)} compares with it, {use}"
    return replace(
        table,
        values=table.values[:, keep],
        feature_names=names[keep],
        notes=(*table.notes, f"{left_out(names[gone].tolist(), why)}; {use}."),
        origin=replace(table.origin, positions=places[keep]),
        others=(*(each.for_features(keep) for each in table.others), *others),
    )


def column_of(values: Any, place: int) -> NDArray[Any]:
    """Return a copy of one column, dense."""
    column = values[:, [place]]
    return np.array(column.toarray() if is_sparse(column) else column).ravel()
