"""Similarities of samples: neighbour graphs, local matrices and dense kernels.

A graph is a symmetric sparse matrix S of non-negative weights without self edges. The
local matrices are sparse, n x n and positive semi-definite, and annihilate constants:
the Laplacian of a graph, the local discriminant matrix (UDFS, LDSSL), the matrix of
locally linear embedding (JELSR, GLSPFS) and the alignment matrix of local tangent
spaces (GLSPFS). A kernel matrix K holds the similarity of all pairs; it is dense.
"""

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

from ufselect.matrix import DataMatrix, Float, Index
from ufselect.matrix.base import BLOCK_BYTES
from ufselect.solvers.neighbours import nearest_neighbours

Weights = Literal["binary", "heat"]

# If no weight of a sample is larger, its weights count as lost to underflow.
MIN_WEIGHT = 1e-12

# Eigenvalues below this share of the largest count as rounding errors, as do singular
# values below this share of the norm of the samples.
ROUNDING = 1e-14

# Tangent directions with a singular value below this share of the largest are dropped.
TANGENT_ROUNDING = 1e-10

# Share of the trace that is added to the diagonal of each local Gram matrix: with more
# neighbours than dimensions, or equal samples, it would otherwise be singular.
REGULARISATION = 1e-3


def neighbour_graph(
    points: Any,
    n_neighbors: int = 5,
    *,
    weights: Weights = "binary",
    bandwidth: float | None = None,
) -> sp.csr_array:
    """Return the graph that joins i and j if either is a neighbour of the other.

    Parameters
    ----------
    points : {array-like, sparse matrix} of shape (n, p)
    n_neighbors : int
        Neighbours of each sample, itself excluded; at most n - 1 are taken.
    weights : {"binary", "heat"}
        One, or ``exp(-d^2 / (2 bandwidth^2))`` for the distance d.
    bandwidth : float, optional
        By default the median distance to a neighbour, so that the weights do not
        depend on the unit of the points. If all weights of a sample underflow, they
        are replaced by ones.

    Examples
    --------
    >>> import numpy as np
    >>> graph = neighbour_graph(np.array([[0.0], [1.0], [3.0]]), 1)
    >>> graph.toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    distances, index = nearest_neighbours(points, n_neighbors)
    values = np.ones(index.shape)
    if weights == "heat":
        if bandwidth is None:
            positive = distances[distances > 0]
            bandwidth = float(np.median(positive)) if len(positive) else 1.0
        values = np.exp(-0.5 * (distances / bandwidth) ** 2)
        values[values.max(axis=1) < MIN_WEIGHT] = 1.0
    directed = directed_graph(index, values)
    return sp.csr_array(directed.maximum(directed.T).astype(np.float64))


def directed_graph(index: Index, weights: Float) -> sp.csr_array:
    """Return the n x n matrix whose row i has weights[i] in the columns index[i]."""
    n_samples, count = index.shape
    starts = np.arange(0, index.size + 1, count)
    parts = (weights.ravel(), index.ravel(), starts)
    return sp.csr_array(parts, shape=(n_samples, n_samples))


def degrees(graph: sp.csr_array) -> Float:
    """Return the sum of the weights at each sample."""
    return np.asarray(graph.sum(axis=1), dtype=np.float64).ravel()


def laplacian(graph: sp.csr_array) -> sp.csr_array:
    """Return ``L = D - S``, whose rows sum to zero."""
    return sp.csr_array(sp.diags_array(degrees(graph)) - graph)


def normalised_laplacian(graph: sp.csr_array) -> sp.csr_array:
    """Return ``I - D^(-1/2) S D^(-1/2)``."""
    return sp.csr_array(sp.eye_array(graph.shape[0]) - normalised_similarity(graph))


def normalised_similarity(graph: sp.csr_array) -> sp.csr_array:
    """Return ``D^(-1/2) S D^(-1/2)``, with a zero row for a sample without edges."""
    scale = sp.diags_array(inverse_root(degrees(graph)))
    return sp.csr_array(scale @ graph @ scale)


def inverse_root(values: Float) -> Float:
    """Return ``values^(-1/2)``, zero where the value is zero."""
    result = np.zeros_like(values)
    np.divide(1.0, np.sqrt(values), out=result, where=values > 0)
    return result


def neighbourhoods_of(points: Any, n_neighbors: int) -> Index:
    """Return, for each sample, itself and its nearest neighbours (n x m).

    Examples
    --------
    >>> import numpy as np
    >>> neighbourhoods_of(np.array([[0.0], [1.0], [3.0]]), 1)
    array([[0, 1],
           [1, 0],
           [2, 1]])
    """
    neighbours = nearest_neighbours(points, n_neighbors)[1]
    return np.column_stack([np.arange(points.shape[0]), neighbours])


def sum_over_neighbourhoods(blocks: Float, neighbourhoods: Index) -> sp.csr_array:
    """Return ``sum_i P_i B_i P_i'``: each block is added at its neighbourhood."""
    n_samples, size = neighbourhoods.shape
    rows = np.repeat(neighbourhoods, size, axis=1).ravel()
    columns = np.tile(neighbourhoods, (1, size)).ravel()
    shape = (n_samples, n_samples)
    return sp.coo_array((blocks.ravel(), (rows, columns)), shape=shape).tocsr()


