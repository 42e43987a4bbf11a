"""Neighbour graphs of samples, and their Laplacians.

A graph is a symmetric sparse matrix S of non-negative weights without self edges.
"""

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import kneighbors_graph

from ufselect.matrix import Float

Weights = Literal["binary", "heat"]

# Below this share of the largest degree a sample has lost its neighbours to underflow.
ISOLATED = 1e-12


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
    count = min(n_neighbors, points.shape[0] - 1)
    distances: Any = kneighbors_graph(points, count, mode="distance")
    if weights == "binary":
        distances.data = np.ones_like(distances.data)
    else:
        distances.data = heat_weights(distances.data.reshape(-1, count), bandwidth)
    return sp.csr_array(distances.maximum(distances.T).astype(np.float64))


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
