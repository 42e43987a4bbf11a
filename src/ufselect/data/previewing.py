"""Describe the columns of a file before a selection."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.data.tables.conventions import MISSING, TRUTH, number
from ufselect.data.tables.detection import Source, located
from ufselect.data.tables.missing import incomplete_error
from ufselect.data.tables.reading import read_table
from ufselect.data.tables.table import (
    Remedy,
    Table,
    TableError,
    column_of,
    is_sparse,
    several,
)

MAX_DESCRIBED = 2000
N_EXAMPLES = 3
MAX_EXAMPLE_LENGTH = 40
# So often, the first remedy of an error is tried to read the rest of a file.
MAX_REMEDIES = 20
# Units differ if the largest deviation is more than this times the smallest.
SEVERAL_UNITS = 10
DATE = re.compile(
    r"\d{4}-\d\d?-\d\d?([ T]\d\d?:\d\d.*)?|\d\d?[./]\d\d?[./]\d{2,4}|\d{4}/\d\d?/\d\d?"
)
# For each option of the command: the keyword of read_table, and the value if the option
# takes none; () marks options that may be repeated.
OPTIONS: dict[str, tuple[str, Any]] = {
    "--labels": ("labels", None),
    "--groups": ("groups", None),
    "--id": ("id_column", None),
    "--sheet": ("sheet", None),
    "--variable": ("variable", None),
    "--skip-rows": ("skip_rows", None),
    "--drop": ("drop", ()),
    "--use-column": ("use", ()),
    "--na": ("na_values", ()),
    "--transpose": ("transpose", True),
    "--no-transpose": ("transpose", False),
    "--header": ("header", True),
    "--no-header": ("header", False),
    "--delimiter": ("delimiter", None),
    "--decimal": ("decimal", None),
    "--thousands": ("thousands", None),
    "--allow-large": ("allow_large", True),
}


@dataclass(frozen=True)
class ColumnPreview:
    """One column: its content and its role.

    Attributes
    ----------
    name : str
    type : {"number", "text", "date", "boolean", "empty"}
    role : {"feature", "label", "sample names", "group", "left out"}
    why : str
        Why it is not a feature, in one sentence, or empty.
    n_missing, n_distinct : int
    minimum, maximum : float or None
        Of numbers.
    examples : list of str
        Its first values.
    """

    name: str
    type: str
    role: str
    why: str
    n_missing: int
    n_distinct: int
    minimum: float | None
    maximum: float | None
    examples: list[str]


@dataclass(frozen=True)
class Preview:
    """The content of a file, and how it would be read.

    Attributes
    ----------
    file, format : str
    n_rows, n_columns : int
        Of the file, without its header.
    n_samples, n_features : int
        Of the table that you would select from.
    transposed : bool
        Whether the rows of the file are features.
    notes : list of str
        A sentence for everything that was detected.
    columns : list of ColumnPreview
        Columns of the file; of a transposed one its features. At most 2,000.
    n_described : int
        Number of them.
    scale : str
        A sentence about the ranges of the features.
    problem : str or None
        The message with which a selection would be refused.
    remedies : list of Remedy
        Options that may solve it.
    options : list of str
        The options for ``ufselect select``: your own, and the first remedy.
    """

    file: str
    format: str
    n_rows: int
    n_columns: int
    n_samples: int
    n_features: int
    transposed: bool
    notes: list[str]
    columns: list[ColumnPreview]
    n_described: int
    scale: str
    problem: str | None = None
    remedies: list[Remedy] = field(default_factory=list)
    options: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return the preview as plain data, for JSON."""
        remedies = [
            {"label": each.label, "options": list(each.options)}
            for each in self.remedies
        ]
        return asdict(self) | {"remedies": remedies}


