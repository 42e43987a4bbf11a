"""How well k-means on selected columns agrees with known classes."""

from collections.abc import Iterable, MutableMapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ufselect.evaluation.agreement import agreement
from ufselect.evaluation.k_means import repeated_k_means
from ufselect.evaluation.tables import in_units

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
