"""The layout of a text table: delimiter, decimal sign, header, missing values."""

import csv
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ufselect.data.tables.table import Request, TableError, unique_names

# In lower case: how pandas, R, MATLAB, Excel and SQL write a missing value.
MISSING = frozenset(
    ["", "na", "n/a", "#n/a", "<na>", "nan", "-nan", "null", "none", "#value!", "nil"]
)
TRUTH = {"true": 1.0, "false": 0.0}
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
THOUSANDS_AND_DECIMAL_COMMA = re.compile(r"[+-]?\d{1,3}(\.\d{3})+,\d+")
# A currency sign before or after the number, or a percent sign after it.
SIGNED = re.compile(r"(?:[$€£¥]\s*)?([+-]?[\d.,]*\d)(?:\s*[%$€£¥])?")
# Spreadsheets take these for the start of a formula, also in full width.
FORMULA = re.compile(
    r"\s*[=+\-@\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}"
    r"\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}]|[\t\r\n]"
)
# Of those that fit equally well the first is taken: x;1,5 has a semicolon.
CANDIDATES: tuple[str | None, ...] = (";", "\t", "|", ",", None)
DELIMITER_TITLES = {
    ",": "commas",
    "\t": "tabs",
    ";": "semicolons",
    "|": "vertical bars",
    None: "white space",
}
# Lines about the table, not of the table, in series matrix files of GEO.
SERIES_MARK = ("!Series_", "!Sample_", "!series_matrix_table_")
# Enough to tell text from numbers; exceptions are noticed during reading.
SAMPLED_ROWS = 100
SAMPLED_CHARACTERS = 150_000
MIN_SAMPLED_ROWS = 5
MAX_TITLE_ROWS = 20
# Fewer numbers may be in order at random; one in 40,320 rows of eight is.
MIN_NUMBERS_IN_ORDER = 8
MIN_COUNTED_CELLS = 4


def number(cell: str, missing: Collection[str] = MISSING) -> float | None:
    """Return a cell as a number: NaN if it is missing, None if it is text.

    Examples
    --------
    >>> number("1e3"), number("NA"), number("high"), number("1_000"), number("FALSE")
    (1000.0, nan, None, None, 0.0)
    """
    try:
        # Python reads 1_000 as a thousand; in a table it is more likely a name.
        value = float(cell) if "_" not in cell else None
    except ValueError:
        lower = cell.strip().lower()
        return math.nan if lower in missing else TRUTH.get(lower)
    # The caller may have named -99 as missing.
    return math.nan if missing is not MISSING and cell.strip() in missing else value


def decorated_number(text: str) -> float | None:
    """Read a number with thousands separators, a percent or a currency sign.

    Examples
    --------
    >>> decorated_number("1,065"), decorated_number("1.065,5"), decorated_number("$127")
    (1065.0, 1065.5, 127.0)
    >>> decorated_number("13.2 %"), decorated_number("1,06"), decorated_number("a1")
    (13.2, None, None)
    """
    found = SIGNED.fullmatch(text.strip())
    if found is None:
        return None
    digits = found[1]
    if THOUSANDS.fullmatch(digits):
        digits = digits.replace(",", "")
    elif THOUSANDS_AND_DECIMAL_COMMA.fullmatch(digits):
        digits = digits.replace(".", "").replace(",", ".")
    try:
        return float(digits)
    except ValueError:
        return None


def is_text(cell: str, missing: Collection[str] = MISSING) -> bool:
    """Tell whether a cell is neither a number, decorated or not, nor missing."""
    return number(cell, missing) is None and decorated_number(cell) is None


