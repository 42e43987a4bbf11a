"""Scores of features over a graph of the samples: LaplacianScore, SPEC, GraphEnergy.

All of them are ratios of quadratic forms in the columns of X, which are read in blocks.
With degrees d, ``D = diag(d)`` and ``L = D - S``, the Laplacian score of a feature f
and phi1 and phi2 of SPEC need ``f'L f``, ``f'D f`` and ``g'D g``, where g is f with its
degree-weighted mean removed. phi3 needs the products of ``D^(1/2) f`` with the leading
eigenvectors of the normalised Laplacian.

GraphEnergy needs the share ``|V'x|^2 / |x|^2`` of the variance of a centred feature x,
where V is an orthonormal basis of the leading eigenvectors of the graph, centred. It
is 1 for a feature that is constant on each connected component, and about
``K / (n - 1)`` for one that is independent of the K eigenvectors.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

from ufselect.matrix import (
    DataMatrix,
    Float,
    Index,
    SparseMatrix,
)
from ufselect.solvers.graphs import (
    degrees,
    directed_graph,
    laplacian,
    normalised_laplacian,
    normalised_similarity,
)
from ufselect.solvers.neighbours import nearest_in_rows
from ufselect.solvers.preparation import Kind, prepare, scaled
from ufselect.solvers.spectral import smoothest_vectors

# Largest number of samples of a subsample, whose Gram matrix is dense.
MAX_SUBSAMPLE = 1000

# Lower bound of edge weights, so that underflow does not remove all edges of a sample.
MIN_WEIGHT = 1e-6

# Singular values below this share of the largest count as zero.
DEPENDENT_SHARE = 1e-8

# Smallest number of samples of a subsample.
MIN_SAMPLES = 15

# A column with a smaller share of nonzero values, weighted by degree, stays sparse, in
# blocks of this number of columns.
MAX_SPARSE_SHARE, SPARSE_COLUMNS = 0.1, 1000


class Smoothness(NamedTuple):
    """Quadratic forms of every feature.

    ``variation`` is ``f'Lf``, ``squares`` is ``f'Df`` and ``spread`` is ``g'Dg``,
    where g is f with its degree-weighted mean removed.
    """

    variation: Float
    squares: Float
    spread: Float


def smoothness(
    data: DataMatrix, graph: sp.csr_array, exponent: float = 1.0
) -> Smoothness:
    """Return the quadratic forms of every feature over a graph.

    With another exponent r, the variation is ``sum_j l_j^r (xi_j'D^(1/2) f)^2`` over
    the whole spectrum of the normalised Laplacian.
    """
    degree, difference = degrees(graph), laplacian(graph)
    if exponent != 1:
        values, vectors = eigh(normalised_laplacian(graph).toarray())
        powers = np.maximum(values, 0.0) ** exponent
        # A small exponent would turn the rounding error of a zero eigenvalue into a
        # value that is not small.
        powers[values < 1e-10] = 0.0
        rooted = vectors * np.sqrt(degree)[:, np.newaxis]
    forms = Smoothness(*np.zeros((3, data.shape[1])))
    data = data.by_columns()
    sparse = _sparse_columns(data, degree) if exponent == 1 else np.empty(0, np.intp)
    for start in range(0, len(sparse), SPARSE_COLUMNS):
        some = sparse[start : start + SPARSE_COLUMNS]
        F: Any = sp.csc_array(data.raw[:, some], dtype=np.float64)
        forms.variation[some] = F.multiply(difference @ F).sum(axis=0)
        forms.squares[some] = degree @ F.power(2)
        # No cancellation: by Cauchy's inequality the mean square is a small share.
        forms.spread[some] = forms.squares[some] - (degree @ F) ** 2 / degree.sum()
    others = np.setdiff1d(np.arange(data.shape[1]), sparse) if len(sparse) else None
    for block in data.column_blocks(others):
        columns = data.columns(block)
        forms.squares[block] = degree @ columns**2
        # f'Lf does not depend on the mean; subtracting it avoids cancellation.
        columns -= (degree @ columns) / degree.sum()
        forms.spread[block] = degree @ columns**2
        forms.variation[block] = (
            np.einsum("ij,ij->j", columns, difference @ columns)
            if exponent == 1
            else powers @ (rooted.T @ columns) ** 2
        )
    return forms


def _sparse_columns(data: DataMatrix, degree: Float) -> Index:
    """Return the columns with few nonzero values; none of a dense matrix."""
    if not isinstance(data, SparseMatrix) or not data.plain:
        return np.empty(0, dtype=np.intp)
    share = degree @ (data.raw != 0) / degree.sum()
    return np.flatnonzero(share <= MAX_SPARSE_SHARE)


def leading_agreement(
    data: DataMatrix, graph: sp.csr_array, n_vectors: int, exponent: float = 1.0
) -> Float:
    """Return ``sum_j (2^r - l_j^r) (h'xi_j)^2`` over the leading non-trivial vectors.

    The vectors xi_j and values l_j belong to the normalised Laplacian; h is
    ``D^(1/2) f`` scaled to unit length. n_vectors includes the trivial vector: the sum
    has n_vectors - 1 terms, and at least one.
    """
    values, vectors = nontrivial_spectrum(graph, max(1, n_vectors - 1))
    gains = 2.0**exponent - np.maximum(values, 0.0) ** exponent
    root = np.sqrt(degrees(graph))
    result = np.zeros(data.shape[1])
    data = data.by_columns()
    for block in data.column_blocks():
        columns = root[:, np.newaxis] * data.columns(block)
        squares = np.einsum("ij,ij->j", columns, columns)
        agreement = gains @ (vectors.T @ columns) ** 2
        np.divide(agreement, squares, out=result[block], where=squares > 0)
    return result


def nontrivial_spectrum(graph: sp.csr_array, n_vectors: int) -> tuple[Float, Float]:
    """Return the smallest eigenvalues of the normalised Laplacian and their vectors.

    Only the trivial vector ``D^(1/2) 1`` is excluded: in a graph with several connected
    components, other vectors have the eigenvalue zero, too.
    """
    vectors = smoothest_vectors(graph, n_vectors + 1)[:, 1:]
    products = normalised_similarity(graph) @ vectors
    return 1 - np.einsum("ij,ij->j", vectors, products), vectors


def self_tuning_graph(gram: Float, n_neighbors: int) -> sp.csr_array:
    """Return the neighbour graph with weights ``exp(-d_ij^2 / (s_i s_j))``.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
        Gram matrix ``X X'`` of the samples.
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
    count = min(n_neighbors, len(gram) - 1)
    norms = np.diag(gram)
    squares = np.maximum(norms[:, np.newaxis] + norms - 2 * gram, 0.0)
    np.fill_diagonal(squares, np.inf)
    nearest = nearest_in_rows(squares, norms, count)
    distances = np.take_along_axis(squares, nearest, axis=1)
    # The scale of a duplicated sample is zero, which would make its weights undefined.
    floor = 1e-6 * (np.median(distances) or distances.mean() or 1.0)
    scale = np.sqrt(np.maximum(distances.max(axis=1), floor))
    weights = np.exp(-distances / (scale[:, np.newaxis] * scale[nearest]))
    weights = np.maximum(weights, MIN_WEIGHT)
    directed = directed_graph(nearest, weights)
    return sp.csr_array(directed.maximum(directed.T))


def graph_vectors(gram: Float, n_components: int, n_neighbors: int) -> Float:
    """Return eigenvectors 2 to K + 1 of the normalised adjacency of the graph."""
    graph = self_tuning_graph(gram, n_neighbors)
    return smoothest_vectors(graph, n_components + 1)[:, 1:]


def principal_vectors(
    gram: Float, n_components: int, narrow: DataMatrix | None = None
) -> Float:
    """Return the leading eigenvectors of the Gram matrix of centred samples.

    Samples of few features are given too: products of these are a smaller matrix.
    """
    smaller = gram if narrow is None else narrow.feature_gram()
    last = len(smaller) - 1
    first = max(0, last - n_components + 1)
    vectors = np.asarray(eigh(smaller, subset_by_index=[first, last])[1][:, ::-1])
    if narrow is None:
        return vectors
    vectors = narrow.dot(vectors)
    lengths = np.linalg.norm(vectors, axis=0)
    # A direction without variance has no vector: it stays next to zero.
    floor = np.sqrt(DEPENDENT_SHARE) * lengths.max()
    return np.asarray(vectors / np.maximum(lengths, floor or 1.0))


def centred_basis(vectors: Float) -> Float:
    """Return an orthonormal basis of the vectors with their means subtracted."""
    left, sizes, _ = np.linalg.svd(vectors - vectors.mean(axis=0), full_matrices=False)
    return np.asarray(
        left[:, sizes > DEPENDENT_SHARE * max(sizes.max(initial=0.0), 1.0)]
    )


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
    data: DataMatrix, kind: Kind, n_components: int, n_neighbors: int
) -> Float:
    """Return the energy shares of all columns in the graph of some samples."""
    if data.summary().constant.all():
        return np.zeros(data.shape[1])
    centred = prepare(data, kind, float(data.shape[1])).centred
    vectors = graph_vectors(centred.sample_gram(), n_components, n_neighbors)
    return energy_shares(centred, centred_basis(vectors), column_squares(centred))


def relative_deviations(data: DataMatrix, kind: Kind) -> Float:
    """Return the standard deviations of the prepared columns, the largest being 1."""
    _, prepared, scale = scaled(data, kind)
    deviations = prepared.deviation * scale
    return np.asarray(deviations / deviations.max())


def draw_subsamples(
    n_samples: int, n_subsamples: int, largest: int, random: np.random.RandomState
) -> list[Index]:
    """Return rows of random subsamples of two thirds, of at most ``largest`` samples.

    Examples
    --------
    >>> import numpy as np
    >>> [len(rows) for rows in draw_subsamples(90, 2, 50, np.random.RandomState(0))]
    [50, 50]
    """
    size = min(max(round(2 * n_samples / 3), MIN_SAMPLES), largest, n_samples)
    if size == n_samples:
        return [np.arange(n_samples)]
    return [np.sort(random.permutation(n_samples)[:size]) for _ in range(n_subsamples)]
