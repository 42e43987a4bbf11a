"""Inverse of a scatter matrix plus a diagonal one that changes from step to step.

``(M + diag(weights))^-1``, where ``M = X' L X`` for a sparse positive semi-definite
n x n matrix L.
"""

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

from ufselect.matrix import DataMatrix, DenseMatrix, Float
from ufselect.solvers.block_krylov import Operator
from ufselect.solvers.ridge import FeatureRidge, SampleRidge

# Maps positive weights to the inverse of M + diag(weights).
Inverse = Callable[[Float], Operator]


def inverse_through_features(scatter: Float) -> Inverse:
    """Return the inverse by Cholesky factors of p x p matrices.

    Examples
    --------
    >>> import numpy as np
    >>> inverse = inverse_through_features(np.array([[1.0, 1.0], [1.0, 1.0]]))
    >>> inverse(np.array([1.0, 2.0]))(np.array([[2.0], [1.0]])).round(6) + 0.0
    array([[1.],
           [0.]])
    """
    return lambda weights: FeatureRidge(scatter, 1 / weights).inverse


def inverse_through_samples(matrix: DataMatrix, discriminant: sp.csr_array) -> Inverse:
    """Return the inverse by Cholesky factors of n x n matrices.

    With ``L = R'R``, M is the Gram matrix of the columns of ``R X``.
    """
    values, vectors = eigh(discriminant.toarray())
    root = np.sqrt(np.maximum(values, 0.0))[:, np.newaxis] * vectors.T
    turned: DataMatrix | Turned = Turned(root, matrix)
    if isinstance(matrix, DenseMatrix):
        # As large as X, and saves a product with R in every product with X.
        turned = DenseMatrix(matrix.transpose_dot(root.T).T)
    return lambda weights: SampleRidge(turned, 1 / weights).inverse


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
