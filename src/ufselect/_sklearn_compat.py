"""Parts of scikit-learn that are private or differ between versions.

With the constraints of parameters that several selectors share.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Integral, Real
from typing import Any

from sklearn.base import _fit_context as fit_context
from sklearn.pipeline import _name_estimators as name_estimators
from sklearn.utils._param_validation import Interval, Options, RealNotInt, StrOptions
from sklearn.utils.metaestimators import _BaseComposition as BaseComposition

try:
    # Experimental, from scikit-learn 1.9 on.
    from sklearn.callback import CallbackSupportMixin
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stand-in for a scikit-learn without callbacks."""


__all__ = [
    "COUNT",
    "ITERATIONS",
    "NOT_NEGATIVE",
    "POSITIVE",
    "BaseComposition",
    "CallbackSupportMixin",
    "FitProgress",
    "Interval",
    "Options",
    "RealNotInt",
    "StrOptions",
    "fit_context",
    "listening",
    "name_estimators",
]

COUNT = Interval(Integral, 1, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")

# Of a method that iterates until it converges.
ITERATIONS: dict[str, list[Any]] = {
    "max_iter": [COUNT],
    "tol": [NOT_NEGATIVE],
    "verbose": ["boolean"],
}

Listener = Callable[[str, int], None]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Call a function at every iteration of the fits in this thread.

    It gets the name of the selector and the number of the iteration. Callbacks of
    scikit-learn do the same, but not in all versions, nor for nested fits.
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


class FitProgress:
    """Tells callbacks, and with ``verbose`` the reader, about each iteration.

    Parameters
    ----------
    estimator : estimator
        With scikit-learn's callback support where the installed version has it.
    max_iter : int
        The largest number of iterations that may be reported.
    verbose : bool
    unit : float
        The unit in which the fit works; objectives are reported in units of X.
    """

    def __init__(
        self, estimator: Any, max_iter: int, *, verbose: bool, unit: float
    ) -> None:
        self.estimator = estimator
        self.verbose = verbose
        self.unit = unit
        self.stopped = False
        self.context: Any = None
        if hasattr(estimator, "_init_callback_context"):
            self.context = estimator._init_callback_context(max_subtasks=max_iter)
            self.context.call_on_fit_task_begin(estimator=estimator)

    def __call__(self, iteration: int, objective: float) -> bool:
        """Report one iteration; return whether a callback wants the fit to stop."""
        objective = objective / self.unit / self.unit
        metadata = {"iteration": iteration, "objective": objective}
        name = type(self.estimator).__name__
        if (listener := _listener.get()) is not None:
            listener(name, iteration + 1)
        if self.verbose:
            print(f"{name} iteration {iteration + 1}: objective {objective:.6g}")  # noqa: T201 - what verbose asks for
        return self.step("iteration", metadata)

    def step(self, name: str, metadata: dict[str, Any]) -> bool:
        """Report one part of the fit; return whether a callback wants it to stop."""
        if self.context is None:
            return False
        task = self.context.subcontext(task_name=name)
        task.call_on_fit_task_begin(estimator=self.estimator, metadata=metadata)
        self.stopped |= task.call_on_fit_task_end(
            estimator=self.estimator, metadata=metadata
        )
        return self.stopped

    def finish(self) -> None:
        """Report the end of the fit."""
        if self.context is not None:
            self.context.call_on_fit_task_end(estimator=self.estimator)
