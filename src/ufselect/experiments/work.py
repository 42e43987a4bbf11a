"""The work of one run: rank the features, then judge the ranking at every k."""

import json
import sys
import time
import warnings
from collections.abc import Iterator, MutableMapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from ufselect.data import LabelledSet, read_labelled
from ufselect.evaluation import judge_by_classification, judge_ranking
from ufselect.evaluation.judging import METRICS as AGREEMENTS
from ufselect.experiments.plan import ALL_FEATURES, Judge, known_methods
from ufselect.experiments.protocol import (
    CLASSIFIERS,
    PREPARATIONS,
    STRUCTURE,
)
from ufselect.experiments.runs import PlannedRun, seed_of
from ufselect.matrix.cache import ResultCache, cached_results
from ufselect.selectors import UnsupervisedSelector


class Score(NamedTuple):
    """One metric of the first features of a ranking."""

    features: int
    metric: str
    repetition: int
    value: float


class Ranking(NamedTuple):
    """The order of the features, best first, and what the fit cost."""

    order: NDArray[np.int32]
    history: NDArray[np.float64] | None = None
    seconds: float | None = None
    peak_memory: int | None = None


class Outcome(NamedTuple):
    """The ranking of a run and its scores, or the reason why it has none."""

    ranking: Ranking | None = None
    scores: tuple[Score, ...] = ()
    reason: str | None = None


class Job(NamedTuple):
    """A run to compute, with its ranking if only scores are missing."""

    run: PlannedRun
    judge: Judge
    path: Path
    ranking: Ranking | None


class PreparedSet(NamedTuple):
    """A prepared set and what its runs share.

    These are a cache of Gram matrices, and the scores of sets of columns.
    """

    data: LabelledSet
    results: ResultCache
    judged: MutableMapping[tuple[int, ...], NDArray[np.float64]]


def work_on(job: Job) -> Outcome:
    """Return the outcome of a run.

    An error of the method is an outcome, too: the experiment continues.
    """
    run, ranking = job.run, job.ranking
    try:
        with threadpool_limits(1), warnings.catch_warnings():
            # Convergence warnings would hide the progress.
            warnings.simplefilter("ignore")
            prepared = _prepared(job.path, run.fingerprint, run.preparation, job.judge)
            with cached_results(prepared.results):
                ranking = ranking or _ranked(run, prepared)
                return Outcome(ranking, _scores(run, job.judge, prepared, ranking))
    # Any error of a method concerns its run only; some errors of SciPy cannot be
    # pickled for the other process.
    except Exception as error:  # noqa: BLE001 - the reason is kept in the store
        return Outcome(ranking, reason=f"{type(error).__name__}: {error}")


# A worker computes all runs of one set before those of the next.
@lru_cache(maxsize=1)
def _prepared(
    path: Path, fingerprint: str, preparation: str, judge: Judge
) -> PreparedSet:
    """Return a prepared set, and cache it until another one is needed."""
    data = read_labelled(path)
    table = PREPARATIONS[preparation](data.table)
    return PreparedSet(data._replace(table=table), ResultCache(), {})


def _ranked(run: PlannedRun, prepared: PreparedSet) -> Ranking:
    table = prepared.data.table
    reset_peak_memory()
    start = time.perf_counter()
    history = None
    if run.selector == ALL_FEATURES:
        order = np.arange(table.shape[1])
    else:
        selector = _selector(run, len(np.unique(prepared.data.classes)))
        order = selector.fit(table).order_
        objectives = getattr(selector, "objective_history_", None)
        if objectives is not None and len(objectives) > 0:
            history = np.asarray(objectives, dtype=np.float64)
    seconds = time.perf_counter() - start
    return Ranking(order.astype(np.int32), history, seconds, peak_memory())


def _selector(run: PlannedRun, n_classes: int) -> UnsupervisedSelector:
    """Return the selector of a run, with those that it fits."""
    methods = known_methods()
    selector = methods[run.selector]()
    parameters: dict[str, Any] = json.loads(run.parameters)
    if parameters.get("n_clusters") == "classes":
        parameters["n_clusters"] = n_classes
    if "selector" in parameters:
        parameters["selector"] = methods[parameters["selector"]]()
    if "selectors" in parameters:
        parameters["selectors"] = [methods[name]() for name in parameters["selectors"]]
    if "random_state" in selector.get_params():
        parameters["random_state"] = run.seed
    selector.set_params(**parameters)
    return selector


def _scores(
    run: PlannedRun, judge: Judge, prepared: PreparedSet, ranking: Ranking
) -> tuple[Score, ...]:
    n_features = prepared.data.table.shape[1]
    sizes = [size for size in judge.features if size <= n_features]
    if run.selector == ALL_FEATURES:
        sizes = [n_features]
    if not sizes:
        raise ValueError(
            f"{run.set_name} has {n_features} features, fewer than the plan's "
            f"features={list(judge.features)}"
        )
    # The same seeds for every method, for a fair comparison.
    seeds = [
        seed_of(judge.seed, "judge", run.set_name, repetition)
        for repetition in range(judge.repetitions)
    ]
    scores = tuple(_judged(prepared, ranking.order, judge, sizes, seeds))
    for score in scores:
        if not np.isfinite(score.value):
            raise ValueError(
                f"{score.metric} of the first {score.features} features is "
                f"{score.value}; leave the metric out"
            )
    return scores


def _judged(
    prepared: PreparedSet,
    order: NDArray[np.int32],
    judge: Judge,
    sizes: Sequence[int],
    seeds: Sequence[int],
) -> Iterator[Score]:
    """Yield every score of a ranking."""
    table, classes = prepared.data.table, prepared.data.classes
    if clustered := [metric for metric in judge.metrics if metric in AGREEMENTS]:
        values = judge_ranking(
            table,
            order,
            classes,
            sizes=sizes,
            seeds=seeds,
            n_init=judge.restarts,
            metrics=clustered,
            cache=prepared.judged,
        )
        for (i, repetition, j), value in np.ndenumerate(values):
            yield Score(sizes[i], clustered[j], repetition, float(value))
    for size in sizes:
        chosen = np.sort(order[:size]).astype(np.intp)
        if set(CLASSIFIERS) & set(judge.metrics):
            values = judge_by_classification(table[:, chosen], classes, seeds=seeds)
            for (repetition, j), value in np.ndenumerate(values):
                if CLASSIFIERS[j] in judge.metrics:
                    yield Score(size, CLASSIFIERS[j], repetition, float(value))
        for metric, function in STRUCTURE.items():
            if metric in judge.metrics:
                yield Score(size, metric, 0, float(function(table, chosen)))


def reset_peak_memory() -> None:
    """Reset the peak of memory, if the system can (Linux)."""
    path = Path("/proc/self/clear_refs")
    if path.exists():
        path.write_text("5")


def peak_memory() -> int | None:
    """Return the peak of resident bytes since the reset, or None if unknown."""
    if sys.platform != "linux":
        return None
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])
