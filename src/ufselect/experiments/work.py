"""The work of one cell: rank the features, then judge the ranking at every k."""

import json
import time
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from ufselect.data import LabelledSet, read_labelled
from ufselect.experiments.cells import Cell, seed_of
from ufselect.experiments.limits import peak_memory, reset_peak_memory
from ufselect.experiments.plan import ALL_FEATURES, Judge
from ufselect.experiments.protocol import (
    Cache,
    Judging,
    Order,
    Score,
    prepare_table,
    scores_of,
)
from ufselect.experiments.store import DONE, FAILED, Float, Outcome
from ufselect.matrix.cache import ResultCache, cached_results
from ufselect.registry import all_selectors
from ufselect.selectors import UnsupervisedSelector


class Job(NamedTuple):
    """A cell to compute, with its order if only scores are missing."""

    cell: Cell
    judge: Judge
    path: Path
    order: Order | None


class PreparedSet(NamedTuple):
    """A prepared set and what its cells share.

    These are a cache of Gram matrices, the scores of sets of columns, and the
    memberships from which the next fit on a path starts.
    """

    data: LabelledSet
    results: ResultCache
    judged: Cache
    starts: dict[tuple[str, ...], Float | None]


def work_on(cell: Cell, judge: Judge, path: Path, order: Order | None) -> Outcome:
    """Return the outcome of a cell; if its order is known, it is only judged.

    An error of the method is an outcome, too: the experiment continues.
    """
    try:
        with threadpool_limits(1), warnings.catch_warnings():
            # Convergence warnings would hide the progress.
            warnings.simplefilter("ignore")
            prepared = _prepared(path, cell.fingerprint, cell.preparation, judge)
            if order is not None:
                return Outcome(DONE, scores=_scores(cell, judge, prepared, order))
            return _ranked_and_judged(cell, judge, prepared)
    # Any error of a method concerns its cell only; some errors of SciPy cannot be
    # pickled for the other process.
    except Exception as error:  # noqa: BLE001 - the reason is kept in the store
        return Outcome(FAILED, reason=f"{type(error).__name__}: {error}")


# A worker computes all cells of one set before those of the next.
@lru_cache(maxsize=1)
def _prepared(
    path: Path, fingerprint: str, preparation: str, judge: Judge
) -> PreparedSet:
    """Return a prepared set, and cache it until another one is needed."""
    data = read_labelled(path)
    table = prepare_table(data.table, preparation)
    return PreparedSet(data._replace(table=table), ResultCache(), {}, {})


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
    """Return the fitted selector of a cell; keep its memberships for the next one."""
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
    with cached_results(prepared.results):
        selector.fit(prepared.data.table)
    _hand_on(getattr(selector, "memberships_", None), cell, prepared)
    return selector


def _hand_on(memberships: Float | None, cell: Cell, prepared: PreparedSet) -> None:
    # Only the next cell needs them. ``SCFS.path`` passes on coefficients, too, but here
    # a cell must give the same result when it is computed alone, after a restart.
    prepared.starts.clear()
    prepared.starts[(*cell.path, cell.parameters)] = memberships


def _start_of(cell: Cell, prepared: PreparedSet) -> Float | None:
    """Return the memberships of the fit before on the path, or None.

    If they are not known, as after a restart, they are computed, so that the result is
    always the same. A fit that fails passes on its own start.
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
    # The same seeds for every method, for a fair comparison.
    seeds = [
        seed_of(judge.seed, "judge", cell.set_name, repetition)
        for repetition in range(judge.repetitions)
    ]
    task = Judging(table, classes, sizes, judge.metrics, seeds, judge.restarts)
    with cached_results(prepared.results):
        scores = tuple(scores_of(task, order, prepared.judged))
    for score in scores:
        if not np.isfinite(score.value):
            raise ValueError(
                f"{score.metric} of the first {score.features} features is "
                f"{score.value}; leave the metric out"
            )
    return scores
