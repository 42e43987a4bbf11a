"""Evaluation of selected columns against known classes, by k-means or classifiers."""

from collections.abc import Callable, Iterable, MutableMapping, Sequence
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ufselect.evaluation.checks import checked_table
from ufselect.evaluation.k_means import check_distances_finite, repeated_k_means
from ufselect.solvers.preparation import in_units

Array = NDArray[np.float64]
Metric = Callable[[Array], Array]
Normaliser = Literal["geometric", "arithmetic", "max", "min"]


def judge_by_k_means(
    columns: Any,
    classes: ArrayLike,
    *,
    seeds: Iterable[int] = range(5),
    n_init: int = 10,
    metrics: Sequence[str] | None = ("accuracy", "nmi_geometric"),
    standardize: bool | str = False,
) -> Array:
    """Cluster the columns by k-means, once per seed, and compare with the classes.

    Parameters
    ----------
    columns : array-like or sparse matrix of shape (n, k)
        The selected columns.
    classes : array-like of shape (n,)
        Used for the comparison, and for the number of clusters.
    seeds : iterable of int
    n_init : int
        Restarts of each k-means.
    metrics : sequence of str or None
        Names known to ``agreement``; None means all.
    standardize : {"auto", "features", "samples", "none"} or bool
        Preparation before k-means, as in the selectors. False and "none" do not scale
        the columns, as in most papers; a column with large values then dominates the
        distances. Use ``standardize_`` of the selector for its preparation. "samples"
        scales the samples of the given columns.

    Returns
    -------
    scores : ndarray of shape (n_seeds, n_metrics)

    Examples
    --------
    >>> import numpy as np
    >>> columns = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> judge_by_k_means(columns, [0, 0, 1, 1], seeds=[0])
    array([[1., 1.]])
    """
    matrix = in_units(checked_table(columns, "columns"), standardize).matrix
    return _agreement_of_k_means(matrix.raw, classes, seeds, n_init, metrics)


def _agreement_of_k_means(
    points: Any,
    classes: ArrayLike,
    seeds: Iterable[int],
    n_init: int,
    metrics: Sequence[str] | None,
) -> Array:
    n_clusters = len(np.unique(np.asarray(classes)))
    labels, _ = repeated_k_means(points, n_clusters, seeds=seeds, n_init=n_init)
    return agreement(classes, labels, metrics)


def judge_ranking(
    table: Any,
    order: ArrayLike,
    classes: ArrayLike,
    *,
    sizes: Sequence[int],
    seeds: Sequence[int] = range(20),
    n_init: int = 10,
    metrics: Sequence[str] | None = None,
    cache: MutableMapping[tuple[int, ...], Array] | None = None,
    standardize: bool | str = False,
) -> NDArray[np.float64]:
    """Judge the first columns of a ranking, for several numbers of them.

    The scores depend on the set of chosen columns, not on their order.

    Parameters
    ----------
    table : array-like or sparse matrix of shape (n, p)
    order : array-like of int
        Columns, best first.
    classes : array-like of shape (n,)
    sizes : sequence of int
        Numbers of first columns to judge.
    seeds, n_init, metrics
        As in ``judge_by_k_means``; by default all metrics.
    cache : mutable mapping, optional
        Maps sorted columns to scores. Sets in it are not judged again, and new ones are
        added. Use one cache for rankings of one table with the same settings.
    standardize : {"auto", "features", "samples", "none"} or bool
        Preparation before k-means, as in ``judge_by_k_means``, but of the whole table
        before columns are selected.

    Returns
    -------
    scores : ndarray of shape (n_sizes, n_seeds, n_metrics)

    Examples
    --------
    >>> import numpy as np
    >>> table = np.array([[0.0, 3.0], [0.1, 9.0], [5.0, 3.0], [5.1, 9.0]])
    >>> scores = judge_ranking(
    ...     table, [0, 1], [0, 0, 1, 1], sizes=[1, 2], seeds=[0], metrics=["accuracy"]
    ... )
    >>> scores[:, 0, 0]
    array([1. , 0.5])
    """
    order = np.asarray(order)
    cache = {} if cache is None else cache
    points = in_units(checked_table(table), standardize).matrix.by_columns().raw
    scores = []
    for size in sizes:
        if not 1 <= size <= len(order):
            raise ValueError(
                f"sizes has {size}; each size must be between 1 and the {len(order)} "
                "columns of the ranking."
            )
        chosen = np.sort(order[:size])
        key = tuple(chosen.tolist())
        if key not in cache:
            cache[key] = _agreement_of_k_means(
                points[:, chosen], classes, seeds, n_init, metrics
            )
        scores.append(cache[key])
    return np.array(scores)


