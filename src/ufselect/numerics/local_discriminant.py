"""Local discriminant matrix: how badly samples are told from their neighbours."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from ufselect.matrix import DataMatrix, Float, Index


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
    count = min(n_neighbors, points.shape[0] - 1)
    search = NearestNeighbors(n_neighbors=count).fit(points)
    neighbours = search.kneighbors(return_distance=False)
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
