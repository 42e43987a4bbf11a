"""One cell of a table: a number, missing, text, or text that looks like a formula."""

import math
import re
from collections.abc import Collection
from typing import Any

import numpy as np

# Lower case; what pandas, R, MATLAB, Excel and SQL write for nothing.
MISSING = frozenset(
    ["", "na", "n/a", "#n/a", "<na>", "nan", "-nan", "null", "none", "#value!", "nil"]
)
TRUTH = {"true": 1.0, "false": 0.0}
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
THOUSANDS_AND_DECIMAL_COMMA = re.compile(r"[+-]?\d{1,3}(\.\d{3})+,\d+")
# A currency sign before or after the number, or a percent sign after it.
SIGNED = re.compile(r"(?:[$€£¥]\s*)?([+-]?[\d.,]*\d)(?:\s*[%$€£¥])?")
# What spreadsheets take for the start of a formula, also where it is full width.
FORMULA = re.compile(
    r"\s*[=+\-@\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}"
    r"\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}]|[\t\r\n]"
)


def number(cell: Any, missing: Collection[str] = MISSING) -> float | None:
    """Return a cell as a number: NaN if it is missing, None if it is text.

    Examples
    --------
    >>> number("1e3"), number("NA"), number("high"), number("1_000")
    (1000.0, nan, None, None)
    >>> number(None), number(True), number("FALSE")
    (nan, 1.0, 0.0)
    """
    if cell is None:
        return math.nan
    if isinstance(cell, (bool, int, float)):
        return float(cell)
    if not isinstance(cell, str):  # such as a date in a workbook
        return None
    try:
        # Python reads 1_000 as a thousand; in a table it is more likely a name.
        value = float(cell) if "_" not in cell else None
    except ValueError:
        lower = cell.strip().lower()
        return math.nan if lower in missing else TRUTH.get(lower)
    # Somebody may write -99 for a value that is missing.
    return math.nan if missing is not MISSING and cell.strip() in missing else value


def decorated_number(text: str) -> float | None:
    """Return a number with thousands separators, a percent or a currency sign.

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


def is_text(cell: Any, missing: Collection[str] = MISSING) -> bool:
    """Tell whether a cell is neither a number, however it is decorated, nor missing."""
    if number(cell, missing) is not None:
        return False
    return not isinstance(cell, str) or decorated_number(cell) is None


def is_missing(cell: Any) -> bool:
    """Tell whether a cell is missing."""
    value = number(cell)
    return value is not None and math.isnan(value)


def number_text(values: Any) -> list[str]:
    """Return numbers as the shortest text that gives them back.

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


def looks_like_formula(text: str) -> bool:
    """Tell whether a spreadsheet could run text as a formula.

    Apostrophes before it are ignored, so that text which has one gets another, and
    taking one off gives back what there was.
    """
    return FORMULA.match(text.lstrip("'")) is not None


def escaped(text: str) -> str:
    """Return text that a spreadsheet does not run; numbers stay numbers.

    Examples
    --------
    >>> escaped("=cmd()"), escaped("-1.5"), escaped("TP53")
    ("'=cmd()", '-1.5', 'TP53')
    """
    return f"'{text}" if looks_like_formula(text) and number(text) is None else text


def unescaped(text: str) -> str:
    """Return text as it was before :func:`escaped` put an apostrophe before it.

    Examples
    --------
    >>> unescaped("'=cmd()"), unescaped("''=x"), unescaped("'tis")
    ('=cmd()', "'=x", "'tis")
    """
    return text[1:] if text[:1] == "'" and looks_like_formula(text) else text
