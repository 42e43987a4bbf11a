"""Matrices that live in memory: dense arrays and SciPy's CSR and CSC."""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.sparsefuncs import mean_variance_axis, min_max_axis

from ufselect.matrix.base import (
    LARGEST_TO_SQUARE,
    ColumnSummary,
    DataMatrix,
    Float,
    Index,
    column_sums,
    product_with,
)


class InMemoryMatrix(DataMatrix):
    """Products with raw data, corrected for shift and scale by thin terms."""

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
            # Each column is in one piece, and is copied as such.
            raw = self.raw.T.take(index, axis=0).T
        return self._affine(raw, slice(None), index)

    def take(self, index: Index) -> DataMatrix:
        """Return some columns, prepared once and for all."""
        return DenseMatrix(self.columns(index))


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
        """Return the samples in rows, scaled, not shifted and still sparse."""
        return sp.csr_array(self.raw @ sp.diags_array(self.scale))

    def scale_samples(self, factors: Float) -> Self:
        """Return the matrix with scaled rows, which is as sparse as before."""
        scaled = sp.diags_array(factors.astype(self.raw.dtype)) @ self.raw
        return type(self)(scaled.asformat(self.raw.format))

    def less(self, offsets: Float) -> Self:
        """Return the raw data minus an offset of each column, for some columns.

        Columns with an offset become full, and should be nearly full already.
        """
        places = np.flatnonzero(offsets)
        n_samples, count = self.shape[0], len(places)
        rows, columns = np.tile(np.arange(n_samples), count), places.repeat(n_samples)
        full = sp.coo_array((offsets[columns], (rows, columns)), shape=self.shape)
        moved = (self.raw - full.asformat(self.raw.format)).astype(self.raw.dtype)
        return type(self)(moved.asformat(self.raw.format))

    def by_columns(self) -> Self:
        """Return the matrix in CSC, which takes as much memory again."""
        if self.raw.format == "csc":
            return self
        turned = self.raw.tocsc()
        return type(self)(turned, self.shift, self.scale, self.sample_scale)

    def take(self, index: Index) -> DataMatrix:
        """Return some columns, dense where that is no larger than the whole."""
        if self.shape[0] * len(index) <= self.raw.nnz:
            return DenseMatrix(self.columns(index))
        return SparseMatrix(self.raw[:, index], self.shift[index], self.scale[index])

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

    @np.errstate(invalid="ignore")
    def summary(self) -> ColumnSummary:
        """Return statistics of the columns, zeros included."""
        minimum, maximum = min_max_axis(self.raw, axis=0)
        peak = np.maximum(np.abs(minimum), np.abs(maximum)).astype(np.float64)
        unit, raw = np.ones(len(peak)), self.raw
        limit = LARGEST_TO_SQUARE[self.raw.dtype]
        extreme = (peak > 0) & ((peak > limit) | (peak < 1 / limit))
        if extreme.any():
            # Squares of such numbers would overflow or vanish.
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
        """Return the share of each column that repeats its median.

        Where more than half of a column is zero, that is its median.
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