def scatter_matrices(matrix: DataMatrix, neighbourhoods: Index) -> Float:
    """Return ``H X_i X_i' H`` for the samples X_i of each neighbourhood (n x m x m).

    H centres the neighbourhood.
    """
    n_neighbourhoods, size = neighbourhoods.shape
    K = np.empty((n_neighbourhoods, size, size))
    for place, neighbourhood in enumerate(neighbourhoods):
        rows = matrix.rows(neighbourhood)
        rows -= rows.mean(axis=0)
        K[place] = rows @ rows.T
    return K


def gaussian_matrices(K: Float, bandwidth: float | None = None) -> Float:
    """Return ``H Q_i H`` for Gaussian kernels Q_i of the neighbourhoods, from K_i.

    Parameters
    ----------
    K : ndarray of shape (n, m, m)
        As returned by ``scatter_matrices``, with the sample itself first.
    bandwidth : float, optional
        Of the kernel ``exp(-d^2 / (2 bandwidth^2))``; by default
        ``neighbour_distance``.
    """
    if bandwidth is None:
        bandwidth = neighbour_distance(K)
    # Divide twice: the square of a very small bandwidth would underflow.
    kernels = np.exp(-0.5 * distances_within(K) / bandwidth / bandwidth)
    centring = np.eye(K.shape[1]) - 1 / K.shape[1]
    return np.asarray(centring @ kernels @ centring)


def neighbour_distance(K: Float) -> float:
    """Return the median distance to a neighbour, without zeros if it is zero."""
    distances = np.sqrt(distances_within(K)[:, 0, 1:])
    positive = distances[distances > 0]
    if not len(positive):
        return 1.0
    return float(np.median(distances)) or float(np.median(positive))


def distances_within(K: Float) -> Float:
    """Return the squared distances of samples in each neighbourhood (n x m x m)."""
    squares = np.diagonal(K, axis1=1, axis2=2)
    sums = squares[:, :, np.newaxis] + squares[:, np.newaxis]
    distances = np.maximum(sums - 2 * K, 0.0)
    # Distances that are this small relative to the squares are rounding errors.
    distances[distances <= 1e-14 * sums] = 0.0
    return distances


def local_discriminant_matrix(
    K: Float, neighbourhoods: Index, ridge: float
) -> sp.csr_array:
    """Return ``sum_i P_i H (K_i + ridge I)^-1 H P_i'`` for scatter matrices K_i.

    P_i maps the samples of neighbourhood i to rows. The matrix is n x n, sparse and
    positive semi-definite, and its rows sum to zero. The factor ``ridge`` of the
    derivation is dropped, as in the paper.
    """
    size = neighbourhoods.shape[1]
    identity = np.eye(size)
    centring = identity - 1 / size
    inner = np.linalg.solve(K + ridge * identity, np.broadcast_to(centring, K.shape))
    pieces = centring @ inner
    total = sum_over_neighbourhoods(pieces, neighbourhoods)
    # Make it exactly symmetric: rounding errors must not change the result.
    return sp.csr_array((total + total.T) / 2)


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


