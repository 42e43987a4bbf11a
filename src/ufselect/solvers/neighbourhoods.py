"""Sparse n x n matrices that say how each sample lies among its neighbours.

The local discriminant matrix (UDFS, LDSSL), the matrix of locally linear embedding
(JELSR, GLSPFS) and the alignment matrix of local tangent spaces (GLSPFS): each is
positive semi-definite and annihilates constants.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from ufselect.matrix import DataMatrix, Float, Index
from ufselect.matrix.base import BLOCK_BYTES
from ufselect.solvers.graphs import directed_graph, nearest_neighbours

# Share of the trace that is added to the diagonal of each local Gram matrix: with more
# neighbours than dimensions, or equal samples, it would otherwise be singular.
REGULARISATION = 1e-3

# A direction of this share of the longest one, or of the samples, is rounding.
ROUNDING = 1e-10

SAMPLE_ROUNDING = 1e-14


def neighbour_cliques(points: Any, n_neighbors: int) -> Index:
    """Return, for each sample, itself and its nearest neighbours (n x m).

    Examples
    --------
    >>> import numpy as np
    >>> neighbour_cliques(np.array([[0.0], [1.0], [3.0]]), 1)
    array([[0, 1],
           [1, 0],
           [2, 1]])
    """
    neighbours = nearest_neighbours(points, n_neighbors)[1]
    return np.column_stack([np.arange(points.shape[0]), neighbours])


def sum_over_cliques(blocks: Float, cliques: Index) -> sp.csr_array:
    """Return ``sum_i P_i B_i P_i'``: each block added at the places of its clique."""
    n_samples, size = cliques.shape
    rows = np.repeat(cliques, size, axis=1).ravel()
    columns = np.tile(cliques, (1, size)).ravel()
    shape = (n_samples, n_samples)
    return sp.coo_array((blocks.ravel(), (rows, columns)), shape=shape).tocsr()


def clique_scatters(matrix: DataMatrix, cliques: Index) -> Float:
    """Return ``H X_i X_i' H`` for the samples X_i of each clique (n x m x m).

    H centres the clique.
    """
    n_cliques, size = cliques.shape
    scatters = np.empty((n_cliques, size, size))
    for place, clique in enumerate(cliques):
        rows = matrix.rows(clique)
        rows -= rows.mean(axis=0)
        scatters[place] = rows @ rows.T
    return scatters


def gaussian_scatters(scatters: Float, bandwidth: float | None = None) -> Float:
    """Return ``H Q_i H`` for Gaussian kernels Q_i of the cliques, from linear scatters.

    Parameters
    ----------
    scatters : ndarray of shape (n, m, m)
        As of ``clique_scatters``, with the sample itself first.
    bandwidth : float, optional
        Of ``exp(-d^2 / (2 bandwidth^2))``; see ``neighbour_distance``.
    """
    if bandwidth is None:
        bandwidth = neighbour_distance(scatters)
    # Divided twice: the square of a tiny bandwidth would vanish.
    kernels = np.exp(-0.5 * clique_distances(scatters) / bandwidth / bandwidth)
    centring = np.eye(scatters.shape[1]) - 1 / scatters.shape[1]
    return np.asarray(centring @ kernels @ centring)


def neighbour_distance(scatters: Float) -> float:
    """Return the median distance to a neighbour; of distinct ones if it is zero."""
    distances = np.sqrt(clique_distances(scatters)[:, 0, 1:])
    positive = distances[distances > 0]
    if not len(positive):
        return 1.0
    return float(np.median(distances)) or float(np.median(positive))


def clique_distances(scatters: Float) -> Float:
    """Return the squared distances of samples in each clique (n x m x m)."""
    squares = np.diagonal(scatters, axis1=1, axis2=2)
    sums = squares[:, :, np.newaxis] + squares[:, np.newaxis]
    distances = np.maximum(sums - 2 * scatters, 0.0)
    # What is left of it beside the squares is rounding: the samples are equal.
    distances[distances <= 1e-14 * sums] = 0.0
    return distances


