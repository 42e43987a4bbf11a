"""Ridge regression with one weight per feature, through features or through samples.

``W = argmin |X W - Y|^2 + sum_i D_ii |w_i|^2`` is the step that every reweighted method
repeats. It takes ``inverse_D``, the inverse weights, of which zero removes its feature.
Both forms factor a matrix of the kind identity plus positive semi-definite, which stays
well conditioned however small the inverse weights become.
"""

from typing import Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, eigh

# Without the checks of its wrapper, which take as long as a small system.
from scipy.linalg.lapack import dpotrs

from ufselect.matrix.base import DataMatrix, Float, Index

# Below this share of features with a finite weight, it pays to cut the others out.
WORTH_CUTTING = 0.8


class IdentityPlus:
    """``I + matrix``, factored, for a positive semi-definite matrix.

    The matrix is overwritten. Beside entries so large that adding one changes nothing,
    rounding may make it indefinite, and such directions count as directions of zero, in
    which nothing is left of a right side but what exceeds its own rounding.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
    """

    def __init__(self, matrix: Float) -> None:
        matrix.flat[:: len(matrix) + 1] += 1.0
        diagonal = matrix.diagonal().copy()
        # A symmetric matrix is its transpose, which LAPACK takes without a copy.
        turned = matrix.T
        try:
            factor, _ = cho_factor(
                turned, lower=True, overwrite_a=True, check_finite=False
            )
            self._factor = factor.astype(np.float64, copy=False)
            self._vectors: Float | None = None
        except LinAlgError:
            # The upper triangle is as it was.
            upper = np.triu(turned, 1)
            whole = upper + upper.T + np.diag(diagonal)
            self._values, self._vectors = eigh(whole, overwrite_a=True)

    def solve(self, right: Float, *, overwrite: bool = False) -> Float:
        """Return ``(I + matrix)^-1 right``, whose place it may take."""
        if self._vectors is None:
            # LAPACK needs no copy of what lies in columns.
            solution, _ = dpotrs(self._factor, right, lower=1, overwrite_b=overwrite)
            return np.asarray(solution)
        parts = self._vectors.T @ right
        rounding = len(right) * np.finfo(np.float64).eps * np.linalg.norm(right, axis=0)
        parts[np.abs(parts) <= rounding] = 0.0
        parts /= np.maximum(self._values, 1.0)[:, np.newaxis]
        return np.asarray(self._vectors @ parts)


def solve_identity_plus(matrix: Float, right: Float) -> Float:
    """Return ``(I + matrix)^-1 right``; the matrix is overwritten."""
    return IdentityPlus(matrix).solve(right)


class FeatureRidge:
    """The regression factored through ``X'X``: p x p, for p <= n.

    Parameters
    ----------
    gram : ndarray of shape (p, p)
    inverse_D : ndarray of shape (p,)
    """

    def __init__(self, gram: Float, inverse_D: Float) -> None:
        self._active: Index | slice = np.flatnonzero(inverse_D)
        if len(self._active) < WORTH_CUTTING * len(inverse_D):
            gram = gram[np.ix_(self._active, self._active)]
        else:
            self._active = slice(None)
        self._root = np.sqrt(inverse_D[self._active])[:, np.newaxis]
        scaled = gram * self._root
        scaled *= self._root.T
        self._system = IdentityPlus(scaled)

    def inverse(self, right: Float) -> Float:
        """Return ``(X'X + diag(1 / inverse_D))^-1 right``: W, if right is ``X'Y``."""
        scaled = self._root * right[self._active]
        solution = self._system.solve(scaled, overwrite=True)
        solution *= self._root
        if isinstance(self._active, slice):
            return solution
        result = np.zeros_like(right)
        result[self._active] = solution
        return result


class Regressors(Protocol):
    """What is asked of X here, which most matrices know."""

    def weighted_gram(self, weights: Float) -> Float:
        """Return ``X diag(w) X.T``."""

    def dot(self, right: Float) -> Float:
        """Return ``X @ right``."""

    def transpose_dot(self, left: Float) -> Float:
        """Return ``X.T @ left``."""


class SampleRidge:
    """The regression factored through ``I + X diag(inverse_D) X'``: n x n, for p > n.

    Parameters
    ----------
    matrix : Regressors
    inverse_D : ndarray of shape (p,)
    """

    def __init__(self, matrix: Regressors, inverse_D: Float) -> None:
        self._matrix, self._inverse_D = matrix, inverse_D[:, np.newaxis]
        self._system = IdentityPlus(matrix.weighted_gram(inverse_D))

    def residual(self, target: Float) -> Float:
        """Return ``Y - X W``."""
        return self._system.solve(target)

    def coef(self, residual: Float) -> Float:
        """Return W from the residual."""
        coef = self._matrix.transpose_dot(residual)
        coef *= self._inverse_D
        return coef

    def inverse(self, right: Float) -> Float:
        """Return ``(X'X + diag(1 / inverse_D))^-1 right`` (Woodbury)."""
        scaled = self._inverse_D * right
        residual = self._system.solve(self._matrix.dot(scaled))
        scaled -= self._inverse_D * self._matrix.transpose_dot(residual)
        return scaled


def ridge_through_features(gram: Float, cross: Float, inverse_D: Float) -> Float:
    """Solve from ``gram = X'X`` and ``cross = X'Y``: p x p, for p <= n."""
    return FeatureRidge(gram, inverse_D).inverse(cross)


def ridge_through_samples(
    matrix: DataMatrix, target: Float, inverse_D: Float
) -> tuple[Float, Float]:
    """Solve through an n x n system, for p > n; return W and the residual Y - XW."""
    ridge = SampleRidge(matrix, inverse_D)
    residual = ridge.residual(target)
    return ridge.coef(residual), residual
