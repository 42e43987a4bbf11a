"""Iterations of the solvers, with history and stopping criterion; parallel calls."""

import os
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from itertools import starmap
from typing import Any

import numpy as np
from joblib import cpu_count, effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from ufselect.matrix.base import libraries

# Smallest array whose fits are mostly long products, which release the GIL.
MIN_THREADED_VALUES = 1_000_000

# Whether this thread is a worker of `in_parallel`.
_worker = threading.local()

# Called with the number of an iteration and its objective; returns whether to stop.
Callback = Callable[[int, float], bool]

# Called with the name of a selector and the number of its iteration, from 1 on.
Progress = Callable[[str, int], None]
_progress: ContextVar[Progress | None] = ContextVar("progress", default=None)


@contextmanager
def showing_progress(progress: Progress) -> Iterator[None]:
    """Call a function at every iteration of the fits in this thread."""
    token = _progress.set(progress)
    try:
        yield
    finally:
        _progress.reset(token)


def progress_callback(
    name: str, *, verbose: bool = False, unit: float = 1.0
) -> Callback:
    """Return what tells a user of the iterations of a fit.

    Parameters
    ----------
    name : str
        The selector.
    verbose : bool
        Whether to print.
    unit : float
        The unit in which the fit works; objectives are printed in units of X.
    """
    progress = _progress.get()

    def callback(iteration: int, objective: float) -> bool:
        if progress is not None:
            progress(name, iteration + 1)
        if verbose:
            value = objective / unit / unit
            print(f"{name} iteration {iteration + 1}: objective {value:.6g}")  # noqa: T201 - what verbose asks for
        return False

    return callback


class Iterations:
    """Iterations of a solver that records one objective in each of them.

    The loop ends after ``max_iter`` iterations, when ``callback`` returns True, or when
    the objective f changes by at most ``tol (|f| + scale) + rounding``.

    Parameters
    ----------
    max_iter : int
    tol : float
    callback : callable, optional
    start : float, optional
        Objective before the first iteration, if it can be compared with later ones.
    n_incomparable : int
        Number of first iterations whose objective cannot be compared with later ones.
    scale, rounding : float

    Attributes
    ----------
    history : list of float
        The objective after each iteration.
    converged : bool

    Examples
    --------
    >>> halving, value = Iterations(max_iter=100, tol=0.1), 8.0
    >>> for _ in halving:
    ...     value = 1.0 + value / 2
    ...     halving.record(value)
    >>> halving.history, halving.converged
    ([5.0, 3.5, 2.75, 2.375, 2.1875], True)
    """

    def __init__(
        self,
        max_iter: int,
        tol: float,
        callback: Callback | None = None,
        *,
        start: float | None = None,
        n_incomparable: int = 0,
        scale: float = 0.0,
        rounding: float = 0.0,
    ) -> None:
        self.history: list[float] = []
        self.converged = False
        self._max_iter, self._tol, self._callback = max_iter, tol, callback
        self._previous, self._n_incomparable = start, n_incomparable
        self._scale, self._rounding = scale, rounding

    def __iter__(self) -> Iterator[int]:
        """Yield the number of each iteration; the loop body records the objective."""
        for iteration in range(self._max_iter):
            yield iteration
            value = self.history[-1]
            if self._previous is not None:
                allowed = self._tol * (abs(value) + self._scale) + self._rounding
                self.converged = bool(abs(value - self._previous) <= allowed)
            comparable = iteration >= self._n_incomparable
            self._previous = value if comparable else None
            stopped = self._callback is not None and self._callback(iteration, value)
            if stopped or self.converged:
                return

    def record(self, value: float) -> None:
        """Append the objective of the current iteration."""
        self.history.append(value)


def suits_threads(X: Any) -> bool:
    """Return whether fits to X are mostly long products, which release the GIL."""
    return isinstance(X, np.ndarray) and X.size >= MIN_THREADED_VALUES


def in_parallel(
    function: Callable[..., Any],
    calls: Iterable[tuple[Any, ...]],
    n_jobs: int | None,
    *,
    threads: bool = False,
) -> Iterator[Any]:
    """Return the results of a function for each tuple of arguments, in order.

    Arguments are read one at a time as workers become free. The number of BLAS and
    OpenMP threads of each worker is limited to its share of the cores. Calls from
    inside a worker thread run one after the other.

    Parameters
    ----------
    function : callable
    calls : iterable of tuple
    n_jobs : int or None
        As in joblib: None means one, unless a joblib configuration is active.
    threads : bool
        Whether the workers are threads, unless a joblib configuration is active.

    Examples
    --------
    >>> list(in_parallel(divmod, [(7, 2), (9, 4)], n_jobs=1))
    [(3, 1), (2, 1)]
    """
    parallel = Parallel(
        n_jobs=1 if getattr(_worker, "busy", False) else n_jobs,
        prefer="threads" if threads else None,
        return_as="generator",
        pre_dispatch="n_jobs",
        batch_size=1,
    )
    workers = effective_n_jobs(parallel.n_jobs)
    if workers == 1:
        return starmap(function, calls)
    each = max(1, cpu_count() // workers)
    return _results_of(parallel, each, function, calls)


def _results_of(
    parallel: Parallel,
    each: int,
    function: Callable[..., Any],
    calls: Iterable[tuple[Any, ...]],
) -> Iterator[Any]:
    """Yield the results of parallel calls with so many threads each."""
    # Worker threads share the BLAS of this process and its warning filters, which they
    # would leave changed.
    with libraries().limit(limits=each, user_api="blas"), warnings.catch_warnings():
        yield from parallel(
            delayed(limited)(each, os.getpid(), function, call) for call in calls
        )


def limited(
    threads: int, owner: int, function: Callable[..., Any], call: tuple[Any, ...]
) -> Any:
    """Call a function with a limited number of BLAS and OpenMP threads.

    The BLAS limit holds for a whole process. In the process ``owner`` the caller has
    set it; worker threads that set and reset it there would interfere.
    """
    own = os.getpid() == owner
    limit = libraries().limit
    blas = nullcontext() if own else limit(limits=threads, user_api="blas")
    _worker.busy = own
    try:
        with blas, limit(limits=threads, user_api="openmp"):
            return function(*call)
    finally:
        _worker.busy = False


def in_threads(
    function: Callable[..., Any], calls: Iterable[tuple[Any, ...]]
) -> Iterator[Any]:
    """Yield the results of a function, computed by as many threads as BLAS may have.

    Each thread uses one BLAS thread. For many short products this is faster than all
    BLAS threads for each product, and idle BLAS threads do not keep the cores busy.
    Unlike `in_parallel`, it ignores the configuration of joblib, because the calls are
    too short for other processes.

    Examples
    --------
    >>> list(in_threads(divmod, [(7, 2), (9, 4)]))
    [(3, 1), (2, 1)]
    """
    blas = libraries().select(user_api="blas")
    threads = max((each["num_threads"] for each in blas.info()), default=1)
    if threads == 1 or getattr(_worker, "busy", False):
        yield from starmap(function, calls)
        return
    with blas.limit(limits=1), ThreadPoolExecutor(threads) as pool:
        yield from pool.map(lambda call: function(*call), calls)
