"""The layout of a text table: delimiter, decimal sign, header, missing values."""

import csv
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ufselect.data.tables.conventions import (
    MISSING,
    TRUTH,
    examine,
    is_text,
    missing_words,
    number,
    undecorated,
)
from ufselect.data.tables.table import Remedy, Request, TableError, unique_names

# Spreadsheets take these for the start of a formula, also in full width.
FORMULA = re.compile(
    r"\s*[=+\-@\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}"
    r"\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}]|[\t\r\n]"
)
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
# Of those that fit equally well the first is taken: x;1,5 has a semicolon.
CANDIDATES: tuple[str | None, ...] = (";", "\t", "|", ",", None)
DELIMITER_TITLES = {
    ",": "commas",
    "\t": "tabs",
    ";": "semicolons",
    "|": "vertical bars",
    None: "white space",
}
# What --delimiter takes besides the sign itself.
DELIMITER_NAMES: dict[str, str | None] = {
    "tab": "\t",
    "\\t": "\t",
    "space": None,
    " ": None,
}
# Series matrix files of GEO have lines about the table above the first of these marks,
# which stand in lines of their own.
TABLE_MARKS = ("!series_matrix_table_begin", "!series_matrix_table_end")
ABOUT_TABLE = ("!Series_", "!Sample_", *TABLE_MARKS)
# Enough to tell text from numbers; exceptions are noticed during reading.
SAMPLED_ROWS = 100
SAMPLED_CHARACTERS = 150_000
MIN_SAMPLED_ROWS = 5
MAX_TITLE_ROWS = 20
# Fewer numbers may be in order at random; one in 40,320 rows of eight is.
MIN_NUMBERS_IN_ORDER = 8
MIN_COUNTED_CELLS = 4


def looks_like_formula(text: str) -> bool:
    """Tell whether a spreadsheet could run text as a formula.

    Leading apostrophes are ignored: :func:`escaped` adds one more, which
    :func:`unescaped` removes.
    """
    return FORMULA.match(text.lstrip("'")) is not None


def escaped(text: str) -> str:
    """Return text that a spreadsheet does not run as a formula; numbers stay as is.

    Examples
    --------
    >>> escaped("=cmd()"), escaped("-1.5"), escaped("-1,5"), escaped("TP53")
    ("'=cmd()", '-1.5', '-1,5', 'TP53')
    """
    runs = looks_like_formula(text) and is_text(text)
    return f"'{text}" if runs else text


def unescaped(text: str) -> str:
    """Return text without the apostrophe that :func:`escaped` adds.

    Examples
    --------
    >>> unescaped("'=cmd()"), unescaped("''=x"), unescaped("'tis")
    ('=cmd()', "'=x", "'tis")
    """
    return text[1:] if text[:1] == "'" and looks_like_formula(text) else text


