"""Common parts of meta-selectors: checks, seeds, groups and parallel fits."""

import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from numbers import Integral
from typing import Any, NamedTuple, Self
from uuid import uuid4

import numpy as np
from joblib import cpu_count
from numpy.typing import ArrayLike
from sklearn.base import clone

from ufselect._sklearn_compat import POSITIVE, fit_context
from ufselect._warn import warn
from ufselect.evaluation.subsamples import checked_groups
from ufselect.matrix import DataMatrix, Float, Index
from ufselect.matrix.cache import ResultCache, cached_results
from ufselect.selectors.base import UnsupervisedSelector
from ufselect.solvers.iterations import in_parallel, suits_threads

# Parameter constraints that all meta-selectors have in common.
EFFORT_CONSTRAINTS: dict[str, list[Any]] = {
    "n_jobs": [None, Integral],
    "time_budget": [None, POSITIVE],
    "random_state": ["random_state"],
    "verbose": ["boolean"],
}
MAX_SEED = np.iinfo(np.int32).max

# Number of failed fits that a message names for each reason.
MAX_NAMES = 8

# Each worker has its own cache, which is kept for one call of ``fit_all``.
_worker = threading.local()


def seeded(selector: UnsupervisedSelector, seed: int) -> UnsupervisedSelector:
    """Return an unfitted copy with the seed for each ``random_state=None``."""
    copy = clone(selector)
    missing = {
        name: seed
        for name, value in copy.get_params().items()
        if value is None and name.split("__")[-1] == "random_state"
    }
    return copy.set_params(**missing)


def checked_selector(selector: Any, owner: str) -> UnsupervisedSelector:
    """Return the selector; raise an error if it or a parameter of it is not valid."""
    if not isinstance(selector, UnsupervisedSelector):
        raise TypeError(
            f"{owner} got {selector!r}, which is not a selector; give an instance such "
            "as SCFS()."
        )
    # Fits inside another fit do not validate their parameters.
    selector._validate_params()
    return selector


@contextmanager
def user_warnings() -> Iterator[list[str]]:
    """Collect what is warned of, each message once, instead of showing it."""
    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            yield said
        finally:
            ours = [each for each in caught if issubclass(each.category, UserWarning)]
            said += dict.fromkeys(str(each.message) for each in ours)


class FitsGroups(UnsupervisedSelector):
    """Base class of selectors whose subsamples do not split groups of samples."""

    _groups: ArrayLike | None = None

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, groups: ArrayLike | None = None) -> Self:
        """Score and rank the features of X.

        Parameters
        ----------
        X : {array-like, sparse matrix, memory-mapped array} of shape (n, p)
            Samples in rows. It is not changed.
        y : ignored
            Not used, present for API consistency by convention.
        groups : array-like of shape (n,), optional
            Group labels of the samples, such as patients: a subsample contains either
            all samples of a group or none.

        Returns
        -------
        self : object
        """
        self._groups = groups
        try:
            return self._fit_matrix(self._checked(X))
        finally:
            del self._groups

    def _groups_of(self, n_samples: int) -> Index | None:
        """Return the index of the group of each sample, or None without groups."""
        if self._groups is None:
            return None
        return checked_groups(self._groups, n_samples)


class Work(NamedTuple):
    """A selector to fit, and what makes its matrix from the common one."""

    name: str
    selector: UnsupervisedSelector
    part: Callable[[DataMatrix], DataMatrix] | None = None


def parallel_jobs(data: DataMatrix) -> int:
    """Return how many fits gain by threads: two, if X is large and there are cores."""
    return min(2, cpu_count()) if suits_threads(data.raw) else 1


class Finished(NamedTuple):
    """The fits that succeeded, in order, and their scores."""

    works: list[Work]
    scores: Float


def fit_all(
    data: DataMatrix,
    works: Sequence[Work],
    *,
    title: str,
    n_jobs: int | None = None,
    time_budget: float | None = None,
    verbose: bool = False,
    share: bool = False,
) -> Finished:
    """Return the scores of all fits that succeed.

    Fits that fail, or that the time budget does not allow, are left out with a warning.
    If all of them fail, ValueError is raised.

    Parameters
    ----------
    data : DataMatrix
    works : sequence of Work
        The first one is always fitted, whatever the time budget.
    title : str
        Name of the caller, for messages.
    n_jobs : int, optional
        Parallel fits.
    time_budget : float, optional
        Seconds after which no fit is started; running fits are not interrupted.
    verbose : bool
        Print each fit as it ends.
    share : bool
        Cache Gram matrices and graphs in each worker, for fits to equal tables.
    """
    token = uuid4().hex if share else None
    end = np.inf if time_budget is None else time.monotonic() + time_budget

    def calls() -> Iterator[tuple[DataMatrix, Work, str | None]]:
        # Dispatch one at a time, so that no fit is queued when the time is over.
        for index, work in enumerate(works):
            if index > 0 and time.monotonic() >= end:
                return
            yield data, work, token

    outcomes: list[Float | str] = []
    try:
        for outcome in in_parallel(
            _scores_or_reason, calls(), n_jobs, threads=suits_threads(data.raw)
        ):
            outcomes.append(outcome)
            if verbose:
                name = works[len(outcomes) - 1].name
                state = "failed" if isinstance(outcome, str) else "done"
                print(f"{title}: {name} {state} ({len(outcomes)} of {len(works)})")  # noqa: T201 - what verbose asks for
    finally:
        vars(_worker).clear()
    good = [i for i, outcome in enumerate(outcomes) if not isinstance(outcome, str)]
    failed: dict[str, list[str]] = {}
    for work, outcome in zip(works, outcomes, strict=False):
        if isinstance(outcome, str):
            failed.setdefault(outcome, []).append(work.name)
    n_failed = len(outcomes) - len(good)
    reasons = "; ".join(
        f"{_listed(names)} ({reason})" for reason, names in failed.items()
    )
    if n_failed and not good:
        raise ValueError(f"{title}: all of {n_failed} fits failed: {reasons}")
    if n_failed:
        warn(f"{title}: {n_failed} of {len(works)} fits failed: {reasons}")
    if len(outcomes) < len(works):
        warn(
            f"{title}: time_budget={time_budget} seconds allowed {len(outcomes)} of "
            f"{len(works)} fits; {works[len(outcomes)].name} and later ones are left "
            "out."
        )
    return Finished([works[i] for i in good], np.array([outcomes[i] for i in good]))


def _listed(names: list[str]) -> str:
    more = len(names) - MAX_NAMES
    return ", ".join(names[:MAX_NAMES]) + (f" and {more} more" if more > 0 else "")


def _scores_or_reason(data: DataMatrix, work: Work, token: str | None) -> Float | str:
    """Return the scores of a fit, or the reason why it failed."""
    sharing: AbstractContextManager[Any] = nullcontext()
    if token is not None:
        if getattr(_worker, "token", None) != token:
            _worker.token, _worker.results = token, ResultCache()
        sharing = cached_results(_worker.results)
    try:
        with sharing:
            part = data if work.part is None else work.part(data)
            return work.selector._fit_matrix(part).scores_
    except (ArithmeticError, MemoryError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