def preview(source: Source, **keywords: Any) -> Preview:
    r"""Describe a file without selecting from it.

    If the file can be read only with further options, the preview is for these
    ``options``, and ``problem`` says what is wrong.

    Parameters
    ----------
    source : path, binary stream, or "-" for standard input
        The file.
    **keywords
        Those of :func:`read_table`.

    Returns
    -------
    Preview

    Raises
    ------
    TableError
        If the file cannot be read with any known option.

    Examples
    --------
    >>> from io import BytesIO
    >>> from ufselect.data import preview
    >>> text = b"id,height,target\na,1.5,0\nb,2.5,1\nc,?,1\nd,3.5,0\n"
    >>> found = preview(BytesIO(text))
    >>> [(column.name, column.role) for column in found.columns]
    [('id', 'sample names'), ('height', 'feature'), ('target', 'label')]
    >>> found.remedies[0]
    Remedy(label="Read '?' as missing", options=('--na=?',))
    """
    name, large = keywords.pop("name", None), keywords.get("allow_large", False)
    path, name, holder = located(source, name, large)
    asked = {key: value for key, value in keywords.items() if value not in (None, ())}
    # Columns to drop are described as well.
    dropped = several(asked.pop("drop", ()))
    table, problem = _read_in_some_way(path, name, asked)
    if dropped:
        try:
            kept = read_table(path, name=name, drop=dropped, **asked)
            problem = incomplete_error(kept)
        except TableError as error:
            problem = error
    remedies = list(problem.remedies) if problem is not None else []
    calls = _options(asked | ({"drop": dropped} if dropped else {}))
    calls += remedies[0].options if remedies else ()
    if len(table.suspected_labels) == 1 and "labels" not in asked:
        calls.append(f"--labels={table.suspected_labels[0]}")
    del holder  # the copy of standard input
    return _described(table, set(dropped), problem, remedies, calls)


def _read_in_some_way(
    path: Path, name: str, keywords: dict[str, Any]
) -> tuple[Table, TableError | None]:
    """Read a file, with remedies if necessary; return the table and the first error."""
    first: TableError | None = None
    for _ in range(MAX_REMEDIES):
        try:
            table = read_table(path, name=name, **keywords)
            return table, first or incomplete_error(table)
        except TableError as error:
            first = first or error
            options = error.remedies[0].options if error.remedies else ()
            before, keywords = keywords, _with(keywords, options)
            if keywords == before:
                break
    raise first or TableError(f"{name} cannot be read")


def _with(keywords: dict[str, Any], options: tuple[str, ...]) -> dict[str, Any]:
    """Return keywords of read_table with options of the command added."""
    result = dict(keywords)
    for each in options:
        option, _, value = each.partition("=")
        key, fixed = OPTIONS.get(option, ("", None))
        if fixed == ():
            old = several(result.get(key, ()))
            result[key] = tuple(dict.fromkeys((*old, value)))
        elif key:
            spelled = int(value) if key == "skip_rows" else value
            result[key] = spelled if fixed is None else fixed
    return result


def _options(keywords: dict[str, Any]) -> list[str]:
    """Return the options of the command for keywords of read_table."""
    found: list[str] = []
    for option, (key, fixed) in OPTIONS.items():
        value = keywords.get(key)
        if fixed == ():
            found += [f"{option}={each}" for each in several(value or ())]
        elif fixed is None and value:
            found.append(f"{option}={value}")
        elif fixed is not None and value is fixed:
            found.append(option)
    return found


def _described(
    table: Table,
    dropped: set[str],
    problem: TableError | None,
    remedies: list[Remedy],
    options: list[str],
) -> Preview:
    transposed = bool(table.origin.details.get("transposed"))
    names, places = table.names().tolist(), table.places
    others = table.other_columns()
    if transposed:
        others = [each for each in others if each.role != "sample names"]
    found: list[tuple[float, ColumnPreview]] = []
    for each in others:
        role = "label" if each.name in table.suspected_labels else each.role
        found.append((each.place, _column(each.name, each.cells, role, each.why)))
    n_described = min(len(names), max(0, MAX_DESCRIBED - len(found)))
    values = table.values[:, :n_described]
    values = values.tocsc() if is_sparse(values) else values
    for j, name in enumerate(names[:n_described]):
        left_out = ("left out", "You dropped it.")
        role, why = left_out if name in dropped else ("feature", "")
        column = _column(name, column_of(values, j), role, why)
        found.append((float(places[j]), column))
    columns = [column for _, column in sorted(found, key=lambda pair: pair[0])]
    n_samples, n_features = table.shape
    n_rows, n_columns = n_samples, n_features + len(others)
    if transposed:
        across = sum(each.of_features for each in others)
        n_rows = n_columns - across
        n_columns = n_samples + across + (table.feature_names is not None)
    return Preview(
        *(table.origin.name, table.format, n_rows, n_columns, n_samples),
        n_features - sum(name in dropped for name in names),
        *(transposed, list(table.notes), columns, len(columns)),
        scale_of(table.values),
        None if problem is None else str(problem),
        remedies,
        options,
    )