def judge_by_classification(
    columns: Any,
    classes: ArrayLike,
    *,
    n_splits: int = 5,
    seeds: Iterable[int] = range(5),
    standardize: bool | str = False,
) -> NDArray[np.float64]:
    """Return cross-validated accuracies of two classifiers, for each seed.

    Folds are stratified, and columns are scaled to unit variance on the training part
    of each. **Samples of classes with fewer members than folds are excluded**, because
    such a class cannot be in every fold. These classes do not depend on the columns, so
    that selections remain comparable.

    Parameters
    ----------
    columns : {array-like, sparse matrix} of shape (n, k)
        The selected columns.
    classes : array-like of shape (n,)
    n_splits : int
        Number of folds.
    seeds : iterable of int
        Seeds of the assignment of samples to folds.
    standardize : {"auto", "features", "samples", "none"} or bool
        Preparation before the folds: "samples" scales samples to unit length; the other
        values have no effect, since columns are scaled within folds.

    Returns
    -------
    scores : ndarray of shape (n_seeds, 2)
        Accuracy of the nearest-neighbour classifier and of logistic regression.

    Examples
    --------
    >>> columns = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
    >>> judge_by_classification(columns, list("aaabbb"), n_splits=3, seeds=[0])
    array([[1., 1.]])
    """
    # In single precision, variances of large values would overflow.
    matrix = checked_table(columns, "columns").rounded(np.dtype(np.float64))
    check_distances_finite(matrix.raw)
    table = in_units(matrix, standardize).matrix.raw
    labels = np.asarray(classes)
    if labels.shape != (table.shape[0],):
        raise ValueError(
            f"classes has shape {labels.shape} but there are {table.shape[0]} samples; "
            "give one class per sample."
        )
    if n_splits < 2:
        raise ValueError(f"n_splits={n_splits}; ask for at least two folds.")
    _, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    large = counts >= n_splits
    if np.count_nonzero(large) < 2:
        raise ValueError(
            f"{np.count_nonzero(large)} class(es) have at least n_splits={n_splits} "
            "members, and two are needed; lower n_splits or give other classes."
        )
    table, labels = table[large[codes]], labels[large[codes]]
    # Centring does not change the classifiers, but would make a sparse table dense.
    scaler = StandardScaler(with_mean=not sp.issparse(table))
    models = [KNeighborsClassifier(1), LogisticRegression(max_iter=1000)]
    scores = []
    for seed in seeds:
        folds = StratifiedKFold(n_splits, shuffle=True, random_state=seed)
        for model in models:
            pipeline = make_pipeline(scaler, model)
            found = cross_val_predict(pipeline, table, labels, cv=folds)
            scores.append(np.mean(found == labels))
    return np.array(scores, dtype=np.float64).reshape(-1, len(models))


