"""A grid of weights for one problem of SCFS, each fit from where the last one ended.

But for the clusters it aims at, W depends on the weights through ``beta / alpha`` only.
So pairs of one such penalty have nearly the same features, and a path on which it never
rises has to let few of them go.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import product

from ufselect.numerics.partitions import SoftPartition
from ufselect.numerics.scfs_exact import ExactFit, ExactProblem, Report, fit_exact


def by_penalty(
    alphas: Iterable[float], betas: Iterable[float]
) -> Iterator[tuple[float, float]]:
    """Yield all pairs from the highest ``beta / alpha`` to the lowest.

    Among pairs where it is the same, alphas go up and down in turns.

    Examples
    --------
    >>> list(by_penalty([1, 2], [1, 2]))
    [(1, 2), (1, 1), (2, 2), (2, 1)]
    """
    pairs = defaultdict(list)
    for alpha, beta in product(sorted(alphas), betas):
        # Rounding must not tell penalties apart.
        pairs[float(f"{beta / alpha:.9e}")].append((alpha, beta))
    for place, penalty in enumerate(sorted(pairs, reverse=True)):
        yield from pairs[penalty] if place % 2 else reversed(pairs[penalty])


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

    def fit(
        self, alpha: float, beta: float, *, max_iter: int, tol: float, report: Report
    ) -> ExactFit:
        """Fit with the next weights; the result is used up by the fit after it."""
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
