"""Columns that hold numbers and text: which of the two they are meant to hold."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ufselect.data.tables.cells import number
from ufselect.data.tables.table import TableError


class Stray(NamedTuple):
    """The first cell of a column that is text, and the line it is in."""

    line: int
    value: str


class Tally:
    """Counts, for the columns that are not plainly numeric, what their cells are."""

    def __init__(self) -> None:
        self.texts: dict[int, int] = defaultdict(int)
        self.numbers: dict[int, int] = defaultdict(int)
        self.first: dict[int, Stray] = {}

    def numbers_of(
        self, column: int, cells: Iterable[Any], lines: Iterable[int]
    ) -> NDArray[np.float64]:
        """Return cells as numbers, NaN for text, and count what they are."""
        values = [number(cell) for cell in cells]
        texts = [place for place, value in enumerate(values) if value is None]
        if texts and column not in self.first:
            line, cell = list(lines)[texts[0]], list(cells)[texts[0]]
            self.first[column] = Stray(line, str(cell))
        self.texts[column] += len(texts)
        result = np.array([np.nan if v is None else v for v in values], dtype=float)
        self.numbers[column] += int(np.count_nonzero(~np.isnan(result)))
        return result

    def is_text(self, column: int, n_numbers: int) -> bool:
        """Tell whether text is what most cells of a column hold."""
        return self.texts[column] > n_numbers

    def check(self, column: int, n_numbers: int, title: str, name: str) -> None:
        """Refuse a column of numbers in which a few cells are text."""
        if self.texts[column] == 0 or self.is_text(column, n_numbers):
            return
        stray = self.first[column]
        others = self.texts[column] - 1
        more = f" and {others} more such cell{'s' * (others > 1)}" if others else ""
        raise TableError(
            f"{name}: column {title!r} is numeric but for {stray.value!r} in line "
            f"{stray.line}{more}; correct it, leave it empty if it is missing, or "
            f"leave the column out (--drop {title!r})"
        )
