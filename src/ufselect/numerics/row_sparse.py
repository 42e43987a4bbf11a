"""Row-sparse regression: ``minimise |X W - Y|^2 + penalty |W|_21``.

A multi-task group lasso: each feature has one row of W, and whole rows become zero.
A feature may stay at zero while ``2 |x_i'(Y - XW)| <= penalty``, so that the problem
is solved on a small working set of features and the rest is only looked at. On the
set, reweighted ridge steps (fast at first) alternate with accelerated proximal
gradient steps (true zeros, fast at the end).
"""

from typing import NamedTuple

import numpy as np

from ufselect.matrix.base import DataMatrix, Float
from ufselect.numerics.working_set import Form, LeastSquares, Target, working_set

# The least number of features that may enter the working set at once.
GROWTH = 100

# Reweighted steps gain less than gradient steps once the set has settled.
REWEIGHTED_ROUNDS = 5


class RowSparseSolution(NamedTuple):
    """Coefficients, squared error, how near each feature is to the model, and a bound.

    ``proximity`` is ``2 |x_i'(Y - XW)| / penalty``: one for features in the model,
    below one for those outside. ``gap`` bounds the excess of the objective over its
    minimum, relative to ``|Y|^2``.
    """

    coef: Float
    error: float
    proximity: Float
    gap: float


def row_norms(matrix: Float) -> Float:
    """Return the Euclidean norm of each row."""
    return np.sqrt(np.einsum("ij,ij->i", matrix, matrix))


def shrink_rows(matrix: Float, amount: float) -> Float:
    """Shorten each row by amount; a shorter row becomes zero."""
    norms = row_norms(matrix)
    factors = np.zeros_like(norms)
    np.divide(norms - amount, norms, out=factors, where=norms > amount)
    return matrix * factors[:, np.newaxis]


def ranked_below(sizes: Float, nearness: Float) -> Float:
    """Return sizes in which zeros are ranked, below all others, by their nearness.

    A nearness of one or more lies just below the smallest size.

    Examples
    --------
    >>> ranked_below(np.array([2.0, 0.0, 4.0, 0.0]), np.array([1.0, 0.5, 1.0, 0.0]))
    array([2.   , 0.999, 4.   , 0.   ])
    """
    inside = sizes > 0
    if not inside.any():
        return nearness
    outside = 0.999 * sizes[inside].min() * np.minimum(nearness, 1.0)
    return np.where(inside, sizes, outside)


def largest_penalty(matrix: DataMatrix, target: Float) -> float:
    """Return the penalty from which on W = 0."""
    return 2 * float(row_norms(matrix.transpose_dot(target)).max())


def duality_gap(
    squared_target: float,
    overlaps: tuple[float, float],
    penalty: float,
    norm: float,
    proximity: float,
) -> float:
    """Return a bound on the distance to the minimum, relative to ``|Y|^2``.

    The residual, shortened until ``2 |x_i'R| <= penalty``, is feasible for the dual
    problem ``maximise 2 <Y, R> - |R|^2``. ``overlaps`` are ``<Y, X W>`` and
    ``|X W|^2``, ``norm`` is ``|W|_21`` and ``proximity`` the largest of any feature.
    """
    squared = squared_error(squared_target, overlaps)
    shared = squared_target - overlaps[0]
    shorter = 1.0 if proximity <= 1 else 1 / proximity
    if squared > 0:
        shorter = min(shorter, max(shared, 0.0) / squared)
    excess = squared + penalty * norm - 2 * shorter * shared + shorter**2 * squared
    return excess / max(squared_target, np.finfo(np.float64).tiny)


def squared_error(squared_target: float, overlaps: tuple[float, float]) -> float:
    """Return ``|Y - X W|^2``."""
    return max(squared_target - 2 * overlaps[0] + overlaps[1], 0.0)


