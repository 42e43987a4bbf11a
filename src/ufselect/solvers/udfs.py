"""The smallest eigenvectors that UDFS needs in every step.

Of ``M + diag(weights)`` with ``M = X'L X``, for the sparse, positive semi-definite
local discriminant matrix L of the samples. They are the eigenvectors of the largest
eigenvalues of the inverse, which is applied by a p x p or an n x n factorisation,
whichever is smaller.
"""

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

from ufselect.matrix import DataMatrix, DenseMatrix, Float
from ufselect.solvers.ridge import FeatureRidge, SampleRidge
from ufselect.solvers.spectral import Operator, block_width, largest_eigenvectors

# Up to this many features, M is always formed: a p x p matrix is then small.
MIN_SCATTER_FEATURES = 200

# If p > n, M is formed up to these numbers of features, per eigenvector and in total.
MAX_FEATURES_PER_VECTOR, MAX_SCATTER_FEATURES = 32, 2048

# Up to these numbers of features, in total or per eigenvector, a dense decomposition is
# as fast as an iteration with a warm start.
MAX_DECOMPOSED_FEATURES, MAX_DECOMPOSED_PER_VECTOR = 500, 24

# Smallest weight for which M + diag(weights) is positive definite despite rounding
# errors, as a share of the trace of M.
MIN_WEIGHT = 1e-10

# Share of the smallest weight that remains after the shift of the inverse: a smaller
# one gives faster convergence, but less accurate eigenvectors.
MARGIN = 1e-2

# Largest residual of an eigenvector, relative to its eigenvalue. Errors grow from
# iteration to iteration, up to about the smoothing. A larger tolerance is sufficient if
# the first eigenvectors come from a dense decomposition.
TOLERANCE, WARM_TOLERANCE = 1e-9, 1e-6

# Size of random numbers that distinguish equal features, relative to entries of one.
TIE_BREAK = 1e-3

# Maps row weights to the smallest eigenvectors of M + diag(weights).
Eigenvectors = Callable[[Float], Float]

# Maps positive weights to the inverse of M + diag(weights).
Inverse = Callable[[Float], Operator]


