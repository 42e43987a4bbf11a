"""The loop of every alternating solver: iterate, record the objective, report, stop."""

from collections.abc import Callable, Iterator

# Told the number of an iteration and its objective; returns whether to stop.
Report = Callable[[int, float], bool]


class Iterations:
    """Iterations of a solver that records one objective in each of them.

    The loop ends after ``max_iter`` iterations, when ``report`` returns True, or when
    the objective f changes by at most ``tol (|f| + scale) + rounding``.

    Parameters
    ----------
    max_iter : int
    tol : float
    report : callable, optional
    start : float, optional
        Objective before the first iteration, if it is comparable with those after.
    n_incomparable : int
        First iterations whose objective is another one than that of the rest.
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
        report: Report | None = None,
        *,
        start: float | None = None,
        n_incomparable: int = 0,
        scale: float = 0.0,
        rounding: float = 0.0,
    ) -> None:
        self.history: list[float] = []
        self.converged = False
        self._max_iter, self._tol, self._report = max_iter, tol, report
        self._previous, self._n_incomparable = start, n_incomparable
        self._scale, self._rounding = scale, rounding

    def __iter__(self) -> Iterator[int]:
        """Yield the number of each iteration, which records its objective."""
        for iteration in range(self._max_iter):
            yield iteration
            value = self.history[-1]
            self.converged = self._is_close_to_previous(value)
            comparable = iteration >= self._n_incomparable
            self._previous = value if comparable else None
            stopped = self._report is not None and self._report(iteration, value)
            if stopped or self.converged:
                return

    def record(self, value: float) -> None:
        """Append the objective of the current iteration."""
        self.history.append(value)

    def _is_close_to_previous(self, value: float) -> bool:
        if self._previous is None:
            return False
        allowed = self._tol * (abs(value) + self._scale) + self._rounding
        return bool(abs(value - self._previous) <= allowed)
