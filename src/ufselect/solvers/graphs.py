"""Similarity of samples: neighbour graphs with their Laplacians, and dense kernels.

A graph is a symmetric sparse matrix S of non-negative weights without self edges. A
kernel matrix K holds the similarity of all pairs; it is dense, n x n.
"""

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from sklearn import config_context, get_config
from sklearn.neighbors import NearestNeighbors

from ufselect.matrix import Float, Index
from ufselect.matrix.cache import cached

Weights = Literal["binary", "heat"]

# Below this share of the largest degree a sample has lost its neighbours to underflow.
ISOLATED = 1e-12

# Megabytes for distances at once: larger blocks take more memory and are no faster.
SEARCH_MEGABYTES = 128

# Eigenvalues below this share of the largest are rounding.
ROUNDING = 1e-14


def nearest_neighbours(points: Any, n_neighbors: int) -> tuple[Float, Index]:
    """Return the distances and places of the nearest other samples, nearest first.

    Parameters
    ----------
    points : {array-like, sparse matrix} of shape (n, p)
    n_neighbors : int
        Neighbours of each sample, itself excluded; at most n - 1 are taken.

    Returns
    -------
    distances, index : ndarray of shape (n, k)

    Examples
    --------
    >>> import numpy as np
    >>> nearest_neighbours(np.array([[0.0], [1.0], [3.0]]), 1)[1].ravel()
    array([1, 0, 1])
    """
    return cached(_search, points, min(n_neighbors, points.shape[0] - 1))


def _search(points: Any, count: int) -> tuple[Float, Index]:
    search = NearestNeighbors(n_neighbors=count).fit(points)
    allowed = min(SEARCH_MEGABYTES, get_config()["working_memory"])
    with config_context(working_memory=allowed):
        distances, index = search.kneighbors()
    return distances, index


def neighbour_graph(
    points: Any,
    n_neighbors: int = 5,
    *,
    weights: Weights = "binary",
    bandwidth: float | None = None,
) -> sp.csr_array:
    """Return the graph that joins i and j if either is a near neighbour of the other.

    Parameters
    ----------
    points : {array-like, sparse matrix} of shape (n, p)
    n_neighbors : int
        Neighbours of each sample, itself excluded; at most n - 1 are taken.
    weights : {"binary", "heat"}
        One, or ``exp(-d^2 / (2 bandwidth^2))``.
    bandwidth : float, optional
        By default the median distance to a neighbour, so that weights neither
        vanish nor all become one, whatever the units of the points. With a given
        bandwidth, a sample whose weights all underflow gets binary ones.

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
    if weights == "binary":
        values = np.ones(index.size)
    else:
        values = heat_weights(distances, bandwidth)
    directed = directed_graph(index, values)
    return sp.csr_array(directed.maximum(directed.T).astype(np.float64))


def directed_graph(index: Index, weights: Float) -> sp.csr_array:
    """Return the n x n matrix whose row i has weights[i] in the columns index[i]."""
    n_samples, count = index.shape
    starts = np.arange(0, index.size + 1, count)
    parts = (weights.ravel(), index.ravel(), starts)
    return sp.csr_array(parts, shape=(n_samples, n_samples))


def heat_weights(distances: Float, bandwidth: float | None) -> Float:
    """Return heat kernel weights of n x k neighbour distances, in one row."""
    if bandwidth is None:
        positive = distances[distances > 0]
        bandwidth = float(np.median(positive)) if len(positive) else 1.0
    weights = np.exp(-0.5 * (distances / bandwidth) ** 2)
    weights[weights.max(axis=1) < ISOLATED] = 1.0
    return weights.ravel()


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
    """Return ``D^(-1/2) S D^(-1/2)``; a sample without edges counts as zero."""
    scale = sp.diags_array(inverse_root(degrees(graph)))
    return sp.csr_array(scale @ graph @ scale)


def inverse_root(values: Float) -> Float:
    """Return ``values^(-1/2)``, zero where the value is zero."""
    result = np.zeros_like(values)
    np.divide(1.0, np.sqrt(values), out=result, where=values > 0)
    return result


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
    # Rounding must not make a distance negative; the diagonal is zero without it.
    np.maximum(distances, 0.0, out=distances)
    return distances


def median_distance(squared: Float) -> float:
    """Return the median distance over pairs; of distinct points if it is zero."""
    # The root of a median of squares is another number if the pairs are even.
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
    # Divided twice: the square of a tiny bandwidth would vanish.
    return np.exp(-0.5 * squared / bandwidth / bandwidth)


def centred_kernel(kernel: Float) -> Float:
    """Return the kernel of the same features with their means removed."""
    means = kernel.mean(axis=0)
    return kernel - means - means[:, np.newaxis] + means.mean()


def kernel_root(
    kernel: Float, *, n_columns: int | None = None, share: float = 1.0
) -> Float:
    """Return Y with ``Y Y' = K``, or the best Y of fewer columns.

    Parameters
    ----------
    kernel : ndarray of shape (n, n)
        Symmetric; negative eigenvalues are left out.
    n_columns : int, optional
        At most so many columns, those of the largest eigenvalues.
    share : float
        Columns are left out while the trace keeps at least this share.

    Returns
    -------
    root : ndarray of shape (n, r)
        Largest eigenvalue first; the largest entry of a column is positive.
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
    root = vectors[:, positive] * np.sqrt(values[positive])
    peaks = root[np.abs(root).argmax(axis=0), np.arange(root.shape[1])]
    return root * np.sign(peaks)
