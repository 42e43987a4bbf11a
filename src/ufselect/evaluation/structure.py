"""How much structure of a table a selection keeps, and repeats, without labels."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import gen_batches

from ufselect.evaluation.agreement import agreement
from ufselect.evaluation.k_means import repeated_k_means
from ufselect.evaluation.tables import centred, checked_table, some_of
from ufselect.matrix import Index, as_matrix
from ufselect.solvers.graphs import nearest_neighbours
from ufselect.solvers.rankings import unit_columns

# Correlations are held for this many pairs at a time.
PAIRS_AT_ONCE = 1_000_000


class ClusteringAgreement(NamedTuple):
    """Adjusted Rand index and geometric mutual information, means over the seeds."""

    adjusted_rand: float
    mutual_information: float


def redundancy(columns: Any) -> float:
    """Return the mean absolute correlation between pairs of selected columns.

    0 if no two columns are correlated, 1 if all are copies of one up to sign and
    scale. A constant column has no correlation: its pairs are left out. Without any
    pair the value is 0.

    Parameters
    ----------
    columns : {array-like, sparse matrix} of shape (n, k)
        The selected columns.

    Notes
    -----
    After the redundancy rate of Zhao, Wang and Liu (AAAI 2010). Here the sum over
    the pairs is divided by their number ``k (k - 1) / 2``, so that the largest value
    is 1, and negative correlations count by their size. Compare with published
    values only after looking up how theirs were divided.

    Examples
    --------
    >>> redundancy([[0.0, 0.0, 1.0], [1.0, 2.0, 0.0], [2.0, 4.0, 1.0]])
    0.333...
    """
    data = as_matrix(checked_table(columns, "columns"))
    summary = data.summary()
    varying = np.flatnonzero(~summary.constant)
    count = len(varying)
    if count < 2:
        return 0.0
    unit = unit_columns(data, summary, varying)
    total = sum(
        float(np.abs(unit.transpose_dot(unit.columns(batch))).sum())
        for batch in gen_batches(count, max(1, PAIRS_AT_ONCE // count))
    )
    return float(np.clip((total - count) / (count * (count - 1)), 0.0, 1.0))


def neighbourhood_agreement(
    table: Any, selected: ArrayLike, n_neighbors: int = 5
) -> float:
    """Return how far samples keep their nearest neighbours in the selected columns.

    The mean, over the samples, of the Jaccard index of two sets: the nearest
    neighbours by all columns, and those by the selected ones. 1 if no neighbour
    changes. Neighbours at equal distance are taken in no particular order.

    Parameters
    ----------
    table : {array-like, sparse matrix} of shape (n, p)
        In the units in which distances are to be measured.
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
    return neighbours_in_common(whole, part)


def neighbours_in_common(whole: Index, part: Index) -> float:
    """Return the mean Jaccard index of two sets of as many neighbours per sample."""
    common = (whole[:, :, np.newaxis] == part[:, np.newaxis]).sum(axis=(1, 2))
    return float(np.mean(common / (2 * whole.shape[1] - common)))


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
        In the units in which distances are to be measured.
    selected : array-like
        Mask or indices of the selected columns.
    n_clusters : int
    seeds : iterable of int
        Both clusterings are made anew for each.
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
