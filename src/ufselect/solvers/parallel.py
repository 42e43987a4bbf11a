"""Calls in parallel, with no more threads in all than cores."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from typing import Any

from joblib import cpu_count, effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits


def in_parallel(
    function: Callable[..., Any], calls: Iterable[tuple[Any, ...]], n_jobs: int | None
) -> Iterator[Any]:
    """Yield what a function returns for each tuple of arguments, in order.

    Arguments are asked for one at a time as workers become free. Who they are, is up
    to joblib; several of them share the cores, so that BLAS and OpenMP in each get
    their part and no more.

    Parameters
    ----------
    function : callable
    calls : iterable of tuple
    n_jobs : int or None
        As for joblib: None is one unless its configuration says otherwise.

    Examples
    --------
    >>> list(in_parallel(divmod, [(7, 2), (9, 4)], n_jobs=1))
    [(3, 1), (2, 1)]
    """
    parallel = Parallel(
        n_jobs=n_jobs, return_as="generator", pre_dispatch="n_jobs", batch_size=1
    )
    workers = effective_n_jobs(n_jobs)
    if workers == 1:
        yield from parallel(delayed(function)(*call) for call in calls)
        return
    threads = max(1, cpu_count() // workers)
    # Workers that are threads of this process have the BLAS of this process.
    with threadpool_limits(threads, user_api="blas"):
        yield from parallel(
            delayed(limited)(threads, os.getpid(), function, call) for call in calls
        )


def limited(
    threads: int, owner: int, function: Callable[..., Any], call: tuple[Any, ...]
) -> Any:
    """Call a function with so many threads for BLAS and OpenMP.

    The limit of BLAS is that of a whole process. In the one that owns the work it is
    set already, and threads that set it and reset it there would do so out of turn.
    """
    own = os.getpid() == owner
    blas = nullcontext() if own else threadpool_limits(threads, user_api="blas")
    with blas, threadpool_limits(threads, user_api="openmp"):
        return function(*call)