def agreement(
    classes: ArrayLike, labellings: ArrayLike, metrics: Sequence[str] | None = None
) -> Array:
    """Compare labellings with the classes.

    Parameters
    ----------
    classes : array-like of shape (n,)
    labellings : array-like of int of shape (m, n)
        Cluster indices, starting at 0.
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
        raise ValueError(f"metrics={unknown} are unknown; choose from {list(METRICS)}.")
    counts = contingency_tables(classes, labellings)
    scores = np.empty((len(counts), len(metrics)))
    for column, name in enumerate(metrics):
        scores[:, column] = METRICS[name](counts)
    return scores


def contingency_tables(classes: ArrayLike, labellings: ArrayLike) -> Array:
    """Return the contingency tables of classes and clusters (m x C x c)."""
    numbers = np.unique(np.asarray(classes), return_inverse=True)[1].ravel()
    labels = np.atleast_2d(np.asarray(labellings))
    n_classes, n_clusters = int(numbers.max()) + 1, int(labels.max(initial=0)) + 1
    tables = (np.arange(len(labels))[:, None] * n_classes + numbers) * n_clusters
    shape = (len(labels), n_classes, n_clusters)
    counts = np.bincount((tables + labels).ravel(), minlength=int(np.prod(shape)))
    return counts.reshape(shape).astype(np.float64)


def _accuracies(counts: Array) -> Array:
    """Return the shares of samples whose cluster is matched to their class."""
    matched = [
        table[linear_sum_assignment(table, maximize=True)].sum() for table in counts
    ]
    return np.array(matched) / counts.sum(axis=(1, 2))


def _purities(counts: Array) -> Array:
    """Return the shares of samples in the most frequent class of their cluster."""
    return np.asarray(counts.max(axis=1).sum(axis=1) / counts.sum(axis=(1, 2)))


def _rand_indices(counts: Array) -> Array:
    """Return the adjusted Rand indices, from numbers of pairs in the same group."""
    both = pairs(counts).sum(axis=(1, 2))
    by_class = pairs(counts.sum(axis=2)).sum(axis=1)
    by_cluster = pairs(counts.sum(axis=1)).sum(axis=1)
    every = pairs(counts.sum(axis=(1, 2)))
    # Multiplied by the number of all pairs, so that differences are of whole numbers.
    above = both * every - by_class * by_cluster
    most = 0.5 * (by_class + by_cluster) * every - by_class * by_cluster
    return np.divide(above, most, out=np.ones_like(above), where=most != 0)


def pairs(counts: Array) -> Array:
    """Return the numbers of pairs within groups of the given sizes."""
    return 0.5 * counts * (counts - 1.0)


def entropy(counts: Array) -> Array:
    """Return the entropies of distributions given by counts along the last axis."""
    shares = counts / counts.sum(axis=-1, keepdims=True)
    logarithms = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(-(shares * logarithms).sum(axis=-1))


def normalised_information(normaliser: Callable[[Array, Array], Array]) -> Metric:
    """Return the mutual information divided by a mean of the two entropies."""

    def metric(counts: Array) -> Array:
        by_class, by_cluster = entropy(counts.sum(axis=2)), entropy(counts.sum(axis=1))
        joint = entropy(counts.reshape(len(counts), -1))
        shared = np.maximum(by_class + by_cluster - joint, 0.0)
        # If both partitions have a single group, the value is 1; if only one has, 0.
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


def clustering_accuracy(classes: ArrayLike, clusters: ArrayLike) -> float:
    """Return the share of samples whose cluster is matched to their class.

    Clusters are matched one to one to classes so that the share is maximal
    (Kuhn-Munkres algorithm).

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
    """Return the adjusted Rand index of two partitions.

    It is 1 for equal partitions, 0 on average for random ones, and negative if they
    agree less than random ones.

    Examples
    --------
    >>> adjusted_rand([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    """
    return _one(classes, clusters, "adjusted_rand")


def purity(classes: ArrayLike, clusters: ArrayLike) -> float:
    """Return the share of samples in the most frequent class of their cluster.

    It is 1 for clusters of one sample each: compare only equal numbers of clusters.

    Examples
    --------
    >>> purity([0, 0, 1, 1], [5, 5, 5, 6])
    0.75
    """
    return _one(classes, clusters, "purity")


def _one(classes: ArrayLike, clusters: ArrayLike, metric: str) -> float:
    numbers = np.unique(np.asarray(clusters), return_inverse=True)[1].ravel()
    return float(agreement(classes, numbers, [metric])[0, 0])
