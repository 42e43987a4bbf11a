"""SPFS: features whose linear kernel is like a given kernel matrix K.

Either greedily (SFS), picking one feature f after the other to

    (1)  minimise |K - sum_j f_j f_j'|^2

where, with R the part of K that is left, a feature changes the error by
``(f'f)^2 - 2 f'R f``; or through a root ``Y Y' = K`` and a group lasso (NES),

    (2)  minimise 1/2 |Y - X W|^2 + lam |W|_21

with lam found by bisection. Equation numbers are this file's own.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ufselect.matrix.base import BLOCK_BYTES, DataMatrix, Float, Index
from ufselect.solvers.group_lasso import (
    GroupLasso,
    Solution,
    largest_penalty,
    makes_gram,
)
from ufselect.solvers.ridge import row_norms

Report = Callable[[int, float], bool]

# The published search for lam: the first share of the largest useful one, the number
# of trials, and how near the number of features has to be.
FIRST_SHARE = 0.5
N_TRIALS = 10
CLOSE_ENOUGH = 0.1


class GreedyFit(NamedTuple):
    """Columns in the order of selection, and what each pick would change or did.

    ``change`` is what a column does, or would do after the last pick, to the squared
    error; ``history`` is that error after each pick.
    """

    order: Index
    change: Float
    history: list[float]


class SparseFit(NamedTuple):
    """The regression whose number of features is nearest to the one wanted."""

    coef: Float
    kkt_ratios: Float
    lam: float
    gap: float
    history: list[float]


def greedy_columns(
    matrix: DataMatrix,
    kernel: Float,
    n_selected: int,
    *,
    candidates: NDArray[np.bool_] | None = None,
    report: Report | None = None,
) -> GreedyFit:
    """Pick columns one by one, each to bring ``|K - sum_j f_j f_j'|^2`` lowest.

    With ``R`` the part of K that is left, a column f changes the error by
    ``(f'f)^2 - 2 f'R f``. Picking s takes ``(f_j'f_s)^2`` from each ``f_j'R f_j``,
    so that R itself is never updated.
    """
    squares, shared = _quadratic_forms(matrix, kernel)
    change = squares**2 - 2 * shared
    available = np.ones(len(change), bool) if candidates is None else candidates.copy()
    order: list[int] = []
    history: list[float] = []
    error = float(np.vdot(kernel, kernel))
    while len(order) < n_selected and available.any():
        best = int(np.where(available, change, np.inf).argmin())
        available[best] = False
        error += float(change[best])
        order.append(best)
        history.append(error)
        overlap = matrix.transpose_dot(matrix.columns(np.array([best]))).ravel()
        # What a column changed when it was picked is no longer touched.
        change[available] += 2 * overlap[available] ** 2
        if report is not None and report(len(order) - 1, error):
            break
    return GreedyFit(np.array(order, dtype=np.intp), change, history)


def _quadratic_forms(matrix: DataMatrix, kernel: Float) -> tuple[Float, Float]:
    """Return ``f'f`` and ``f'K f`` for each column f."""
    n_samples, n_features = matrix.shape
    squares, shared = np.empty(n_features), np.empty(n_features)
    step = max(1, BLOCK_BYTES // (8 * n_samples))
    for start in range(0, n_features, step):
        block = slice(start, min(start + step, n_features))
        piece = matrix.columns(block)
        squares[block] = np.einsum("ij,ij->j", piece, piece)
        shared[block] = np.einsum("ij,ij->j", piece, kernel @ piece)
    return squares, shared


def row_sparse_columns(
    matrix: DataMatrix,
    target: Float,
    lam: float,
    *,
    tol: float = 1e-6,
    max_rounds: int = 100,
) -> SparseFit:
    """Minimise ``1/2 |Y - X W|^2 + lam |W|_21`` for one lam."""
    # The group lasso has no half before its squared error.
    solution = _lasso(matrix, target).solve(2 * lam, tol=tol, max_rounds=max_rounds)
    return _sparse_fit(solution, lam, [])


def row_sparse_search(
    matrix: DataMatrix,
    target: Float,
    n_wanted: int,
    *,
    tol: float = 1e-6,
    max_rounds: int = 100,
    report: Report | None = None,
) -> SparseFit:
    """Halve the interval of lam until about n_wanted rows of W are not zero."""
    lasso = _lasso(matrix, target)
    largest = largest_penalty(matrix, target) / 2
    lowest, highest, share = 0.0, 1.0, FIRST_SHARE
    best: SparseFit | None = None
    best_distance = np.inf
    history: list[float] = []
    for trial in range(N_TRIALS):
        lam = share * largest
        solution = lasso.solve(2 * lam, tol=tol, max_rounds=max_rounds)
        fit = _sparse_fit(solution, lam, history)
        found = int(np.count_nonzero(fit.coef.any(axis=1)))
        if abs(found - n_wanted) < best_distance:
            best, best_distance = fit, abs(found - n_wanted)
        stopped = report is not None and report(trial, history[-1])
        if stopped or best_distance <= CLOSE_ENOUGH * n_wanted:
            break
        lowest, highest = (share, highest) if found > n_wanted else (lowest, share)
        share = (lowest + highest) / 2
    assert best is not None
    return best


def _lasso(matrix: DataMatrix, target: Float) -> GroupLasso:
    """Return the group lasso of a target that stays the same."""
    gram = matrix.feature_gram() if makes_gram(matrix.shape) else None
    lasso = GroupLasso(matrix, target.shape[1], gram=gram)
    lasso.set_target(float(np.vdot(target, target)), Y=target)
    return lasso


def _sparse_fit(solution: Solution, lam: float, history: list[float]) -> SparseFit:
    """Return the fit, and append its objective to the history that it shares."""
    norm = float(row_norms(solution.coef).sum())
    history.append(solution.error / 2 + lam * norm)
    return SparseFit(solution.coef, solution.kkt_ratios, lam, solution.gap, history)
