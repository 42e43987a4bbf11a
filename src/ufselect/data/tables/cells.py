"""One cell of a table: a number, missing, or text."""

import math
import re
from typing import Any

# Lower case; what pandas, R, MATLAB, Excel and SQL write for nothing.
MISSING = frozenset(
    ["", "na", "n/a", "#n/a", "<na>", "nan", "-nan", "null", "none", "#value!", "nil"]
)
TRUTH = {"true": 1.0, "false": 0.0}
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+")


def number(cell: Any) -> float | None:
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
        return float(cell) if "_" not in cell else None
    except ValueError:
        lower = cell.strip().lower()
        return math.nan if lower in MISSING else TRUTH.get(lower)


def is_text(cell: Any) -> bool:
    """Tell whether a cell is neither a number nor missing."""
    return number(cell) is None


def is_missing(cell: Any) -> bool:
    """Tell whether a cell is missing."""
    value = number(cell)
    return value is not None and math.isnan(value)
