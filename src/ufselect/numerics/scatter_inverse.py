"""Inverse of a scatter matrix plus a diagonal one that changes from step to step.

``(M + diag(weights))^-1``, where ``M = X' L X`` for a sparse positive semi-definite
n x n matrix L.
"""

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve, eigh

from ufselect.matrix import DataMatrix, DenseMatrix, Float
from ufselect.numerics.block_krylov import Operator

# Maps positive weights to the inverse of M + diag(weights).
Inverse = Callable[[Float], Operator]


def inverse_through_features(scatter: Float) -> Inverse:
    """Return the inverse by Cholesky factors of p x p matrices.

    Examples
    --------
    >>> import numpy as np
    >>> inverse = inverse_through_features(np.array([[1.0, 1.0], [1.0, 1.0]]))
    >>> inverse(np.array([1.0, 2.0]))(np.array([[2.0], [1.0]])).round(6)
    array([[1.],
           [0.]])
    """

    def inverse(weights: Float) -> Operator:
        factor = factored(with_diagonal(scatter, weights))
        return lambda block: cho_solve(factor, block, check_finite=False)

    return inverse


def inverse_through_samples(matrix: DataMatrix, discriminant: sp.csr_array) -> Inverse:
    """Return the inverse by Cholesky factors of n x n matrices.

    With ``L = R'R`` and ``Y = R X``, for diagonal Q, Woodbury's identity is
    ``(Y'Y + Q)^-1 = Q^-1 - Q^-1 Y' (I + Y Q^-1 Y')^-1 Y Q^-1``.
    """
    values, vectors = eigh(discriminant.toarray())
    root = np.sqrt(np.maximum(values, 0.0))[:, np.newaxis] * vectors.T
    turned: DataMatrix | Turned = Turned(root, matrix)
    if isinstance(matrix, DenseMatrix):
        # As large as X, and saves a product with R in every product with X.
        turned = DenseMatrix(matrix.transpose_dot(root.T).T)
    ones = np.ones(matrix.shape[0])

    def inverse(weights: Float) -> Operator:
        shares = 1 / weights
        factor = factored(with_diagonal(turned.sample_gram(shares), ones))

        def invert(block: Float) -> Float:
            scaled = block * shares[:, np.newaxis]
            image = cho_solve(factor, turned.dot(scaled), check_finite=False)
            return scaled - turned.transpose_dot(image) * shares[:, np.newaxis]

        return invert

    return inverse


class Turned:
    """``R X`` for a square R, where X is sparse or on disk and R X would be neither."""

    def __init__(self, root: Float, matrix: DataMatrix) -> None:
        self._root, self._matrix = root, matrix

    def sample_gram(self, weights: Float) -> Float:
        """Return ``R X diag(w) X' R'``."""
        return np.asarray(self._root @ self._matrix.sample_gram(weights) @ self._root.T)

    def dot(self, right: Float) -> Float:
        """Return ``R X right``."""
        return np.asarray(self._root @ self._matrix.dot(right))

    def transpose_dot(self, left: Float) -> Float:
        """Return ``X' R' left``."""
        return self._matrix.transpose_dot(self._root.T @ left)


def with_diagonal(matrix: Float, diagonal: Float) -> Float:
    """Return a symmetric matrix plus a diagonal one, by columns as LAPACK has it."""
    total = matrix.copy().T
    total.flat[:: len(total) + 1] += diagonal
    return total


def factored(matrix: Float) -> tuple[Float, bool]:
    """Return the Cholesky factor of a matrix, in its place."""
    return cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