def local_linear_matrix(
    points: Any, n_neighbors: int = 5, *, regularisation: float = REGULARISATION
) -> sp.csr_array:
    """Return ``(I - S)'(I - S)``, where S holds the weights of the neighbours.

    Row i of S has the weights, which sum to one, with which the neighbours of sample i
    reconstruct it best. The rows of the result sum to zero.

    Parameters
    ----------
    points : {ndarray, sparse matrix} of shape (n, p)
    n_neighbors : int
        Neighbours of each sample, itself excluded; at most n - 1 are taken.
    regularisation : float
        Share of the trace that is added to the diagonal of each local Gram matrix.

    Examples
    --------
    >>> import numpy as np
    >>> local_linear_matrix(np.array([[0.0], [1.0]]), 1).toarray()
    array([[ 2., -2.],
           [-2.,  2.]])
    """
    neighbours = nearest_neighbours(points, n_neighbors)[1]
    weights = neighbour_weights(points, neighbours, regularisation)
    mixing = directed_graph(neighbours, weights)
    rest = sp.eye_array(len(neighbours), format="csr") - mixing
    return sp.csr_array(rest.T @ rest)


def tangent_alignment_matrix(
    points: Any, n_neighbors: int = 5, *, n_components: int = 2
) -> sp.csr_array:
    """Return the alignment matrix of local tangent spaces (LTSA).

    Every sample and its neighbours add ``I - G G'`` at their rows and columns, where
    the columns of G are the constant and the leading left singular vectors of the
    centred samples. If the data lie in an affine subspace of n_components dimensions,
    the matrix annihilates their coordinates.

    Parameters
    ----------
    points : {ndarray, sparse matrix} of shape (n, p)
    n_neighbors : int
        Neighbours of each sample, itself excluded; at most n - 1 are taken.
    n_components : int
        Dimension of the tangent spaces, limited to between 1 and n_neighbors - 1: with
        a larger one, ``I - G G'`` would be zero.

    Examples
    --------
    >>> import numpy as np
    >>> line = np.arange(4.0)[:, np.newaxis] * [[1.0, 2.0]]
    >>> matrix = tangent_alignment_matrix(line, 2, n_components=1)
    >>> bool(np.abs(matrix @ line).max() < 1e-12)
    True
    """
    neighbourhoods = neighbourhoods_of(points, n_neighbors)
    n_samples, size = neighbourhoods.shape
    count = max(1, min(n_components, size - 2))
    blocks = np.empty((n_samples, size, size))
    for block, neighbourhood in zip(blocks, neighbourhoods, strict=True):
        local = dense_rows(points, neighbourhood)
        left, extents, _ = np.linalg.svd(local - local.mean(axis=0), False)
        # Singular vectors of the value zero are arbitrary and may be constant.
        extent = max(TANGENT_ROUNDING * extents[0], ROUNDING * np.linalg.norm(local))
        kept = extents[:count] > extent
        tangents = left[:, : len(kept)][:, kept]
        block[:] = np.eye(size) - 1.0 / size - tangents @ tangents.T
    return sum_over_neighbourhoods(blocks, neighbourhoods)


