"""Lines that are plain numbers, or nearly so, become an array at once."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.data.tables.cells import MISSING
from ufselect.data.tables.text_lines import Dialect

FILLED = {
    spelled: "nan"
    for token in MISSING
    for spelled in (token, token.upper(), token.title())
}


def plain(lines: Sequence[str], dialect: Dialect, width: int) -> Sequence[str] | None:
    """Return lines without quotation marks and with as many cells as there must be.

    Returns None if marks are there for a reason, or if a line is too short or long.
    """
    if any('"' in line for line in lines):
        if any('""' in line for line in lines):
            return None
        quoted = _quoted(dialect.delimiter)
        lines = [quoted.sub(r"\1", line) for line in lines]
        if any('"' in line for line in lines):
            return None
    if dialect.delimiter is None:
        regular = all(len(line.split()) == width for line in lines)
    else:
        regular = all(line.count(dialect.delimiter) == width - 1 for line in lines)
    return lines if regular else None


def numbers(
    lines: Sequence[str], dialect: Dialect, columns: Sequence[int] | None
) -> NDArray[Any] | None:
    r"""Return the numbers in some columns of plain lines, or None if there is text.

    Examples
    --------
    >>> numbers(["a,1,2\n", "b,NA,\n"], Dialect(","), [1, 2])
    array([[ 1.,  2.],
           [nan, nan]])
    """
    if dialect.decimal == ",":
        lines = [line.replace(",", ".") for line in lines]
    block = _loaded(lines, dialect, columns)
    if block is None:
        filled = [_filled(line, dialect.delimiter) for line in lines]
        block = _loaded(filled, dialect, columns)
    return block


def _loaded(
    lines: Sequence[str], dialect: Dialect, columns: Sequence[int] | None
) -> NDArray[Any] | None:
    try:
        return np.loadtxt(
            lines, delimiter=dialect.delimiter, comments=None, usecols=columns, ndmin=2
        )
    except ValueError:
        return None


@lru_cache
def _quoted(delimiter: str | None) -> re.Pattern[str]:
    """Match a cell in quotation marks that it does not need."""
    return re.compile(rf'"([^"\n{re.escape(delimiter or " ")}]*)"')


def _filled(line: str, delimiter: str | None) -> str:
    """Return a line with nan for what is missing; other spellings stay as they are."""
    cells = line.rstrip("\n").split(delimiter)
    return (delimiter or " ").join([FILLED.get(cell, cell) for cell in cells])
