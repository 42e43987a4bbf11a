"""The protocol of an experiment: preparation of tables and judgement of rankings.

Rankings are judged at every number of features, by three kinds of metrics: k-means on
the chosen columns against the classes (repeated with other starts), cross-validated
classifiers on the chosen columns (repeated with other folds), and how much of the table
the columns keep (without labels, deterministic, once).
"""

from collections.abc import Callable, Iterator, MutableMapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.preprocessing import MaxAbsScaler, StandardScaler, minmax_scale, normalize

from ufselect.evaluation import (
    judge_by_classification,
    judge_ranking,
    neighbourhood_agreement,
    reconstruction_error,
    redundancy,
)
from ufselect.evaluation.judging import METRICS as AGREEMENTS

CLASSIFIERS = ("nearest_neighbour", "logistic_regression")
STRUCTURE: dict[str, Callable[[Any, NDArray[np.intp]], float]] = {
    "redundancy": lambda table, chosen: redundancy(table[:, chosen]),
    "reconstruction_error": reconstruction_error,
    "neighbourhood_agreement": neighbourhood_agreement,
}
METRICS = (*AGREEMENTS, *CLASSIFIERS, *STRUCTURE)
LOWER_IS_BETTER = frozenset({"redundancy", "reconstruction_error"})

Order = NDArray[np.int32]
Cache = MutableMapping[tuple[int, ...], NDArray[np.float64]]


def _logarithm(table: Any) -> Any:
    smallest = table.min()
    if smallest < 0:
        raise ValueError(
            f"preparation 'log' needs values of at least 0, and one is {smallest:g}"
        )
    # np.log1p keeps a sparse table sparse, since log(1 + 0) = 0.
    return np.log1p(table)


def _unit_range(table: Any) -> Any:
    # In a sparse table zero stays zero.
    if sp.issparse(table):
        return MaxAbsScaler().fit_transform(table)
    return minmax_scale(table)


def _unit_variance(table: Any) -> Any:
    return StandardScaler(with_mean=not sp.issparse(table)).fit_transform(table)


PREPARATIONS: dict[str, Callable[[Any], Any]] = {
    "none": lambda table: table,
    "unit-variance": _unit_variance,
    "unit-range": _unit_range,
    "unit-samples": normalize,
    "log": _logarithm,
}


def prepare_table(table: Any, preparation: str) -> Any:
    """Return the table after one of ``PREPARATIONS``.

    Examples
    --------
    >>> prepare_table(np.array([[1.0], [3.0]]), "unit-range")
    array([[0.],
           [1.]])
    """
    return PREPARATIONS[preparation](table)


class Score(NamedTuple):
    """One metric of the first features of a ranking."""

    features: int
    metric: str
    repetition: int
    value: float


class Judging(NamedTuple):
    """A table with its classes, and how to judge its rankings."""

    table: Any
    classes: NDArray[np.intp]
    sizes: Sequence[int]
    metrics: Sequence[str]
    seeds: Sequence[int]
    restarts: int


def scores_of(
    task: Judging, order: Order, cache: Cache | None = None
) -> Iterator[Score]:
    """Yield every score of a ranking.

    Parameters
    ----------
    task : Judging
    order : ndarray of int
        Columns, best first.
    cache : mutable mapping, optional
        Shared between rankings of one task: a set of columns is clustered once.

    Examples
    --------
    >>> table = np.array([[0.0, 3.0], [0.1, 9.0], [5.0, 3.0], [5.1, 9.0]])
    >>> task = Judging(table, np.array([0, 0, 1, 1]), [1], ["accuracy"], [0], 1)
    >>> list(scores_of(task, np.array([0, 1], dtype=np.int32)))
    [Score(features=1, metric='accuracy', repetition=0, value=1.0)]
    """
    clustered = [metric for metric in task.metrics if metric in AGREEMENTS]
    if clustered:
        values = judge_ranking(
            task.table,
            order,
            task.classes,
            sizes=task.sizes,
            seeds=task.seeds,
            n_init=task.restarts,
            metrics=clustered,
            cache=cache,
        )
        for (i, repetition, j), value in np.ndenumerate(values):
            yield Score(task.sizes[i], clustered[j], repetition, float(value))
    for size in task.sizes:
        chosen = np.sort(order[:size]).astype(np.intp)
        if set(CLASSIFIERS) & set(task.metrics):
            values = judge_by_classification(
                task.table[:, chosen], task.classes, seeds=task.seeds
            )
            for (repetition, j), value in np.ndenumerate(values):
                if CLASSIFIERS[j] in task.metrics:
                    yield Score(size, CLASSIFIERS[j], repetition, float(value))
        for metric, function in STRUCTURE.items():
            if metric in task.metrics:
                yield Score(size, metric, 0, float(function(task.table, chosen)))
