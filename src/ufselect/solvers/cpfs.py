"""CPFS: self-representation by a group lasso with the l1/l-infinity norm.

``minimise |X - X W|^2 + lam |W|_1inf`` along a path of decreasing lam that starts where
W = 0. W has rows only for the a features of a working set: it is a x p, and p x p only
if the model has all features.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from ufselect.matrix import DataMatrix, DenseMatrix, Float, Index
from ufselect.solvers.group_lasso import L21, GroupLasso, WorkingSetTooLarge
from ufselect.solvers.iterations import Report
from ufselect.solvers.soft_partition import CACHED_VALUES

# Gradient steps between two computations of the duality gap.
STEPS_PER_GAP = 10

# Arrays of the size of W that a step holds in memory: W and X'X W for the current, the
# previous and the extrapolated iterate, X'Y, and temporary arrays.
ARRAYS_PER_STEP = 10


class L1Inf(L21):
    """``|W|_1inf = sum_i max_j |W_ij|``, whose rows have the l1 norm as dual."""

    smooth = False

    def sizes(self, W: Float) -> Float:
        """Return the largest absolute value of each row."""
        return np.maximum(W.max(axis=1), -W.min(axis=1))

    def prox(self, W: Float, amount: float) -> Float:
        """Return the proximal operator of ``amount Omega`` at W, overwriting W.

        By Moreau's identity it is the row minus its projection onto the l1 ball of
        radius ``amount``: the row, clipped at the threshold of that projection.

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
        """Return the l1 norm of each row from blocks of columns, overwriting them."""
        sums = (np.abs(block, out=block).sum(axis=1) for block in blocks)
        return np.asarray(sum(sums))


def ball_thresholds(sizes: Float, amount: float) -> Float:
    """Return t >= 0 with ``sum_j max(sizes_j - t, 0) = amount`` for each row.

    Zero if the row has a smaller sum. The function is convex and piecewise linear:
    Newton's method is exact once the set of entries above t no longer changes.
    """
    sums = sizes.sum(axis=1)
    # Two lower bounds of t, exact if all entries or only one of them are above t.
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
    """The regularisation path: where each feature entered, and the last solution.

    ``entry`` is the index of the first lam at which the row of a feature is not zero,
    -1 if there is none; ``size`` is the largest absolute value of the row there.
    ``kkt_ratios`` and ``coef`` belong to the last lam; ``active`` are the features of
    the rows of ``coef``. ``gaps`` are the duality gaps, relative to ``|X|^2``.
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
    """Return the group lasso that regresses F on itself, with W = 0."""
    lasso = GroupLasso(DenseMatrix(F), F.shape[1], L1Inf(), max_rows=max_rows)
    lasso.set_target(float(np.vdot(F, F)), Y=F)
    return lasso


def fit_path(
    lasso: GroupLasso, lams: Float, *, max_iter: int, tol: float, report: Report
) -> PathFit:
    """Solve for decreasing lam, each with a warm start from the solution before.

    Parameters
    ----------
    lasso : GroupLasso
        With W = 0.
    lams : ndarray
        Below the largest KKT ratio at lam = 1, the smallest lam at which W = 0.
    max_iter : int
        Number of gradient steps in total; the path ends when they are used.
    tol : float
        Largest duality gap, relative to ``|X|^2``.
    report : callable
        Called with each step and its objective; the path ends if it returns True.
    """
    n_features = lasso.X.shape[1]
    entry, size = np.full(n_features, -1, dtype=np.intp), np.zeros(n_features)
    history, gaps = list[float](), list[float]()
    largest = float(lasso.kkt_ratios(1.0).max())
    stopped = False

    def closed(lam: float, share: float) -> bool:
        """Return whether the gap over the working set is below its tolerance."""
        rows = lasso.ZtZW - lasso.ZtY
        ratio = 2 * lasso.penalty.dual_norms([rows]).max() / lam
        return lasso.gap(lam, float(ratio)) <= share * tol

    for place, lam in enumerate(lams):

        def after_step(value: float, lam: float = lam) -> bool:
            nonlocal stopped
            history.append(value)
            stopped = report(len(history) - 1, value) or len(history) >= max_iter
            # Half of the tolerance is left for rounding in the gap over all features.
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
                # No feature violates the optimality condition: the solution is W = 0.
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
