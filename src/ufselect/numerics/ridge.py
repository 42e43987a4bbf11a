"""Ridge regression with one slack per feature, through features or through samples.

``W = argmin |X W - Y|^2 + sum_i |w_i|^2 / slack_i`` is the step that every reweighted
method repeats. A slack of zero removes its feature. Both forms factor a matrix of the
kind identity plus positive semi-definite, which stays well conditioned however small
the slacks become.
"""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

from ufselect.matrix.base import DataMatrix, Float


def solve_identity_plus(matrix: Float, right: Float) -> Float:
    """Return ``(I + matrix)^-1 right`` for a positive semi-definite matrix.

    The matrix is overwritten. Beside entries so large that adding one changes nothing,
    rounding may make it indefinite, and such directions count as directions of zero, in
    which nothing is left of a right side but what exceeds its own rounding.
    """
    matrix.flat[:: len(matrix) + 1] += 1.0
    diagonal = matrix.diagonal().copy()
    try:
        factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        # The upper triangle is as it was.
        whole = np.triu(matrix, 1) + np.triu(matrix, 1).T + np.diag(diagonal)
        values, vectors = eigh(whole, overwrite_a=True)
        parts = vectors.T @ right
        rounding = len(whole) * np.finfo(np.float64).eps * np.linalg.norm(right, axis=0)
        parts[np.abs(parts) <= rounding] = 0.0
        return np.asarray(vectors @ (parts / np.maximum(values, 1.0)[:, np.newaxis]))
    return cho_solve(factor, right, check_finite=False)


def ridge_through_features(gram: Float, cross: Float, slack: Float) -> Float:
    """Solve from ``gram = X'X`` and ``cross = X'Y``: p x p, for p <= n."""
    root = np.sqrt(slack)
    scaled = gram * root
    scaled *= root[:, np.newaxis]
    solution = solve_identity_plus(scaled, root[:, np.newaxis] * cross)
    solution *= root[:, np.newaxis]
    return solution


def ridge_through_samples(
    matrix: DataMatrix, target: Float, slack: Float
) -> tuple[Float, Float]:
    """Solve through an n x n system, for p > n; return W and the residual Y - XW."""
    residual = solve_identity_plus(matrix.sample_gram(slack), target)
    coef = matrix.transpose_dot(residual)
    coef *= slack[:, np.newaxis]
    return coef, residual
