"""The protocol of an experiment: how tables are prepared, and rankings judged.

Rankings are judged at every number of features, by three kinds of metrics: k-means on
the chosen columns against the classes (every repetition another k-means), classifiers
that see the chosen columns, cross-validated (every repetition another assignment to
folds), and what of the table the columns keep (no labels, no chance, one repetition).
"""

import json
import time
import warnings
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.preprocessing import MaxAbsScaler, StandardScaler, minmax_scale, normalize
from threadpoolctl import threadpool_limits

from ufselect.data import LabelledSet, read_labelled
from ufselect.evaluation import (
    judge_by_classification,
    judge_ranking,
    neighbourhood_agreement,
    reconstruction_error,
    redundancy,
)
from ufselect.evaluation.agreement import METRICS as AGREEMENTS
from ufselect.experiments.cells import Cell, seed_of
from ufselect.experiments.plan import ALL_FEATURES, Judge
from ufselect.experiments.store import DONE, FAILED, Float, Outcome
from ufselect.experiments.worker_pool import peak_memory, reset_peak_memory
from ufselect.matrix.sharing import SharedResults, shared_results
from ufselect.selectors import UnsupervisedSelector, all_selectors

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
    # Zero stays zero in a sparse table, which counts from zero anyway.
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
    """One number about the first features of a ranking."""

    features: int
    metric: str
    repetition: int
    value: float


class Task(NamedTuple):
    """A table with its classes, and how its rankings are to be judged."""

    table: Any
    classes: NDArray[np.intp]
    sizes: Sequence[int]
    metrics: Sequence[str]
    seeds: Sequence[int]
    restarts: int


def scores_of(task: Task, order: Order, cache: Cache | None = None) -> Iterator[Score]:
    """Yield every score of a ranking.

    Parameters
    ----------
    task : Task
    order : ndarray of int
        Columns, best first.
    cache : mutable mapping, optional
        Shared between rankings of one task: a set of columns is clustered once.

    Examples
    --------
    >>> table = np.array([[0.0, 3.0], [0.1, 9.0], [5.0, 3.0], [5.1, 9.0]])
    >>> task = Task(table, np.array([0, 0, 1, 1]), [1], ["accuracy"], [0], 1)
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


class Job(NamedTuple):
    """A cell to work on, with its order if only scores are missing."""

    cell: Cell
    judge: Judge
    path: Path
    order: Order | None


class PreparedSet(NamedTuple):
    """A prepared set and what its cells share.

    These are products of the data, the scores of sets of columns, and the
    memberships that a fit hands on to the next on its path.
    """

    data: LabelledSet
    results: SharedResults
    judged: Cache
    starts: dict[tuple[str, ...], Float | None]


def work_on(cell: Cell, judge: Judge, path: Path, order: Order | None) -> Outcome:
    """Return what becomes of a cell; an order that is known is only judged.

    An error of the method is an outcome: the experiment goes on without the cell.
    """
    try:
        with threadpool_limits(1), warnings.catch_warnings():
            # Warnings that a cell did not converge would bury the progress.
            warnings.simplefilter("ignore")
            prepared = _prepared(path, cell.fingerprint, cell.preparation, judge)
            if order is not None:
                return Outcome(DONE, scores=_scores(cell, judge, prepared, order))
            return _ranked_and_judged(cell, judge, prepared)
    # Whatever a method raises is about its cell; some errors of SciPy could not even
    # be sent to the process that waits for the outcome.
    except Exception as error:  # noqa: BLE001 - the reason is kept in the store
        return Outcome(FAILED, reason=f"{type(error).__name__}: {error}")


# A worker goes through the cells of one set before those of the next.
@lru_cache(maxsize=1)
def _prepared(
    path: Path, fingerprint: str, preparation: str, judge: Judge
) -> PreparedSet:
    """Return a prepared set, and keep it until another one is asked for."""
    data = read_labelled(path)
    table = prepare_table(data.table, preparation)
    return PreparedSet(data._replace(table=table), SharedResults(), {}, {})


def _ranked_and_judged(cell: Cell, judge: Judge, prepared: PreparedSet) -> Outcome:
    reset_peak_memory()
    start = time.perf_counter()
    history = None
    if cell.selector == ALL_FEATURES:
        order = np.arange(prepared.data.table.shape[1], dtype=np.int32)
    else:
        selector = _fitted(cell, prepared)
        order = selector.order_.astype(np.int32)
        objectives = getattr(selector, "objective_history_", None)
        if objectives is not None and len(objectives) > 0:
            history = np.asarray(objectives)
    seconds, peak = time.perf_counter() - start, peak_memory()
    scores = _scores(cell, judge, prepared, order)
    return Outcome(DONE, None, order, history, seconds, peak, scores)


def _fitted(cell: Cell, prepared: PreparedSet) -> UnsupervisedSelector:
    """Return the selector of a cell, fitted; its memberships are handed on."""
    selector = all_selectors()[cell.selector]()
    parameters: dict[str, Any] = json.loads(cell.parameters)
    if parameters.get("n_clusters") == "classes":
        parameters["n_clusters"] = len(np.unique(prepared.data.classes))
    if "random_state" in selector.get_params():
        parameters["random_state"] = cell.seed
    start = _start_of(cell, prepared)
    if start is not None:
        parameters["init"] = start
    selector.set_params(**parameters)
    with shared_results(prepared.results):
        selector.fit(prepared.data.table)
    _hand_on(getattr(selector, "memberships_", None), cell, prepared)
    return selector


def _hand_on(memberships: Float | None, cell: Cell, prepared: PreparedSet) -> None:
    # Only the next cell asks for them. ``SCFS.path`` hands on its coefficients too, but
    # a cell has to come out the same when it is computed alone, after a restart.
    prepared.starts.clear()
    prepared.starts[(*cell.path, cell.parameters)] = memberships


def _start_of(cell: Cell, prepared: PreparedSet) -> Float | None:
    """Return the memberships that the fit before has found, if there is one before.

    They are computed where they are not known, such as after a restart, so that the
    result does not depend on who computes. A fit that fails hands on its own start.
    """
    if not cell.before:
        return None
    previous = cell.previous()
    key = (*previous.path, previous.parameters)
    if key not in prepared.starts:
        try:
            _fitted(previous, prepared)
        except ValueError:
            _hand_on(_start_of(previous, prepared), previous, prepared)
    return prepared.starts[key]


def _scores(
    cell: Cell, judge: Judge, prepared: PreparedSet, order: Order
) -> tuple[Score, ...]:
    table, classes = prepared.data.table, prepared.data.classes
    n_features = table.shape[1]
    sizes = [size for size in judge.features if size <= n_features]
    if cell.selector == ALL_FEATURES:
        sizes = [n_features]
    if not sizes:
        raise ValueError(
            f"{cell.set_name} has {n_features} features, fewer than the plan's "
            f"features={list(judge.features)}"
        )
    # The same seeds for every method, so that methods are compared on equal terms.
    seeds = [
        seed_of(judge.seed, "judge", cell.set_name, repetition)
        for repetition in range(judge.repetitions)
    ]
    task = Task(table, classes, sizes, judge.metrics, seeds, judge.restarts)
    with shared_results(prepared.results):
        scores = tuple(scores_of(task, order, prepared.judged))
    for score in scores:
        if not np.isfinite(score.value):
            raise ValueError(
                f"{score.metric} of the first {score.features} features is "
                f"{score.value}; leave the metric out"
            )
    return scores
