"""Matrices that stay on disk and are read in blocks of rows."""

from typing import Any

import numpy as np

from ufselect.matrix.arrays import DenseMatrix
from ufselect.matrix.base import Arrays, Beside, DataMatrix, Float, Index, Step


class RowBlockMatrix(DataMatrix):
    """An array that is read, shifted and scaled one block of rows at a time.

    Meant for ``numpy.memmap``. An array in memory whose columns lie far from zero
    compared with their spread is served this way too: subtracting before the
    product keeps the digits that correcting after it would lose.
    """

    def beside(self, *arrays: Float) -> Beside:
        """Put thin arrays beside the samples; they are changed from pass to pass."""
        return tuple(array.copy() for array in arrays)

    def over_rows(
        self, step: Step, beside: Beside = (), *arguments: Any
    ) -> tuple[Beside, Arrays]:
        """Go through all samples once, a block at a time."""
        kept: list[Float] = list(beside)
        total: Arrays = ()
        for block in self._slices(*self.shape):
            piece = DenseMatrix(self.rows(block))
            here = tuple(array[block] for array in beside)
            rows, sums = step(piece, here, *arguments)
            for place, array in enumerate(rows):
                if place == len(kept):
                    kept.append(np.empty((self.shape[0], *array.shape[1:])))
                kept[place][block] = array
            total = tuple(map(np.add, total, sums)) if total else sums
        return tuple(kept), total

    def dot(self, right: Float) -> Float:
        """Return ``X @ right``."""
        result = np.empty((self.shape[0], right.shape[1]))
        for block in self._slices(*self.shape):
            np.matmul(self.rows(block), right, out=result[block])
        return result

    def transpose_dot(self, left: Float) -> Float:
        """Return ``X.T @ left``."""
        result = np.zeros((self.shape[1], left.shape[1]))
        for block in self._slices(*self.shape):
            result += self.rows(block).T @ left[block]
        return result

    def take(self, index: Index) -> DataMatrix:
        """Return some columns, read into memory."""
        return DenseMatrix(self.columns(index))
