"""Squared distances between the rows of a table, and to means of clusters of them.

For a cluster C with mean m, and u(i) the mean of |x_l - x_i|^2 over l in C,

    |x_i - m|^2 = u(i) - v,    v = half the mean of u(i) over i in C,

and v is also the mean of |x_i - m|^2 over C: once the distances between rows are
known, k-means needs no centres.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ufselect.matrix import Float

Labels = NDArray[np.intp]

# Up to this many rows (200 MB) the distances of all pairs are kept.
KEEP_PAIRS_UP_TO = 5000

# A multiplication inside BLAS, next to an addition of rows picked one by one.
COST_IN_BLAS = 0.13


class SampleDistances:
    """Squared distances between the rows of a table, shared by many k-means runs.

    What is returned for a restart never depends, not even by rounding, on the others
    of the same call: products are made one restart, or one group of constant size, at
    a time. Clusters are numbered through the restarts: cluster j of restart b is
    b c + j.
    """

    def __init__(self, columns: Any, keep_pairs_up_to: int = KEEP_PAIRS_UP_TO) -> None:
        self.n_samples, self.n_columns = columns.shape
        rows = columns.toarray() if bool(sp.issparse(columns)) else columns
        self.rows: Float = rows - rows.mean(axis=0)
        norms = squared_norms(self.rows)
        # The mean variance of the columns.
        self.variance = float(norms.sum() / max(1, self.rows.size))
        # |x - y|^2 = (-2 x, |x|^2, 1)' (y, 1, |y|^2): one product, no further pass.
        self.right: Float = np.column_stack([self.rows, np.ones(len(norms)), norms]).T
        self.pairs: Float | None = None
        if self.n_samples <= keep_pairs_up_to:
            self.pairs = self.to_points(self.rows)
            np.maximum(self.pairs, 0.0, out=self.pairs)
            np.fill_diagonal(self.pairs, 0.0)

    def to_points(self, points: Float) -> Float:
        """Return the distances (..., m, n) to points (..., m, k) of centred space."""
        norms = squared_norms(points)[..., None]
        left = np.concatenate([-2.0 * points, norms, np.ones(norms.shape)], axis=-1)
        return left @ self.right

    def to_samples(self, samples: Labels) -> Float:
        """Return the distances (..., m, n) to the samples (..., m)."""
        if self.pairs is not None:
            return self.pairs.take(samples, axis=0)
        return np.maximum(self.to_points(self.rows[samples]), 0.0)

    def to_means(self, members: Labels, sizes: Float, group: int = 1) -> Float:
        """Return the distances (B, c, n) to the means of the clusters of B restarts.

        Parameters
        ----------
        members : ndarray of shape (B, n)
            Clusters of the samples, numbered through the restarts.
        sizes : ndarray of shape (B, c)
            Numbers of samples, positive also where there is none.
        group : int
            How many restarts are multiplied together; B is a multiple of it.
        """
        n_restarts, n_clusters = sizes.shape
        starts = np.arange(0, members.size + 1, n_restarts)
        weights = (1.0 / sizes).ravel()
        clusters = np.ascontiguousarray(members.T).ravel()
        average = by_samples(weights[clusters], clusters, starts, sizes.size)
        if self.pairs is None or self._cost_by_means(n_clusters) < self.n_samples:
            means = average @ self.rows
            shape = (-1, group * n_clusters, self.n_columns)
            distances = self.to_points(means.reshape(shape))
        else:
            distances = average @ self.pairs
            within = weighted_counts(members, own(distances, members), sizes.size)
            distances -= (within / (2.0 * sizes.ravel()))[:, None]
        return np.asarray(distances).reshape(n_restarts, n_clusters, -1)

    def _cost_by_means(self, n_clusters: int) -> float:
        return self.n_columns * (1.0 + COST_IN_BLAS * n_clusters)

    def most_changes(self, n_clusters: int) -> float:
        """Return up to how many moved samples an update is cheaper than ``to_means``.

        A sample that moves is taken from one row and added to another.
        """
        if self.pairs is None:
            return 0.0
        return min(self._cost_by_means(n_clusters), self.n_samples) / 2.0

    def changes(
        self, samples: Labels, rows: Labels, weights: Float, height: int
    ) -> Float:
        """Return sums (height, n) of weighted distances to samples, in sample order."""
        starts = np.zeros(self.n_samples + 1, dtype=np.intp)
        np.cumsum(np.bincount(samples, minlength=self.n_samples), out=starts[1:])
        return np.asarray(by_samples(weights, rows, starts, height) @ self.pairs)


def by_samples(weights: Float, rows: Labels, starts: Labels, height: int) -> Any:
    """Return the sparse matrix whose column i has rows[starts[i]:starts[i + 1]]."""
    return sp.csc_array((weights, rows, starts), shape=(height, len(starts) - 1))


def own(values: Float, members: Labels) -> Float:
    """Return the value of every sample (B, n) in the row of its cluster."""
    n_samples = members.shape[1]
    cells = members * n_samples
    cells += np.arange(n_samples)
    return values.ravel().take(cells)


def weighted_counts(members: Labels, weights: Float, length: int) -> Float:
    """Return the summed weights of every cluster."""
    sums = np.bincount(members.ravel(), weights.ravel(), minlength=length)
    return np.asarray(sums, dtype=np.float64)


def squared_norms(points: Float) -> Float:
    """Return the sums of squares along the last axis."""
    return np.einsum("...j,...j->...", points, points)
