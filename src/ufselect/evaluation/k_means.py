"""k-means of many starts and many sets at once, on distances of few samples."""

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state

from ufselect.evaluation.batch_k_means import k_means_of_draws, n_draws
from ufselect.evaluation.tables import largest_magnitude
from ufselect.matrix import Float
from ufselect.solvers.preparation import LARGEST_LENGTH

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


# Distances (restart, cluster, sample) held at a time; two such arrays are at work.
BLOCK = 800_000


def repeated_k_means(
    columns: Any,
    n_clusters: int,
    *,
    seeds: Iterable[int],
    n_init: int = 10,
    max_iter: int = 300,
    tol: float = 1e-4,
) -> tuple[Labels, NDArray[np.float64]]:
    """Cluster the rows of a table by k-means, once per seed.

    Seed by seed, the random numbers, the rules and so, up to rounding, the labels are
    those of scikit-learn's ``KMeans(n_clusters, n_init=n_init, random_state=seed)``:
    greedy k-means++, Lloyd's iteration, clusters without samples moved to the
    farthest one, the restart of least inertia kept. The distances between samples are
    computed once for all, which is what makes many restarts cheap. The answer of a
    seed does not depend on the other seeds.

    Parameters
    ----------
    columns : array-like or sparse matrix of shape (n, k)
    n_clusters : int
    seeds : iterable of int
    n_init : int
        Restarts per seed.
    max_iter : int
    tol : float
        A restart ends when the squared moves of its centres sum to less than this
        share of the mean variance of the columns, or no label changes.

    Returns
    -------
    labels : ndarray of shape (n_seeds, n)
    inertia : ndarray of shape (n_seeds,)
        Sum of the squared distances to the nearest centre.

    Examples
    --------
    >>> labels, inertia = repeated_k_means([[0.0], [0.2], [9.0], [9.2]], 2, seeds=[0])
    >>> len(set(labels[0, :2])), len(set(labels[0, 2:]))
    (1, 1)
    >>> inertia.round(6)
    array([0.04])
    """
    # Looking for infinity, scikit-learn adds it to its opposite.
    with np.errstate(invalid="ignore"):
        columns = check_array(columns, accept_sparse="csr", dtype=np.float64)
    check_numbers(columns.shape[0], n_clusters, n_init, max_iter)
    refuse_immense(columns)
    geometry = SampleDistances(columns)
    size = n_init * n_draws(n_clusters)
    draws = [check_random_state(seed).uniform(size=size) for seed in seeds]
    per_block = max(1, BLOCK // (n_init * n_clusters * columns.shape[0]))
    blocks = [
        k_means_of_draws(
            geometry,
            np.array(draws[at : at + per_block]),
            n_clusters,
            n_init,
            max_iter,
            tol,
        )
        for at in range(0, len(draws), per_block)
    ]
    if not blocks:
        return np.empty((0, columns.shape[0]), dtype=np.intp), np.empty(0)
    labels = np.concatenate([labels for labels, _ in blocks])
    warn_of_few_clusters(labels, n_clusters)
    return labels, np.concatenate([inertia for _, inertia in blocks])


def refuse_immense(columns: Any) -> None:
    """Raise ValueError where squared distances would not be finite."""
    peak = largest_magnitude(columns)
    if peak > LARGEST_LENGTH / np.sqrt(columns.shape[0] * columns.shape[1]):
        raise ValueError(
            f"columns reach {peak:.3g}, whose square is no finite number; rescale them"
        )


def check_numbers(n_samples: int, n_clusters: int, n_init: int, max_iter: int) -> None:
    """Raise ValueError where the numbers ask for the impossible."""
    if not 1 <= n_clusters <= n_samples:
        raise ValueError(
            f"n_clusters={n_clusters} must be between 1 and the {n_samples} samples"
        )
    for name, value in {"n_init": n_init, "max_iter": max_iter}.items():
        if value < 1:
            raise ValueError(f"{name}={value} must be at least 1")


def warn_of_few_clusters(labels: Labels, n_clusters: int) -> None:
    """Warn, once, where clusters are without samples."""
    fewest = min(len(np.unique(row)) for row in labels)
    if fewest < n_clusters:
        warnings.warn(
            f"k-means found {fewest} distinct clusters, fewer than "
            f"n_clusters={n_clusters}, possibly because samples are equal",
            ConvergenceWarning,
            stacklevel=3,
        )
