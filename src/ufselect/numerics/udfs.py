"""The iteration of UDFS: smallest eigenvectors under reweighted rows.

``minimise tr(W' M W) + gamma |W|_21`` over W with orthonormal columns, where
``M = X' L X`` for a sparse positive semi-definite n x n matrix L.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve, eigh

from ufselect.matrix import DataMatrix, Float
from ufselect.numerics.block_krylov import Operator, block_width, improved_block

# Smoothing of row norms, as published.
SMOOTHING = np.finfo(np.float64).eps

# Up to this many features a p x p matrix is smaller than what else is kept.
SMALL = 200

# Up to so many features for each vector wanted, and up to so many in all, it is worth
# while where p > n.
MANY, LARGEST = 32, 2048

# Up to so many features for each vector wanted, a decomposition is as fast as to turn
# the vectors of the last one.
FEW = 12

# What is left of the smallest weight in an inverse, as a share of it: the less, the
# faster its eigenvectors are found, and the fewer digits they have.
MARGIN = 1e-2

# Largest residual of an eigenvector, as a share of its eigenvalue: what is less is lost
# in the smoothing.
TOLERANCE = 1e-8

# Size of what tells equal features apart, beside entries of about one.
TIE_BREAK = 1e-3

# Maps row weights to the smallest eigenvectors of M + diag(weights).
Eigenvectors = Callable[[Float], Float]


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


def smallest_through_features(
    matrix: DataMatrix, discriminant: sp.csr_array, n_vectors: int
) -> Eigenvectors:
    """Return the solver that forms M, which is p x p: for p <= n."""
    columns = matrix.columns(slice(None))
    scatter = columns.T @ (discriminant @ columns)
    scatter = (scatter + scatter.T) / 2
    few = len(scatter) <= FEW * n_vectors
    start = np.empty(0)

    def add(weights: Float) -> Float:
        weighted = scatter.copy()
        weighted.flat[:: len(weighted) + 1] += weights
        # In the order of its columns, which LAPACK overwrites.
        return weighted.T

    def inverse(weights: Float) -> Operator:
        factor = factored(add(weights))
        return lambda block: cho_solve(factor, block, check_finite=False)

    def solve(weights: Float) -> Float:
        nonlocal start
        if few or not start.size:
            last = (n_vectors if few else block_width(n_vectors, len(scatter))) - 1
            start = eigh(add(weights), subset_by_index=[0, last], overwrite_a=True)[1]
        else:
            start = improved_for(weights, inverse, start, n_vectors)
        return start[:, :n_vectors]

    return solve


def smallest_through_samples(
    matrix: DataMatrix, discriminant: sp.csr_array, n_vectors: int
) -> Eigenvectors:
    """Return the solver that inverts M + diag(weights) with n x n matrices: p > n.

    With ``L = R'R`` and ``Y = R X``, for diagonal Q, Woodbury's identity is
    ``(Y'Y + Q)^-1 = Q^-1 - Q^-1 Y' (I + Y Q^-1 Y')^-1 Y Q^-1``.
    """
    n_samples = matrix.shape[0]
    values, vectors = eigh(discriminant.toarray())
    root = np.sqrt(np.maximum(values, 0.0))[:, np.newaxis] * vectors.T
    start = start_block(matrix, n_vectors)

    def inverse(weights: Float) -> Operator:
        inner = root @ matrix.sample_gram(1 / weights) @ root.T
        inner.flat[:: n_samples + 1] += 1.0
        factor = factored(inner.T)

        def invert(block: Float) -> Float:
            scaled = block / weights[:, np.newaxis]
            image = cho_solve(factor, root @ matrix.dot(scaled), check_finite=False)
            back = matrix.transpose_dot(root.T @ image)
            return scaled - back / weights[:, np.newaxis]

        return invert

    def solve(weights: Float) -> Float:
        nonlocal start
        start = improved_for(weights, inverse, start, n_vectors)
        return start[:, :n_vectors]

    return solve


def improved_for(
    weights: Float,
    inverse: Callable[[Float], Operator],
    start: Float,
    n_vectors: int,
) -> Float:
    """Return a block that begins with the smallest eigenvectors of M + diag(weights).

    They are the largest of its inverse. No eigenvalue is below the smallest weight, so
    that all weights may be lowered by nearly that much, which sets the wanted ones
    apart. From one set of weights to the next they hardly turn: the block is the start.
    """
    lowered = weights - (1 - MARGIN) * weights.min()
    return improved_block(inverse(lowered), start, n_vectors, TOLERANCE)


def factored(matrix: Float) -> tuple[Float, bool]:
    """Return the Cholesky factor of a matrix, in its place."""
    return cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)


def start_block(matrix: DataMatrix, n_vectors: int) -> Float:
    """Return vectors that follow the features when these change places.

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
    if n_features <= max(n_samples, SMALL):
        return True
    # To find many of its eigenvectors one by one takes longer than all at once.
    return n_features <= min(MANY * n_vectors, LARGEST)


def fit_udfs(
    matrix: DataMatrix,
    discriminant: sp.csr_array,
    weights: Float,
    solve: Eigenvectors,
    *,
    gamma: float,
    max_iter: int,
    tol: float,
    report: Callable[[int, float], bool],
) -> UDFSFit:
    """Alternate eigenvectors and row weights ``1 / (2 |w_i|)``, from given weights.

    Neither step raises the objective, as long as eigenvectors are exact.
    """
    history: list[float] = []
    converged = False
    for iteration in range(max_iter):
        coef = solve(gamma * weights)
        norms = np.sqrt(np.einsum("ij,ij->i", coef, coef) + SMOOTHING)
        weights = 1 / (2 * norms)
        fitted = matrix.dot(coef)
        scatter = float(np.vdot(fitted, discriminant @ fitted))
        history.append(scatter + gamma * float(norms.sum()))
        stopped = report(iteration, history[-1])
        if iteration and abs(history[-2] - history[-1]) <= tol * abs(history[-1]):
            converged = True
            break
        if stopped:
            break
    return UDFSFit(coef, history, converged)


def start_weights(scatter_diagonal: Float, n_vectors: int) -> Float:
    """Return row weights as if ``|w_i|`` fell with the scatter ``M_ii`` of a feature.

    Unlike equal weights they leave no choice among the vectors with ``M w = 0``, of
    which there are many when p > n, and they change places with the features.
    """
    floor = 1e-6 * float(scatter_diagonal.mean())
    norms = 1 / np.sqrt(np.maximum(scatter_diagonal, floor))
    norms *= np.sqrt(n_vectors) / np.linalg.norm(norms)
    return 1 / (2 * norms)
