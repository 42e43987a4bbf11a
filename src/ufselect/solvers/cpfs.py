"""CPFS: self-representation by a group lasso with the largest entry of each row.

``minimise |X - X W|^2 + lam |W|_1inf`` for one lam after another, from the one where
W = 0 downwards. W has rows only for the features of a working set: it is a x p and
never p x p, unless all features are in the model.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from ufselect.matrix import DataMatrix, DenseMatrix, Float, Index
from ufselect.solvers.group_lasso import GroupLasso, L1Inf, WorkingSetTooLarge

# Gradient steps between two looks at the duality gap.
STEPS_PER_GAP = 10

# Arrays of the size of W that a step holds at once: W, its product with X'X, both of
# them one step before and one ahead, the target and what is in between.
ARRAYS_PER_STEP = 10

Report = Callable[[int, float], bool]


class PathTooLong(Exception):
    """The working set needs more rows than allowed, at this lam of a path."""

    def __init__(self, n_rows: int, lam: float, last_lam: float) -> None:
        super().__init__(f"{n_rows} rows")
        self.n_rows, self.lam, self.last_lam = n_rows, lam, last_lam


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

        def told(value: float, lam: float = lam) -> bool:
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
                last = float(lams[place - 1]) if place else largest
                raise PathTooLong(error.n_rows, float(lam), last) from error
            if not len(lasso.S):
                # No feature wants to enter: W = 0 is the solution.
                gap = 0.0
                break
            lasso.gradient_steps(lam, max_iter, told)
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
