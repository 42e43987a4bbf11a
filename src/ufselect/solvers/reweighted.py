"""What methods share that repeat a ridge regression with weights of its own result.

``alpha |W|_21`` is majorised by ``alpha sum_i |w_i|^2 / (2 |v_i|)`` plus a constant,
with equality at W = V; so that each ridge regression with the weights of the one
before cannot raise ``|X W - Y|^2 + alpha |W|_21``.
"""

from collections.abc import Callable

import numpy as np

from ufselect.matrix.base import DataMatrix, Float, Index
from ufselect.solvers.ridge import (
    ridge_through_features,
    ridge_through_samples,
    solve_identity_plus,
)
from ufselect.solvers.rows import row_norms

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
