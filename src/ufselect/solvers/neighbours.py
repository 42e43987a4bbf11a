"""Nearest neighbours of samples: exact for few samples, in cells for many.

Samples of counts, pixels or words are often at equal distances. Rounding errors, which
differ from one processor to another, must not decide which of them are neighbours: the
exact search takes the samples of lower index.
"""

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import get_config
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from ufselect.matrix import Float, Index
from ufselect.matrix.cache import cached
from ufselect.solvers.cells import EQUAL, N_QUERIES, distances_to, neighbours_in_cells
from ufselect.solvers.iterations import in_threads

# Memory for the distances of a search, in megabytes. They are computed in blocks of at
# most a sixteenth of all pairs, of which each thread holds two copies.
SEARCH_MEGABYTES = 128
N_BLOCKS = 16

# Low bits of a squared distance that hold the index of the sample instead. The 32 that
# are left, some nine decimal digits, are the same on every processor.
INDEX_BITS = 20

# The search is exact up to this number of samples, where cells are no faster, or up to
# this number of features, for which a tree is fast.
MAX_EXACT_SAMPLES, MAX_TREE_FEATURES = 10_000, 4


def nearest_neighbours(points: Any, n_neighbors: int) -> tuple[Float, Index]:
    """Return the distances and indices of the nearest other samples, nearest first.

    Of samples at equal distances, up to nine digits, those of lower index are taken.
    Above ``MAX_EXACT_SAMPLES`` samples the search is approximate: it finds about 96 %
    of the nearest neighbours, as estimated on 1,000 samples.

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


def nearest_in_rows(squares: Float, scale: Float, count: int) -> Index:
    """Return the columns of the smallest squared distances in each row, in order.

    Distances that agree in nine digits are ordered by column.

    Parameters
    ----------
    squares : ndarray of shape (m, n)
        Squared distances, with infinity at those to leave out.
    scale : ndarray of shape (m,)
        The size of the terms whose difference the distances of a row are, such as
        the squared norm of the sample: nine digits of the sum of both are compared.
    count : int

    Examples
    --------
    >>> squares = np.array([[np.inf, 2.0, 1.0, 1.0 - 1e-15]])
    >>> nearest_in_rows(squares, np.ones(1), 2)
    array([[2, 3]])
    """
    # Not negative, although the distances of equal samples may be, by rounding.
    sums = np.add(squares, scale[:, np.newaxis], dtype=np.float64)
    # Such floats are ordered as the integers of the same bits.
    keys = sums.view(np.int64)
    keys += 1 << (INDEX_BITS - 1)
    keys &= -1 << INDEX_BITS
    keys |= np.arange(keys.shape[1])
    keys.partition(count - 1, axis=1)
    return np.sort(keys[:, :count], axis=1) & ((1 << INDEX_BITS) - 1)


def neighbour_recall(
    points: Any, n_neighbors: int, n_queries: int = N_QUERIES, seed: int = 1
) -> float:
    """Return the recall of ``nearest_neighbours``, estimated on a subsample.

    A sample at the same distance as the last neighbour counts as found.
    """
    distances, _ = nearest_neighbours(points, n_neighbors)
    drawn = np.random.RandomState(seed).permutation(len(distances))[:n_queries]
    exact, _ = _exact(points, distances.shape[1], drawn)
    last = exact.max(axis=1, keepdims=True)
    return float(np.mean(distances[drawn] <= last * (1 + EQUAL)))


def _search(points: Any, count: int) -> tuple[Float, Index]:
    n_samples, n_features = points.shape
    if n_samples <= max(MAX_EXACT_SAMPLES, 4 * count):
        return _exact(points, count, np.arange(n_samples))
    if n_features <= MAX_TREE_FEATURES and not sp.issparse(points):
        tree = NearestNeighbors(n_neighbors=count).fit(points)
        distances, index = tree.kneighbors()
        return distances, index
    return neighbours_in_cells(points, count)


def _exact(points: Any, count: int, places: Index) -> tuple[Float, Index]:
    """Return the exact neighbours of the samples at the given places."""
    points = points.astype(np.float64, copy=False)
    squares = row_norms(points, squared=True)
    megabytes = 8e-6 * len(places) * len(squares)
    allowed = min(SEARCH_MEGABYTES, get_config()["working_memory"])
    n_blocks = N_BLOCKS * (1 + int(megabytes / 4 / allowed))
    blocks = [(block,) for block in np.array_split(places, n_blocks) if len(block)]
    search = partial(_exact_of_block, points, squares, count)
    index = np.concatenate(list(in_threads(search, blocks)))
    # The distances above have lost digits in a difference of squares.
    return distances_to(points, places, index), index


def _exact_of_block(points: Any, squares: Float, count: int, places: Index) -> Index:
    """Return the neighbours of the samples of one block."""
    distances = safe_sparse_dot(-2 * points[places], points.T, dense_output=True)
    distances += squares
    distances += squares[places, np.newaxis]
    distances[np.arange(len(places)), places] = np.inf
    return nearest_in_rows(distances, squares[places], count)