def is_missing(cell: str) -> bool:
    """Tell whether a cell is missing."""
    value = number(cell)
    return value is not None and math.isnan(value)


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
    runs = looks_like_formula(text) and number(with_point(text)) is None
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

    @property
    def may_have_commas(self) -> bool:
        """Whether some numbers may have decimal commas, as with semicolons."""
        return self.decimal == "," or self.delimiter == ";"

    def rows(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """Split lines into cells; a quoted cell may have line breaks."""
        if self.delimiter is None:
            lines = (" ".join(line.split()) for line in lines)
        return csv.reader(lines, delimiter=self.delimiter or " ")

    def is_blank(self, line: str) -> bool:
        """Tell whether a line has no value of the table."""
        if line.startswith(SERIES_MARK):
            return True
        return not line.strip(f" \t\r\n{self.delimiter or ''}")


class Layout(NamedTuple):
    """How a table is laid out.

    ``names`` is None without a header; an empty first name marks an index column.
    ``skipped`` lines come before the data. ``first_cells`` are the first cells of the
    column that may name the rows: the first one, or the one at ``index_place``. Numbers
    may have decimal ``commas``, and names may be ``escaped`` for spreadsheets.
    """

    names: list[str] | None
    width: int
    text_columns: frozenset[int]
    first_cells: list[str]
    skipped: int = 0
    commas: bool = False
    escaped: bool = False
    index_place: int | None = None


def with_point(cell: str) -> str:
    """Replace a decimal comma by a point; leave text as it is."""
    if "," in cell and DECIMAL_COMMA.fullmatch(cell.strip()):
        return cell.replace(",", ".")
    return cell


def text_layout(
    lines: Sequence[str], request: Request, name: str, notes: list[str]
) -> tuple[Dialect, Layout]:
    """Find the delimiter and the layout of a text table from its first lines."""
    length, comment, candidates = _preamble(lines, request.skip_rows)
    body = _sampled(lines[length:])
    dialect = _dialect(body, candidates)
    # The line in which each row begins, without blank rows.
    places, rows, line = [], [], length
    for row in dialect.rows(body):
        if any(cell.strip() for cell in row) and not row[0].startswith(SERIES_MARK):
            places.append(line)
            rows.append(row)
        line += 1 + "".join(row).count("\n")
    if not rows:
        raise TableError(f"{name} has no data; export the table again")
    named = None if comment is None else next(dialect.rows([comment]), [])
    layout = table_layout(
        *(rows, places, named, request, name, notes),
        commas=dialect.may_have_commas,
        escaped=True,
    )
    header = "a header" if layout.names is not None else "no header"
    decimal = ", decimal commas" if dialect.decimal == "," else ""
    comments = ", comments before it" if comment is not None else ""
    title = DELIMITER_TITLES.get(dialect.delimiter, repr(dialect.delimiter))
    notes.insert(0, f"Text with {title}{decimal}, {header}{comments}.")
    return dialect, layout


def _preamble(
    lines: Sequence[str], skip_rows: int
) -> tuple[int, str | None, tuple[str | None, ...]]:
    """Find comments, and the line that tells Excel the delimiter."""
    length, comment, candidates = skip_rows, None, CANDIDATES
    for line in lines[skip_rows:]:
        if line.startswith("sep=") and len(line.strip("\n")) == 5:
            candidates = (line[4],)
        elif line.startswith("#"):
            comment = line.lstrip("# ")
        elif line.strip() and not line.startswith(SERIES_MARK):
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


def _dialect(lines: Sequence[str], candidates: Sequence[str | None]) -> Dialect:
    """Choose the delimiter that gives rows of equal length and mostly numbers."""
    some = [line for line in lines if line.strip()][:20]
    fits = {candidate: _fitness(some, candidate) for candidate in candidates}
    best = max(candidates, key=lambda candidate: fits[candidate])
    if fits[best] == UNFIT:
        best = "," if "," in candidates else best
    return Dialect(best, "," if _has_decimal_comma(lines, best) else ".")


# How well a delimiter fits, the most important criterion first: the header has as many
# names as the rows have cells, there are decimal commas, the share of regular rows and
# numbers, the number of columns.
Fitness = tuple[bool, bool, float, int]
UNFIT: Fitness = (False, False, 0.0, 0)


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
    cells = [cell.strip() for _, row in below for cell in row]
    n_commas = sum(bool(DECIMAL_COMMA.fullmatch(cell)) for cell in cells)
    n_numbers = sum(number(cell) is not None for cell in cells)
    if delimiter != ",":
        n_numbers += n_commas
    return (
        rows[0][0] == width,
        # With white space, sample 1,5 may be a name and a number.
        n_commas > 0 and votes == len(below) and delimiter in (";", "\t", "|"),
        votes / len(below) * n_numbers / len(cells),
        width,
    )


def _has_decimal_comma(lines: Sequence[str], delimiter: str | None) -> bool:
    """Tell whether commas are decimal signs; 1,234 alone may also be a thousand."""
    if delimiter == ",":
        return False
    commas = (
        cell
        for row in Dialect(delimiter).rows(line for line in lines if "," in line)
        for cell in map(str.strip, row)
        if DECIMAL_COMMA.fullmatch(cell)
    )
    return any(delimiter == ";" or not THOUSANDS.fullmatch(cell) for cell in commas)


def table_layout(
    rows: list[list[str]],
    places: Sequence[int],
    comment: list[str] | None,
    request: Request,
    name: str,
    notes: list[str],
    *,
    commas: bool = False,
    escaped: bool = False,
) -> Layout:
    """Return the layout of rows of cells, which begin in the lines at ``places``."""
    titles = rows
    if commas:  # names stay as they are
        rows = [list(map(with_point, row)) for row in rows]
    n_titles = 0 if request.skip_rows else _title_rows(rows)
    if n_titles:
        shown = next(cell for cell in rows[0] if cell.strip())
        notes.append(
            f"{n_titles} row{'s' * (n_titles > 1)} above the header ({shown[:40]!r}) "
            f"{'were' if n_titles > 1 else 'was'} left out."
        )
        rows, titles, places = rows[n_titles:], titles[n_titles:], places[n_titles:]
    header = _header_of(rows, comment, request.header)
    skipped = places[0]
    if header is not None and header is not comment:
        header = titles[0]
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
        clean = unescaped if escaped else str
        found = [clean(cell.strip()) for cell in header]
        filled = [each or f"column_{j + 1}" for j, each in enumerate(found)]
        names = unique_names(filled, notes)
        names[0] = names[0] if found[0] else ""
        width = len(names)
    complete = [row for row in rows if len(row) == width]
    missing = missing_words(request)
    text_columns = frozenset(
        place
        for place, cells in enumerate(zip(*complete, strict=True))
        if 2 * sum(is_text(cell, missing) for cell in cells) > len(cells)
    )
    first_cells = [row[0] for row in complete]
    return Layout(names, width, text_columns, first_cells, skipped, commas, escaped)


def missing_words(request: Request) -> Collection[str]:
    """Return the words for a missing value, in lower case."""
    if not request.na_values:
        return MISSING
    return MISSING | {each.strip().lower() for each in request.na_values}


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
    # A name may look like a decorated number, as 95% does.
    texts = [j for j, cell in enumerate(first) if number(cell) is None]
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
    unnamed = first[0].strip() == "" and not any(is_missing(row[0]) for row in below)
    return unnamed or _counts(first, below, numeric)


def _is_numeric(cells: Sequence[str]) -> bool:
    """Tell whether at least half of the cells are numbers, and not all are missing."""
    n_texts = sum(map(is_text, cells))
    return 2 * n_texts <= len(cells) and not all(map(is_missing, cells))


def _counts(
    first: list[str], below: Sequence[list[str]], numeric: Sequence[int]
) -> bool:
    """Tell whether the first row, unlike the others, is in increasing order."""
    values = [number(first[j]) for j in numeric]
    counted = any(
        values == [float(start + step) for step in range(len(values))]
        for start in (0, 1)
    )
    if len(values) < (MIN_COUNTED_CELLS if counted else MIN_NUMBERS_IN_ORDER):
        return False
    return _in_order(values) and not any(
        _in_order([number(row[j]) for j in numeric]) for row in below
    )


def _in_order(values: Sequence[float | None]) -> bool:
    return all(a is not None and b is not None and a < b for a, b in pairwise(values))
