"""A cache of expensive results for many fits to the same data.

A Gram matrix or a neighbour graph depends on the data alone, and an experiment fits
dozens of settings to the same data. Inside ``cached_results`` such a result is
computed once; outside, nothing is cached.
"""

import copy
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import joblib

Result = TypeVar("Result")

# Enough for a few results of a few views of one table (centred, scaled, unchanged).
KEPT = 8


class ResultCache:
    """A least-recently-used cache of results, by the content of their inputs."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._results: OrderedDict[str, Any] = OrderedDict()

    def get(self, function: Callable[..., Result], inputs: tuple[Any, ...]) -> Result:
        """Return the result, which must not be changed."""
        # Hash the content, because every fit makes its own view of the same data.
        content = function.__module__, function.__qualname__, inputs
        # Processors compute SHA-1 faster than MD5.
        key = joblib.hash(content, hash_name="sha1")
        if key not in self._results:
            self._results[key] = function(*inputs)
        self._results.move_to_end(key)
        if len(self._results) > self._kept:
            self._results.popitem(last=False)
        result: Result = self._results[key]
        return result


# None outside of ``cached_results``.
active: ContextVar[ResultCache | None] = ContextVar("cached_results", default=None)


@contextmanager
def cached_results(results: ResultCache | None = None) -> Iterator[ResultCache]:
    """Cache results for all fits inside the context, in ``results`` if given.

    Examples
    --------
    >>> import numpy as np
    >>> from ufselect.matrix import as_matrix
    >>> with cached_results():
    ...     first = as_matrix(np.eye(2)).feature_gram()
    ...     second = as_matrix(np.eye(2)).feature_gram()  # not computed again
    >>> first is second
    False
    """
    results = ResultCache() if results is None else results
    token = active.set(results)
    try:
        yield results
    finally:
        active.reset(token)


def cached(function: Callable[..., Result], *inputs: Any) -> Result:
    """Return ``function(*inputs)``, from the cache if there is one."""
    results = active.get()
    if results is None:
        return function(*inputs)
    # The caller may change the result.
    return copy.deepcopy(results.get(function, inputs))


def cached_unchanged(function: Callable[..., Result], *inputs: Any) -> Result:
    """Return the same without a copy, for callers that do not change the result.

    Results that are computed on the way are not cached.
    """
    results = active.get()
    if results is None:
        return function(*inputs)
    token = active.set(None)
    try:
        return results.get(function, inputs)
    finally:
        active.reset(token)
