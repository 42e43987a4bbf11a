"""What the first lines of a text table tell: delimiter, header, kinds of columns."""

import csv
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ufselect.data.tables.cells import DECIMAL_COMMA, THOUSANDS, is_text
from ufselect.data.tables.table import Request, TableError
from ufselect.data.tables.text_header import header_of
from ufselect.data.tables.text_lines import SERIES_MARK, Dialect

# The first of those that fit equally well is taken: x;1,5 has a semicolon.
CANDIDATES: tuple[str | None, ...] = (";", "\t", "|", ",", None)
TITLES = {
    ",": "commas",
    "\t": "tabs",
    ";": "semicolons",
    "|": "vertical bars",
    None: "white space",
}
# Enough to tell what a column holds; what the sample misses is noticed on reading.
SAMPLED_LINES = 100
SAMPLED_CELLS = 200_000


class Layout(NamedTuple):
    """How a text table is laid out.

    ``names`` is None without a header. ``skipped`` lines come before the data. Of
    the first rows only the first cells are kept, since rows may be very long.
    """

    dialect: Dialect
    names: list[str] | None
    width: int
    skipped: int
    text_columns: frozenset[int]
    first_cells: list[str]


class _Preamble(NamedTuple):
    length: int
    comment: str | None
    candidates: tuple[str | None, ...]


def find_layout(
    lines: Sequence[str], request: Request, name: str, notes: list[str]
) -> Layout:
    """Find the layout of a table from its first lines."""
    preamble = _preamble(lines)
    body = _sampled(lines[preamble.length :])
    dialect = _dialect(body, preamble.candidates)
    rows = list(dialect.rows(line for line in body if not dialect.is_blank(line)))
    if not rows:
        raise TableError(f"{name} has no data; export the table again")
    comment = None if preamble.comment is None else dialect.cells(preamble.comment)
    header = header_of(rows, comment, request.header)
    skipped = preamble.length
    if header is not None and header is not comment:
        skipped += _height(body, rows[0], dialect)
        rows = rows[1:]
    if not rows:
        raise TableError(f"{name} has a header and no data; export the table again")
    notes.append(_description(dialect, header, preamble))
    return layout_of(dialect, header, rows, skipped)


def _preamble(lines: Sequence[str]) -> _Preamble:
    """Find comments, and the line with which Excel is told of the delimiter."""
    length, comment, candidates = 0, None, CANDIDATES
    for line in lines:
        if line.startswith("sep=") and len(line.strip("\n")) == 5:
            candidates = (line[4],)
        elif line.startswith("#"):
            comment = line.lstrip("# ")
        elif line.strip() and not line.startswith(SERIES_MARK):
            break
        length += 1
    return _Preamble(length, comment, candidates)


def _sampled(lines: Sequence[str]) -> list[str]:
    """Return enough lines to judge by, with no quotation mark left open."""
    sample: list[str] = []
    n_characters = n_quotes = 0
    for line in lines:
        long = n_characters > 4 * SAMPLED_CELLS or len(sample) >= SAMPLED_LINES
        if long and len(sample) >= 3 and n_quotes % 2 == 0:
            break
        sample.append(line)
        n_characters += len(line)
        n_quotes += line.count('"')
    return sample


def _dialect(lines: Sequence[str], candidates: Sequence[str | None]) -> Dialect:
    """Choose the delimiter that gives rows of equal length and mostly numbers."""
    some = [line for line in lines if line.strip()][:20]
    fits = {candidate: _fitness(some, candidate) for candidate in candidates}
    best = max(candidates, key=lambda candidate: fits[candidate])
    if fits[best] == UNFIT:
        best = "," if "," in candidates else best
    return Dialect(best, "," if _has_decimal_comma(lines, best) else ".")


class _Fitness(NamedTuple):
    """How well a delimiter fits, the most important criterion first."""

    as_many_names: bool
    decimal_commas: bool
    regular_numbers: float
    width: int


UNFIT = _Fitness(False, False, 0.0, 0)


def _fitness(lines: Sequence[str], delimiter: str | None) -> _Fitness:
    try:
        # Rows may be very long, so only their lengths and first cells are kept.
        rows = [(len(row), row[:200]) for row in Dialect(delimiter).raw_rows(lines)]
    except csv.Error:  # a cell longer than any cell is
        return UNFIT
    below = rows[1:] or rows
    if not below:
        return UNFIT
    width, votes = Counter(length for length, _ in below).most_common(1)[0]
    if width < 2:
        return UNFIT
    cells = [cell.strip() for _, row in below for cell in row]
    n_commas = sum(bool(DECIMAL_COMMA.fullmatch(cell)) for cell in cells)
    n_numbers = sum(not is_text(cell) for cell in cells)
    if delimiter != ",":
        n_numbers += n_commas
    return _Fitness(
        rows[0][0] == width,
        # With white space it may be a name and a number: sample 1,5.
        n_commas > 0 and votes == len(below) and delimiter in (";", "\t", "|"),
        votes / len(below) * n_numbers / len(cells),
        width,
    )


def _has_decimal_comma(lines: Sequence[str], delimiter: str | None) -> bool:
    """Tell whether commas are decimal; 1,234 alone may be a thousand, too."""
    if delimiter == ",":
        return False
    commas = (
        cell
        for row in Dialect(delimiter).raw_rows(line for line in lines if "," in line)
        for cell in row
        if DECIMAL_COMMA.fullmatch(cell.strip())
    )
    return any(delimiter == ";" or not THOUSANDS.fullmatch(cell) for cell in commas)


def _height(body: Sequence[str], header: list[str], dialect: Dialect) -> int:
    """Return how many lines the header takes, with what is blank before it."""
    blank = next(i for i, line in enumerate(body) if not dialect.is_blank(line))
    return blank + 1 + sum(cell.count("\n") for cell in header)


def layout_of(
    dialect: Dialect, header: list[str] | None, rows: list[list[str]], skipped: int
) -> Layout:
    """Return the layout of rows of which the header is known."""
    width = Counter(map(len, rows)).most_common(1)[0][0]
    if header is not None and len(header) == width - 1:
        # R leaves out the name of the row names; others end lines with a delimiter.
        ends_empty = all(not row[-1].strip() for row in rows if row)
        header = [*header, ""] if ends_empty else ["", *header]
    if header is not None:
        header = [cell.strip() for cell in header]
        width = len(header)
    complete = [row for row in rows if len(row) == width]
    text_columns = frozenset(
        place
        for place, cells in enumerate(zip(*complete, strict=True))
        if 2 * sum(map(is_text, cells)) > len(cells)
    )
    first_cells = [row[0] for row in complete]
    return Layout(dialect, header, width, skipped, text_columns, first_cells)


def _description(
    dialect: Dialect, header: list[str] | None, preamble: _Preamble
) -> str:
    heading = "a header" if header is not None else "no header"
    decimal = ", decimal commas" if dialect.decimal == "," else ""
    comments = ", comments before it" if preamble.comment is not None else ""
    return f"Text with {TITLES[dialect.delimiter]}{decimal}, {heading}{comments}."
