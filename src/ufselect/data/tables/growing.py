"""Rows of numbers that arrive in blocks, in one array that grows in place."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

# The system moves pages rather than copies them when a large array grows, so that
# growing in small steps costs little time and leaves little memory unused.
GROWTH = 1.25


class GrowingRows:
    """A C-ordered array of known width that blocks of rows are added to.

    Examples
    --------
    >>> import numpy as np
    >>> rows = GrowingRows(2, np.float64)
    >>> rows.add(np.ones((3, 2)))
    >>> rows.finished().shape
    (3, 2)
    """

    def __init__(self, width: int, dtype: Any) -> None:
        self._array = np.empty((0, width), dtype=dtype)
        self.count = 0

    def add(self, block: NDArray[Any]) -> None:
        """Add a block of rows."""
        needed = self.count + len(block)
        if needed > len(self._array):
            self._resize(max(needed, int(GROWTH * len(self._array))))
        self._array[self.count : needed] = block
        self.count = needed

    def finished(self) -> NDArray[Any]:
        """Return the array, as long as it has rows."""
        self._resize(self.count)
        return self._array

    def _resize(self, length: int) -> None:
        self._array.resize((length, self._array.shape[1]), refcheck=False)
