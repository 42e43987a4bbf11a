"""Matrices in memory, dense or sparse, and on disk, read in blocks of rows."""

import copy
from abc import abstractmethod
from collections.abc import Iterator
from functools import reduce
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.sparsefuncs import mean_variance_axis, min_max_axis

from ufselect.matrix.base import (
    BLOCK_BYTES,
    MAX_TO_SQUARE,
    AlignedRows,
    Arrays,
    ColumnSummary,
    DataMatrix,
    Float,
    Index,
    Mask,
    PartialSummary,
    Step,
    column_sums,
    is_memory_mapped,
    product_with,
)


class InMemoryMatrix(DataMatrix):
    """Products with the raw data, corrected for shift and scale afterwards."""

    def permuted(self, random: np.random.Generator) -> Self:
        """Return the raw data with the values of each column permuted independently.

        No random number is drawn for a constant column. The statistics of the columns
        stay the same.

        Examples
        --------
        >>> X = DenseMatrix(np.arange(8.0).reshape(4, 2))
        >>> np.sort(X.permuted(np.random.default_rng(0)).raw, axis=0).T
        array([[0., 2., 4., 6.],
               [1., 3., 5., 7.]])
        """
        summary = self.summary()
        copy = type(self)(self._permuted(~summary.constant, random))
        copy._summary = summary
        return copy

    @abstractmethod
    def _permuted(self, varying: Mask, random: np.random.Generator) -> Any:
        """Return the raw data with the values of varying columns permuted."""

    def take_rows(self, index: Index) -> Self:
        """Return some rows, in the same precision and form; all of them are no copy."""
        if np.array_equal(index, np.arange(self.shape[0])):
            return self
        return type(self)(self.raw[index])

    def dot(self, right: Float) -> Float:
        """Return ``X @ right``."""
        if self.plain:
            return product_with(self.raw, right)
        scaled = right * self.scale[:, np.newaxis]
        product = product_with(self.raw, scaled)
        if self.sample_scale is not None:
            product *= self.sample_scale[:, np.newaxis]
        if self.shift.any():
            product -= self.shift @ scaled
        return product

    def transpose_dot(self, left: Float) -> Float:
        """Return ``X.T @ left``."""
        if self.plain:
            return product_with(self.raw.T, left)
        factor = left
        if self.sample_scale is not None:
            factor = left * self.sample_scale[:, np.newaxis]
        product = product_with(self.raw.T, factor)
        if self.shift.any():
            product -= np.outer(self.shift, column_sums(left))
        product *= self.scale[:, np.newaxis]
        return product


class DenseMatrix(InMemoryMatrix):
    """A NumPy array of floats, in any memory order."""

    def columns(self, index: Index | slice) -> Float:
        """Return some columns as a dense n x a array, which is a copy."""
        if isinstance(index, slice) or not self.raw.flags.f_contiguous:
            raw = self.raw[:, index]
        else:
            # Columns are contiguous and are copied one by one.
            raw = self.raw.T.take(index, axis=0).T
        return self._affine(raw, slice(None), index)

    def _take(self, index: Index) -> DataMatrix:
        """Return a copy of some columns, shifted and scaled."""
        return DenseMatrix(self.columns(index))

    def _permuted(self, varying: Mask, random: np.random.Generator) -> Any:
        if varying.all():
            return random.permuted(self.raw, axis=0)
        copy = self.raw.copy()
        copy[:, varying] = random.permuted(self.raw[:, varying], axis=0)
        return copy


