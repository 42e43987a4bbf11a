"""How well selected columns preserve a table: its variance, neighbours and clusters."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import orth
from sklearn.model_selection import KFold
from sklearn.utils import gen_batches

from ufselect.evaluation.checks import centred, some_of
from ufselect.evaluation.criteria import VALUES_AT_ONCE
from ufselect.evaluation.judging import agreement
from ufselect.evaluation.k_means import repeated_k_means
from ufselect.matrix import DataMatrix, Float, Index
from ufselect.solvers.neighbours import nearest_neighbours

# Singular values of the selected columns below this share of the largest count as zero.
NEGLIGIBLE = 1e-10


def reconstruction_error(
    table: Any, selected: ArrayLike, *, standardize: bool = False
) -> float:
    """Return the share of variance that the selected columns do not explain.

    It is ``min_B |X - X_s B|^2 / |X|^2`` for the centred table: 0 if every column is a
    linear combination of the selected ones, 1 if they explain nothing. With as many
    columns as samples it is always 0: compare small selections, or use
    `held_out_reconstruction_error`.

    Parameters
    ----------
    table : {array-like, sparse matrix} of shape (n, p)
    selected : array-like
        Mask or indices of the selected columns.
    standardize : bool
        Whether to scale all columns to unit variance first.

    Examples
    --------
    >>> table = [[0.0, 0.0, 1.0], [1.0, 2.0, -2.0], [2.0, 4.0, 1.0]]
    >>> round(reconstruction_error(table, [0]), 3)
    0.375
    """
    data, constant = centred(table, "features" if standardize else "none")
    kept = some_of(selected, data.shape[1])
    kept = kept[~constant[kept]]
    columns = _without_unit(data.columns(kept))
    if not columns.shape[1]:
        return 1.0
    basis = orth(columns / np.linalg.norm(columns, axis=0), rcond=NEGLIGIBLE)
    explained = sum(
        float(np.sum(data.transpose_dot(basis[:, batch]) ** 2))
        for batch in gen_batches(
            basis.shape[1], max(1, VALUES_AT_ONCE // data.shape[1])
        )
    )
    return float(np.clip(1.0 - explained, 0.0, 1.0))


def held_out_reconstruction_error(
    table: Any, selected: ArrayLike, *, n_splits: int = 5, seed: int = 0
) -> float:
    """Return the share of variance that is not explained in held-out samples.

    Means and coefficients are estimated on the other folds. Unlike
    `reconstruction_error`, it is not 0 if there are as many selected columns as
    samples, and it exceeds 1 if the means predict better.

    Parameters
    ----------
    table : {array-like, sparse matrix} of shape (n, p)
    selected : array-like
        Mask or indices of the selected columns.
    n_splits : int
        Number of folds.
    seed : int
        Seed of the assignment of samples to folds.

    Examples
    --------
    >>> table = [[0.0, 0.0], [1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]
    >>> round(held_out_reconstruction_error(table, [0], n_splits=2), 6)
    0.0
    """
    data, constant = centred(table)
    kept = some_of(selected, data.shape[1])
    kept = kept[~constant[kept]]
    if not 2 <= n_splits <= data.shape[0]:
        raise ValueError(
            f"n_splits={n_splits} but the table has {data.shape[0]} samples; ask for 2 "
            f"to {data.shape[0]} folds."
        )
    folds = KFold(n_splits, shuffle=True, random_state=seed)
    squares = sum(
        _squares_of_fold(data, kept, train, test)
        for train, test in folds.split(np.empty((data.shape[0], 0)))
    )
    left, total = np.asarray(squares)
    return float(left / total)


def _squares_of_fold(data: DataMatrix, kept: Index, train: Index, test: Index) -> Float:
    """Return the sums of squared errors of a fold, by prediction and by the means."""
    mean = _combined(data, train, np.full((len(train), 1), 1 / len(train)))
    columns = _without_unit(data.columns(kept) - mean[kept].T)
    # A column may be constant in a fold, such as a word of a single text.
    lengths = np.linalg.norm(columns[train], axis=0)
    varying = lengths > NEGLIGIBLE * np.linalg.norm(columns, axis=0)
    columns = columns[:, varying] / lengths[varying]
    inverse = np.linalg.pinv(columns[train], rcond=NEGLIGIBLE)
    # Rows of the pseudo-inverse of centred columns sum to zero, so that centring on all
    # samples does not change the result.
    coefficients = _combined(data, train, inverse.T.astype(np.float64, copy=False))
    left = total = 0.0
    for batch in gen_batches(len(test), max(1, VALUES_AT_ONCE // data.shape[1])):
        piece = data.rows(test[batch]) - mean.T
        total += float(np.sum(piece**2))
        piece -= columns[test[batch]] @ coefficients.T
        left += float(np.sum(piece**2))
    return np.array([left, total])


def _without_unit(columns: Float) -> Float:
    """Return columns scaled to a largest absolute value of one, without zero columns.

    Squares of a column that is much smaller than another would underflow.
    """
    peaks = np.abs(columns).max(axis=0, initial=0.0)
    return columns[:, peaks > 0] / peaks[peaks > 0]


def _combined(data: DataMatrix, rows: Index, weights: Float) -> Float:
    """Return ``X[rows].T @ weights`` without a copy of the rows."""
    padded = np.zeros((data.shape[0], weights.shape[1]))
    padded[rows] = weights
    return data.transpose_dot(padded)


def neighbourhood_agreement(
    table: Any, selected: ArrayLike, n_neighbors: int = 5
) -> float:
    """Return the agreement of nearest neighbours by all and by the selected columns.

    It is the mean, over the samples, of the Jaccard index of the two sets of nearest
    neighbours, and 1 if no neighbour changes. Ties between neighbours at equal distance
    are broken arbitrarily.

    Parameters
    ----------
    table : {array-like, sparse matrix} of shape (n, p)
        In the units in which distances are measured.
    selected : array-like
        Mask or indices of the selected columns.
    n_neighbors : int
        Neighbours of each sample, itself excluded.

    Examples
    --------
    >>> table = [[0.0, 0.0], [1.0, 0.0], [5.0, 0.1], [7.0, 0.0]]
    >>> neighbourhood_agreement(table, [0], n_neighbors=1)
    1.0
    """
    points = centred(table).data.points()
    n_samples, n_features = points.shape
    kept = some_of(selected, n_features)
    if not 1 <= n_neighbors < n_samples:
        raise ValueError(
            f"n_neighbors={n_neighbors} but the table has {n_samples} samples; ask "
            f"for 1 to {n_samples - 1} neighbours."
        )
    _, whole = nearest_neighbours(points, n_neighbors)
    _, part = nearest_neighbours(points[:, kept], n_neighbors)
    common = (whole[:, :, np.newaxis] == part[:, np.newaxis]).sum(axis=(1, 2))
    return float(np.mean(common / (2 * n_neighbors - common)))


class ClusteringAgreement(NamedTuple):
    """Adjusted Rand index and normalised mutual information, means over the seeds."""

    adjusted_rand: float
    mutual_information: float


def clustering_agreement(
    table: Any,
    selected: ArrayLike,
    n_clusters: int,
    *,
    seeds: Iterable[int] = range(5),
    n_init: int = 10,
) -> ClusteringAgreement:
    """Compare k-means on all columns with k-means on the selected ones.

    Parameters
    ----------
    table : {array-like, sparse matrix} of shape (n, p)
        In the units in which distances are measured.
    selected : array-like
        Mask or indices of the selected columns.
    n_clusters : int
    seeds : iterable of int
        Both clusterings are repeated for each seed.
    n_init : int
        Restarts of each k-means.

    Examples
    --------
    >>> table = [[0.0, 2.0], [0.1, 2.1], [5.0, 2.0], [5.1, 2.1]]
    >>> clustering_agreement(table, [0], 2, seeds=[0])
    ClusteringAgreement(adjusted_rand=1.0, mutual_information=1.0)
    """
    points = centred(table).data.points()
    kept = some_of(selected, points.shape[1])
    if not 2 <= n_clusters <= points.shape[0]:
        raise ValueError(
            f"n_clusters={n_clusters} but the table has {points.shape[0]} samples; "
            f"ask for 2 to {points.shape[0]} clusters."
        )
    seeds = list(seeds)
    if not seeds:
        raise ValueError("seeds is empty; give at least one seed.")
    whole, part = (
        repeated_k_means(columns, n_clusters, seeds=seeds, n_init=n_init)[0]
        for columns in (points, points[:, kept])
    )
    scores = [
        agreement(one, other, ["adjusted_rand", "nmi_geometric"])[0]
        for one, other in zip(whole, part, strict=True)
    ]
    rand, information = np.mean(scores, axis=0)
    return ClusteringAgreement(float(rand), float(information))
