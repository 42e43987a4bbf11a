"""GLSPFS and SPUFS: row-sparse regression that preserves local structure.

With a positive semi-definite matrix L of the samples, such as a graph Laplacian,

    (1)  minimise |X W - Y|^2 + rho tr(W'X'L X W) + penalty |W|_21

where Y is a root of a kernel matrix (GLSPFS) or X itself (SPUFS). Iterative reweighting
of the l2,1 norm gives, with ``M = I + rho L``,

    (2)  W = (X'M X + penalty D)^-1 X'Y
    (3)  D = diag(1 / (2 |w_i|))

If n < p, (2) is solved by an n x n instead of a p x p system:

    (4)  W = D^-1 X'R'(R X D^-1 X'R' + penalty I)^-1 R'^-1 Y,   M = R'R

Equation numbers are those of this file.
"""

from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from ufselect.matrix.base import BLOCK_BYTES, DataMatrix, Float
from ufselect.solvers.graphs import kernel_root
from ufselect.solvers.group_lasso import largest_penalty
from ufselect.solvers.ridge import FeatureRidge, IdentityPlus, row_norms


class ThroughFeatures:
    """``|X W - Y|^2 + rho tr(W'X'L X W)`` for p <= n.

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
        self.gram = gram
        self.cross = cross
        self.squared_target = squared_target

    def solve(self, inverse_weights: Float) -> tuple[Float, float]:
        """Return W of (2) and its error, given the inverse of ``penalty D``."""
        coef = FeatureRidge(self.gram, inverse_weights).inverse(self.cross)
        change = np.vdot(coef, self.gram @ coef - 2 * self.cross)
        return coef, max(self.squared_target + float(change), 0.0)

    def gradient(self, coef: Float) -> Float:
        """Return ``X'(Y - M X W)``, half the negative gradient of the error."""
        return self.cross - self.gram @ coef


class ThroughSamples:
    """The same for p > n, without a p x p matrix.

    The matrix factored in (4) is symmetric with eigenvalues of at least one.
    """

    def __init__(
        self, matrix: DataMatrix, target: Float, laplacian: Any, rho: float
    ) -> None:
        self.matrix = matrix
        self.target = target
        self.laplacian = laplacian
        self.rho = rho
        # A product with the identity converts any matrix to a dense array.
        metric = rho * (laplacian @ np.eye(matrix.shape[0]))
        metric.flat[:: len(metric) + 1] += 1.0
        self.root = cholesky(metric, check_finite=False)
        self.rooted = solve_triangular(self.root, target, trans="T", check_finite=False)

    def solve(self, inverse_weights: Float) -> tuple[Float, float]:
        """Return W of (2), computed by (4), and its error."""
        gram = self.matrix.weighted_gram(inverse_weights)
        inner = IdentityPlus(self.root @ gram @ self.root.T).solve(self.rooted)
        dual = self.root.T @ inner
        coef = self.matrix.transpose_dot(dual)
        coef *= inverse_weights[:, np.newaxis]
        fitted = gram @ dual
        error = float(np.sum((fitted - self.target) ** 2))
        rough = float(np.vdot(fitted, self.laplacian @ fitted))
        return coef, error + self.rho * max(rough, 0.0)

    def gradient(self, coef: Float) -> Float:
        """Return ``X'(Y - M X W)``."""
        fitted = self.matrix.dot(coef)
        smoothed = fitted + self.rho * (self.laplacian @ fitted)
        return self.matrix.transpose_dot(self.target - smoothed)


StructuredProblem = ThroughFeatures | ThroughSamples


def structured_problem(
    matrix: DataMatrix, target: Float, laplacian: Any, rho: float
) -> StructuredProblem:
    """Return the problem in the cheaper form for the shape of the matrix."""
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
    """Return the problem with target X, and the smallest penalty at which W = 0.

    For p > n the target is a root of ``X X'``, that is, X times an orthogonal matrix.
    This multiplies W by the same matrix and does not change its row norms.
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
    """Return ``X'(I + rho L) X`` (p x p), computed in blocks of columns."""
    gram = matrix.feature_gram()
    n_samples, n_features = matrix.shape
    step = max(1, BLOCK_BYTES // (8 * n_samples))
    for start in range(0, n_features, step):
        block = slice(start, min(start + step, n_features))
        smoothed = rho * (laplacian @ matrix.columns(block))
        gram[:, block] += matrix.transpose_dot(smoothed)
    return (gram + gram.T) / 2
