"""SCFS with its constraint solved: alternate over soft partitions and row-sparse W.

Minimises Eq. 8 of the paper,

    |X - G G'X|^2 + alpha |X W - G|^2 + beta |W|_21,   G >= 0,  G G'1 = 1,

over ``G = P diag(P'1)^(-1/2)``, P a soft partition. With an intercept, X and G are
centred in the second term; as ``|G - mean(G)|^2 = |G|^2 - 1`` for every such G, this
changes nothing but a constant in the step for P.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ufselect.matrix.base import DataMatrix, Float
from ufselect.numerics.row_sparse import RowSparseRegression, largest_penalty
from ufselect.numerics.soft_clustering import (
    Clustering,
    indicator,
    refine_partition,
    self_expression,
)

Multiply = Callable[[Float], Float]
Report = Callable[[int, float], bool]

PARTITION_STEPS = 10

# W is finished to this duality gap, relative to |G|^2, once G has settled.
FINAL_GAP = 1e-3

# Up to this many samples, X X' is small whatever is stored of X.
SMALL = 4096


class ExactFit(NamedTuple):
    """What the alternation ends with."""

    memberships: Float
    coef: Float
    proximity: Float
    history: list[float]
    converged: bool


class Products(NamedTuple):
    """``K B = X X'B`` for the first term, and ``|X|^2``."""

    multiply: Multiply
    total: float
    gram: Float | None


def sample_products(matrix: DataMatrix, total: float) -> Products:
    """Return products with ``K = X X'``, formed only where that saves work.

    With n <= p / 2 it does, and K takes no more than half the memory of X; but for a
    sparse X of many samples, next to which K would be large.
    """
    n_samples, n_features = matrix.shape
    affordable = n_samples <= SMALL or 2 * n_samples**2 <= matrix.multiplications
    if 2 * n_samples <= n_features and affordable:
        gram = matrix.sample_gram()
        return Products(gram.__matmul__, total, gram)

    def multiply(right: Float) -> Float:
        return matrix.dot(matrix.transpose_dot(right))

    return Products(multiply, total, None)


def cluster_only(memberships: Float, products: Products, max_steps: int = 50) -> Float:
    """Return a soft partition that lowers ``|X - G G'X|^2`` alone."""
    nothing = np.zeros_like(memberships)
    start = Clustering(memberships, products.multiply(memberships))
    tol = 1e-5 * products.total
    found = refine_partition(
        start, nothing, 0.0, products.multiply, length=1.0, max_steps=max_steps, tol=tol
    )
    return found.clustering.memberships


def useful_penalty(matrix: DataMatrix, memberships: Float, size: float) -> float:
    """Return the penalty from which on W = 0, or say that any penalty does that.

    ``size`` is ``|X - mean|``, next to which rounding is told from correlation.
    """
    largest = largest_penalty(matrix, indicator(memberships))
    if largest <= 1e-10 * size:
        raise ValueError(
            "No feature is related to the clusters that the fit starts from, so that "
            f'beta="auto" has no scale (n_clusters={memberships.shape[1]}); use more '
            "clusters or an init whose clusters differ."
        )
    return largest


def fit_exact(
    memberships: Float,
    products: Products,
    regressors: DataMatrix,
    *,
    alpha: float,
    beta: float,
    intercept: bool,
    max_iter: int,
    tol: float,
    report: Report,
) -> ExactFit:
    """Alternate until the objective falls by less than tol, relative to itself.

    Parameters
    ----------
    memberships : ndarray of shape (n, c)
        Soft partition to start from.
    products : Products
        Of the matrix in the first term.
    regressors : DataMatrix
        The matrix in the second term, centred if there is an intercept.
    alpha, beta : float
    intercept : bool
    max_iter : int
    tol : float
    report : callable
        Called with the iteration and the objective; returning True stops the fit.
    """
    regression = RowSparseRegression(regressors, memberships.shape[1])
    clustering = Clustering(memberships, products.multiply(memberships))
    penalty = beta / alpha
    length = 1.0
    history: list[float] = []
    converged = False

    def objective(fitted: Float, norm: float) -> float:
        error = np.vdot(target, target) - intercept
        error += np.vdot(fitted, fitted) - 2 * np.vdot(target, fitted)
        expression = self_expression(clustering, products.total)
        return expression + alpha * max(float(error), 0.0) + beta * norm

    for iteration in range(max_iter):
        target = indicator(clustering.memberships)
        fitted = regression.improve(_centred(target, intercept), penalty)
        clustering, length = refine_partition(
            clustering,
            fitted,
            alpha,
            products.multiply,
            length=length,
            max_steps=PARTITION_STEPS,
            tol=0.01 * tol * products.total,
        )
        target = indicator(clustering.memberships)
        history.append(objective(fitted, regression.norm()))
        fell = history[-2] - history[-1] if iteration else np.inf
        converged = fell < tol * history[-1]
        if report(iteration, history[-1]) or converged:
            break
    solution = regression.solve(_centred(target, intercept), penalty, tol=FINAL_GAP)
    final = objective(solution.fitted, regression.norm())
    history[-1] = min(history[-1], final)
    return ExactFit(
        clustering.memberships, solution.coef, solution.proximity, history, converged
    )


def _centred(target: Float, intercept: bool) -> Float:
    return target - target.mean(axis=0) if intercept else target
