"""Row-sparse regression whose error is measured by a matrix of the samples.

``minimise |X W - Y|^2 + rho tr(W'X'L X W) + penalty |W|_21`` for a Laplacian, or any
positive semi-definite matrix, L of the samples. With ``M = I + rho L`` the reweighted
step is ``W = (X'M X + penalty D)^-1 X'Y``, ``D = diag(1 / (2 |w_i|))``, solved through
features (p x p) or through samples (n x n), whichever is smaller.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from ufselect.matrix.base import BLOCK_BYTES, DataMatrix, Float
from ufselect.solvers.group_lasso import largest_penalty
from ufselect.solvers.kernels import kernel_root
from ufselect.solvers.ridge import ridge_through_features, solve_identity_plus
from ufselect.solvers.rows import ranked_below, row_norms

Report = Callable[[int, float], bool]


# Reweighting takes rows towards zero and stops on the way, where one row underflows and
# another does not: rows shorter than this share of the longest count as zero.
ROUNDING = 1e-12


class StructuredFit(NamedTuple):
    """Coefficients, the objective after each step, and whether it settled.

    ``scores`` are the row norms of W; where these are zero, or on the way there, how
    near a feature is to entering the model.
    """

    coef: Float
    scores: Float
    history: list[float]
    converged: bool


class StructuredProblem(ABC):
    """``|X W - Y|^2 + rho tr(W'X'L X W)``, in the form that is cheaper."""

    n_features: int

    @abstractmethod
    def solve(self, slack: Float) -> tuple[Float, float]:
        """Minimise the error plus ``sum_i |w_i|^2 / slack_i``; return W and error."""

    @abstractmethod
    def descent(self, coef: Float) -> Float:
        """Return ``X'(Y - M X W)``, half the gradient of the error downwards.

        A row of W may stay at zero while twice the norm of its row here is at most the
        penalty.
        """


class ThroughFeatures(StructuredProblem):
    """The form for p <= n.

    Parameters
    ----------
    gram : ndarray of shape (p, p)
        ``X'M X``.
    cross : ndarray of shape (p, r)
        ``X'Y``.
    squared_target : float
        ``|Y|^2``.
    """

    def __init__(self, gram: Float, cross: Float, squared_target: float) -> None:
        self.n_features = len(gram)
        self.gram = gram
        self.cross = cross
        self.squared_target = squared_target

    def solve(self, slack: Float) -> tuple[Float, float]:
        """Factor a p x p matrix."""
        coef = ridge_through_features(self.gram, self.cross, slack)
        change = np.vdot(coef, self.gram @ coef - 2 * self.cross)
        return coef, max(self.squared_target + float(change), 0.0)

    def descent(self, coef: Float) -> Float:
        """Read it off the Gram matrix."""
        return self.cross - self.gram @ coef


class ThroughSamples(StructuredProblem):
    """The form for p > n: no p x p matrix.

    With ``M = R'R`` and ``B = X diag(slack) X'`` the solution is
    ``W = diag(slack) X'R'(I + R B R')^-1 R'^-1 Y``, in which what is factored is
    symmetric and no closer to singular than the identity.
    """

    def __init__(
        self, matrix: DataMatrix, target: Float, laplacian: Any, rho: float
    ) -> None:
        self.n_features = matrix.shape[1]
        self.matrix = matrix
        self.target = target
        self.laplacian = laplacian
        self.rho = rho
        # A product with the identity makes any kind of matrix a dense array.
        metric = rho * (laplacian @ np.eye(matrix.shape[0]))
        metric.flat[:: len(metric) + 1] += 1.0
        self.root = cholesky(metric, check_finite=False)
        self.rooted = solve_triangular(self.root, target, trans="T", check_finite=False)

    def solve(self, slack: Float) -> tuple[Float, float]:
        """Factor an n x n matrix."""
        gram = self.matrix.sample_gram(slack)
        inner = solve_identity_plus(self.root @ gram @ self.root.T, self.rooted)
        dual = self.root.T @ inner
        coef = self.matrix.transpose_dot(dual)
        coef *= slack[:, np.newaxis]
        fitted = gram @ dual
        error = float(np.sum((fitted - self.target) ** 2))
        rough = float(np.vdot(fitted, self.laplacian @ fitted))
        return coef, error + self.rho * max(rough, 0.0)

    def descent(self, coef: Float) -> Float:
        """Multiply by X and its transpose."""
        fitted = self.matrix.dot(coef)
        smoothed = fitted + self.rho * (self.laplacian @ fitted)
        return self.matrix.transpose_dot(self.target - smoothed)


def structured_problem(
    matrix: DataMatrix, target: Float, laplacian: Any, rho: float
) -> StructuredProblem:
    """Return the problem in the form that suits the shape of the matrix."""
    if matrix.shape[1] > matrix.shape[0]:
        return ThroughSamples(matrix, target, laplacian, rho)
    return ThroughFeatures(
        metric_gram(matrix, laplacian, rho),
        matrix.transpose_dot(target),
        float(np.vdot(target, target)),
    )


def self_expression(
    matrix: DataMatrix, laplacian: Any, rho: float
) -> tuple[StructuredProblem, float]:
    """Return the problem whose target is X, and the penalty from which on W = 0.

    For p > n the target is a root of ``X X'``: X times an orthogonal matrix, by which
    W is then multiplied as well, and row norms stay.
    """
    if matrix.shape[1] > matrix.shape[0]:
        target = kernel_root(matrix.sample_gram())
        largest = largest_penalty(matrix, target)
        return ThroughSamples(matrix, target, laplacian, rho), largest
    cross = matrix.feature_gram()
    largest = 2 * float(row_norms(cross).max())
    gram = metric_gram(matrix, laplacian, rho)
    return ThroughFeatures(gram, cross, float(np.trace(cross))), largest


def metric_gram(matrix: DataMatrix, laplacian: Any, rho: float) -> Float:
    """Return ``X'(I + rho L) X`` (p x p) from blocks of columns."""
    gram = matrix.feature_gram()
    n_samples, n_features = matrix.shape
    step = max(1, BLOCK_BYTES // (8 * n_samples))
    for start in range(0, n_features, step):
        block = slice(start, min(start + step, n_features))
        smoothed = rho * (laplacian @ matrix.columns(block))
        gram[:, block] += matrix.transpose_dot(smoothed)
    return (gram + gram.T) / 2


def fit_structured(
    problem: StructuredProblem,
    penalty: float,
    *,
    max_iter: int,
    tol: float,
    report: Report | None = None,
) -> StructuredFit:
    """Repeat reweighted steps until the objective changes by less than tol of itself.

    The first step is a plain ridge, ``D = I``. From the second on the objective
    cannot rise, and a row of W that has become zero stays zero. Such rows are ranked by
    their KKT ratio, ``2 |x_i'(Y - M X W)| / penalty``.
    """
    weight: Float = np.ones(problem.n_features)
    coef: Float = np.zeros((problem.n_features, 0))
    history: list[float] = []
    converged = False
    for iteration in range(max_iter):
        coef, error = problem.solve(weight / penalty)
        norms = row_norms(coef)
        weight = 2 * norms
        history.append(error + penalty * float(norms.sum()))
        change = history[-2] - history[-1] if iteration else np.inf
        converged = bool(abs(change) <= tol * history[-1])
        stopped = report is not None and report(iteration, history[-1])
        if stopped or converged:
            break
    coef[norms <= ROUNDING * norms.max()] = 0.0
    ratios = 2 * row_norms(problem.descent(coef)) / penalty
    scores = ranked_below(row_norms(coef), ratios)
    return StructuredFit(coef, scores, history, converged)
