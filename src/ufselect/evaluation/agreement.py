"""Agreement of many labellings with known classes, all metrics from one count."""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

Array = NDArray[np.float64]
Metric = Callable[[Array], Array]


def agreement(
    classes: ArrayLike, labellings: ArrayLike, metrics: Sequence[str] | None = None
) -> Array:
    """Compare labellings with the classes.

    Parameters
    ----------
    classes : array-like of shape (n,)
    labellings : array-like of int of shape (m, n)
        Numbers of clusters, from 0 on.
    metrics : sequence of str, optional
        Names from ``METRICS``; by default all of them.

    Returns
    -------
    scores : ndarray of shape (m, n_metrics)

    Examples
    --------
    >>> agreement([0, 0, 1, 1], [[1, 1, 0, 0], [0, 0, 0, 1]], ["accuracy", "purity"])
    array([[1.  , 1.  ],
           [0.75, 0.75]])
    """
    metrics = tuple(METRICS) if metrics is None else metrics
    unknown = [name for name in metrics if name not in METRICS]
    if unknown:
        raise ValueError(f"metrics={unknown} are unknown; choose from {list(METRICS)}")
    counts = contingency_tables(classes, labellings)
    scores = np.empty((len(counts), len(metrics)))
    for column, name in enumerate(metrics):
        scores[:, column] = METRICS[name](counts)
    return scores


def contingency_tables(classes: ArrayLike, labellings: ArrayLike) -> Array:
    """Return how many samples of every class are in every cluster: (m, C, c)."""
    numbers = np.unique(np.asarray(classes), return_inverse=True)[1].ravel()
    labels = np.atleast_2d(np.asarray(labellings))
    n_classes, n_clusters = int(numbers.max()) + 1, int(labels.max(initial=0)) + 1
    tables = (np.arange(len(labels))[:, None] * n_classes + numbers) * n_clusters
    shape = (len(labels), n_classes, n_clusters)
    counts = np.bincount((tables + labels).ravel(), minlength=int(np.prod(shape)))
    return counts.reshape(shape).astype(np.float64)


def _accuracies(counts: Array) -> Array:
    """Return the shares of samples in the cluster matched to their class."""
    matched = [
        table[linear_sum_assignment(table, maximize=True)].sum() for table in counts
    ]
    return np.array(matched) / counts.sum(axis=(1, 2))


def _purities(counts: Array) -> Array:
    """Return the shares of samples in the commonest class of their cluster."""
    return np.asarray(counts.max(axis=1).sum(axis=1) / counts.sum(axis=(1, 2)))


def _rand_indices(counts: Array) -> Array:
    """Return the adjusted Rand indices, from the numbers of pairs put together."""
    both = pairs(counts).sum(axis=(1, 2))
    by_class = pairs(counts.sum(axis=2)).sum(axis=1)
    by_cluster = pairs(counts.sum(axis=1)).sum(axis=1)
    every = pairs(counts.sum(axis=(1, 2)))
    # Times the number of all pairs, so that whole numbers are subtracted.
    above = both * every - by_class * by_cluster
    most = 0.5 * (by_class + by_cluster) * every - by_class * by_cluster
    return np.divide(above, most, out=np.ones_like(above), where=most != 0)


def pairs(counts: Array) -> Array:
    """Return the numbers of pairs within groups of the given sizes."""
    return 0.5 * counts * (counts - 1.0)


def entropy(counts: Array) -> Array:
    """Return the entropies of distributions given by counts in the last axis."""
    shares = counts / counts.sum(axis=-1, keepdims=True)
    logarithms = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(-(shares * logarithms).sum(axis=-1))


def normalised_information(normaliser: Callable[[Array, Array], Array]) -> Metric:
    """Return the mutual information divided by a mean of the two entropies."""

    def metric(counts: Array) -> Array:
        by_class, by_cluster = entropy(counts.sum(axis=2)), entropy(counts.sum(axis=1))
        joint = entropy(counts.reshape(len(counts), -1))
        shared = np.maximum(by_class + by_cluster - joint, 0.0)
        # Two partitions into one part agree; one with entropy tells nothing of one
        # without.
        trivial = (by_class == 0) & (by_cluster == 0)
        scale = normaliser(by_class, by_cluster)
        some = (scale > 0) & (shared > 1e-15)
        return np.divide(shared, scale, out=trivial.astype(np.float64), where=some)

    return metric


METRICS: dict[str, Metric] = {
    "accuracy": _accuracies,
    "nmi_geometric": normalised_information(lambda a, b: np.sqrt(a * b)),
    "nmi_arithmetic": normalised_information(lambda a, b: (a + b) / 2.0),
    "nmi_max": normalised_information(np.maximum),
    "nmi_min": normalised_information(np.minimum),
    "adjusted_rand": _rand_indices,
    "purity": _purities,
}


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
    return _one(classes, clusters, "accuracy")


def mutual_information(
    classes: ArrayLike, clusters: ArrayLike, normaliser: Normaliser = "geometric"
) -> float:
    """Return the normalised mutual information of two partitions.

    Examples
    --------
    >>> mutual_information([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    """
    return _one(classes, clusters, f"nmi_{normaliser}")


def adjusted_rand(classes: ArrayLike, clusters: ArrayLike) -> float:
    """Return the Rand index of two partitions, corrected for chance.

    1 if they are the same, 0 on average over clusterings at random, negative where
    they agree less than that.

    Examples
    --------
    >>> adjusted_rand([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    """
    return _one(classes, clusters, "adjusted_rand")


def purity(classes: ArrayLike, clusters: ArrayLike) -> float:
    """Return the share of samples that are in the largest class of their cluster.

    It is 1 for clusters of one sample each: compare equal numbers of clusters only.

    Examples
    --------
    >>> purity([0, 0, 1, 1], [5, 5, 5, 6])
    0.75
    """
    return _one(classes, clusters, "purity")


def _one(classes: ArrayLike, clusters: ArrayLike, metric: str) -> float:
    numbers = np.unique(np.asarray(clusters), return_inverse=True)[1].ravel()
    return float(agreement(classes, numbers, [metric])[0, 0])
