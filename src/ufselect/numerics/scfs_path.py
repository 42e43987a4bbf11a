"""A grid of weights for one problem of SCFS, each fit from where the last one ended.

Neighbours on a grid have nearly the same clusters and nearly the same features, so that
a few steps lead from one to the next. A path that goes to and fro has no jumps.
"""

import math
from collections.abc import Iterable, Iterator

from ufselect.numerics.partitions import SoftPartition
from ufselect.numerics.scfs_exact import ExactFit, ExactProblem, Report, fit_exact

# Hardly a feature stays in the model when the penalty rises so many times over, and to
# let all of them go takes longer than to begin without any.
FAR_HIGHER = 10


def to_and_fro(
    alphas: Iterable[float], betas: Iterable[float]
) -> Iterator[tuple[float, float]]:
    """Yield all pairs so that neighbours differ in one of the two only.

    Alphas go down once; betas go down for the first of them, up for the next, and so
    on. High weights come first, because few features are in the model there.

    Examples
    --------
    >>> list(to_and_fro([1, 2], [3, 4]))
    [(2, 4), (2, 3), (1, 3), (1, 4)]
    """
    down = sorted(betas, reverse=True)
    for place, alpha in enumerate(sorted(alphas, reverse=True)):
        for beta in down if place % 2 == 0 else reversed(down):
            yield alpha, beta


def checked_weights(weights: Iterable[float] | None, name: str) -> list[float] | None:
    """Return weights as floats, or say which of them is none."""
    if weights is None:
        return None
    found = [float(weight) for weight in weights]
    if not found or not all(0 < weight < math.inf for weight in found):
        raise ValueError(f"{name}={found} must hold numbers above 0; give some.")
    return found


class ExactPath:
    """Fits of one problem that hand on their clusters, coefficients and working set.

    Parameters
    ----------
    problem : ExactProblem
    partition : SoftPartition
        Where the first fit starts; it is changed by every fit.
    """

    def __init__(self, problem: ExactProblem, partition: SoftPartition) -> None:
        self.problem, self.partition = problem, partition
        self._regression = problem.regression(len(partition.sums.sizes))
        self._penalty = math.inf

    def fit(
        self, alpha: float, beta: float, *, max_iter: int, tol: float, report: Report
    ) -> ExactFit:
        """Fit with the next weights; the result is used up by the fit after it."""
        before, self._penalty = self._penalty, beta / alpha
        if self._penalty > FAR_HIGHER * before:
            n_clusters = len(self.partition.sums.sizes)
            self._regression = self.problem.regression(n_clusters)
        return fit_exact(
            self.problem,
            self.partition,
            alpha=alpha,
            beta=beta,
            max_iter=max_iter,
            tol=tol,
            report=report,
            regression=self._regression,
        )