def diagonal_of_scatter(matrix: DataMatrix, discriminant: sp.csr_array) -> Float:
    """Return the diagonal of ``X' L X``, computed in blocks of columns."""
    n_samples, n_features = matrix.shape
    diagonal = np.empty(n_features)
    step = max(1, 1_000_000 // n_samples)
    for start in range(0, n_features, step):
        block = slice(start, min(start + step, n_features))
        columns = matrix.columns(block)
        diagonal[block] = np.einsum("ij,ij->j", columns, discriminant @ columns)
    return np.maximum(diagonal, 0.0)


def inverse_through_features(scatter: Float) -> Inverse:
    """Return the inverse by Cholesky factorisation of p x p matrices.

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
    """Return the inverse by Cholesky factorisation of n x n matrices.

    With ``L = R'R``, M is the Gram matrix of the columns of ``R X``.
    """
    values, vectors = eigh(discriminant.toarray())
    root = np.sqrt(np.maximum(values, 0.0))[:, np.newaxis] * vectors.T
    product: DataMatrix | TransformedMatrix = TransformedMatrix(root, matrix)
    if isinstance(matrix, DenseMatrix):
        # R X is as large as X, and saves a product with R in every product with X.
        product = DenseMatrix(matrix.transpose_dot(root.T).T)
    return lambda weights: SampleRidge(product, 1 / weights).inverse


class TransformedMatrix:
    """``R X`` for a square R, as products; X may be sparse or on disk."""

    def __init__(self, root: Float, matrix: DataMatrix) -> None:
        self._root, self._matrix = root, matrix

    def weighted_gram(self, weights: Float) -> Float:
        """Return ``R X diag(w) X' R'``."""
        return np.asarray(
            self._root @ self._matrix.weighted_gram(weights) @ self._root.T
        )

    def dot(self, right: Float) -> Float:
        """Return ``R X right``."""
        return np.asarray(self._root @ self._matrix.dot(right))

    def transpose_dot(self, left: Float) -> Float:
        """Return ``X' R' left``."""
        return self._matrix.transpose_dot(self._root.T @ left)


def smallest_through_features(
    matrix: DataMatrix, discriminant: sp.csr_array, n_vectors: int
) -> Eigenvectors:
    """Return the eigensolver that forms M, which is p x p."""
    columns = matrix.columns(slice(None))
    scatter = columns.T @ (discriminant @ columns)
    scatter = (scatter + scatter.T) / 2

    def decompose(weights: Float) -> Float:
        weighted = scatter.copy()
        weighted.flat[:: len(weighted) + 1] += weights
        wanted = [0, n_vectors - 1]
        # The transpose of the symmetric matrix needs no copy for LAPACK.
        return eigh(weighted.T, subset_by_index=wanted, overwrite_a=True)[1]

    n_samples, n_features = columns.shape
    if n_features <= max(
        MAX_DECOMPOSED_FEATURES, MAX_DECOMPOSED_PER_VECTOR * n_vectors
    ):
        return decompose
    inverse = (
        inverse_through_features(scatter)
        if n_features <= n_samples
        else inverse_through_samples(DenseMatrix(columns), discriminant)
    )
    start = start_block(matrix, n_vectors)
    least = MIN_WEIGHT * float(np.trace(scatter))
    correct = warm_started(start, inverse, n_vectors, WARM_TOLERANCE)
    known = False

    def solve(weights: Float) -> Float:
        nonlocal known
        if known and weights.min() > least:
            return correct(weights)
        start[:, :n_vectors] = decompose(weights)
        known = True
        return start[:, :n_vectors].copy()

    return solve


def smallest_through_samples(
    matrix: DataMatrix, discriminant: sp.csr_array, n_vectors: int
) -> Eigenvectors:
    """Return the eigensolver with n x n and no p x p matrices, for p > n."""
    inverse = inverse_through_samples(matrix, discriminant)
    return warm_started(start_block(matrix, n_vectors), inverse, n_vectors)


def warm_started(
    start: Float, inverse: Inverse, n_vectors: int, tol: float = TOLERANCE
) -> Eigenvectors:
    """Return the eigensolver with a warm start from its last result, kept in start.

    The smallest eigenvectors are the leading ones of the inverse. No eigenvalue is
    below the smallest weight, so all weights can be lowered by nearly that much; this
    shift separates the wanted eigenvalues from the others.
    """

    def solve(weights: Float) -> Float:
        lowered = weights - (1 - MARGIN) * weights.min()
        found = largest_eigenvectors(inverse(lowered), start, n_vectors, tol)
        # Keep the extra columns, for directions orthogonal to the result.
        start[:, :n_vectors] = found
        return found

    return solve


def start_block(matrix: DataMatrix, n_vectors: int) -> Float:
    """Return start vectors whose rows are permuted with the features.

    Small random numbers are added, without which equal features i and j would have
    equal rows, and the eigenvector ``w = e_i - e_j`` with ``M w = 0`` would be missed.
    """
    n_samples, n_features = matrix.shape
    random = np.random.RandomState(0)
    width = block_width(n_vectors, n_features)
    block = 1.0 + matrix.transpose_dot(random.standard_normal((n_samples, width)))
    return block + TIE_BREAK * random.standard_normal(block.shape)


def smallest_eigenvectors(
    matrix: DataMatrix, discriminant: sp.csr_array, n_vectors: int
) -> Eigenvectors:
    """Return the eigensolver for the shape of the matrix."""
    dense = forms_scatter(matrix.shape, n_vectors)
    make = smallest_through_features if dense else smallest_through_samples
    return make(matrix, discriminant, n_vectors)


def forms_scatter(shape: tuple[int, int], n_vectors: int) -> bool:
    """Return whether the p x p matrix M is formed."""
    n_samples, n_features = shape
    if n_features <= max(n_samples, MIN_SCATTER_FEATURES):
        return True
    # For many eigenvectors, a dense decomposition is faster than an iteration.
    return n_features <= min(MAX_FEATURES_PER_VECTOR * n_vectors, MAX_SCATTER_FEATURES)
