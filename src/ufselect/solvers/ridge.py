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

import copy
from typing import Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, eigh
from scipy.linalg.lapack import dpotrs

from ufselect.matrix.base import DataMatrix, Float, Index

# Reweighting never reaches zero; a prediction this small is rounding.
ROUNDING = 1e-12

# Conjugate gradients end at this residual, relative to the right side, or where a
# second derivative, next to that of the ridge regression, is rounding.
CG_TOLERANCE, MIN_SECOND_DERIVATIVE = 1e-2, 1e-10

# Below this share of features with a finite weight, it pays to cut the others out.
MAX_ACTIVE_SHARE = 0.8


def row_norms(matrix: Float) -> Float:
    """Return the Euclidean norm of each row."""
    return np.sqrt(np.einsum("ij,ij->i", matrix, matrix))


def ranked_below(sizes: Float, kkt_ratios: Float) -> Float:
    """Return sizes in which zeros are ranked, below all others, by their KKT ratios.

    A KKT ratio of one or more lies just below the smallest size.

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


def column_lengths(matrix: DataMatrix) -> Float:
    """Return ``|x_i|`` for each column."""
    summary = matrix.summary()
    return np.sqrt(matrix.shape[0]) * np.hypot(summary.mean, summary.deviation)


def has_vanished(coef: Float, lengths: Float) -> bool:
    """Say whether no row of W predicts more than rounding errors."""
    return bool(np.max(row_norms(coef) * lengths) < ROUNDING)


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
        transposed = matrix.T
        try:
            factor, _ = cho_factor(
                transposed, lower=True, overwrite_a=True, check_finite=False
            )
            self._factor = factor.astype(np.float64, copy=False)
            self._vectors: Float | None = None
        except LinAlgError:
            # The upper triangle is as it was.
            upper = np.triu(transposed, 1)
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


class FeatureRidge:
    """The regression factored through ``X'X``: p x p, for p <= n.

    Parameters
    ----------
    gram : ndarray of shape (p, p)
    inverse_D : ndarray of shape (p,)
    """

    def __init__(self, gram: Float, inverse_D: Float) -> None:
        self._active: Index | slice = np.flatnonzero(inverse_D)
        if len(self._active) < MAX_ACTIVE_SHARE * len(inverse_D):
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

    def inverse(self, right: Float) -> Float:
        """Return ``(X'X + diag(1 / inverse_D))^-1 right`` (Woodbury)."""
        scaled = self._inverse_D * right
        residual = self._system.solve(self._matrix.dot(scaled))
        scaled -= self._inverse_D * self._matrix.transpose_dot(residual)
        return scaled


Ridge = FeatureRidge | SampleRidge


def conjugate_gradients(
    right: Float, ridge: Ridge, weights: Float, unit: Float, n_steps: int
) -> Float:
    """Solve ``(M - R) V = right``, M the matrix of the ridge regression (E7).

    R is what half the second derivative lacks of M: ``weights u u'`` in every row. As
    directions are made of ``M^-1 residual``, M times them is made of residuals, and no
    other product with M or ``Z'Z`` is needed.
    """
    V, direction, image = (np.zeros_like(right) for _ in range(3))
    residual, before = right.copy(), np.inf
    largest = CG_TOLERANCE * np.linalg.norm(right)
    for _ in range(n_steps):
        if np.linalg.norm(residual) <= largest:
            break
        preconditioned = ridge.inverse(residual.T).T
        decrease = float(np.vdot(residual, preconditioned))
        direction *= decrease / before
        direction += preconditioned
        image *= decrease / before
        image += residual
        curved = image - weights * np.einsum("ij,ij->j", unit, direction) * unit
        second = np.vdot(direction, curved)
        if second <= MIN_SECOND_DERIVATIVE * np.vdot(direction, image):
            # Columns that cancel: what is left of the residual is rounding.
            break
        step_size = decrease / second
        V += step_size * direction
        curved *= step_size
        residual -= curved
        before = decrease
    return V


class ReweightedRidge:
    """``argmin |X W - Y|^2 + sum_i D_ii |w_i|^2`` on one X, for one D after another.

    Goes through ``gram = X'X`` where p <= n, else through n x n matrices.
    """

    def __init__(self, matrix: DataMatrix) -> None:
        self.matrix = matrix
        wide = matrix.shape[1] > matrix.shape[0]
        self.gram = None if wide else matrix.feature_gram()

    def only(self, columns: Index) -> "ReweightedRidge":
        """Return the same for some of the columns, through the same side of X."""
        fewer = copy.copy(self)
        fewer.matrix = self.matrix.take(columns)
        if self.gram is not None:
            fewer.gram = self.gram[np.ix_(columns, columns)]
        return fewer

    def solve(
        self, target: Float, inverse_D: Float, residual_matrix: Float | None = None
    ) -> tuple[Float, Float]:
        """Return W and ``Y - X W``; a residual matrix at hand saves a factorisation."""
        if self.gram is not None:
            cross = self.matrix.transpose_dot(target)
            coef = FeatureRidge(self.gram, inverse_D).inverse(cross)
            return coef, target - self.matrix.dot(coef)
        if residual_matrix is None:
            system = IdentityPlus(self.matrix.weighted_gram(inverse_D))
            residual = system.solve(target)
        else:
            residual = residual_matrix @ target
        coef = self.matrix.transpose_dot(residual)
        coef *= inverse_D[:, np.newaxis]
        return coef, residual

    def residual_matrix(self, inverse_D: Float) -> Float:
        """Return ``I - H``, H the hat matrix: n x n."""
        identity = np.eye(self.matrix.shape[0])
        if self.gram is None:
            return IdentityPlus(self.matrix.weighted_gram(inverse_D)).solve(identity)
        columns = self.matrix.columns(slice(None))
        return identity - columns @ FeatureRidge(self.gram, inverse_D).inverse(
            columns.T
        )