def neighbour_weights(points: Any, neighbours: Index, regularisation: float) -> Float:
    """Return the n x k weights that reconstruct each sample from its neighbours."""
    n_samples, count = neighbours.shape
    weights = np.empty((n_samples, count))
    step = max(1, BLOCK_BYTES // (8 * count * points.shape[1]))
    for start in range(0, n_samples, step):
        block = slice(start, min(start + step, n_samples))
        own = dense_rows(points, np.arange(block.start, block.stop))
        near = dense_rows(points, neighbours[block].ravel())
        offsets = near.reshape(len(own), count, -1) - own[:, np.newaxis]
        weights[block] = weights_of(offsets, regularisation)
    return weights


def weights_of(offsets: Float, regularisation: float) -> Float:
    """Solve ``Z Z' w = 1`` for each k x p array Z; scale w to sum to one."""
    grams = offsets @ offsets.transpose(0, 2, 1)
    traces = np.trace(grams, axis1=1, axis2=2)
    # If all neighbours equal the sample, all weights are equal.
    ridge = np.where(traces > 0, regularisation * traces, 1.0)
    grams += ridge[:, np.newaxis, np.newaxis] * np.eye(grams.shape[1])
    weights = np.linalg.solve(grams, np.ones((*grams.shape[:2], 1)))[..., 0]
    return weights / weights.sum(axis=1, keepdims=True)


def dense_rows(points: Any, index: Index) -> Float:
    """Return the samples of an index as a dense array."""
    rows = points[index]
    return np.asarray(rows.toarray() if sp.issparse(points) else rows, np.float64)


def squared_distances_of(gram: Float) -> Float:
    """Return the n x n squared distances of points with the Gram matrix ``X X'``.

    Examples
    --------
    >>> squared_distances_of(np.outer([0.0, 3.0], [0.0, 3.0]))
    array([[0., 9.],
           [9., 0.]])
    """
    squares = np.diagonal(gram)
    distances = squares[:, np.newaxis] + squares - 2 * gram
    # Rounding may make a distance negative.
    np.maximum(distances, 0.0, out=distances)
    return distances


def median_distance(squared: Float) -> float:
    """Return the median distance over pairs, without zeros if it is zero."""
    # With an even number of pairs, the root of the median square would differ.
    pairs = np.sqrt(squared[np.triu_indices(len(squared), 1)])
    median = float(np.median(pairs))
    if median > 0:
        return median
    positive = pairs[pairs > 0]
    return float(np.median(positive)) if len(positive) else 1.0


def gaussian_kernel(squared: Float, bandwidth: float | None = None) -> Float:
    """Return ``exp(-d^2 / (2 bandwidth^2))``.

    Parameters
    ----------
    squared : ndarray of shape (n, n)
        Squared distances.
    bandwidth : float, optional
        By default the median distance divided by the square root of two, so that
        the kernel is ``exp(-d^2 / median^2)``.
    """
    if bandwidth is None:
        bandwidth = median_distance(squared) / np.sqrt(2)
    # Divide twice: the square of a very small bandwidth would underflow.
    return np.exp(-0.5 * squared / bandwidth / bandwidth)


def centred_kernel(kernel: Float) -> Float:
    """Return the kernel matrix after centring in feature space."""
    means = kernel.mean(axis=0)
    return kernel - means - means[:, np.newaxis] + means.mean()


def kernel_root(
    kernel: Float, *, n_columns: int | None = None, share: float = 1.0
) -> Float:
    """Return Y with ``Y Y' = K``, or the best approximation with fewer columns.

    Parameters
    ----------
    kernel : ndarray of shape (n, n)
        Symmetric; negative eigenvalues are dropped.
    n_columns : int, optional
        Largest number of columns, those of the largest eigenvalues.
    share : float
        Share of the trace to keep; further columns are dropped.

    Returns
    -------
    root : ndarray of shape (n, r)
        Largest eigenvalue first; the entry of largest absolute value is positive.
    """
    n_samples = len(kernel)
    wanted = n_samples if n_columns is None else min(n_columns, n_samples)
    subset = (n_samples - wanted, n_samples - 1)
    values, vectors = eigh(kernel, subset_by_index=subset)
    values, vectors = values[::-1], vectors[:, ::-1]
    positive = values > ROUNDING * max(values[0], 0.0)
    if share < 1.0:
        reached = np.cumsum(values) >= share * np.trace(kernel)
        positive[1:] &= ~reached[:-1]
    return with_positive_peak(vectors[:, positive] * np.sqrt(values[positive]))


def with_positive_peak(vectors: Float) -> Float:
    """Return the vectors with the signs that make their largest entries positive."""
    peaks = np.abs(vectors).argmax(axis=0)
    signs = np.sign(vectors[peaks, np.arange(vectors.shape[1])])
    return vectors * np.where(signs == 0, 1.0, signs)
