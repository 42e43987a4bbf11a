"""Self-representation with whole rows at zero, by the largest entry of each row.

``minimise |X - X W|^2 + penalty sum_i max_j |W_ij|`` for one penalty after another,
from the one where W = 0 downwards. A feature may stay at zero while
``2 sum_j |x_i'(X - X W)_j| <= penalty``, so that W has rows only for the features of a
working set: W is a x p and never p x p, unless all features are in the model.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh, eigvalsh

from ufselect.matrix import DataMatrix, DenseMatrix, Float, Index
from ufselect.numerics.least_squares import LeastSquares, Target
from ufselect.numerics.simplex import CACHED_VALUES
from ufselect.numerics.working_set import WideWorkingSet

# The least number of features that may enter the working set at once.
GROWTH = 100

# Gradient steps between two looks at the duality gap.
STEPS_PER_LOOK = 10

# Changes of the objective below this share of |X|^2 are rounding.
ROUNDING = 1e-14

# Arrays of the size of W that a step holds at once: W, its image under X'X, both of
# them one step before and one ahead, the target and what is in between.
ARRAYS_PER_STEP = 10

# Values in a block of X'R, which is looked at and forgotten.
BLOCK_VALUES = 1_000_000

Report = Callable[[int, float], bool]


class WorkingSetTooLarge(Exception):
    """The working set needs more rows than allowed, at this penalty."""

    def __init__(self, n_rows: int, penalty: float, last_penalty: float) -> None:
        super().__init__(f"{n_rows} rows")
        self.n_rows = n_rows
        self.penalty = penalty
        self.last_penalty = last_penalty


class PathFit(NamedTuple):
    """The path of solutions: when features entered, and where it ended.

    ``entry`` is the first place on the path where the row of a feature is not zero,
    -1 if there is none; ``size`` is the largest entry of the row there.
    ``proximity`` is ``2 sum_j |x_i'(X - X W)_j| / penalty`` at the end; ``active``
    are the features of the rows of ``coef``. ``gaps`` bound the excess of each
    objective over its minimum, relative to ``|X|^2``.
    """

    penalties: Float
    entry: Index
    size: Float
    proximity: Float
    active: Index
    coef: Float
    history: Float
    gaps: Float
    converged: bool


def thin_factor(matrix: DataMatrix) -> Float:
    """Return F with ``F'F = X'X`` and at most min(n, p) rows."""
    n_samples, n_features = matrix.shape
    if n_samples <= n_features:
        return matrix.rows(slice(0, n_samples))
    values, vectors = eigh(matrix.feature_gram())
    kept = values > n_features * np.finfo(np.float64).eps * values[-1]
    return np.sqrt(values[kept])[:, np.newaxis] * vectors[:, kept].T


def row_maxima(rows: Float) -> Float:
    """Return the largest absolute value of each row."""
    return np.maximum(rows.max(axis=1), -rows.min(axis=1))


def correlation_sums(factor: Float, residual: Float) -> Float:
    """Return ``2 sum_j |F'R|_ij`` for all i, from blocks of the p x p product."""
    sums = np.empty(factor.shape[1])
    step = max(1, BLOCK_VALUES // residual.shape[1])
    for start in range(0, len(sums), step):
        block = slice(start, start + step)
        product = factor[:, block].T @ residual
        sums[block] = np.abs(product, out=product).sum(axis=1)
    return 2 * sums


def largest_row_penalty(factor: Float) -> float:
    """Return the penalty from which on W = 0."""
    return float(correlation_sums(factor, factor).max())


def shrink_row_maxima(rows: Float, amount: float, guess: Float | None = None) -> Float:
    """Apply the proximal map of ``amount max_j |v_j|`` to each row, in place.

    By Moreau's identity it is what the projection on the l1 ball of radius
    ``amount`` leaves over: the row, cut off at the threshold of that projection.
    Returns the thresholds, which are the largest entries of the new rows; those of
    similar rows are a good guess.

    >>> import numpy as np
    >>> rows = np.array([[3.0, -1.0], [0.5, 0.25]])
    >>> shrink_row_maxima(rows, 1.0)
    array([2., 0.])
    >>> rows
    array([[ 2., -1.],
           [ 0.,  0.]])
    """
    thresholds = np.zeros(len(rows)) if guess is None else guess.copy()
    step = max(1, CACHED_VALUES // rows.shape[1])
    for start in range(0, len(rows), step):
        block = slice(start, start + step)
        thresholds[block] = ball_thresholds(
            np.abs(rows[block]), amount, thresholds[block]
        )
    limits = thresholds[:, np.newaxis]
    np.clip(rows, -limits, limits, out=rows)
    return thresholds


def ball_thresholds(sizes: Float, amount: float, guess: Float) -> Float:
    """Return t with ``sum_j max(sizes_j - t, 0) = amount``, row by row; zero if none.

    Newton's method on a function that is convex and piecewise linear: it ends with
    the exact answer once the entries above t stay the same.
    """
    sums, largest = sizes.sum(axis=1), sizes.max(axis=1)
    # Both are at most t: the first if all entries, the second if one is above t.
    result = np.maximum((sums - amount) / sizes.shape[1], largest - amount)
    result = np.where(guess < largest, np.maximum(result, guess), result)
    previous = np.full(len(sizes), -1)
    for _ in range(sizes.shape[1] + 2):
        excess = sizes - result[:, np.newaxis]
        np.maximum(excess, 0.0, out=excess)
        above = np.maximum(np.count_nonzero(excess, axis=1), 1)
        result += (excess.sum(axis=1) - amount) / above
        if np.array_equal(above, previous):
            break
        previous = above
    return np.where(sums <= amount, 0.0, np.maximum(result, 0.0))


def relative_gap(
    squared: float, shared: float, total: float, weight: float, proximity: float
) -> float:
    """Return a bound on the distance to the minimum, relative to ``|X|^2``.

    With the residual R: ``squared = |R|^2``, ``shared = <X, R>``, ``total = |X|^2``,
    and ``weight`` the penalty times the norm of W. R, shortened until it is feasible,
    is a point of the dual problem ``maximise 2 <X, R> - |R|^2``.
    """
    shorter = 1.0 if proximity <= 1 else 1 / proximity
    if squared > 0:
        shorter = min(shorter, max(shared, 0.0) / squared)
    return (squared + weight - 2 * shorter * shared + shorter**2 * squared) / total


class Descent:
    """Accelerated proximal gradient on a working set; the objective never rises.

    ``image`` is ``Z'Z W``. It is linear in W, so that one product per step serves
    the gradient, the objective and the gap.
    """

    def __init__(
        self, problem: LeastSquares, coef: Float, penalty: float, curvature: float
    ) -> None:
        self.problem = problem
        self.penalty = penalty
        self.curvature = curvature
        self.coef = self.ahead = coef
        self.image = self.image_ahead = problem.normal(coef)
        self.momentum = 1.0
        self.maxima = row_maxima(coef)
        self.value = self._objective(coef, self.image, self.maxima)

    def step(self) -> float:
        """Move on, and return the objective."""
        new = self.image_ahead - self.problem.cross
        new *= -2 / self.curvature
        new += self.ahead
        amount = self.penalty / self.curvature
        maxima = shrink_row_maxima(new, amount, self.maxima)
        image = self.problem.normal(new)
        value = self._objective(new, image, maxima)
        if value > self.value + ROUNDING * self.problem.squared_target:
            # Momentum led uphill: a step without it cannot.
            self._move(self.coef, self.image, 0.0)
            self.momentum = 1.0
            return self.value
        if np.vdot(self.ahead - new, new - self.coef) > 0:
            self.momentum = 1.0
        following = (1 + np.sqrt(1 + 4 * self.momentum**2)) / 2
        self._move(new, image, (self.momentum - 1) / following)
        self.momentum, self.value, self.maxima = following, value, maxima
        return value

    def gap(self) -> float:
        """Return the gap among the features of the set."""
        correlation = self.image - self.problem.cross
        proximity = 2 * np.abs(correlation).sum(axis=1).max() / self.penalty
        return self.gap_at(float(proximity))

    def gap_at(self, proximity: float) -> float:
        """Return the gap if this is the largest proximity."""
        total = self.problem.squared_target
        shared = total - float(np.vdot(self.coef, self.problem.cross))
        weight = self.penalty * float(self.maxima.sum())
        return relative_gap(self.value - weight, shared, total, weight, proximity)

    def _move(self, coef: Float, image: Float, share: float) -> None:
        self.ahead = coef + share * (coef - self.coef)
        self.image_ahead = image + share * (image - self.image)
        self.coef, self.image = coef, image

    def _objective(self, coef: Float, image: Float, maxima: Float) -> float:
        change = np.vdot(coef, image) - 2 * np.vdot(coef, self.problem.cross)
        loss = max(self.problem.squared_target + float(change), 0.0)
        return loss + self.penalty * float(maxima.sum())


class RowMaxRegression:
    """The regression of F on itself, solved for one penalty after another.

    The working set is kept from one penalty to the next.

    Parameters
    ----------
    factor : ndarray of shape (r, p)
    max_iter : int
        Gradient steps in all.
    tol : float
        Largest duality gap, relative to ``|F|^2``.
    max_rows : int
        Largest working set; above it, ``WorkingSetTooLarge`` is raised.
    report : callable
        Told of each step and its objective; stops the fit by returning True.
    """

    def __init__(
        self, factor: Float, *, max_iter: int, tol: float, max_rows: int, report: Report
    ) -> None:
        self.factor = factor
        self.set = WideWorkingSet(DenseMatrix(factor), factor.shape[1])
        self.set.set_target(Target.of(factor))
        self.proximity = np.zeros(factor.shape[1])
        self.last_penalty = largest_row_penalty(factor)
        self.history: list[float] = []
        self.max_iter, self.tol, self.report = max_iter, tol, report
        self.max_rows = max_rows
        self.curvature = 0.0
        self.stopped = False

    def solve(self, penalty: float) -> float:
        """Solve for one penalty; return the duality gap reached."""
        gap = np.inf
        self._look(penalty)
        while not self.stopped:
            self._admit(penalty)
            problem = self.set.problem
            if problem is None:
                # No feature wants to enter: W = 0 is the solution.
                gap = 0.0
                break
            descent = Descent(problem, self.set.coef, penalty, self.curvature)
            self._descend(descent)
            self.set.place(descent.coef)
            self._look(penalty)
            gap = descent.gap_at(float(self.proximity.max()))
            if gap <= self.tol:
                break
        self.last_penalty = penalty
        return gap

    def _descend(self, descent: Descent) -> None:
        """Take steps until the gap on the set is closed, or until told to stop."""
        # Half of the gap is left for rounding in what the whole matrix will show.
        while not self.stopped:
            for _ in range(min(STEPS_PER_LOOK, self.max_iter - len(self.history))):
                value = descent.step()
                self.history.append(value)
                if self.report(len(self.history) - 1, value):
                    self.stopped = True
                    break
            self.stopped |= len(self.history) >= self.max_iter
            if descent.gap() <= self.tol / 2:
                break

    def _look(self, penalty: float) -> None:
        """Find how near each feature is to the model."""
        residual = self.factor - self.set.fitted()
        self.proximity = correlation_sums(self.factor, residual) / penalty

    def _admit(self, penalty: float) -> None:
        """Let the features that violate optimality most into the working set."""
        outside = self.proximity > 1.0
        outside[self.set.index] = False
        entering = np.flatnonzero(outside)
        if len(entering) == 0:
            return
        staying = int(np.count_nonzero(self.set.coef.any(axis=1)))
        room = max(GROWTH, staying // 2)
        if len(entering) > room:
            strongest = np.argsort(-self.proximity[entering], kind="stable")[:room]
            entering = entering[strongest]
        if staying + len(entering) > self.max_rows:
            n_rows = staying + len(entering)
            raise WorkingSetTooLarge(n_rows, penalty, self.last_penalty)
        self.set.admit(entering)
        self.curvature = curvature_of(self.factor[:, self.set.index])


def curvature_of(columns: Float) -> float:
    """Return the largest eigenvalue of ``2 Z'Z``, from the smaller of its two forms."""
    n_rows, n_columns = columns.shape
    gram = columns.T @ columns if n_columns <= n_rows else columns @ columns.T
    last = len(gram) - 1
    largest = eigvalsh(gram, subset_by_index=[last, last], overwrite_a=True)[0]
    # A little more than computed, so that rounding cannot make a step too long.
    return 2 * float(largest) * (1 + 1e-10)


def fit_path(
    factor: Float,
    penalties: Float,
    *,
    max_iter: int,
    tol: float,
    report: Report,
    max_rows: int | None = None,
) -> PathFit:
    """Solve for descending penalties, each from the solution before.

    All penalties must be below ``largest_row_penalty(factor)``. The path ends early
    when max_iter steps are taken or when ``report`` returns True.
    """
    n_features = factor.shape[1]
    entry = np.full(n_features, -1, dtype=np.intp)
    size = np.zeros(n_features)
    rows = n_features if max_rows is None else max_rows
    regression = RowMaxRegression(
        factor, max_iter=max_iter, tol=tol, max_rows=rows, report=report
    )
    gaps: list[float] = []
    for place, penalty in enumerate(penalties):
        gaps.append(regression.solve(float(penalty)))
        index, maxima = regression.set.index, row_maxima(regression.set.coef)
        fresh = (maxima > 0) & (entry[index] < 0)
        entry[index[fresh]] = place
        size[index[fresh]] = maxima[fresh]
        if regression.stopped:
            break
    active = np.flatnonzero(maxima > 0)
    active = active[np.argsort(index[active])]
    return PathFit(
        penalties=penalties[: len(gaps)],
        entry=entry,
        size=size,
        proximity=regression.proximity,
        active=index[active],
        coef=regression.set.coef[active],
        history=np.array(regression.history),
        gaps=np.array(gaps),
        converged=len(gaps) == len(penalties) and gaps[-1] <= tol,
    )
