"""Nearest neighbours of samples: exact for few samples, approximate for many.

Above ``MAX_EXACT_SAMPLES`` samples, k-means divides them into about ``2 sqrt(n)`` cells
(an inverted file index), and a sample is compared only with the samples of the cells
whose centres are nearest. The search has two passes:

1. over the cell of the sample and the next cells, which gives k neighbours and an upper
   bound on the distances of better ones;
2. over all probed cells. Few samples are within the bound, so that matrix products
   dominate the cost.

The number of probed cells is chosen on a subsample whose neighbours are computed from
all distances, so that ``TARGET_RECALL`` of these are found. It is a small share of the
cells if the data have clusters or a low intrinsic dimension. Otherwise half of the
cells are probed, and the search is hardly faster than an exact one. Sparse samples are
then compared with all others, which is exact; the bound still saves sorting.

J. Sivic, A. Zisserman. Video Google: a text retrieval approach to object matching in
videos. ICCV 2003, 1470-1477.
"""

import warnings
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn import config_context, get_config
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances, paired_euclidean_distances
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.extmath import row_norms
from sklearn.utils.extmath import safe_sparse_dot as dot

from ufselect.matrix import Float, Index
from ufselect.matrix.base import BLOCK_BYTES
from ufselect.matrix.cache import cached

# Memory for a block of distances, in megabytes; larger blocks are no faster.
SEARCH_MEGABYTES = 128

# The search is exact up to this number of samples, where cells are no faster, or up to
# this number of features, for which a tree is fast.
MAX_EXACT_SAMPLES, MAX_TREE_FEATURES = 10_000, 4

# Recall aimed at on N_QUERIES samples: two standard errors above the required 95 %.
TARGET_RECALL, N_QUERIES = 0.965, 1000

# Number of cells divided by the square root of the number of samples; fewer for sparse
# samples, since sparse products of small cells are slow.
CELLS_BY_ROOT, SPARSE_CELLS_BY_ROOT = 2, 1

# Above this share of probed cells, sparse samples are compared with all others.
MAX_SPARSE_SHARE = 0.15

# For the centres: samples per centre, and iterations of k-means.
SAMPLES_BY_CELL, MAX_K_MEANS_ITERATIONS = 15, 5

# Samples compared in the first pass, and those of the largest cell, both as multiples
# of the mean size of a cell.
FIRST_CELLS, MAX_CELL = 3, 4

# Queries in a block, large enough for efficient products with a cell, and the largest
# number of probes of a block, or of its distances to all samples.
SEARCHED_TOGETHER, MAX_PROBES, MAX_DISTANCES = 20_000, 20_000_000, 16_000_000

# Relative difference below which distances count as equal.
EQUAL = 1e-6


