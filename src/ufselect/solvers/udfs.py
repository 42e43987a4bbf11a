"""UDFS: smallest eigenvectors under reweighted rows.

Minimises, over W with orthonormal columns,

    (1)  tr(W'M W) + gamma |W|_21,   M = X'L X

for the sparse, positive semi-definite local discriminant matrix L of the samples, by

    (2)  W = eigenvectors of the c smallest eigenvalues of M + gamma D
    (3)  D = diag(1 / (2 sqrt(|w_i|^2 + epsilon)))

The eigenvectors are those of the largest eigenvalues of ``(M + gamma D)^-1``, which is
applied through p x p or n x n factors, whichever are smaller. Equation
numbers are this file's own.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

from ufselect.matrix import DataMatrix, DenseMatrix, Float
from ufselect.solvers.iterations import Iterations, Report
from ufselect.solvers.ridge import FeatureRidge, SampleRidge
from ufselect.solvers.spectral import Operator, block_width, largest_eigenvectors

# Smoothing of row norms, as published.
SMOOTHING = np.finfo(np.float64).eps

# Up to this many features a p x p matrix is smaller than what else is kept.
MIN_SCATTER_FEATURES = 200

# Up to so many features for each vector wanted, and up to so many in all, it is worth
# while where p > n.
MAX_FEATURES_PER_VECTOR, MAX_SCATTER_FEATURES = 32, 2048

# Up to so many features, and up to so many for each vector wanted, to decompose M anew
# is as fast as to correct the vectors found last.
MAX_DECOMPOSED_FEATURES, MAX_DECOMPOSED_PER_VECTOR = 500, 24

# Smallest weight that rounding errors in M leave positive, as a share of its trace.
SMALLEST_WEIGHT = 1e-10

# What is left of the smallest weight in an inverse, as a share of it: the less, the
# faster its eigenvectors are found, and the fewer digits they have.
MARGIN = 1e-2

# Largest residual of an eigenvector, as a share of its eigenvalue. From step to step
# errors grow; they end about as small as the smoothing. Vectors that begin with those
# of a decomposition may have fewer digits on the way.
TOLERANCE, WARM_TOLERANCE = 1e-9, 1e-6

# Size of what tells equal features apart, beside entries of about one.
TIE_BREAK = 1e-3

# Maps row weights to the smallest eigenvectors of M + diag(weights).
Eigenvectors = Callable[[Float], Float]

# Maps positive weights to the inverse of M + diag(weights).
Inverse = Callable[[Float], Operator]


class UDFSFit(NamedTuple):
    """W, the objective after each iteration, and whether it settled."""

    coef: Float
    history: list[float]
    converged: bool


def diagonal_of_scatter(matrix: DataMatrix, discriminant: sp.csr_array) -> Float:
    """Return the diagonal of ``X' L X``, block by block of columns."""
    n_samples, n_features = matrix.shape
    diagonal = np.empty(n_features)
    step = max(1, 1_000_000 // n_samples)
    for start in range(0, n_features, step):
        block = slice(start, min(start + step, n_features))
        columns = matrix.columns(block)
        diagonal[block] = np.einsum("ij,ij->j", columns, discriminant @ columns)
    return np.maximum(diagonal, 0.0)


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
    product: DataMatrix | TransformedMatrix = TransformedMatrix(root, matrix)
    if isinstance(matrix, DenseMatrix):
        # As large as X, and saves a product with R in every product with X.
        product = DenseMatrix(matrix.transpose_dot(root.T).T)
    return lambda weights: SampleRidge(product, 1 / weights).inverse


class TransformedMatrix:
    """``R X`` for a square R, where X is sparse or on disk and R X would be neither."""

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
    """Return the solver that forms M, which is p x p."""
    columns = matrix.columns(slice(None))
    scatter = columns.T @ (discriminant @ columns)
    scatter = (scatter + scatter.T) / 2

    def decompose(weights: Float) -> Float:
        weighted = scatter.copy()
        weighted.flat[:: len(weighted) + 1] += weights
        wanted = [0, n_vectors - 1]
        # A symmetric matrix is its transpose, which LAPACK takes without a copy.
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
    least = SMALLEST_WEIGHT * float(np.trace(scatter))
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
    """Return the solver that makes n x n matrices and no p x p one: for p > n."""
    inverse = inverse_through_samples(matrix, discriminant)
    return warm_started(start_block(matrix, n_vectors), inverse, n_vectors)


def warm_started(
    start: Float, inverse: Inverse, n_vectors: int, tol: float = TOLERANCE
) -> Eigenvectors:
    """Return the solver that starts from the vectors it found last, kept in start.

    The smallest eigenvectors are the largest of the inverse. No eigenvalue is below the
    smallest weight, so that all weights may be lowered by nearly that much, which sets
    the wanted ones apart.
    """

    def solve(weights: Float) -> Float:
        lowered = weights - (1 - MARGIN) * weights.min()
        found = largest_eigenvectors(inverse(lowered), start, n_vectors, tol)
        # The other columns stay, for what none of the vectors found has a part in.
        start[:, :n_vectors] = found
        return found

    return solve


def start_block(matrix: DataMatrix, n_vectors: int) -> Float:
    """Return vectors whose rows change places with the features.

    All but: equal features i and j make ``w = e_i - e_j`` an eigenvector with
    ``M w = 0``, which the smallest difference between their rows lets in.
    """
    n_samples, n_features = matrix.shape
    random = np.random.RandomState(0)
    width = block_width(n_vectors, n_features)
    block = 1.0 + matrix.transpose_dot(random.standard_normal((n_samples, width)))
    return block + TIE_BREAK * random.standard_normal(block.shape)


def smallest_eigenvectors(
    matrix: DataMatrix, discriminant: sp.csr_array, n_vectors: int
) -> Eigenvectors:
    """Return the solver for the shape of the matrix."""
    dense = forms_scatter(matrix.shape, n_vectors)
    make = smallest_through_features if dense else smallest_through_samples
    return make(matrix, discriminant, n_vectors)


def forms_scatter(shape: tuple[int, int], n_vectors: int) -> bool:
    """Return whether M itself is formed, which is p x p."""
    n_samples, n_features = shape
    if n_features <= max(n_samples, MIN_SCATTER_FEATURES):
        return True
    # To find many of its eigenvectors one by one takes longer than all at once.
    return n_features <= min(MAX_FEATURES_PER_VECTOR * n_vectors, MAX_SCATTER_FEATURES)


def fit_udfs(
    matrix: DataMatrix,
    discriminant: sp.csr_array,
    weights: Float,
    solve: Eigenvectors,
    *,
    gamma: float,
    max_iter: int,
    tol: float,
    report: Report | None = None,
) -> UDFSFit:
    """Alternate (2) and (3) from given weights, the diagonal of D.

    Neither step raises (1), as long as eigenvectors are exact.
    """
    loop = Iterations(max_iter, tol, report)
    for _ in loop:
        coef = solve(gamma * weights)  # (2)
        norms = np.sqrt(np.einsum("ij,ij->i", coef, coef) + SMOOTHING)
        weights = 1 / (2 * norms)  # (3)
        fitted = matrix.dot(coef)
        scatter = float(np.vdot(fitted, discriminant @ fitted))
        loop.record(scatter + gamma * float(norms.sum()))  # (1)
    return UDFSFit(coef, loop.history, loop.converged)


def start_weights(scatter_diagonal: Float, n_vectors: int) -> Float:
    """Return row weights as if ``|w_i|`` fell with the scatter ``M_ii`` of a feature.

    Unlike equal weights they leave no choice among the vectors with ``M w = 0``, of
    which there are many when p > n, and they change places with the features.
    """
    floor = 1e-6 * float(scatter_diagonal.mean())
    norms = 1 / np.sqrt(np.maximum(scatter_diagonal, floor))
    norms *= np.sqrt(n_vectors) / np.linalg.norm(norms)
    return 1 / (2 * norms)