class SparseMatrix(InMemoryMatrix):
    """A CSR or CSC matrix; zeros stay implicit in every product."""

    def __init__(
        self,
        raw: Any,
        shift: Float | None = None,
        scale: Float | None = None,
        sample_scale: Float | None = None,
    ) -> None:
        if not raw.has_canonical_format:
            raw = raw.copy()
            raw.sum_duplicates()
        super().__init__(raw, shift, scale, sample_scale)

    @property
    def multiplications(self) -> int:
        """Return the number of stored values."""
        return int(self.raw.nnz)

    def points(self) -> Any:
        """Return the samples as rows, scaled but not shifted, as a sparse matrix."""
        return sp.csr_array(self.raw @ sp.diags_array(self.scale))

    def scale_samples(self, factors: Float) -> Self:
        """Return the matrix with scaled rows, with the same sparsity."""
        scaled = sp.diags_array(factors.astype(self.raw.dtype)) @ self.raw
        return type(self)(scaled.asformat(self.raw.format))

    def less(self, offsets: Float) -> Self:
        """Return the raw data minus an offset for each column.

        Columns with a nonzero offset become dense, and should nearly be so already.
        """
        places = np.flatnonzero(offsets)
        n_samples, count = self.shape[0], len(places)
        rows, columns = np.tile(np.arange(n_samples), count), places.repeat(n_samples)
        full = sp.coo_array((offsets[columns], (rows, columns)), shape=self.shape)
        moved = (self.raw - full.asformat(self.raw.format)).astype(self.raw.dtype)
        return type(self)(moved.asformat(self.raw.format))

    def by_columns(self) -> Self:
        """Return the matrix in CSC format, a copy that doubles the memory."""
        if self.raw.format == "csc":
            return self
        view = copy.copy(self)
        view.raw = self.raw.tocsc()
        return view

    def _take(self, index: Index) -> DataMatrix:
        """Return some columns, dense if that is no larger than the whole matrix."""
        if self.shape[0] * len(index) <= self.raw.nnz:
            return DenseMatrix(self.columns(index))
        return SparseMatrix(self.raw[:, index], self.shift[index], self.scale[index])

    def _permuted(self, varying: Mask, random: np.random.Generator) -> Any:
        result = sp.csc_array(self.raw, copy=True)
        n_samples, n_features = self.shape
        # Put the rows in random order and shift each column cyclically by a random
        # number, zeros included.
        shifts = np.zeros(n_features, dtype=np.intp)
        shifts[varying] = random.integers(n_samples, size=np.count_nonzero(varying))
        moves = np.repeat(shifts, np.diff(result.indptr))
        rows = random.permutation(n_samples)[result.indices]
        result.indices = ((rows + moves) % n_samples).astype(result.indices.dtype)
        result.has_sorted_indices = False
        return result

    def _feature_gram(self) -> Float:
        scaled = self.raw @ sp.diags_array(self.scale)
        shift = self.shift * self.scale
        gram = _dense_product(scaled.T, scaled)
        sums = np.asarray(scaled.sum(axis=0), dtype=np.float64).ravel()
        cross = np.outer(sums, shift)
        gram -= cross + cross.T
        gram += self.shape[0] * np.outer(shift, shift)
        return gram

    def weighted_gram(self, weights: Float | None = None) -> Float:
        """Return ``X diag(w) X.T`` (n x n) for weights >= 0, by default ones."""
        roots = self.scale if weights is None else self.scale * np.sqrt(weights)
        weighted = self.raw @ sp.diags_array(roots)
        shift = self.shift * roots
        gram = _dense_product(weighted, weighted.T)
        offset = weighted @ shift
        gram -= offset[:, np.newaxis] + offset
        gram += shift @ shift
        return gram

    def _column_summary(self) -> ColumnSummary:
        """Return statistics of the columns, zeros included."""
        minimum, maximum = min_max_axis(self.raw, axis=0)
        peak = np.maximum(np.abs(minimum), np.abs(maximum)).astype(np.float64)
        unit, raw = np.ones(len(peak)), self.raw
        limit = MAX_TO_SQUARE[self.raw.dtype]
        extreme = (peak > 0) & ((peak > limit) | (peak < 1 / limit))
        if extreme.any():
            # Squares of such numbers would overflow or underflow.
            unit[extreme] = peak[extreme]
            raw = raw @ sp.diags_array(1 / unit)
        mean, variance = mean_variance_axis(raw, axis=0)
        return ColumnSummary(
            (minimum - self.shift) * self.scale,
            (maximum - self.shift) * self.scale,
            (mean * unit - self.shift) * self.scale,
            np.sqrt(variance) * unit * self.scale,
        )

    def repetition(self) -> Float:
        """Return the share of the entries of each column that equal its median.

        The median is zero if more than half of a column is zero.
        """
        n_samples, n_features = self.shape
        stored = sp.csc_array(self.raw) if self.raw.format != "csc" else self.raw
        nonzero = np.bincount(
            np.repeat(np.arange(n_features), np.diff(stored.indptr)),
            weights=stored.data != 0,
            minlength=n_features,
        )
        share = (n_samples - nonzero - 1) / max(1, n_samples - 1)
        full = np.flatnonzero(2 * nonzero >= n_samples)
        if len(full):
            share[full] = DenseMatrix(stored[:, full].toarray()).repetition()
        return share

    def row_norms(self) -> Float:
        """Return the Euclidean norm of each row."""
        scaled = self.raw @ sp.diags_array(self.scale)
        shift = self.shift * self.scale
        squares = np.asarray(scaled.power(2).sum(axis=1)).ravel()
        squares += shift @ shift - 2 * (scaled @ shift)
        return np.sqrt(np.maximum(squares, 0.0))