def _column(name: str, cells: NDArray[Any], role: str, why: str) -> ColumnPreview:
    """Describe one column, of numbers or objects."""
    known: Any
    distinct: Any
    extremes: tuple[float | None, float | None] = (None, None)
    if cells.dtype.kind == "f":
        known = cells[~np.isnan(cells)]
        distinct = np.unique(known)
        kind = "number" if len(known) else "empty"
        finite = known[np.isfinite(known)]
        if len(finite):
            extremes = float(finite.min()), float(finite.max())
        examples = [f"{value:g}" for value in known[:N_EXAMPLES].tolist()]
    else:
        texts = ["" if cell is None else str(cell) for cell in cells.tolist()]
        known = [text for text in texts if text.strip().lower() not in MISSING]
        distinct = list(dict.fromkeys(known))
        kind = _type(distinct)
        examples = [text[:MAX_EXAMPLE_LENGTH] for text in distinct[:N_EXAMPLES]]
    sizes = len(cells) - len(known), len(distinct)
    return ColumnPreview(name, kind, role, why, *sizes, *extremes, examples)


def _type(texts: Sequence[str]) -> str:
    """Return the type of texts: dates, booleans, numbers, or just text."""
    if not texts:
        return "empty"
    if all(text.lower() in TRUTH for text in texts):
        return "boolean"
    if all(DATE.fullmatch(text) for text in texts):
        return "date"
    return "text" if None in map(number, texts) else "number"


def scale_of(values: Any) -> str:
    """Describe the ranges of the features in a sentence.

    Examples
    --------
    >>> import numpy as np
    >>> scale_of(np.array([[1.0, 1000.0], [2.0, 3000.0], [3.0, 9000.0]]))
    'The features seem to have different units: standard deviations range from 0.816 \
to 3.4e+03. They are scaled before a selection.'
    """
    block = values[: max(2, (1 << 22) // max(1, values.shape[1]))]
    data = np.asarray(block.data if is_sparse(block) else block)
    data = data[np.isfinite(data)]
    whole = bool(len(data)) and bool((data == np.floor(data)).all())
    n_cells = block.shape[0] * block.shape[1]
    many_zeros = n_cells - np.count_nonzero(data) > 0.1 * n_cells
    if whole and many_zeros and data.min() >= 0 and data.max() > 50:
        return (
            "The features look like raw counts; consider scaling each sample to the "
            "same sum and taking log(1 + x)."
        )
    dense = np.asarray(block.toarray() if is_sparse(block) else block, dtype=np.float64)
    dense = np.where(np.isfinite(dense), dense, np.nan)
    known = dense[:, ~np.isnan(dense).all(axis=0)]
    deviations = np.nanstd(known, axis=0)
    deviations = deviations[deviations > 0]
    if not len(deviations):
        return "All features are constant."
    least, most = deviations.min(), deviations.max()
    if np.allclose(deviations, 1, atol=0.05) and len(known) > 2:
        return "The features are z-scores: all standard deviations are close to 1."
    if most > SEVERAL_UNITS * least:
        return (
            "The features seem to have different units: standard deviations range from "
            f"{least:.3g} to {most:.3g}. They are scaled before a selection."
        )
    return (
        "The features seem to have the same unit: standard deviations range from "
        f"{least:.3g} to {most:.3g}."
    )
