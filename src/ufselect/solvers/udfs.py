"""The iteration of UDFS: smallest eigenvectors under reweighted rows.

``minimise tr(W' M W) + gamma |W|_21`` over W with orthonormal columns, where
``M = X' L X`` for a sparse positive semi-definite n x n matrix L.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

from ufselect.matrix import DataMatrix, DenseMatrix, Float
from ufselect.solvers.block_krylov import block_width, largest_eigenvectors
from ufselect.solvers.scatter_inverse import (
    Inverse,
    inverse_through_features,
    inverse_through_samples,
)

# Smoothing of row norms, as published.
SMOOTHING = np.finfo(np.float64).eps

# Up to this many features a p x p matrix is smaller than what else is kept.
SMALL = 200

# Up to so many features for each vector wanted, and up to so many in all, it is worth
# while where p > n.
MANY, LARGEST = 32, 2048

# Up to so many features, and up to so many for each vector wanted, to decompose M anew
# is as fast as to turn the vectors found last.
MEDIUM, FEW = 500, 24

# Smallest weight that rounding errors in M leave positive, as a share of its trace.
LEAST = 1e-10

# What is left of the smallest weight in an inverse, as a share of it: the less, the
# faster its eigenvectors are found, and the fewer digits they have.
MARGIN = 1e-2

# Largest residual of an eigenvector, as a share of its eigenvalue. From step to step
# errors grow; they end about as small as the smoothing.
TOLERANCE = 1e-9

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
    if n_features <= max(MEDIUM, FEW * n_vectors):
        return decompose
    inverse = (
        inverse_through_features(scatter)
        if n_features <= n_samples
        else inverse_through_samples(DenseMatrix(columns), discriminant)
    )
    start, least = start_block(matrix, n_vectors), LEAST * float(np.trace(scatter))
    turn = turned_from(start, inverse, n_vectors)
    known = False

    def solve(weights: Float) -> Float:
        nonlocal known
        if known and weights.min() > least:
            return turn(weights)
        start[:, :n_vectors] = decompose(weights)
        known = True
        return start[:, :n_vectors].copy()

    return solve


def smallest_through_samples(
    matrix: DataMatrix, discriminant: sp.csr_array, n_vectors: int
) -> Eigenvectors:
    """Return the solver that makes n x n matrices and no p x p one: for p > n."""
    inverse = inverse_through_samples(matrix, discriminant)
    return turned_from(start_block(matrix, n_vectors), inverse, n_vectors)


def turned_from(start: Float, inverse: Inverse, n_vectors: int) -> Eigenvectors:
    """Return the solver that turns the vectors it found last, which it puts into start.

    The smallest eigenvectors are the largest of the inverse. No eigenvalue is below the
    smallest weight, so that all weights may be lowered by nearly that much, which sets
    the wanted ones apart.
    """

    def solve(weights: Float) -> Float:
        lowered = weights - (1 - MARGIN) * weights.min()
        found = largest_eigenvectors(inverse(lowered), start, n_vectors, TOLERANCE)
        # The other columns stay, for what none of the vectors found has a part in.
        start[:, :n_vectors] = found
        return found

    return solve


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
