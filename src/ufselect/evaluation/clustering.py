"""How well clusters agree with known classes, one number at a time."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ufselect.evaluation.agreement import agreement

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
