"""Local discriminant matrix: how badly samples are told from their neighbours."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from ufselect.matrix import DataMatrix, Float, Index
from ufselect.solvers.graphs import nearest_neighbours


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
    lengths = np.sqrt(clique_distances(scatters)[:, 0, 1:])
    positive = lengths[lengths > 0]
    if not len(positive):
        return 1.0
    return float(np.median(lengths)) or float(np.median(positive))


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
    n_cliques, size = cliques.shape
    identity = np.eye(size)
    centring = identity - 1 / size
    inner = np.linalg.solve(
        scatters + ridge * identity, np.broadcast_to(centring, scatters.shape)
    )
    pieces = centring @ inner
    rows = np.repeat(cliques, size, axis=1).ravel()
    columns = np.tile(cliques, (1, size)).ravel()
    shape = (n_cliques, n_cliques)
    total = sp.csr_array(sp.coo_array((pieces.ravel(), (rows, columns)), shape=shape))
    # Equal to its transpose but for rounding, which must not reach the result.
    return sp.csr_array((total + total.T) / 2)
