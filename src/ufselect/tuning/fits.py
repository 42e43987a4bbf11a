"""What a selector around other selectors asks of them, and fits of it in parallel."""

import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from numbers import Integral
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from sklearn.base import clone

from ufselect._constraints import POSITIVE
from ufselect._sklearn_compat import FitProgress
from ufselect.matrix import Float
from ufselect.matrix.cache import ResultCache, cached_results
from ufselect.selectors.base import UnsupervisedSelector
from ufselect.solvers.iterations import in_parallel

# What many fits have in common, as parameters of a selector.
EFFORT_CONSTRAINTS: dict[str, list[Any]] = {
    "n_jobs": [None, Integral],
    "time_budget": [None, POSITIVE],
    "random_state": ["random_state"],
    "verbose": ["boolean"],
}
LARGEST_SEED = np.iinfo(np.int32).max


def seeded(selector: UnsupervisedSelector, seed: int) -> UnsupervisedSelector:
    """Return an unfitted copy in which a seed stands wherever there was none."""
    copy = clone(selector)
    missing = {
        name: seed
        for name, value in copy.get_params().items()
        if value is None and name.split("__")[-1] == "random_state"
    }
    return copy.set_params(**missing)


def checked_selector(selector: Any, owner: str) -> UnsupervisedSelector:
    """Return the selector if it is one and its parameters are valid."""
    if not isinstance(selector, UnsupervisedSelector):
        raise TypeError(
            f"{owner} was given {selector!r}, which is no selector; give an instance "
            "such as SCFS()."
        )
    # Fits inside another fit do not look at their parameters again.
    selector._validate_params()
    return selector


def checked_table(selector: UnsupervisedSelector, X: Any) -> Any:
    """Return X as a fit would see it, or refuse it as a fit would."""
    return clone(selector)._validated(X, reset=True)


# Of many fits that fail for the same reason, a message names so many.
MOST_NAMES = 8


class Work(NamedTuple):
    """A selector to fit, and how its table is made from the data they all share."""

    name: str
    selector: UnsupervisedSelector
    table: Callable[[Any], Any] | None = None


class FitEffort(NamedTuple):
    """Who fits, for how many seconds, and who is told about it."""

    n_jobs: int | None = None
    time_budget: float | None = None
    verbose: bool = False
    progress: FitProgress | None = None

    @property
    def stopped(self) -> bool:
        """Whether a callback wants no more fits."""
        return self.progress is not None and self.progress.stopped


class Finished(NamedTuple):
    """The works that came to an end, in order, and the scores of their features."""

    works: list[Work]
    scores: Float


def fit_all(
    X: Any,
    works: Sequence[Work],
    effort: FitEffort,
    *,
    title: str,
    share: bool = False,
    stacklevel: int = 6,
) -> Finished:
    """Return the scores of all works that could be fitted.

    Work that fails, or that the time budget leaves no time for, is left out with a
    warning. That all of it fails is an error.

    Parameters
    ----------
    X : array or sparse matrix
        Validated.
    works : sequence of Work
        The first of them is started even if there is no time for it.
    effort : FitEffort
        No fit is started after its time budget, or after a callback wants to stop;
        one that runs is not interrupted.
    title : str
        Who asks, for messages.
    share : bool
        Compute Gram matrices and graphs once per worker: for work on equal tables.
    stacklevel : int
        Of warnings; the default points to the caller of ``fit`` of a selector.
    """
    token = uuid4().hex if share else None
    outcomes: list[Float | str] = []
    try:
        for outcome in _outcomes(X, works, effort, token):
            outcomes.append(outcome)
            _tell(title, works, outcomes, effort)
    finally:
        vars(_worker).clear()
        if effort.progress is not None:
            effort.progress.finish()
    for message in [
        _failures(works, outcomes, title),
        _unstarted(works, len(outcomes), effort, title),
    ]:
        if message:
            warnings.warn(message, UserWarning, stacklevel=stacklevel - 1)
    good = [i for i, outcome in enumerate(outcomes) if not isinstance(outcome, str)]
    return Finished([works[i] for i in good], np.array([outcomes[i] for i in good]))


def _outcomes(
    X: Any, works: Sequence[Work], effort: FitEffort, token: str | None
) -> Iterator[Float | str]:
    # One at a time to each worker, so that nothing waits when the time is up.
    calls = ((X, work, token) for work in _in_time(works, effort))
    yield from in_parallel(_scores_or_reason, calls, effort.n_jobs)


def _in_time(works: Sequence[Work], effort: FitEffort) -> Iterator[Work]:
    budget = effort.time_budget
    end = np.inf if budget is None else time.monotonic() + budget
    for index, work in enumerate(works):
        if index > 0 and (effort.stopped or time.monotonic() >= end):
            return
        yield work


def _scores_or_reason(X: Any, work: Work, token: str | None) -> Float | str:
    """Return the scores of a fit, or why there are none."""
    try:
        with _sharing(token):
            table = X if work.table is None else work.table(X)
            return work.selector.fit(table).scores_
    except (ArithmeticError, MemoryError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


# Each worker has its own results, and keeps them for one call of ``fit_all``.
_worker = threading.local()


def _sharing(token: str | None) -> AbstractContextManager[Any]:
    if token is None:
        return nullcontext()
    if getattr(_worker, "token", None) != token:
        _worker.token, _worker.results = token, ResultCache()
    return cached_results(_worker.results)


def _tell(
    title: str,
    works: Sequence[Work],
    outcomes: Sequence[Float | str],
    effort: FitEffort,
) -> None:
    state = "failed" if isinstance(outcomes[-1], str) else "done"
    name = works[len(outcomes) - 1].name
    if effort.verbose:
        print(f"{title}: {name} {state} ({len(outcomes)} of {len(works)})")  # noqa: T201 - what verbose asks for
    if effort.progress is not None:
        effort.progress.step("fit", {"name": name, "state": state})


def _failures(
    works: Sequence[Work], outcomes: Sequence[Float | str], title: str
) -> str | None:
    """Say who failed; that everybody did is an error."""
    failed = [
        (work.name, outcome)
        for work, outcome in zip(works, outcomes, strict=False)
        if isinstance(outcome, str)
    ]
    reasons = "; ".join(
        f"{_listed([name for name, other in failed if other == reason])} ({reason})"
        for reason in dict.fromkeys(reason for _, reason in failed)
    )
    if failed and len(failed) == len(outcomes):
        raise ValueError(f"{title}: all of {len(failed)} fits failed: {reasons}")
    if failed:
        return f"{title}: {len(failed)} of {len(works)} fits failed: {reasons}"
    return None


def _unstarted(
    works: Sequence[Work], n_started: int, effort: FitEffort, title: str
) -> str | None:
    if n_started == len(works) or effort.stopped:
        return None
    return (
        f"{title}: time_budget={effort.time_budget} seconds were used up after "
        f"{n_started} of {len(works)} fits; {works[n_started].name} and what comes "
        "after it are left out."
    )


def _listed(names: list[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
