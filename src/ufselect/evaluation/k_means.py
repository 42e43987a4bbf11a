"""k-means for many seeds: scikit-learn's answers at a fraction of the cost."""

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state

from ufselect.evaluation.batch_k_means import k_means_of_draws, n_draws
from ufselect.evaluation.sample_distances import Labels, SampleDistances
from ufselect.evaluation.tables import largest_magnitude
from ufselect.solvers.preparation import LARGEST_LENGTH

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
