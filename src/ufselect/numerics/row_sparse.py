"""Row-sparse regression: ``minimise |X W - Y|^2 + penalty |W|_21``.

A multi-task group lasso: each feature has one row of W, and whole rows become zero.
A feature may stay at zero while ``2 |x_i'(Y - XW)| <= penalty``, so that the problem
is solved on a small working set of features and the rest is only looked at. On the
set, Newton steps (fast) alternate with proximal gradient steps (which alone make rows
zero, or no longer so).
"""

from typing import NamedTuple

import numpy as np

from ufselect.matrix.base import DataMatrix, Float
from ufselect.numerics.least_squares import (
    Form,
    LeastSquares,
    Point,
    PrimalLeastSquares,
    Target,
)
from ufselect.numerics.responses import FeatureResponse, Response, SampleResponse
from ufselect.numerics.row_newton import newton_step
from ufselect.numerics.rows import row_norms, shrink_rows
from ufselect.numerics.working_set import working_set

# The least number of features that may enter the working set at once.
GROWTH = 200

# Conjugate gradient steps for a Newton step: while the target moves, and at the end,
# where every round adds some, up to a limit.
ROUGH_PRODUCTS, FINE_PRODUCTS, MORE_PRODUCTS, MOST_PRODUCTS = 4, 14, 2, 30

# Rounds after which gradients, too, get another step.
ROUNDS_PER_GRADIENT = 4

# Share of the working set that may be zero before such rows are dropped from it.
MOST_IDLE = 0.1

# Rounds in turn without a smaller gap, after which there will be none.
IDLE_ROUNDS = 20

# Gradient steps around a Newton step, and where there is none.
FEW_GRADIENTS, MANY_GRADIENTS = 1, 10


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
        """Solve until the duality gap is at most tol, or for max_rounds.

        Rounding may keep the gap above tol, in single precision above all: rounds that
        no longer close it are the last.
        """
        self._set.set_target(target)
        least, idle = np.inf, 0
        for round_number in range(max_rounds):
            solution = self._solution(penalty)
            least, idle = (
                (solution.gap, 0) if solution.gap < least else (least, idle + 1)
            )
            if solution.gap <= tol or idle == IDLE_ROUNDS:
                return solution
            self._admit(solution.proximity)
            more = FINE_PRODUCTS + MORE_PRODUCTS * round_number
            effort = 1 + (round_number + 1) // ROUNDS_PER_GRADIENT
            self._descend(penalty, min(more, MOST_PRODUCTS), effort)
        return self._solution(penalty)

    def improve(self, target: Target, penalty: float) -> None:
        """Lower the objective a little at little cost."""
        self._set.set_target(target)
        # The first features that enter show which others have to.
        for _ in range(1 if len(self._set.index) else 2):
            self._admit(2 * row_norms(self._set.correlation()) / penalty)
            self._descend(penalty, ROUGH_PRODUCTS)

    def feature_response(self, penalty: float) -> FeatureResponse | None:
        """Return the ridge regression that touches the objective at the present W.

        As ``|w| <= |w|^2 / (2 |v|) + |v| / 2``, equal for w = v, its own objective lies
        nowhere below. None where it is too much work, or W = 0.
        """
        members, problem = self._set, self._set.problem
        if not isinstance(problem, PrimalLeastSquares) or not members.coef.any():
            return None
        slack = 2 * row_norms(members.coef) / penalty
        return FeatureResponse(members.matrix, members.index, problem.gram, slack)

    def sample_response(self, penalty: float) -> Response | None:
        """Return the same, where an n x n matrix is affordable."""
        members = self._set
        if not members.coef.any():
            return None
        if 2 * len(members.index) <= members.matrix.shape[0]:
            return self.feature_response(penalty)
        slack = 2 * row_norms(members.coef) / penalty
        return SampleResponse(members.matrix.take(members.index), slack)

    def follow(self, response: Response, target: Target) -> None:
        """Go to where a response leads."""
        self._set.set_target(target)
        self._set.place(response.rows(target))

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
        self._set.place(state["coef"])
        self._curvature = float(state["curvature"])

    def _solution(self, penalty: float) -> RowSparseSolution:
        proximity = 2 * row_norms(self._set.correlation()) / penalty
        squared, overlaps = self._set.target.squared, self._set.overlaps()
        largest = float(proximity.max())
        gap = duality_gap(squared, overlaps, penalty, self.norm(), largest)
        error = squared_error(squared, overlaps)
        return RowSparseSolution(self._set.full_coef(), error, proximity, gap)

    def _admit(self, proximity: Float) -> None:
        """Let the features that violate optimality most into the working set.

        Rows that are zero, and may stay so, make room.
        """
        members = self._set.index
        moving = members[self._set.coef.any(axis=1)]
        violates = proximity > 1.0
        violates[moving] = False
        entering = np.flatnonzero(violates)
        violates[members] = False
        n_needed = len(moving) + len(entering)
        dispensable = 0 < n_needed < (1 - MOST_IDLE) * len(members)
        if not violates.any() and not dispensable:
            return
        room = max(GROWTH, len(members) // 2)
        if len(entering) > room:
            strongest = np.argsort(-proximity[entering], kind="stable")[:room]
            entering = entering[strongest]
        self._set.admit(entering)
        if len(entering):
            # Without others, what is left has no more than before.
            self._curvature = self._set.curvature()

    def _descend(self, penalty: float, n_products: int, effort: int = 1) -> None:
        """Move the coefficients of the working set; the objective never rises."""
        problem = self._set.problem
        if problem is None:
            return
        n_steps = effort * (FEW_GRADIENTS if problem.factors else MANY_GRADIENTS)
        point = self._gradient_steps(self._set.point, penalty, n_steps)
        point = newton_step(problem, point, penalty, n_products)
        point = self._gradient_steps(point, penalty, n_steps)
        self._set.place(point.coef, point)

    def _gradient_steps(self, start: Point, penalty: float, n_steps: int) -> Point:
        """Take proximal gradient steps, which alone make rows zero, or no longer so."""
        problem = self._set.problem
        assert problem is not None
        end = accelerated_descent(problem, start, penalty, self._curvature, n_steps)
        before = start.objective(problem, penalty)
        rise = end.objective(problem, penalty) - before
        if rise <= 0:
            return end
        if rise > 1e-10 * problem.squared_target:
            # Only a curvature estimated too low can make the steps overshoot.
            self._curvature *= 2
        return start


def accelerated_descent(
    problem: LeastSquares,
    start: Point,
    penalty: float,
    curvature: float,
    n_steps: int,
) -> Point:
    """Take proximal gradient steps with momentum, restarted when it points uphill."""
    here, ahead, momentum = start, start, 1.0
    for _ in range(n_steps):
        slope = 2 * (ahead.image - problem.cross)
        new = problem.at(
            shrink_rows(ahead.coef - slope / curvature, penalty / curvature)
        )
        moved = Point(new.coef - here.coef, new.image - here.image)
        if np.vdot(ahead.coef - new.coef, moved.coef) > 0:
            momentum = 1.0
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        share = (momentum - 1) / following
        ahead = Point(new.coef + share * moved.coef, new.image + share * moved.image)
        here, momentum = new, following
    return here