def nearest_neighbours(points: Any, n_neighbors: int) -> tuple[Float, Index]:
    """Return the distances and indices of the nearest other samples, nearest first.

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


def neighbour_recall(
    points: Any, n_neighbors: int, n_queries: int = N_QUERIES, seed: int = 1
) -> float:
    """Return the recall of ``nearest_neighbours``, estimated on a subsample.

    A sample at the same distance as the last neighbour counts as found.
    """
    distances, _ = nearest_neighbours(points, n_neighbors)
    drawn = np.random.RandomState(seed).permutation(len(distances))[:n_queries]
    exact, _ = _exact_of_some(points, distances.shape[1], drawn)
    last = exact.max(axis=1, keepdims=True)
    return float(np.mean(distances[drawn] <= last * (1 + EQUAL)))


def _search(points: Any, count: int) -> tuple[Float, Index]:
    n_samples, n_features = points.shape
    few = n_samples <= max(MAX_EXACT_SAMPLES, 4 * count)
    if few or (n_features <= MAX_TREE_FEATURES and not sp.issparse(points)):
        return _exact(points, count)
    return _by_cells(points, count)


def _exact(points: Any, count: int) -> tuple[Float, Index]:
    """Return the exact neighbours of all samples."""
    search = NearestNeighbors(n_neighbors=count).fit(points)
    allowed = min(SEARCH_MEGABYTES, get_config()["working_memory"])
    with config_context(working_memory=allowed):
        distances, index = search.kneighbors()
    return distances, index


def _exact_of_some(points: Any, count: int, places: Index) -> tuple[Float, Index]:
    """Return the exact neighbours of the given samples."""
    search = NearestNeighbors(algorithm="brute").fit(points)
    with config_context(working_memory=SEARCH_MEGABYTES):
        index = search.kneighbors(points[places], count + 1, return_distance=False)
    # With more duplicates than neighbours, a sample may be missing from its own list.
    other = index != places[:, np.newaxis]
    other[other.all(axis=1), -1] = False
    index = index[other].reshape(-1, count)
    # Compute the distances again: those of the search lose digits by cancellation.
    return _distances(points, places, index), index


class Cells(NamedTuple):
    """Samples sorted by cell, and the arrays for products with them.

    ``order`` are the indices of the sorted samples, ``cell`` is the cell of each, and
    ``starts`` are the first positions of the cells. ``samples`` are differences from
    the centre of the cell in single precision, or unchanged sparse samples; ``halves``
    are half of their squared norms, and ``columns`` are the samples of each cell as the
    columns of a matrix.
    """

    centres: NDArray[Any]
    order: Index
    cell: Index
    starts: Index
    samples: Any
    halves: NDArray[Any]
    columns: list[Any]

    def around(self, origin: Any, chosen: Index) -> Any:
        """Return the chosen samples minus an origin; sparse samples unchanged."""
        if bool(sp.issparse(self.samples)):
            return self.samples[chosen]
        return self.samples[chosen] + (self.centres[self.cell[chosen]] - origin)

    def as_one(self) -> "Cells":
        """Return a single cell of all sparse samples."""
        n_samples = len(self.order)
        return self._replace(
            centres=self.centres[:1],
            cell=np.zeros(n_samples, np.intp),
            starts=np.array([0, n_samples]),
            columns=[self.samples.T.tocsr()],
        )


def _half_distances(samples: Any, centres: NDArray[Any]) -> NDArray[Any]:
    """Return half the squared distances to centres, minus half the squared norms."""
    return np.asarray(row_norms(centres, squared=True) / 2 - samples @ centres.T)


def _by_cells(points: Any, count: int) -> tuple[Float, Index]:
    """Return approximate nearest neighbours, found in the nearest cells."""
    cells = _divide(points)
    n_samples = len(cells.order)
    near, limits, covered = _first_pass(cells, count)
    n_probed = _n_probed(cells, points, near)
    share = n_probed / len(cells.centres)
    together = min(SEARCHED_TOGETHER, max(1, MAX_PROBES // max(1, n_probed)))
    with_all = bool(sp.issparse(points)) and share > MAX_SPARSE_SHARE
    if with_all:
        cells, n_probed, covered = cells.as_one(), 1, np.zeros((1, 1), bool)
        together = max(1, MAX_DISTANCES // n_samples)
        # Slightly larger, so that the second pass finds all neighbours of the first
        # again despite rounding, even those of a sample of zeros.
        limits = limits + EQUAL * cells.halves + np.finfo(np.float64).tiny
    distances = np.empty((n_samples, count))
    index = np.empty((n_samples, count), np.intp)
    for start in range(0, n_samples, together):
        block = np.arange(start, min(start + together, n_samples))
        found = near[block]
        if n_probed:
            probed = _probed(cells, block, n_probed, covered)
            # Among all samples is the sample itself.
            nearer = _second_pass(cells, block, probed, limits, count + with_all)
            found = nearer if with_all else np.hstack([found, nearer])
        found, places = cells.order[found], cells.order[block]
        measured = _distances(points, places, found)
        # A sample that is its own neighbour is a placeholder.
        measured[found == places[:, np.newaxis]] = np.inf
        best = np.argsort(measured, axis=1, kind="stable")[:, :count]
        distances[places] = np.take_along_axis(measured, best, axis=1)
        index[places] = np.take_along_axis(found, best, axis=1)
    return distances, index


def _divide(points: Any) -> Cells:
    """Divide samples into cells of limited size by k-means."""
    n_samples, random = points.shape[0], np.random.RandomState(0)
    samples: Any
    if bool(sp.issparse(points)):
        samples, by_root = sp.csr_array(points), SPARSE_CELLS_BY_ROOT
    else:
        # After centring and scaling, single precision is sufficient.
        mean = np.mean(points, axis=0, dtype=np.float64)
        unit = max(np.max(points.max(axis=0) - mean), np.max(mean - points.min(axis=0)))
        unit = unit or 1.0
        samples, by_root = np.empty(points.shape, np.float32), CELLS_BY_ROOT
        for block in _blocks(*points.shape):
            samples[block] = (points[block] - mean) / unit
    n_cells = round(by_root * np.sqrt(n_samples))
    model = KMeans(
        n_cells,
        init="random",
        n_init=1,
        max_iter=MAX_K_MEANS_ITERATIONS,
        random_state=random,
    )
    some = random.permutation(n_samples)[: SAMPLES_BY_CELL * n_cells]
    drawn: Any = samples[np.sort(some)]
    if bool(sp.issparse(drawn)):
        # SciPy returns 64-bit indices for selected rows, which KMeans does not accept.
        drawn.indices, drawn.indptr = map(np.int32, (drawn.indices, drawn.indptr))
    with warnings.catch_warnings():
        # With fewer distinct samples than cells, several cells have the same centre.
        warnings.simplefilter("ignore", ConvergenceWarning)
        centres = model.fit(drawn).cluster_centers_
    nearest = np.empty(n_samples, np.intp)
    for block in _blocks(n_samples, n_cells):
        nearest[block] = _half_distances(samples[block], centres).argmin(axis=1)
    order = np.argsort(nearest, kind="stable")
    nearest = nearest[order]
    # Split a cell that is too large, as with duplicates, into cells with one centre.
    inside = np.arange(n_samples) - np.searchsorted(nearest, nearest)
    part = inside // (MAX_CELL * n_samples // n_cells)
    _, starts, cell = np.unique(
        nearest * n_samples + part, return_index=True, return_inverse=True
    )
    centres, samples = centres[nearest[starts]], samples[order]
    if not sp.issparse(points):
        # Computed from the data again, to keep the digits of small differences.
        for block in _blocks(*points.shape):
            samples[block] = (points[order[block]] - mean) / unit - centres[cell[block]]
    halves = row_norms(samples, squared=True) / 2
    starts = np.append(starts, n_samples)
    columns = [samples[start:end].T for start, end in pairwise(starts)]
    if sp.issparse(points):
        columns = [each.tocsr() for each in columns]
    return Cells(centres, order, cell, starts, samples, halves, columns)


def _first_pass(
    cells: Cells, count: int
) -> tuple[Index, NDArray[Any], NDArray[np.bool_]]:
    """Return neighbours from the nearest cells, their limits, and the cells searched.

    The limit of a sample is the squared distance to the last of its neighbours.
    """
    n_samples, n_cells = len(cells.order), len(cells.centres)
    sizes, apart = np.diff(cells.starts), euclidean_distances(cells.centres)
    np.fill_diagonal(apart, -1.0)
    needed = max(count + 1, FIRST_CELLS * n_samples // n_cells)
    near = np.empty((n_samples, count), np.intp)
    limits = np.empty(n_samples, cells.halves.dtype)
    covered = np.zeros((n_cells, n_cells), bool)
    for this, centre in enumerate(cells.centres):
        nearest = np.argsort(apart[this], kind="stable")
        before = np.cumsum(sizes[nearest]) - sizes[nearest]
        taken = nearest[before < needed]
        covered[this, taken] = True
        own = np.arange(cells.starts[this], cells.starts[this + 1])
        others = np.concatenate(
            [np.arange(cells.starts[i], cells.starts[i + 1]) for i in taken]
        )
        samples = cells.around(centre, others)
        halves = row_norms(samples, squared=True) / 2
        closeness = dot(samples[: len(own)], samples.T, dense_output=True) - halves
        # The cell itself comes first, so that the diagonal holds each sample itself.
        np.fill_diagonal(closeness, -np.inf)
        best = np.argpartition(closeness, -count, axis=1)[:, -count:]
        last = np.take_along_axis(closeness, best, axis=1).min(axis=1)
        near[own], limits[own] = others[best], 2 * (halves[: len(own)] - last)
    return near, limits, covered


def _n_probed(cells: Cells, points: Any, near: Index) -> int:
    """Return the number of cells to probe for a recall of TARGET_RECALL."""
    drawn = np.random.RandomState(0).permutation(len(near))[:N_QUERIES]
    places = cells.order[drawn]
    distances, index = _exact_of_some(points, near.shape[1], places)
    last = distances.max(axis=1, keepdims=True)
    known = _distances(points, places, cells.order[near[drawn]])
    cell_of = np.empty_like(cells.cell)
    cell_of[cells.order] = cells.cell
    nearest = np.argsort(_half_distances(cells.around(0, drawn), cells.centres), axis=1)
    ranks = np.argsort(nearest, axis=1)
    needed = 1 + np.take_along_axis(ranks, cell_of[index], axis=1)
    needed[np.all(known <= last * (1 + EQUAL), axis=1)] = 0
    return int(np.quantile(needed, TARGET_RECALL, method="higher"))


def _probed(
    cells: Cells, block: Index, n_probed: int, covered: NDArray[np.bool_]
) -> sp.csc_array:
    """Return the nearest cells that each sample of a block has not yet searched."""
    n_cells, parts = len(cells.centres), []
    # The n_probed-th smallest of group minima bounds the n_probed-th distance, and is
    # faster to find.
    size = max(1, n_cells // (8 * n_probed))
    whole = n_cells // size * size
    for part in _blocks(len(block), n_cells):
        chosen = block[part]
        probes = ~covered[cells.cell[chosen]]
        if n_probed < n_cells:
            far = _half_distances(cells.around(0, chosen), cells.centres)
            least = far[:, :whole].reshape(len(chosen), size, -1).min(axis=1)
            least.partition(n_probed - 1, axis=1)
            probes &= far <= least[:, [n_probed - 1]]
        parts.append(sp.csr_array(probes))
    return sp.vstack(parts).tocsc()


def _second_pass(
    cells: Cells, block: Index, probed: sp.csc_array, limits: NDArray[Any], count: int
) -> Index:
    """Return samples nearer than the limits; the sample itself is a placeholder."""
    everything: list[tuple[NDArray[Any], ...]] = []
    for this, centre in enumerate(cells.centres):
        rows = probed.indices[probed.indptr[this] : probed.indptr[this + 1]]
        if not len(rows):
            continue
        members = slice(cells.starts[this], cells.starts[this + 1])
        samples = cells.around(centre, block[rows])
        closeness = dot(samples, cells.columns[this], dense_output=True)
        closeness -= cells.halves[members]
        halves = row_norms(samples, squared=True) / 2
        nearer = closeness > (halves - limits[block[rows]] / 2)[:, np.newaxis]
        row, column = np.divmod(np.flatnonzero(nearer), nearer.shape[1])
        half_distances = halves[row] - closeness[row, column]
        everything.append((rows[row], members.start + column, half_distances))
    found = np.repeat(block[:, np.newaxis], count, axis=1)
    if everything:
        row, place, half_distances = map(np.concatenate, zip(*everything, strict=True))
        order = np.lexsort((half_distances, row))
        row, place = row[order], place[order]
        rank = np.arange(len(row)) - np.searchsorted(row, row)
        kept = rank < count
        found[row[kept], rank[kept]] = place[kept]
    return found


def _distances(points: Any, places: Index, others: Index) -> Float:
    """Return the distance of each sample to each of its listed others."""
    result = np.empty(others.shape)
    values = points.nnz if bool(sp.issparse(points)) else points.size
    width = others.shape[1] * -(-values // points.shape[0])
    for block in _blocks(len(places), max(1, width)):
        left = points[places[block].repeat(others.shape[1])]
        measured = paired_euclidean_distances(left, points[others[block].ravel()])
        result[block] = measured.reshape(-1, others.shape[1])
    return result


def _blocks(length: int, width: int) -> list[slice]:
    step = max(1, BLOCK_BYTES // (8 * width))
    return [slice(start, min(start + step, length)) for start in range(0, length, step)]