def local_discriminant_matrix(
    scatters: Float, cliques: Index, ridge: float
) -> sp.csr_array:
    """Return ``sum_i P_i H (K_i + ridge I)^-1 H P_i'`` for the scatters K_i.

    P_i puts the samples of clique i into their places. The matrix is n x n, sparse
    and positive semi-definite, and its rows sum to zero. The factor ridge that the
    derivation from the scatter of features leaves in front is dropped, as published.
    """
    size = cliques.shape[1]
    identity = np.eye(size)
    centring = identity - 1 / size
    inner = np.linalg.solve(
        scatters + ridge * identity, np.broadcast_to(centring, scatters.shape)
    )
    pieces = centring @ inner
    total = sum_over_cliques(pieces, cliques)
    # Equal to its transpose but for rounding, which must not reach the result.
    return sp.csr_array((total + total.T) / 2)


def local_linear_matrix(
    points: Any, n_neighbors: int = 5, *, regularisation: float = REGULARISATION
) -> sp.csr_array:
    """Return ``(I - S)'(I - S)``, where S holds the weights of the neighbours.

    Row i of S has the weights, of sum one, with which the neighbours of sample i
    reproduce it best. The rows of the result sum to zero.

    Parameters
    ----------
    points : {ndarray, sparse matrix} of shape (n, p)
    n_neighbors : int
        Neighbours of each sample, itself excluded; at most n - 1 are taken.
    regularisation : float
        Share of its trace that is added to each local Gram matrix.

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

    Every sample and its neighbours add ``I - G G'`` at their places, where the columns
    of G are the constant and the leading left singular vectors of the centred
    samples. On flat data of n_components dimensions, coordinates are annihilated.

    Parameters
    ----------
    points : {ndarray, sparse matrix} of shape (n, p)
    n_neighbors : int
        Neighbours of each sample, itself excluded; at most n - 1 are taken.
    n_components : int
        Dimension of the tangent spaces; at most n_neighbors - 1 are taken, and one at
        least, since with more nothing is left to align.

    Examples
    --------
    >>> import numpy as np
    >>> line = np.arange(4.0)[:, np.newaxis] * [[1.0, 2.0]]
    >>> matrix = tangent_alignment_matrix(line, 2, n_components=1)
    >>> bool(np.abs(matrix @ line).max() < 1e-12)
    True
    """
    cliques = neighbour_cliques(points, n_neighbors)
    n_samples, size = cliques.shape
    count = max(1, min(n_components, size - 2))
    blocks = np.empty((n_samples, size, size))
    for block, clique in zip(blocks, cliques, strict=True):
        block[:] = alignment_of(dense_rows(points, clique), count)
    return sum_over_cliques(blocks, cliques)


def alignment_of(local: Float, count: int) -> Float:
    """Return ``I - G G'`` for the samples of one neighbourhood."""
    size = len(local)
    left, extents, _ = np.linalg.svd(local - local.mean(axis=0), full_matrices=False)
    # Directions without extent are any, and the constant may be among them.
    extent = max(ROUNDING * float(extents[0]), SAMPLE_ROUNDING * np.linalg.norm(local))
    kept = extents[:count] > extent
    tangents = left[:, : len(kept)][:, kept]
    return np.eye(size) - 1.0 / size - tangents @ tangents.T


def neighbour_weights(points: Any, neighbours: Index, regularisation: float) -> Float:
    """Return the n x k weights that reproduce each sample from its neighbours."""
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
    """Solve ``Z Z' w = 1`` for each k x p array Z of offsets; scale w to sum one."""
    grams = offsets @ offsets.transpose(0, 2, 1)
    traces = np.trace(grams, axis1=1, axis2=2)
    # All neighbours equal to the sample: any weights will do, so equal ones.
    ridge = np.where(traces > 0, regularisation * traces, 1.0)
    grams += ridge[:, np.newaxis, np.newaxis] * np.eye(grams.shape[1])
    weights = np.linalg.solve(grams, np.ones((*grams.shape[:2], 1)))[..., 0]
    return weights / weights.sum(axis=1, keepdims=True)


def dense_rows(points: Any, index: Index) -> Float:
    """Return some samples as a dense array."""
    rows = points[index]
    return np.asarray(rows.toarray() if sp.issparse(points) else rows, np.float64)
