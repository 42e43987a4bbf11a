"""How well k-means on the selected columns agrees with known classes."""

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix

Normaliser = Literal["geometric", "arithmetic", "max", "min"]


def clustering_accuracy(classes: ArrayLike, clusters: ArrayLike) -> float:
    """Return the share of samples whose cluster is matched to their class.

    Clusters are matched to classes one to one so that the share is largest
    (Kuhn-Munkres).

    Examples
    --------
    >>> clustering_accuracy([0, 0, 1, 1], [1, 1, 0, 2])
    0.75
    """
    counts = contingency_matrix(classes, clusters)
    rows, columns = linear_sum_assignment(counts, maximize=True)
    return float(counts[rows, columns].sum() / counts.sum())


def mutual_information(
    classes: ArrayLike, clusters: ArrayLike, normaliser: Normaliser = "geometric"
) -> float:
    """Return the normalised mutual information of two partitions.

    Examples
    --------
    >>> mutual_information([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    """
    value = normalized_mutual_info_score(classes, clusters, average_method=normaliser)
    return float(value)


def adjusted_rand(classes: ArrayLike, clusters: ArrayLike) -> float:
    """Return the Rand index of two partitions, corrected for chance.

    1 if they are the same, 0 on average over clusterings at random, negative where
    they agree less than that.

    Examples
    --------
    >>> adjusted_rand([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    """
    return float(adjusted_rand_score(classes, clusters))


def purity(classes: ArrayLike, clusters: ArrayLike) -> float:
    """Return the share of samples that are in the largest class of their cluster.

    It is 1 for clusters of one sample each: compare equal numbers of clusters only.

    Examples
    --------
    >>> purity([0, 0, 1, 1], [5, 5, 5, 6])
    0.75
    """
    counts = contingency_matrix(classes, clusters)
    return float(counts.max(axis=0).sum() / counts.sum())


def judge_by_k_means(
    columns: Any,
    classes: ArrayLike,
    *,
    seeds: Iterable[int] = range(5),
    n_init: int = 10,
) -> NDArray[np.float64]:
    """Cluster the columns by k-means, once per seed, and compare with the classes.

    Parameters
    ----------
    columns : array-like of shape (n, k)
        The selected columns.
    classes : array-like of shape (n,)
        Used for the comparison, and for the number of clusters.
    seeds : iterable of int
    n_init : int
        Restarts of each k-means.

    Returns
    -------
    scores : ndarray of shape (n_seeds, 2)
        Accuracy and geometric mutual information.

    Examples
    --------
    >>> import numpy as np
    >>> columns = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> judge_by_k_means(columns, [0, 0, 1, 1], seeds=[0])
    array([[1., 1.]])
    """
    n_clusters = len(np.unique(np.asarray(classes)))
    scores = []
    for seed in seeds:
        model = KMeans(n_clusters, n_init=n_init, random_state=seed)
        clusters = model.fit_predict(columns)
        scores.append(
            (
                clustering_accuracy(classes, clusters),
                mutual_information(classes, clusters),
            )
        )
    return np.array(scores)