def _dense_product(left: Any, right: Any) -> Float:
    return (left @ right).toarray().astype(np.float64, copy=False)


class RowBlockMatrix(DataMatrix):
    """An array that is read, shifted and scaled one block of rows at a time.

    For ``numpy.memmap`` and ``RowSource``, and for arrays in memory whose means are
    large compared with their standard deviations: subtracting the shift before a
    product avoids the cancellation of a correction afterwards.

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
        self.block_bytes = block_bytes
        self.out_of_core = not isinstance(raw, np.ndarray) or is_memory_mapped(raw)

    def aligned(self, *arrays: Float) -> AlignedRows:
        """Store arrays with a row per sample; later passes overwrite them."""
        return tuple(array.copy() for array in arrays)

    def over_rows(
        self, step: Step, beside: AlignedRows = (), *arguments: Any
    ) -> tuple[AlignedRows, Arrays]:
        """Apply a step to all samples, one block at a time."""
        kept: list[Float] = []
        total: Arrays = ()
        for block, piece in self.factors():
            here = tuple(array[block] for array in beside)
            rows, sums = step(piece, here, *arguments)
            if not kept:
                kept = self._new_arrays(rows, beside)
            for array, part in zip(kept, rows, strict=True):
                array[block] = part
            total = tuple(map(np.add, total, sums)) if total else sums
        return tuple(kept), total

    def _new_arrays(self, rows: Arrays, beside: AlignedRows) -> list[Float]:
        """Return arrays for new rows, reusing the old ones if they have the shape."""
        shapes = [(self.shape[0], *array.shape[1:]) for array in rows]
        old = (*beside, *([None] * len(rows)))
        return [
            np.empty(shape) if array is None or array.shape != shape else array
            for shape, array in zip(shapes, old, strict=False)
        ]

    def pieces(self) -> Iterator[tuple[slice, DataMatrix]]:
        """Yield slices and blocks of rows with the shift and scale of this matrix."""
        for block in self.row_slices():
            raw = self.raw[block]
            if bool(sp.issparse(raw)):
                yield block, self._sparse_piece(raw, block)
            else:
                yield block, DenseMatrix(self._affine(raw, block, slice(None)))

    def _sparse_piece(self, raw: Any, block: slice) -> DataMatrix:
        piece = SparseMatrix(raw)
        if self.sample_scale is not None:
            piece = piece.scale_samples(self.sample_scale[block])
        return piece.affine(self.shift, self.scale)

    def factors(self) -> Iterator[tuple[slice, DataMatrix]]:
        """Yield blocks of rows for products, without a copy if that is as precise."""
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
        """Yield slices of rows, aligned with the chunks of the source if it has any."""
        chunk = getattr(self.raw, "chunk_rows", 1)
        row_bytes = getattr(self.raw, "row_bytes", 8 * self.shape[1])
        step = int(self.block_bytes // max(1, row_bytes))
        step = max(chunk, step - step % chunk)
        for start in range(0, self.shape[0], step):
            yield slice(start, min(start + step, self.shape[0]))

    def columns(self, index: Index | slice) -> Float:
        """Return some columns as a dense array, read block by block."""
        width = len(np.arange(self.shape[1])[index])
        result = np.empty((self.shape[0], width))
        for block in self.row_slices():
            result[block] = self._affine(self.raw[block, index], block, index)
        return result

    def rows(self, index: Index | slice) -> Float:
        """Return some rows as a dense array, reading only the blocks with such rows."""
        if isinstance(index, slice) or isinstance(self.raw, np.ndarray):
            return super().rows(index)
        result = np.empty((len(index), self.shape[1]))
        for block in self.row_slices():
            inside = np.flatnonzero((block.start <= index) & (index < block.stop))
            if len(inside):
                raw = self.raw[block][index[inside] - block.start]
                result[inside] = self._affine(raw, index[inside], slice(None))
        return result

    def _column_summary(self) -> ColumnSummary:
        """Return statistics of the columns, in one pass over blocks of rows."""
        parts = (
            PartialSummary.of(piece.raw)
            if isinstance(piece, DenseMatrix)
            else PartialSummary(piece.shape[0], piece.summary())
            for _, piece in self.pieces()
        )
        return reduce(PartialSummary.merged, parts).columns

    def _feature_gram(self) -> Float:
        gram = np.zeros((self.shape[1], self.shape[1]))
        for _, piece in self.pieces():
            if isinstance(piece, DenseMatrix):
                gram += piece.raw.T @ piece.raw
            else:
                gram += piece._feature_gram()
        return gram

    def row_norms(self) -> Float:
        """Return the Euclidean norm of each row."""
        norms = np.empty(self.shape[0])
        for block, piece in self.pieces():
            norms[block] = piece.row_norms()
        return norms

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

    def _take(self, index: Index) -> DataMatrix:
        """Return some columns, read into memory."""
        return DenseMatrix(self.columns(index))

    def take_rows(self, index: Index) -> InMemoryMatrix:
        """Return some rows, read into memory."""
        in_array = isinstance(self.raw, np.ndarray)
        return DenseMatrix(self.raw[index] if in_array else self.rows(index))


class RowSource:
    """An array on disk whose slices of rows are returned as NumPy or SciPy arrays.

    Examples are Zarr arrays, HDF5 data sets and backed matrices of AnnData, which
    differ in the other kinds of indexing that they support.

    Parameters
    ----------
    source : object
        With ``shape``, ``dtype`` and slicing of rows, dense or sparse.

    Attributes
    ----------
    chunk_rows : int
        Number of rows of a chunk, which are read together.
    row_bytes : float
        Mean size of a row in memory.
    """

    def __init__(self, source: Any) -> None:
        self.source = source
        self.shape: tuple[int, ...] = tuple(source.shape)
        self.dtype = np.dtype(source.dtype)
        chunks = getattr(source, "chunks", None)
        self.chunk_rows = int(chunks[0]) if chunks else 1
        self.row_bytes = 8.0 * self.shape[-1]
        if hasattr(source, "group"):
            # Stored values, with an index for each.
            stored = source.group["data"].shape[0]
            self.row_bytes = min(self.row_bytes, 16 * stored / max(1, self.shape[0]))

    def __getitem__(self, key: Any) -> Any:
        """Return a slice of rows, optionally of some columns only."""
        if isinstance(key, slice):
            return in_memory(self.source[key])
        rows, columns = key
        if isinstance(columns, slice):
            return in_memory(self.source[rows, columns])
        # Indexing columns in a file is slow and differs between libraries.
        return in_memory(self.source[rows])[:, columns]


def in_memory(piece: Any) -> Any:
    """Return a piece that was read as an array or in CSR format."""
    return piece.tocsr() if bool(sp.issparse(piece)) else unmasked(piece)


def unmasked(piece: Any) -> Any:
    """Return an array with NaN for masked cells, which a later check reports."""
    if np.ma.is_masked(piece):
        return np.ma.filled(piece.astype(np.float64), np.nan)
    return np.asarray(piece)
