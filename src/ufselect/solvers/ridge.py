"""Ridge regression with one weight per row of W, for iterative reweighting.

``W = argmin |X W - Y|^2 + sum_i D_ii |w_i|^2`` is the step of all reweighted methods.
It takes a p x p or an n x n factorisation and the inverse weights ``inverse_D``, of
which a zero removes the feature. Both forms factor the identity plus a
positive semi-definite matrix, which stays well conditioned for small inverse weights.
``alpha |W|_21`` is majorised by ``alpha sum_i |w_i|^2 / (2 |v_i|)`` plus a constant,
with equality at W = V. A ridge regression with the weights of the previous solution
therefore never increases ``|X W - Y|^2 + alpha |W|_21``.
"""

import copy
from typing import Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, eigh
from scipy.linalg.lapack import dpotrs

from ufselect.matrix.base import DataMatrix, Float, Index

# Reweighting never reaches zero exactly; fitted values below this count as zero.
ROUNDING = 1e-12

# Below this share of features with a finite weight, the others are removed first.
MAX_ACTIVE_SHARE = 0.8


def row_norms(matrix: Float) -> Float:
    """Return the Euclidean norm of each row."""
    return np.sqrt(np.einsum("ij,ij->i", matrix, matrix))


def ranked_below(sizes: Float, kkt_ratios: Float) -> Float:
    """Return sizes in which zeros are replaced by scores from the KKT ratios.

    These scores are below all other sizes; a KKT ratio of one or more comes closest.

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
    """Return whether all rows of W are zero up to rounding errors."""
    return bool(np.max(row_norms(coef) * lengths) < ROUNDING)


class IdentityPlus:
    """Factorisation of ``I + matrix`` for a positive semi-definite matrix.

    The matrix is overwritten. If its entries are so large that adding one is lost to
    rounding, it may become indefinite. Eigenvalues below one are then replaced by one,
    and components of the right-hand side at the level of rounding by zero.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
    """

    def __init__(self, matrix: Float) -> None:
        matrix.flat[:: len(matrix) + 1] += 1.0
        diagonal = matrix.diagonal().copy()
        # The transpose of the symmetric matrix needs no copy for LAPACK.
        transposed = matrix.T
        try:
            factor, _ = cho_factor(
                transposed, lower=True, overwrite_a=True, check_finite=False
            )
            self._factor = factor.astype(np.float64, copy=False)
            self._vectors: Float | None = None
        except LinAlgError:
            # The upper triangle was not overwritten.
            upper = np.triu(transposed, 1)
            whole = upper + upper.T + np.diag(diagonal)
            self._values, self._vectors = eigh(whole, overwrite_a=True)

    def solve(self, right: Float, *, overwrite: bool = False) -> Float:
        """Return ``(I + matrix)^-1 right``, optionally overwriting ``right``."""
        if self._vectors is None:
            # Arrays in column order need no copy for LAPACK.
            solution, _ = dpotrs(self._factor, right, lower=1, overwrite_b=overwrite)
            return np.asarray(solution)
        parts = self._vectors.T @ right
        rounding = len(right) * np.finfo(np.float64).eps * np.linalg.norm(right, axis=0)
        parts[np.abs(parts) <= rounding] = 0.0
        parts /= np.maximum(self._values, 1.0)[:, np.newaxis]
        return np.asarray(self._vectors @ parts)


class FeatureRidge:
    """The ridge regression by a factorisation of ``X'X`` (p x p), for p <= n.

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
    """The operations on X that ``SampleRidge`` needs."""

    def weighted_gram(self, weights: Float) -> Float:
        """Return ``X diag(w) X.T``."""

    def dot(self, right: Float) -> Float:
        """Return ``X @ right``."""

    def transpose_dot(self, left: Float) -> Float:
        """Return ``X.T @ left``."""


class SampleRidge:
    """The ridge regression by ``I + X diag(inverse_D) X'`` (n x n), for p > n.

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


class ReweightedRidge:
    """``argmin |X W - Y|^2 + sum_i D_ii |w_i|^2`` on one X, for a sequence of D.

    Uses ``gram = X'X`` if p <= n, and n x n matrices otherwise.
    """

    def __init__(self, matrix: DataMatrix) -> None:
        self.matrix = matrix
        wide = matrix.shape[1] > matrix.shape[0]
        self.gram = None if wide else matrix.feature_gram()

    def only(self, columns: Index) -> "ReweightedRidge":
        """Return the regression on some columns, with the same form of matrix."""
        fewer = copy.copy(self)
        fewer.matrix = self.matrix.take(columns)
        if self.gram is not None:
            fewer.gram = self.gram[np.ix_(columns, columns)]
        return fewer

    def solve(
        self, target: Float, inverse_D: Float, residual_matrix: Float | None = None
    ) -> tuple[Float, Float]:
        """Return W and ``Y - X W``; a given residual matrix saves a factorisation."""
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
        """Return the n x n matrix ``I - H``, where H is the hat matrix."""
        identity = np.eye(self.matrix.shape[0])
        if self.gram is None:
            return IdentityPlus(self.matrix.weighted_gram(inverse_D)).solve(identity)
        columns = self.matrix.columns(slice(None))
        return identity - columns @ FeatureRidge(self.gram, inverse_D).inverse(
            columns.T
        )
