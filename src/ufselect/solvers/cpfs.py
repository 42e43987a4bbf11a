"""CPFS: self-representation by a group lasso with the largest entry of each row.

``minimise |X - X W|^2 + lam |W|_1inf`` for one lam after another, from the one where
W = 0 downwards. W has rows only for the features of a working set: it is a x p and
never p x p, unless all features are in the model.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from ufselect.matrix import DataMatrix, DenseMatrix, Float, Index
from ufselect.solvers.group_lasso import L21, GroupLasso, WorkingSetTooLarge
from ufselect.solvers.iterations import Report
from ufselect.solvers.soft_partition import CACHED_VALUES

# Gradient steps between two looks at the duality gap.
STEPS_PER_GAP = 10

# Arrays of the size of W that a step holds at once: W, its product with X'X, both of
# them one step before and one ahead, the target and what is in between.
ARRAYS_PER_STEP = 10


class L1Inf(L21):
    """``|W|_1inf = sum_i max_j |W_ij|``, whose rows have the l1 norm as dual."""

    smooth = False

    def sizes(self, W: Float) -> Float:
        """Return the largest absolute value of each row."""
        return np.maximum(W.max(axis=1), -W.min(axis=1))

    def prox(self, W: Float, amount: float) -> Float:
        """Return W with each row cut off, in place.

        By Moreau's identity it is what the projection on the l1 ball of radius
        ``amount`` leaves over: the row, cut off at the threshold of that projection.

        >>> import numpy as np
        >>> L1Inf().prox(np.array([[3.0, -1.0], [0.5, 0.25]]), 1.0)
        array([[ 2., -1.],
               [ 0.,  0.]])
        """
        rows_per_block = max(1, CACHED_VALUES // W.shape[1])
        for start in range(0, len(W), rows_per_block):
            block = W[start : start + rows_per_block]
            limits = ball_thresholds(np.abs(block), amount)[:, np.newaxis]
            np.clip(block, -limits, limits, out=block)
        return W

    def dual_norms(self, blocks: Iterable[Float]) -> Float:
        """Return the sum of the absolute values of each row, in place of blocks."""
        sums = (np.abs(block, out=block).sum(axis=1) for block in blocks)
        return np.asarray(sum(sums))


def ball_thresholds(sizes: Float, amount: float) -> Float:
    """Return t with ``sum_j max(sizes_j - t, 0) = amount``, row by row; zero if none.

    Newton's method on a function that is convex and piecewise linear: it ends with
    the exact answer once the entries above t stay the same.
    """
    sums = sizes.sum(axis=1)
    # Both are at most t: the first if all entries, the second if one is above t.
    t = np.maximum((sums - amount) / sizes.shape[1], sizes.max(axis=1) - amount)
    previous = np.full(len(sizes), -1)
    for _ in range(sizes.shape[1] + 2):
        excess = sizes - t[:, np.newaxis]
        np.maximum(excess, 0.0, out=excess)
        above = np.maximum(np.count_nonzero(excess, axis=1), 1)
        t += (excess.sum(axis=1) - amount) / above
        if np.array_equal(above, previous):
            break
        previous = above
    return np.where(sums <= amount, 0.0, np.maximum(t, 0.0))


class PathFit(NamedTuple):
    """The path of solutions: when features entered, and where it ended.

    ``entry`` is the first place on the path where the row of a feature is not zero,
    -1 if there is none; ``size`` is the largest entry of the row there.
    ``kkt_ratios`` are those at the end; ``active`` are the features of the rows of
    ``coef``. ``gaps`` bound the excess of each
    objective over its minimum, relative to ``|X|^2``.
    """

    lams: Float
    entry: Index
    size: Float
    kkt_ratios: Float
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


def self_representation(F: Float, max_rows: int | None = None) -> GroupLasso:
    """Return the group lasso of F on itself, with W = 0."""
    lasso = GroupLasso(DenseMatrix(F), F.shape[1], L1Inf(), max_rows=max_rows)
    lasso.set_target(float(np.vdot(F, F)), Y=F)
    return lasso


def fit_path(
    lasso: GroupLasso, lams: Float, *, max_iter: int, tol: float, report: Report
) -> PathFit:
    """Solve for descending lam, each from the solution before.

    Parameters
    ----------
    lasso : GroupLasso
        With W = 0.
    lams : ndarray
        Below the largest KKT ratio for lam = 1, from which on W = 0.
    max_iter : int
        Gradient steps in all; the path ends with the last of them.
    tol : float
        Largest duality gap, relative to ``|X|^2``.
    report : callable
        Told of each step and its objective; ends the path by returning True.
    """
    n_features = lasso.X.shape[1]
    entry, size = np.full(n_features, -1, dtype=np.intp), np.zeros(n_features)
    history, gaps = list[float](), list[float]()
    largest = float(lasso.kkt_ratios(1.0).max())
    stopped = False

    def closed(lam: float, share: float) -> bool:
        """Tell whether the gap among the features of the set is closed."""
        rows = lasso.ZtZW - lasso.ZtY
        ratio = 2 * lasso.penalty.dual_norms([rows]).max() / lam
        return lasso.gap(lam, float(ratio)) <= share * tol

    for place, lam in enumerate(lams):

        def after_step(value: float, lam: float = lam) -> bool:
            nonlocal stopped
            history.append(value)
            stopped = report(len(history) - 1, value) or len(history) >= max_iter
            # Half of the gap is left for rounding in what all features will show.
            look = len(history) % STEPS_PER_GAP == 0
            return stopped or (look and closed(lam, 0.5))

        gap, ratios = np.inf, lasso.kkt_ratios(lam)
        while gap > tol and not stopped:
            try:
                lasso.admit(ratios)
            except WorkingSetTooLarge as error:
                error.lam = float(lam)
                error.last_lam = float(lams[place - 1]) if place else largest
                raise
            if not len(lasso.S):
                # No feature wants to enter: W = 0 is the solution.
                gap = 0.0
                break
            lasso.gradient_steps(lam, max_iter, after_step)
            ratios = lasso.kkt_ratios(lam)
            gap = lasso.gap(lam, float(ratios.max()))
        gaps.append(gap)
        sizes = lasso.penalty.sizes(lasso.W)
        fresh = (sizes > 0) & (entry[lasso.S] < 0)
        entry[lasso.S[fresh]], size[lasso.S[fresh]] = place, sizes[fresh]
        if stopped:
            break
    active = np.flatnonzero(sizes > 0)
    active = active[np.argsort(lasso.S[active])]
    return PathFit(
        lams=lams[: len(gaps)],
        entry=entry,
        size=size,
        kkt_ratios=ratios,
        active=lasso.S[active],
        coef=lasso.W[active],
        history=np.array(history),
        gaps=np.array(gaps),
        converged=len(gaps) == len(lams) and gaps[-1] <= tol,
    )
