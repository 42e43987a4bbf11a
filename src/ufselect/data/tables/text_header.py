"""Whether the first row of a text table names the columns."""

from collections.abc import Sequence
from itertools import pairwise

from ufselect.data.tables.cells import is_missing, is_text, number

# Fewer numbers may be in order by chance; one in 40,320 rows of eight is.
LEAST_IN_ORDER = 8
LEAST_COUNTED = 4


def header_of(
    rows: Sequence[list[str]], comment: list[str] | None, wanted: bool | None
) -> list[str] | None:
    """Return the row of names: the first one, a comment before it, or None.

    A first row is a header if it has text where the rows below have numbers, if it
    is one cell shorter than they are (as R writes it), or if it counts or measures
    (``0,1,2,3``, wavelengths) while the rows below do not.

    Examples
    --------
    >>> header_of([["a", "b"], ["1", "2"]], None, None)
    ['a', 'b']
    >>> header_of([["3", "4"], ["1", "2"]], None, None) is None
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
    if not below:
        return all(is_text(cell) for cell in first)
    width = max(set(map(len, below)), key=[len(row) for row in below].count)
    if len(first) == width - 1:
        return True
    below = [row for row in below if len(row) == len(first)]
    if not below:
        return False
    texts = (j for j, cell in enumerate(first) if is_text(cell))
    if any(_is_numeric([row[j] for row in below]) for j in texts):
        return True
    numeric = [j for j in range(len(first)) if _is_numeric([row[j] for row in below])]
    if not numeric:
        return True
    unnamed = first[0].strip() == "" and not any(is_missing(row[0]) for row in below)
    return unnamed or _counts(first, below, numeric)


def _is_numeric(cells: Sequence[str]) -> bool:
    texts = sum(is_text(cell) for cell in cells)
    missing = sum(is_missing(cell) for cell in cells)
    return 2 * texts <= len(cells) and missing < len(cells)


def _counts(
    first: list[str], below: Sequence[list[str]], numeric: Sequence[int]
) -> bool:
    """Tell whether the first row is in order as only names are."""
    values = [number(first[j]) for j in numeric]
    counted = any(
        values == [float(start + step) for step in range(len(values))]
        for start in (0, 1)
    )
    if len(values) < (LEAST_COUNTED if counted else LEAST_IN_ORDER):
        return False
    return _in_order(values) and not any(
        _in_order([number(row[j]) for j in numeric]) for row in below
    )


def _in_order(values: Sequence[float | None]) -> bool:
    return all(a is not None and b is not None and a < b for a, b in pairwise(values))