class RowSparseRegression:
    """A row-sparse regression on one matrix, solved for one target after another.

    The working set and its Gram matrix are kept between calls, so that a target
    that moves a little costs a little.

    Parameters
    ----------
    matrix : DataMatrix
    n_targets : int
    form : {"auto", "primal", "dual", "first-order", "streamed"}, default="auto"
    gram : ndarray of shape (p, p), optional
        ``X'X``, where it is at hand.
    """

    def __init__(
        self,
        matrix: DataMatrix,
        n_targets: int,
        *,
        form: Form = "auto",
        gram: Float | None = None,
    ) -> None:
        self._set = working_set(matrix, n_targets, form, gram)
        self._curvature = 0.0

    @property
    def needs_values(self) -> bool:
        """Whether a target has to come with its values."""
        return self._set.needs_values

    def solve(
        self,
        target: Target,
        penalty: float,
        *,
        tol: float = 1e-6,
        max_rounds: int = 100,
    ) -> RowSparseSolution:
        """Solve until the duality gap is at most tol, or for max_rounds."""
        self._set.set_target(target)
        for effort in range(1, max_rounds + 1):
            solution = self._solution(penalty)
            if solution.gap <= tol:
                return solution
            grown = self._admit(solution.proximity)
            reweight = grown or effort <= REWEIGHTED_ROUNDS
            self._descend(penalty, accelerated=10 * effort, reweight=reweight)
        return self._solution(penalty)

    def improve(self, target: Target, penalty: float) -> None:
        """Lower the objective a little at little cost."""
        self._set.set_target(target)
        self._admit(2 * row_norms(self._set.correlation()) / penalty)
        self._descend(penalty, accelerated=10, reweight=True)

    def full_coef(self) -> Float:
        """Return W, with a row for every feature."""
        return self._set.full_coef()

    def fitted(self) -> Float:
        """Return ``X W``."""
        return self._set.fitted()

    def explained(self) -> float:
        """Return ``|X W|^2``."""
        return self._set.overlaps()[1]

    def norm(self) -> float:
        """Return ``|W|_21``."""
        return float(row_norms(self._set.coef).sum())

    def state(self) -> dict[str, Float]:
        """Return all that is needed to go on from here."""
        index = self._set.index.astype(np.float64)
        curvature = np.array(self._curvature)
        return {"index": index, "coef": self._set.coef, "curvature": curvature}

    def restore(self, state: dict[str, Float], target: Target) -> None:
        """Go on from where a regression on the same matrix was."""
        self._set.set_target(target)
        index = state["index"].astype(np.intp)
        if len(index):
            self._set.admit(index)
        self._set.coef = state["coef"]
        self._curvature = float(state["curvature"])

    def _solution(self, penalty: float) -> RowSparseSolution:
        proximity = 2 * row_norms(self._set.correlation()) / penalty
        squared, overlaps = self._set.target.squared, self._set.overlaps()
        largest = float(proximity.max())
        gap = duality_gap(squared, overlaps, penalty, self.norm(), largest)
        error = squared_error(squared, overlaps)
        return RowSparseSolution(self._set.full_coef(), error, proximity, gap)

    def _admit(self, proximity: Float) -> bool:
        """Let the features that violate optimality most into the working set."""
        outside = proximity > 1.0
        outside[self._set.index] = False
        entering = np.flatnonzero(outside)
        if len(entering) == 0:
            return False
        room = max(GROWTH, len(self._set.index) // 2)
        if len(entering) > room:
            strongest = np.argsort(-proximity[entering], kind="stable")[:room]
            entering = entering[strongest]
        self._set.admit(entering)
        assert self._set.problem is not None
        self._curvature = self._set.problem.curvature()
        return True

    def _descend(self, penalty: float, accelerated: int, reweight: bool) -> None:
        """Move the coefficients of the working set; the objective never rises."""
        problem, start = self._set.problem, self._set.coef
        if problem is None:
            return
        coef = accelerated_descent(problem, start, penalty, self._curvature, 3)
        for _ in range(2 * reweight):
            slack = 2 * row_norms(coef) / penalty
            reweighted = problem.reweighted(slack) if slack.any() else None
            if reweighted is None:
                break
            coef = reweighted
        coef = accelerated_descent(problem, coef, penalty, self._curvature, accelerated)
        before = objective(problem, start, penalty)
        after = objective(problem, coef, penalty)
        if after <= before:
            self._set.coef = coef
        elif after - before > 1e-10 * problem.squared_target:
            # Only a curvature estimated too low can make the steps overshoot.
            self._curvature *= 2


def objective(problem: LeastSquares, coef: Float, penalty: float) -> float:
    """Return ``|Z W - Y|^2 + penalty |W|_21``."""
    return problem.loss(coef) + penalty * float(row_norms(coef).sum())


def accelerated_descent(
    problem: LeastSquares,
    coef: Float,
    penalty: float,
    curvature: float,
    n_steps: int,
) -> Float:
    """Take proximal gradient steps with momentum, restarted when it points uphill."""
    ahead, momentum = coef, 1.0
    for _ in range(n_steps):
        step = ahead - problem.gradient(ahead) / curvature
        new = shrink_rows(step, penalty / curvature)
        moved = new - coef
        if np.vdot(ahead - new, moved) > 0:
            momentum = 1.0
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = new + ((momentum - 1) / following) * moved
        coef, momentum = new, following
    return coef
