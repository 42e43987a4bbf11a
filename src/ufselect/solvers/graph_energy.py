"""Energy of features in the leading eigenvectors of a neighbour graph of the samples.

With V an orthonormal basis of the leading eigenvectors of the graph, centred, the
energy share of a centred feature x is ``|V'x|^2 / |x|^2``: the part of its variance
that changes slowly along the graph. It is 1 for a feature that is constant on separate
groups, and about ``K / (n - 1)`` for one that has nothing to do with K eigenvectors.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

from ufselect.matrix import ColumnSummary, DataMatrix, Float, as_matrix
from ufselect.solvers.preparation import Kind, prepare, scaled
from ufselect.solvers.spectral import smoothest_vectors

# A subsample has at most so many samples: its Gram matrix is dense.
LARGEST_SUBSAMPLE = 1000

# Weights are kept above this, so that no sample loses all of its edges to underflow.
LEAST_WEIGHT = 1e-6

# Directions below this share of the largest depend on the others.
DEPENDENT = 1e-8


def self_tuning_graph(gram: Float, n_neighbors: int) -> sp.csr_array:
    """Return the neighbour graph with weights ``exp(-d_ij^2 / (s_i s_j))``.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
        Products ``X X'`` of the samples.
    n_neighbors : int
        Neighbours of each sample; at most n - 1 are taken. ``s_i`` is the distance
        to the last of them (Zelnik-Manor and Perona, NIPS 2004).

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[0.0], [1.0], [3.0]])
    >>> self_tuning_graph(x @ x.T, 1).toarray().round(3)
    array([[0.   , 0.368, 0.   ],
           [0.368, 0.   , 0.135],
           [0.   , 0.135, 0.   ]])
    """
    n_samples = len(gram)
    count = min(n_neighbors, n_samples - 1)
    norms = np.diag(gram)
    squares = np.maximum(norms[:, np.newaxis] + norms - 2 * gram, 0.0)
    np.fill_diagonal(squares, np.inf)
    nearest = np.argpartition(squares, count - 1, axis=1)[:, :count]
    distances = np.take_along_axis(squares, nearest, axis=1)
    # Samples with copies have a scale of zero: a small one keeps their weights defined.
    floor = 1e-6 * (np.median(distances) or distances.mean() or 1.0)
    scale = np.sqrt(np.maximum(distances.max(axis=1), floor))
    weights = np.exp(-distances / (scale[:, np.newaxis] * scale[nearest]))
    weights = np.maximum(weights, LEAST_WEIGHT)
    starts = np.arange(0, nearest.size + 1, count)
    shape = (n_samples, n_samples)
    directed = sp.csr_array((weights.ravel(), nearest.ravel(), starts), shape=shape)
    return sp.csr_array(directed.maximum(directed.T))


def graph_vectors(gram: Float, n_components: int, n_neighbors: int) -> Float:
    """Return eigenvectors 2 to K + 1 of the normalised adjacency of the graph."""
    graph = self_tuning_graph(gram, n_neighbors)
    return smoothest_vectors(graph, n_components + 1)[:, 1:]


def principal_vectors(gram: Float, n_components: int) -> Float:
    """Return the leading eigenvectors of the Gram matrix of centred samples."""
    last = len(gram) - 1
    first = max(0, last - n_components + 1)
    return np.asarray(eigh(gram, subset_by_index=[first, last])[1][:, ::-1])


def centred_basis(vectors: Float) -> Float:
    """Return an orthonormal basis of the vectors with their means subtracted."""
    left, sizes, _ = np.linalg.svd(vectors - vectors.mean(axis=0), full_matrices=False)
    return np.asarray(left[:, sizes > DEPENDENT * max(sizes.max(initial=0.0), 1.0)])


def column_squares(centred: DataMatrix) -> Float:
    """Return ``|x|^2`` of each centred column x."""
    return np.asarray(centred.shape[0] * centred.summary().deviation ** 2)


def energy_shares(centred: DataMatrix, basis: Float, squares: Float) -> Float:
    """Return ``|V'x|^2 / |x|^2`` for each column x, 0 for a constant one.

    ``squares`` are the ``|x|^2``, which many bases share.

    Examples
    --------
    >>> import numpy as np
    >>> from ufselect.matrix import as_matrix
    >>> X = np.array([[-1.0, 1.0], [-1.0, -1.0], [1.0, 1.0], [1.0, -1.0]])
    >>> energy_shares(as_matrix(X), X[:, :1] / 2, np.array([4.0, 4.0]))
    array([1., 0.])
    """
    inside = np.sum(centred.transpose_dot(basis) ** 2, axis=1)
    shares = np.zeros(len(squares))
    np.divide(inside, squares, out=shares, where=squares > 0)
    return np.clip(shares, 0.0, 1.0)


def subsample_shares(
    raw: Any, kind: Kind, n_components: int, n_neighbors: int
) -> Float:
    """Return the energy shares of all columns in the graph of some samples."""
    data = as_matrix(raw)
    summary = data.summary()
    if summary.constant.all():
        return np.zeros(data.shape[1])
    centred = prepare(data, summary, kind, float(data.shape[1])).centred
    vectors = graph_vectors(centred.sample_gram(), n_components, n_neighbors)
    return energy_shares(centred, centred_basis(vectors), column_squares(centred))


def relative_deviations(data: DataMatrix, summary: ColumnSummary, kind: Kind) -> Float:
    """Return the standard deviations of the prepared columns, the largest being 1."""
    _, prepared, scale = scaled(data, summary, kind)
    deviations = np.where(summary.constant, 0.0, prepared.deviation * scale)
    return np.asarray(deviations / deviations.max())
