"""Is a fit the same on repetition, after pickling, with other threads or row orders?

A second run, a fit after ``pickle`` and ``joblib``, and that of a clone must agree bit
for bit. With one and with two BLAS threads, and with the rows in another order, scores
must agree up to rounding, for methods that draw no random rows, and for SCFS from a
start in that order.

    python -m studies repeatability
"""

import pickle
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from studies.findings import Outcome
from studies.reliability.conditioning import CLOSE, Table, distance, fitted, planted
from studies.reliability.fuzzed_matrices import SELECTORS
from studies.reliability.promises import require
from studies.settings import Settings
from ufselect import SCFS

DURATION = "2 minutes"
# They draw a start from the rows, so that another order is another start.
STARTED_BY_ROWS = {
    *("GraphEnergy", "LDSSL", "MFFS", "MFFS, one shift", "NDFS", "SGFS"),
    *("SCFS", "SCFS, as published", "SCFS, one cluster"),
}

# Large enough for BLAS to share a product between threads.
REPEATED = (9, 10)


def require_same(first: Any, second: Any) -> None:
    """Hold two fits against each other, bit for bit."""
    require(np.array_equal(first.scores_, second.scores_), "scores are the same")
    require(np.array_equal(first.order_, second.order_), "the order is the same")


def on_two_threads(name: str, X: Table) -> None:
    """Fit with one thread and with two."""
    large = np.tile(X, REPEATED)
    large += 0.01 * np.random.RandomState(0).standard_normal(large.shape)
    fits = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            fits.append(fitted(SELECTORS[name], large))
    order = np.array_equal(fits[0].order_, fits[1].order_)
    apart = distance(fits[0].scores_, fits[1].scores_)
    require(order and apart <= 1e-9, f"threads do not matter, but scores {apart:.1g}")


def once_more(name: str, X: Table) -> None:
    """Fit a clone of what was fitted, and the same object again."""
    first = fitted(SELECTORS[name], X)
    scores = first.scores_.copy()
    require_same(fitted(clone(first), X), first)
    require(np.array_equal(fitted(first, X).scores_, scores), "scores are the same")


def out_of_a_pickle(name: str, X: Table) -> None:
    """Write a fit and read it again, by pickle and by joblib; fit what was read."""
    first = fitted(SELECTORS[name], X)
    file = BytesIO()
    joblib.dump(first, file)
    file.seek(0)
    for read in (pickle.loads(pickle.dumps(first)), joblib.load(file)):
        require_same(read, first)
        require(np.array_equal(read.transform(X), first.transform(X)), "columns too")
        require_same(fitted(read, X), first)


def in_another_order(name: str, X: Table) -> None:
    """Fit with the rows in another order."""
    order = np.random.RandomState(1).permutation(len(X))
    first, second = fitted(SELECTORS[name], X), fitted(SELECTORS[name], X[order])
    apart = distance(first.scores_, second.scores_)
    require(apart <= CLOSE, f"scores are the same, but are {apart:.1g} apart")


def from_a_start_in_another_order(name: str, X: Table) -> None:
    """Fit SCFS with the rows, and those of its start, in another order."""
    order = np.random.RandomState(1).permutation(len(X))
    start = np.eye(3)[np.arange(len(X)) % 3]
    first, second = (
        fitted(SCFS(solver=name, init=start[rows], max_iter=20), X[rows])
        for rows in (np.arange(len(X)), order)
    )
    apart = distance(first.scores_, second.scores_)
    require(apart <= CLOSE, f"scores are the same, but are {apart:.1g} apart")


def tried(
    what: str, attempt: Callable[[str, Table], None], names: Any, seeds: range
) -> Outcome:
    """Return what became of one way to fit again, over selectors and tables."""
    answered, notes = 0, []
    for name in names:
        for seed in seeds:
            try:
                attempt(name, planted(seed))
                answered += 1
            except Exception as error:  # noqa: BLE001 - whatever it is, it is a loss
                notes.append(f"{name}: {type(error).__name__}: {error}")
    return Outcome(
        what, answered + len(notes), answered, 0, len(notes), "; ".join(notes[:1])
    )


def measure(settings: Settings) -> Iterator[Outcome]:
    """Yield one outcome for every way to fit again."""
    seeds = range(settings.seed, settings.seed + settings.count(3, 1))
    others = [name for name in SELECTORS if name not in STARTED_BY_ROWS]
    yield tried("a second fit, and that of a clone", once_more, SELECTORS, seeds)
    yield tried("out of pickle and joblib", out_of_a_pickle, SELECTORS, seeds)
    yield tried("one thread and two", on_two_threads, SELECTORS, seeds[:1])
    yield tried("rows in another order", in_another_order, others, seeds)
    yield tried(
        "SCFS, rows and start in another order",
        from_a_start_in_another_order,
        ["exact", "paper"],
        seeds,
    )
