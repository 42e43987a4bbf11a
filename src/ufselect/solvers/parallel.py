"""As many threads as help: no more in all than cores, one where products are short."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

from joblib import cpu_count, effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import ThreadpoolController, threadpool_limits

from ufselect.matrix.base import DataMatrix

# Below this many multiplications a product is too short to share between threads.
SHORT_PRODUCT = 5_000_000


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


def limited_threads(data: DataMatrix) -> AbstractContextManager[Any]:
    """Return a context with one thread where products are too short for two.

    There, rounding does not depend on how many threads there are.
    """
    # What is multiplied over and over: X X' if it is the smaller, else X, of which an
    # out-of-core matrix holds a block at a time.
    kernel, size = data.shape[0] ** 2, data.multiplications
    if kernel < size:
        size = kernel
    elif data.streams:
        size = min(size, data.block_bytes // 8)
    if size >= SHORT_PRODUCT:
        return nullcontext()
    limit: AbstractContextManager[Any] = _libraries().limit(limits=1, user_api="blas")
    return limit


@cache
def _libraries() -> ThreadpoolController:
    """Return the libraries of this process; to look for them takes milliseconds."""
    return ThreadpoolController()