class Dialect(NamedTuple):
    """Delimiter and decimal sign; None is white space of any length."""

    delimiter: str | None
    decimal: str = "."

    def spaced(self, text: str) -> str:
        """Return text with one blank between cells, where white space delimits them."""
        if self.delimiter is not None:
            return text
        return re.sub("[ \t]*\n[ \t]*|[ \t]+", _one_space, text).lstrip(" \t")

    def rows(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """Split lines into cells; a quoted cell may have line breaks."""
        return csv.reader(map(self.spaced, lines), delimiter=self.delimiter or " ")

    def blank_lines(self) -> re.Pattern[str]:
        """Return the pattern of lines without any value of the table."""
        sign = re.escape(self.delimiter or " ")
        mark = f"(?:{'|'.join(TABLE_MARKS)})?"
        return re.compile(rf'^{mark}(?:[ \t{sign}]|"")*$', re.MULTILINE)


def _one_space(found: re.Match[str]) -> str:
    return "\n" if "\n" in found[0] else " "


class Layout(NamedTuple):
    """How a table is laid out.

    ``names`` is None without a header; an empty first name marks an index column.
    ``skipped`` lines come before the data. ``first_cells`` are the first cells of the
    column that may name the rows: the first one, or the one at ``index_place``.
    ``text_columns`` hold mostly text. In the rows that were sampled, ``uneven`` columns
    have a cell that is no plain number, ``proven`` ones a cell that only this decimal
    sign makes a number.
    """

    names: list[str] | None
    width: int
    text_columns: frozenset[int]
    first_cells: Sequence[str]
    skipped: int = 0
    uneven: frozenset[int] = frozenset()
    proven: frozenset[int] = frozenset()
    index_place: int | None = None


def text_layout(
    lines: Sequence[str], request: Request, name: str, notes: list[str]
) -> tuple[Dialect, Layout]:
    """Find the delimiter and the layout of a text table from its first lines."""
    length, comment, candidates = _preamble(lines, request.skip_rows)
    if request.delimiter is not None:
        candidates = (DELIMITER_NAMES.get(request.delimiter, request.delimiter),)
    body = _sampled(lines[length:])
    dialect = Dialect(_delimiter(body, candidates, name))
    # The line in which each row begins, without blank rows.
    places, rows, line = [], [], length
    for row in dialect.rows(body):
        filled = [cell for cell in row if cell.strip()]
        if filled and (len(filled) > 1 or filled[0] not in TABLE_MARKS):
            places.append(line)
            rows.append(row)
        line += 1 + "".join(row).count("\n")
    if not rows:
        raise TableError(f"{name} has no data; export the table again")
    named = None if comment is None else next(dialect.rows([comment]), [])
    layout, rows = table_layout(
        rows, places, named, request, name, notes, spelled=unescaped
    )
    if layout.width == 2 and dialect.delimiter == "," and request.delimiter is None:
        _check_single_name(rows, layout, name)
    dialect, layout = _with_decimal(dialect, layout, rows, request)
    header = "a header" if layout.names is not None else "no header"
    decimal = ", decimal commas" if dialect.decimal == "," else ""
    comments = ", comments before it" if comment is not None else ""
    title = DELIMITER_TITLES.get(dialect.delimiter, repr(dialect.delimiter))
    notes.insert(0, f"Text with {title}{decimal}, {header}{comments}.")
    return dialect, layout


def _check_single_name(rows: list[list[str]], layout: Layout, name: str) -> None:
    """Refuse lines such as 1,5 below a single name: a number, or a name and a number.

    R leaves out the name of the row names.
    """
    cells = [cell for row in rows for cell in row]
    unnamed = layout.names is not None and layout.names[0] == ""
    if unnamed and cells and all(map(str.isdigit, cells)):
        raise TableError(
            f"{name} has one name above lines such as {','.join(rows[0])}, where the "
            "comma may be a decimal sign or a delimiter; say which (--delimiter ';' or "
            "--delimiter ,)",
            [
                Remedy("The comma is a decimal sign", ("--delimiter=;",)),
                Remedy("The comma is a delimiter", ("--delimiter=,",)),
            ],
        )


def _preamble(
    lines: Sequence[str], skip_rows: int
) -> tuple[int, str | None, tuple[str | None, ...]]:
    """Find comments, and the line that tells Excel the delimiter."""
    length, comment, candidates = skip_rows, None, CANDIDATES
    marked = any(line.strip(" \t\r\n,;") == TABLE_MARKS[0] for line in lines)
    for line in lines[skip_rows:]:
        if line.startswith("sep=") and len(line.strip("\n")) == 5:
            candidates = (line[4],)
        elif line.startswith("#") and not line.startswith("#N/A"):
            comment = line.lstrip("# ")
        elif line.strip() and not (marked and line.startswith(ABOUT_TABLE)):
            break
        length += 1
    return length, comment, candidates


def _sampled(lines: Sequence[str]) -> list[str]:
    """Return enough lines to detect the layout, with all quotation marks closed."""
    sample: list[str] = []
    n_characters = n_quotes = 0
    for line in lines:
        enough = n_characters > SAMPLED_CHARACTERS or len(sample) >= SAMPLED_ROWS
        if enough and len(sample) >= MIN_SAMPLED_ROWS and n_quotes % 2 == 0:
            break
        sample.append(line)
        n_characters += len(line)
        n_quotes += line.count('"')
    return sample


def _delimiter(
    lines: Sequence[str], candidates: Sequence[str | None], name: str
) -> str | None:
    """Choose the delimiter that gives rows of equal length and mostly numbers."""
    some = [line for line in lines if line.strip()][:20]
    fits = {candidate: _fitness(some, candidate) for candidate in candidates}
    if fits.get("\t", UNFIT)[0] == 2 and None in fits:
        fits[None] = UNFIT  # cells between tabs may have blanks
    best = max(candidates, key=lambda candidate: fits[candidate])
    equal = best == "," and UNFIT != fits[","] == fits.get(None)
    if equal and not any(", " in line for line in some):
        raise TableError(
            f"{name} has lines such as {some[0].strip()[:40]!r}, where commas may be "
            "delimiters or decimal signs; say which (--delimiter , or --delimiter "
            "space)",
            [
                Remedy("The commas are delimiters", ("--delimiter=,",)),
                Remedy("The commas are decimal signs", ("--delimiter=space",)),
            ],
        )
    return "," if fits[best] == UNFIT and "," in candidates else best


# How well a delimiter fits, the most important criterion first: the header has as many
# names as the rows have cells (2 if that is the same in all rows), there are decimal
# commas, the share of regular rows and numbers, the number of columns.
Fitness = tuple[int, bool, float, int]
UNFIT: Fitness = (0, False, 0.0, 0)


def _fitness(lines: Sequence[str], delimiter: str | None) -> Fitness:
    if not any(len(line.split(delimiter, 1)) > 1 for line in lines):
        return UNFIT
    try:
        # Rows may be very long: only their lengths and first cells are kept.
        rows = [(len(row), row[:200]) for row in Dialect(delimiter).rows(lines)]
    except csv.Error:  # a cell is too long
        return UNFIT
    below = rows[1:] or rows
    width, votes = Counter(length for length, _ in below).most_common(1)[0]
    if width < 2:
        return UNFIT
    cells = [cell for _, row in below for cell in row]
    n_commas = sum(bool(DECIMAL_COMMA.fullmatch(cell.strip())) for cell in cells)
    n_numbers = sum(not is_text(cell) for cell in cells)
    # The empty name of an index, above white space, is not seen.
    n_names = rows[0][0] + (delimiter is None and lines[0].startswith(" "))
    exact, regular = n_names == width, votes == len(below)
    return (
        # R leaves out the name of the row names.
        exact + (exact and regular) + (1 < n_names == width - 1),
        # With white space, sample 1,5 may be a name and a number.
        n_commas > 0 and regular and delimiter in (";", "\t", "|"),
        votes / len(below) * n_numbers / len(cells),
        width,
    )


def _with_decimal(
    dialect: Dialect, layout: Layout, rows: Sequence[list[str]], request: Request
) -> tuple[Dialect, Layout]:
    """Find the decimal sign, and the columns that have only plain numbers with it."""
    missing = missing_words(request.na_values)
    columns = list(zip(*rows, strict=True))
    proofs = [examine(cells, missing).proof for cells in columns]
    usual = "," if "," in proofs and "." not in proofs else "."
    decimal = request.decimal_sign() or usual
    uneven = frozenset(
        place
        for place, cells in enumerate(columns)
        if any(plain_number(cell, decimal, missing) is None for cell in cells)
    )
    proven = frozenset(j for j, sign in enumerate(proofs) if sign == decimal)
    layout = layout._replace(uneven=uneven, proven=proven - uneven)
    return dialect._replace(decimal=decimal), layout


def plain_number(
    cell: str, decimal: str, missing: Collection[str] = MISSING
) -> float | None:
    """Return a cell that Python or Arrow read with this decimal sign, else None.

    Examples
    --------
    >>> plain_number("1,5", ","), plain_number("1.5", ","), plain_number("TRUE", ".")
    (1.5, None, None)
    """
    if decimal == ",":
        cell = cell.replace(".", "_").replace(",", ".")
    return None if cell.strip().lower() in TRUTH else number(cell, missing)


def table_layout(
    rows: list[list[str]],
    places: Sequence[int],
    comment: list[str] | None,
    request: Request,
    name: str,
    notes: list[str],
    *,
    spelled: Callable[[str], str] = str,
) -> tuple[Layout, list[list[str]]]:
    """Return the layout of rows of cells, and the rows of data among them.

    The rows begin in the lines at ``places``. ``spelled`` returns the name that a cell
    of the header stands for.
    """
    n_titles = 0 if request.skip_rows else _title_rows(rows)
    if n_titles:
        shown = next(cell for cell in rows[0] if cell.strip())
        notes.append(
            f"{n_titles} row{'s' * (n_titles > 1)} above the header ({shown[:40]!r}) "
            f"{'were' if n_titles > 1 else 'was'} left out."
        )
        rows, places = rows[n_titles:], places[n_titles:]
    header = _header_of(rows, comment, request.header)
    skipped = places[0]
    if header is not None and header is not comment:
        skipped += 1 + "".join(header).count("\n")
        rows = rows[1:]
    if not rows:
        raise TableError(f"{name} has a header and no data; export the table again")
    width = Counter(map(len, rows)).most_common(1)[0][0]
    if header is not None and len(header) == width - 1:
        # R does not name the row names; other programs end lines with a delimiter.
        ends_empty = all(not row[-1].strip() for row in rows if row)
        header = [*header, ""] if ends_empty else ["", *header]
    names = None
    if header is not None:
        found = [spelled(cell.strip()) for cell in header]
        filled = [each or f"column_{j + 1}" for j, each in enumerate(found)]
        names = unique_names(filled, notes)
        names[0] = names[0] if found[0] else ""
        width = len(names)
    complete = [row for row in rows if len(row) == width]
    missing = missing_words(request.na_values)
    text_columns = frozenset(
        place
        for place, cells in enumerate(zip(*complete, strict=True))
        if 2 * sum(is_text(cell, missing) for cell in cells) > len(cells)
    )
    first_cells = [row[0] for row in complete]
    return Layout(names, width, text_columns, first_cells, skipped), complete


def _title_rows(rows: Sequence[list[str]]) -> int:
    """Count the rows of one cell above the header, such as a title or a date."""
    lengths = [sum(bool(cell.strip()) for cell in row) for row in rows]
    wide = (i for i, length in enumerate(lengths[: MAX_TITLE_ROWS + 1]) if length > 1)
    count = next(wide, 0)
    if not count:
        return 0
    below = rows[count + 1 :]
    # R writes one name above two columns if rows have names.
    header = all(map(is_text, rows[count])) and lengths[count] == len(rows[count])
    if not below or (len(rows[count]) < 3 and not header):
        return 0
    width = Counter(map(len, below)).most_common(1)[0][0]
    return count if len(rows[count]) in (width, width - 1) else 0


def _header_of(
    rows: Sequence[list[str]], comment: list[str] | None, wanted: bool | None
) -> list[str] | None:
    """Return the row of names: the first one, a comment before it, or None.

    A first row is a header if it has text where the rows below have numbers, if it
    is one cell shorter than they are (as R writes it), or if it counts or measures
    (``0,1,2,3``, wavelengths) while the rows below do not.

    Examples
    --------
    >>> _header_of([["a", "b"], ["1", "2"]], None, None)
    ['a', 'b']
    >>> _header_of([["3", "4"], ["1", "2"]], None, None) is None
    True
    """
    if wanted is not None:
        return rows[0] if wanted else None
    first, below = rows[0], rows[1:]
    if _is_header(first, below):
        return first
    fitting = {len(first), len(first) - 1} - {0, 1}
    return comment if comment is not None and len(comment) in fitting else None


def _is_header(first: list[str], below: Sequence[list[str]]) -> bool:
    rows = [row for row in below[:MIN_SAMPLED_ROWS] if len(row) == len(first)]
    # A name may look like a number, as 95% does, unless the cells below do so, too.
    texts = [
        j
        for j, cell in enumerate(first)
        if is_text(cell)
        or undecorated(cell)[0] not in ("", *(undecorated(row[j])[0] for row in rows))
    ]
    if not below:
        return len(texts) == len(first)
    width = Counter(map(len, below)).most_common(1)[0][0]
    if len(first) == width - 1:
        return True
    below = [row for row in below if len(row) == len(first)]
    if not below:
        return False
    numeric = [j for j in range(len(first)) if _is_numeric([row[j] for row in below])]
    if not numeric or set(texts) & set(numeric):
        return True
    unnamed = first[0].strip() == "" and _are_names([row[0] for row in below])
    return (unnamed and _are_names(first[1:])) or _counts(first, below, numeric)


def _are_names(cells: Sequence[str]) -> bool:
    """Tell whether cells are text or whole numbers, and no two are equal."""
    values = list(map(_value, cells))
    whole = all(value is None or value.is_integer() for value in values)
    return whole and len(set(cells)) == len(cells) and not any(map(_is_missing, cells))


def _is_numeric(cells: Sequence[str]) -> bool:
    """Tell whether at least half of the cells are numbers, and not all are missing."""
    n_texts = sum(map(is_text, cells))
    return 2 * n_texts <= len(cells) and not all(map(_is_missing, cells))


def _counts(
    first: list[str], below: Sequence[list[str]], numeric: Sequence[int]
) -> bool:
    """Tell whether the first row, unlike the others, is in increasing order."""
    values = [_value(first[j]) for j in numeric]
    counted = any(
        values == [float(start + step) for step in range(len(values))]
        for start in (0, 1)
    )
    if len(values) < (MIN_COUNTED_CELLS if counted else MIN_NUMBERS_IN_ORDER):
        return False
    return _in_order(values) and not any(
        _in_order([_value(row[j]) for j in numeric]) for row in below
    )


def _is_missing(cell: str) -> bool:
    return cell.strip().lower() in MISSING


def _value(cell: str) -> float | None:
    """Return a number with a decimal point or comma, as in names of wavelengths."""
    return number(cell.replace(",", "."))


def _in_order(values: Sequence[float | None]) -> bool:
    return all(a is not None and b is not None and a < b for a, b in pairwise(values))
