"""How well k-means, or a classifier, on selected columns agrees with known classes."""

from collections.abc import Iterable, MutableMapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ufselect.evaluation.agreement import agreement
from ufselect.evaluation.k_means import refuse_immense, repeated_k_means
from ufselect.evaluation.tables import checked_table, in_units

Array = NDArray[np.float64]


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
        Units in which k-means measures distances, as selectors name them: False and
        "none" take the columns as they are, which is what papers do. One column in
        large units decides k-means then; give the ``standardize_`` of the selector to
        judge its columns as it saw them. "samples" scales the columns given.

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
    n_clusters = len(np.unique(np.asarray(classes)))
    points = in_units(columns, standardize).table
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
        How many of the first columns to judge.
    seeds, n_init, metrics
        As for ``judge_by_k_means``; by default all metrics.
    cache : mutable mapping, optional
        From sorted columns to scores: sets found in it are not judged again, new ones
        are added. Share it between rankings of one table, judged in the same way.
    standardize : {"auto", "features", "samples", "none"} or bool
        Units in which k-means measures distances, as for ``judge_by_k_means``. The
        whole table is prepared, before its columns are taken.

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
    table = in_units(table, standardize).table
    table = table.tocsc() if bool(sp.issparse(table)) else np.asarray(table)
    scores = []
    for size in sizes:
        if not 1 <= size <= len(order):
            raise ValueError(
                f"sizes has {size}; it must be between 1 and the {len(order)} columns "
                "of the ranking"
            )
        chosen = np.sort(order[:size])
        key = tuple(chosen.tolist())
        if key not in cache:
            cache[key] = judge_by_k_means(
                table[:, chosen], classes, seeds=seeds, n_init=n_init, metrics=metrics
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
    """Classify each sample by the others, once per seed, and count the correct ones.

    Columns are scaled to unit variance within the training part of each of the
    stratified folds. **A class with fewer members than there are folds is left out**,
    with its samples, because it cannot be in every fold; which classes those are
    does not depend on the columns, so that selections remain comparable.

    Parameters
    ----------
    columns : {array-like, sparse matrix} of shape (n, k)
        The selected columns.
    classes : array-like of shape (n,)
    n_splits : int
        Folds, of which each is left out once.
    seeds : iterable of int
        Of the assignment of samples to folds.
    standardize : {"auto", "features", "samples", "none"} or bool
        Preparation of the columns before all that: "samples" scales samples to unit
        length, the others change nothing that the scaling within folds leaves.

    Returns
    -------
    scores : ndarray of shape (n_seeds, 2)
        Accuracy of the nearest neighbour and of logistic regression.

    Examples
    --------
    >>> columns = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
    >>> judge_by_classification(columns, list("aaabbb"), n_splits=3, seeds=[0])
    array([[1., 1.]])
    """
    # In single precision, the variances of large values overflow.
    table = checked_table(columns, "columns").astype(np.float64, copy=False)
    refuse_immense(table)
    table = in_units(table, standardize).table
    labels = _checked_classes(classes, table.shape[0])
    kept = _in_every_fold(labels, n_splits)
    table, labels = table[kept], labels[kept]
    models = [KNeighborsClassifier(1), LogisticRegression(max_iter=1000)]
    scores = [
        [_accuracy(model, table, labels, n_splits, seed) for model in models]
        for seed in seeds
    ]
    return np.array(scores).reshape(-1, len(models))


def _accuracy(model: Any, table: Any, labels: Any, n_splits: int, seed: int) -> float:
    # Neither classifier minds a shift of the columns, and a sparse table does.
    scaler = StandardScaler(with_mean=not sp.issparse(table))
    folds = StratifiedKFold(n_splits, shuffle=True, random_state=seed)
    found = cross_val_predict(make_pipeline(scaler, model), table, labels, cv=folds)
    return float(np.mean(found == labels))


def _checked_classes(classes: ArrayLike, n_samples: int) -> NDArray[Any]:
    labels = np.asarray(classes)
    if labels.shape != (n_samples,):
        raise ValueError(
            f"classes has shape {labels.shape} but there are {n_samples} samples; give "
            "one class per sample."
        )
    return labels


def _in_every_fold(labels: NDArray[Any], n_splits: int) -> NDArray[np.bool_]:
    """Return the mask of samples whose class has as many members as folds or more."""
    if n_splits < 2:
        raise ValueError(f"n_splits={n_splits}; ask for at least two folds.")
    _, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    large = counts >= n_splits
    if np.count_nonzero(large) < 2:
        raise ValueError(
            f"{np.count_nonzero(large)} class(es) have n_splits={n_splits} members or "
            "more, and two are needed; lower n_splits or give other classes."
        )
    mask: NDArray[np.bool_] = large[codes]
    return mask
