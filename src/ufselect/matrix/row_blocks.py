"""Matrices that stay where they are and are read in blocks of rows."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from ufselect.matrix.arrays import DenseMatrix, SparseMatrix
from ufselect.matrix.base import (
    BLOCK_BYTES,
    Arrays,
    Beside,
    DataMatrix,
    Float,
    Index,
    Step,
)


def is_memory_mapped(array: Any) -> bool:
    """Tell whether an array is, or is a view of, a file on disk."""
    while array is not None:
        if isinstance(array, np.memmap):
            return True
        array = getattr(array, "base", None)
    return False


def is_sparse(piece: Any) -> bool:
    """Tell whether a piece is sparse, in words that say nothing of its type."""
    return bool(sp.issparse(piece))


class RowBlockMatrix(DataMatrix):
    """An array that is read, shifted and scaled one block of rows at a time.

    Meant for ``numpy.memmap`` and for what ``RowSource`` reads. An array in memory
    whose columns lie far from zero compared with their spread is served this way too:
    subtracting before the product keeps the digits that correcting after it would
    lose.

    Parameters
    ----------
    raw : numpy.memmap, RowSource or ndarray of shape (n, p)
    shift, scale, sample_scale : ndarray, optional
    block_bytes : int
        Size of a block, as dense float64.
    """

    def __init__(
        self,
        raw: Any,
        shift: Float | None = None,
        scale: Float | None = None,
        sample_scale: Float | None = None,
        block_bytes: int = BLOCK_BYTES,
    ) -> None:
        super().__init__(raw, shift, scale, sample_scale)
        self._block_bytes = block_bytes
        self.streams = not isinstance(raw, np.ndarray) or is_memory_mapped(raw)

    @property
    def block_bytes(self) -> int:
        """Return the size of the dense pieces that are cut from the matrix."""
        return self._block_bytes

    def beside(self, *arrays: Float) -> Beside:
        """Put thin arrays beside the samples; they are changed from pass to pass."""
        return tuple(array.copy() for array in arrays)

    def over_rows(
        self, step: Step, beside: Beside = (), *arguments: Any
    ) -> tuple[Beside, Arrays]:
        """Go through all samples once, a block at a time."""
        kept: list[Float] = []
        total: Arrays = ()
        for block, piece in self.factors():
            here = tuple(array[block] for array in beside)
            rows, sums = step(piece, here, *arguments)
            if not kept:
                kept = self._room_for(rows, beside)
            for array, part in zip(kept, rows, strict=True):
                array[block] = part
            total = tuple(map(np.add, total, sums)) if total else sums
        return tuple(kept), total

    def _room_for(self, rows: Arrays, beside: Beside) -> list[Float]:
        """Return arrays for new rows: the old ones, as far as they go."""
        fresh = rows[len(beside) :]
        shapes = [(self.shape[0], *array.shape[1:]) for array in fresh]
        return [*beside[: len(rows)], *map(np.empty, shapes)]

    def pieces(self) -> Iterator[tuple[slice, DataMatrix]]:
        """Yield blocks of rows with their places, shifted and scaled as here."""
        for block in self.row_slices():
            raw = self.raw[block]
            if is_sparse(raw):
                factors = (
                    None if self.sample_scale is None else self.sample_scale[block]
                )
                yield block, SparseMatrix(raw, self.shift, self.scale, factors)
            else:
                yield block, DenseMatrix(self._affine_rows(raw, block))

    def factors(self) -> Iterator[tuple[slice, DataMatrix]]:
        """Yield blocks of rows for products, not copied where that is as precise."""
        steady = self.near_zero or not self.shift.any()
        if not (steady and self._is_double()):
            yield from self.pieces()
            return
        for block in self.row_slices():
            piece = DenseMatrix(self.raw[block], self.shift, self.scale)
            if self.sample_scale is not None:
                piece.sample_scale = self.sample_scale[block]
            yield block, piece

    def _is_double(self) -> bool:
        return isinstance(self.raw, np.ndarray) and self.raw.dtype == np.float64

    def row_slices(self) -> Iterator[slice]:
        """Yield slices of rows, along the chunks of the source where it has some."""
        chunk = getattr(self.raw, "chunk_rows", 1)
        step = max(1, self.block_bytes // (8 * max(1, self.shape[1])))
        step = max(chunk, step - step % chunk)
        for start in range(0, self.shape[0], step):
            yield slice(start, min(start + step, self.shape[0]))

    def _slices(self, length: int, other_length: int) -> Iterator[slice]:
        if (length, other_length) == self.shape:
            return self.row_slices()
        return super()._slices(length, other_length)

    def dot(self, right: Float) -> Float:
        """Return ``X @ right``."""
        result = np.empty((self.shape[0], right.shape[1]))
        for block, piece in self.factors():
            result[block] = piece.dot(right)
        return result

    def transpose_dot(self, left: Float) -> Float:
        """Return ``X.T @ left``."""
        result = np.zeros((self.shape[1], left.shape[1]))
        for block, piece in self.factors():
            result += piece.transpose_dot(left[block])
        return result

    def take(self, index: Index) -> DataMatrix:
        """Return some columns, read into memory."""
        return DenseMatrix(self.columns(index))

    def _dense(self, piece: Any) -> Float:
        return super()._dense(piece.toarray() if is_sparse(piece) else piece)


class RowSource:
    """Something on disk that gives slices of its rows, as an array that NumPy knows.

    Zarr arrays, HDF5 data sets and the backed matrices of AnnData are such things;
    each has its own rules for what else it may be asked.

    Parameters
    ----------
    source : object
        With ``shape``, ``dtype`` and slices of rows, dense or sparse.
    """

    def __init__(self, source: Any) -> None:
        self.source = source
        self.shape: tuple[int, int] = tuple(source.shape)
        self.dtype = np.dtype(source.dtype)
        chunks = getattr(source, "chunks", None)
        self.chunk_rows = int(chunks[0]) if chunks else 1

    def __getitem__(self, key: Any) -> Any:
        """Return rows, or ``[:, columns]``, read a few chunks at a time."""
        if isinstance(key, slice):
            return self._read(key)
        if isinstance(key, tuple):
            pieces = [self._read(block)[:, key[1]] for block in self._blocks()]
        else:
            pieces = [self._some(block, np.asarray(key)) for block in self._blocks()]
        stack: Any = sp.vstack if is_sparse(pieces[0]) else np.concatenate
        return stack(pieces)

    def _some(self, block: slice, index: Index) -> Any:
        """Return those rows of a block that are in a rising index."""
        first, last = np.searchsorted(index, [block.start, block.stop])
        if first == last:
            return self._read(slice(0, 0))
        return self._read(block)[index[first:last] - block.start]

    def _read(self, rows: slice) -> Any:
        piece = self.source[rows]
        return piece.tocsr() if is_sparse(piece) else np.asarray(piece)

    def _blocks(self) -> Iterator[slice]:
        step = max(1, BLOCK_BYTES // (8 * max(1, self.shape[1])))
        step = max(self.chunk_rows, step - step % self.chunk_rows)
        for start in range(0, self.shape[0], step):
            yield slice(start, min(start + step, self.shape[0]))
