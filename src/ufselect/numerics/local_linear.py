"""The matrix of locally linear embedding: how each sample is made of its neighbours."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from ufselect.matrix import Float
from ufselect.matrix.base import BLOCK_BYTES, Index
from ufselect.numerics.graphs import nearest_neighbours

# Share of the trace that is added to the diagonal of each local Gram matrix: with more
# neighbours than dimensions, or equal samples, it would otherwise be singular.
REGULARISATION = 1e-3


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
    n_samples, count = neighbours.shape
    weights = neighbour_weights(points, neighbours, regularisation)
    starts = np.arange(0, n_samples * count + 1, count)
    shape = (n_samples, n_samples)
    mixing = sp.csr_array((weights.ravel(), neighbours.ravel(), starts), shape=shape)
    rest = sp.eye_array(n_samples, format="csr") - mixing
    return sp.csr_array(rest.T @ rest)


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
