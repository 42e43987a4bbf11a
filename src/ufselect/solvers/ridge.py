"""Rows of W, and ridge regression with one weight for each of them.

``W = argmin |X W - Y|^2 + sum_i D_ii |w_i|^2`` is the step that every reweighted method
repeats, through features or through samples. It takes the inverse weights
``inverse_D``, of which zero removes its feature. Both forms factor a matrix of the kind
identity plus positive semi-definite, which stays well conditioned however small the
inverse weights become. ``alpha |W|_21`` is majorised by
``alpha sum_i |w_i|^2 / (2 |v_i|)`` plus a constant, with equality at W = V; so that a
ridge regression with the weights of the one before cannot raise
``|X W - Y|^2 + alpha |W|_21``.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, eigh
from scipy.linalg.lapack import dpotrs

from ufselect.matrix.base import DataMatrix, Float, Index

# Rows are projected in blocks that stay in the processor's cache.
CACHED_VALUES = 32_768


def row_norms(matrix: Float) -> Float:
    """Return the Euclidean norm of each row."""
    return np.sqrt(np.einsum("ij,ij->i", matrix, matrix))


def ranked_below(sizes: Float, kkt_ratios: Float) -> Float:
    """Return sizes in which zeros are ranked, below all others, by their kkt_ratios.

    A kkt_ratios of one or more lies just below the smallest size.

    Examples
    --------
    >>> ranked_below(np.array([2.0, 0.0, 4.0, 0.0]), np.array([1.0, 0.5, 1.0, 0.0]))
    array([2.   , 0.999, 4.   , 0.   ])
    """
    inside = sizes > 0
    if not inside.any():
        return kkt_ratios
    outside = 0.999 * sizes[inside].min() * np.minimum(kkt_ratios, 1.0)
    return np.where(inside, sizes, outside)


def project_rows_to_simplex(points: Float) -> Float:
    """Return, for each row, the nearest point with entries >= 0 that sum to 1.

    The projection is ``max(row - threshold, 0)``; the threshold is found from the
    sorted row (Held, Wolfe and Crowder, 1974).

    >>> import numpy as np
    >>> project_rows_to_simplex(np.array([[0.4, 0.6], [2.0, 0.0]]))
    array([[0.4, 0.6],
           [1. , 0. ]])
    """
    result = np.empty_like(points)
    step = max(1, CACHED_VALUES // max(1, points.shape[1]))
    for start in range(0, len(points), step):
        rows = points[start : start + step]
        # The projection does not see a constant, but large numbers lose digits to it.
        rows = rows - rows.max(axis=1, keepdims=True)
        descending = -np.sort(-rows, axis=1)
        excess = np.cumsum(descending, axis=1)
        excess -= 1.0
        excess /= np.arange(1, rows.shape[1] + 1)
        support = np.count_nonzero(descending > excess, axis=1)
        # Rounding may hide that the largest entry always remains.
        last = np.maximum(support, 1)[:, np.newaxis] - 1
        rows -= np.take_along_axis(excess, last, axis=1)
        np.maximum(rows, 0.0, out=result[start : start + step])
    return result


# Without the checks of its wrapper, which take as long as a small system.


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


Report = Callable[[int, float], bool]

# Keeps the weight of a zero row finite.
EPSILON = 2.2e-16

# Reweighting never reaches zero; a prediction this small is rounding.
ROUNDING = 1e-12


def inverse_D_of(coef: Float) -> Float:
    """Return ``2 |w_i|``, the inverse of the weight that row i gets next."""
    return 2 * row_norms(coef) + EPSILON


def smoothed_inverse_D(coef: Float) -> Float:
    """Return ``2 sqrt(|w_i|^2 + epsilon)``, which keeps tiny rows further from zero."""
    return 2 * np.hypot(row_norms(coef), np.sqrt(EPSILON))


def column_lengths(matrix: DataMatrix) -> Float:
    """Return ``|x_i|`` for each column."""
    summary = matrix.summary()
    return np.sqrt(matrix.shape[0]) * np.hypot(summary.mean, summary.deviation)


def has_vanished(coef: Float, lengths: Float) -> bool:
    """Say whether no row of W predicts more than rounding errors."""
    return bool(np.max(row_norms(coef) * lengths) < ROUNDING)


def settled(history: list[float], tol: float) -> bool:
    """Say whether the last change was below tol, relative to the value."""
    if len(history) < 2:
        return False
    return abs(history[-1] - history[-2]) <= tol * abs(history[-1])


class ReweightedRidge:
    """``argmin |X W - Y|^2 + sum_i D_ii |w_i|^2`` on one matrix, time and again.

    Goes through the smaller side of X, unless told which.
    """

    def __init__(self, matrix: DataMatrix, *, wide: bool | None = None) -> None:
        self.matrix = matrix
        self.wide = matrix.shape[1] > matrix.shape[0] if wide is None else wide
        self.gram = None if self.wide else matrix.feature_gram()

    def solve(self, target: Float, inverse_D: Float) -> tuple[Float, Float]:
        """Return W and the residual ``Y - X W``."""
        if self.gram is None:
            return ridge_through_samples(self.matrix, target, inverse_D)
        cross = self.matrix.transpose_dot(target)
        coef = ridge_through_features(self.gram, cross, inverse_D)
        return coef, target - self.matrix.dot(coef)

    def only(self, columns: Index) -> "ReweightedRidge":
        """Return the same for some of the columns, through the same side of X."""
        fewer = ReweightedRidge(self.matrix.take(columns), wide=True)
        if self.gram is not None:
            fewer.wide, fewer.gram = False, self.gram[np.ix_(columns, columns)]
        return fewer

    def residual_matrix(self, inverse_D: Float) -> Float:
        """Return the n x n matrix that turns any target into its residual."""
        identity = np.eye(self.matrix.shape[0])
        if self.gram is None:
            return solve_identity_plus(self.matrix.weighted_gram(inverse_D), identity)
        columns = self.matrix.columns(slice(None))
        return identity - columns @ ridge_through_features(
            self.gram, columns.T, inverse_D
        )

    def solve_with(
        self, residual_matrix: Float, target: Float, inverse_D: Float
    ) -> tuple[Float, Float]:
        """Solve with the residual matrix at hand, which saves a factorisation."""
        if self.gram is not None:
            return self.solve(target, inverse_D)
        residual = residual_matrix @ target
        return self.matrix.transpose_dot(residual) * inverse_D[:, np.newaxis], residual
