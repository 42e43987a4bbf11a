"""Ridge regression with one slack per feature, through features or through samples.

``W = argmin |X W - Y|^2 + sum_i |w_i|^2 / slack_i`` is the step that every reweighted
method repeats. A slack of zero removes its feature. Both forms factor a matrix of the
kind identity plus positive semi-definite, which stays well conditioned however small
the slacks become.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ufselect.matrix.base import DataMatrix, Float, Index

# Below this share of features with a slack, it pays to cut the others out.
WORTH_CUTTING = 0.8


def factor_identity_plus(matrix: Float) -> tuple[Float, bool]:
    """Return the Cholesky factor of ``I + matrix``, which overwrites the matrix."""
    matrix.flat[:: len(matrix) + 1] += 1.0
    # A symmetric matrix is its transpose, which LAPACK takes without a copy.
    factor: tuple[Float, bool] = cho_factor(
        matrix.T, lower=True, overwrite_a=True, check_finite=False
    )
    return factor


def solve_identity_plus(matrix: Float, right: Float) -> Float:
    """Return ``(I + matrix)^-1 right`` for a positive semi-definite matrix.

    The matrix is overwritten.
    """
    return cho_solve(factor_identity_plus(matrix), right, check_finite=False)


class FeatureRidge:
    """The regression factored through ``X'X``: p x p, for p <= n.

    Parameters
    ----------
    gram : ndarray of shape (p, p)
    slack : ndarray of shape (p,)
    """

    def __init__(self, gram: Float, slack: Float) -> None:
        self._active: Index | slice = np.flatnonzero(slack)
        if len(self._active) < WORTH_CUTTING * len(slack):
            gram = gram[np.ix_(self._active, self._active)]
        else:
            self._active = slice(None)
        self._root = np.sqrt(slack[self._active])[:, np.newaxis]
        scaled = gram * self._root
        scaled *= self._root.T
        self._factor = factor_identity_plus(scaled)

    def inverse(self, right: Float) -> Float:
        """Return ``(X'X + diag(1 / slack))^-1 right``: W, if right is ``X'Y``."""
        result = np.zeros(right.shape)
        scaled = self._root * right[self._active]
        solution = cho_solve(self._factor, scaled, overwrite_b=True, check_finite=False)
        solution *= self._root
        result[self._active] = solution
        return result


class SampleRidge:
    """The regression factored through ``I + X diag(slack) X'``: n x n, for p > n.

    Parameters
    ----------
    matrix : DataMatrix
    slack : ndarray of shape (p,)
    """

    def __init__(self, matrix: DataMatrix, slack: Float) -> None:
        self._matrix, self._slack = matrix, slack[:, np.newaxis]
        self._factor = factor_identity_plus(matrix.sample_gram(slack))

    def residual(self, target: Float) -> Float:
        """Return ``Y - X W``."""
        return cho_solve(self._factor, target, check_finite=False)

    def coef(self, residual: Float) -> Float:
        """Return W from the residual."""
        coef = self._matrix.transpose_dot(residual)
        coef *= self._slack
        return coef

    def inverse(self, right: Float) -> Float:
        """Return ``(X'X + diag(1 / slack))^-1 right``, by the formula of Woodbury."""
        scaled = self._slack * right
        scaled -= self.coef(self.residual(self._matrix.dot(scaled)))
        return scaled


def ridge_through_features(gram: Float, cross: Float, slack: Float) -> Float:
    """Solve from ``gram = X'X`` and ``cross = X'Y``: p x p, for p <= n."""
    return FeatureRidge(gram, slack).inverse(cross)


def ridge_through_samples(
    matrix: DataMatrix, target: Float, slack: Float
) -> tuple[Float, Float]:
    """Solve through an n x n system, for p > n; return W and the residual Y - XW."""
    ridge = SampleRidge(matrix, slack)
    residual = ridge.residual(target)
    return ridge.coef(residual), residual
