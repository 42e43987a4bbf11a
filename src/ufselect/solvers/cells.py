"""Approximate nearest neighbours of many samples, in cells.

K-means divides the samples into cells (an inverted file index), and a sample is
compared only with the samples of the cells whose centres are nearest. The search has
two passes:

1. over the cell of the sample and the next cells, which gives k neighbours and an upper
   bound on the distances of better ones;
2. over all probed cells. Few samples are within the bound, so that matrix products
   dominate the cost. A pair of samples is compared once, for both: if the sample in the
   cell of lower number probes the cell of the other.

K-means has two levels, and a sample is compared only with the centres near the centre
of its cell, so that the cost grows like n log n while the number of probed cells stays
the same. This number is chosen on a subsample that is compared with all samples, so
that ``TARGET_RECALL`` of its neighbours are found. It is small if the data have
clusters or a low intrinsic dimension. Otherwise up to half of the cells are probed,
which saves only half of the time. Sparse samples are then compared with all others,
which is exact; the bound still saves sorting.

J. Sivic, A. Zisserman. Video Google: a text retrieval approach to object matching in
videos. ICCV 2003, 1470-1477.
"""

import warnings
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances, paired_euclidean_distances
from sklearn.utils.extmath import row_norms
from sklearn.utils.extmath import safe_sparse_dot as dot

from ufselect.matrix import Float, Index
from ufselect.matrix.base import BLOCK_BYTES
from ufselect.solvers.iterations import in_threads

# Recall aimed at on N_QUERIES samples: two standard errors above the required 95 %.
TARGET_RECALL, N_QUERIES = 0.965, 1000

# Mean number of samples in a cell, for efficient products, and the largest number of
# cells, whose distances from each other are in memory. Sparse samples have sqrt(n)
# cells: their centres are not sparse, and sparse products of small cells are slow.
CELL_SIZE, MAX_CELLS = 200, 8000

# Above this share of probed cells, sparse samples are compared with all others.
MAX_SPARSE_SHARE = 0.15

# For the centres: samples per centre, and iterations of k-means.
SAMPLES_BY_CELL, MAX_K_MEANS_ITERATIONS = 15, 5

# Centres around that of a cell, of which its samples take the nearest.
N_REASSIGNED = 32

# Samples compared in the first pass, and those of the largest cell, both as multiples
# of the mean size of a cell.
FIRST_CELLS, MAX_CELL = 3, 4

# Share of the needed cells among those whose centres a sample is compared with.
RANKED_SHARE = 0.995

# Samples compared with a cell at a time, and probes of a sample between updates of the
# limits.
COMPARED_TOGETHER, PROBES_BY_SAMPLE = 1000, 8

# Distances of sparse samples to all that fit into the cache of the processor, and
# blocks of so many distances between updates.
MAX_DISTANCES, BLOCKS_BY_UPDATE = 1_000_000, 64

# Pairs of samples from which the number of probed cells is estimated.
MAX_CALIBRATION_PAIRS = 5000

# Relative difference below which distances count as equal.
EQUAL = 1e-6


class Cells(NamedTuple):
    """Samples sorted by cell, and the arrays for products with them.

    ``order`` are the indices of the sorted samples, ``cell`` is the cell of each, and
    ``starts`` are the first positions of the cells. ``samples`` are differences from
    the centre of the cell in single precision, or unchanged sparse samples; ``halves``
    are half of their squared norms, and ``columns`` are the samples of each cell as the
    columns of a matrix. ``gaps`` are the distances between centres.
    """

    centres: NDArray[Any]
    order: Index
    cell: Index
    starts: Index
    samples: Any
    halves: NDArray[Any]
    columns: list[Any]
    gaps: NDArray[Any]

    def members(self, cell: int) -> Index:
        """Return the positions of the samples of a cell."""
        return np.arange(self.starts[cell], self.starts[cell + 1])

    def relative_to(self, origin: Any, chosen: Index) -> Any:
        """Return the chosen samples minus an origin; sparse samples unchanged."""
        if bool(sp.issparse(self.samples)):
            return self.samples[chosen]
        moved = self.centres[self.cell[chosen]]
        moved -= origin
        moved += self.samples[chosen]
        return moved

    def as_single_cell(self) -> "Cells":
        """Return a single cell of all sparse samples."""
        n_samples = len(self.order)
        return self._replace(
            centres=self.centres[:1],
            cell=np.zeros(n_samples, np.intp),
            starts=np.array([0, n_samples]),
            columns=[self.samples.T.tocsr()],
        )


class Pairs(NamedTuple):
    """Samples, others that are near them, and half of their squared distances."""

    sample: Index
    other: Index
    half: NDArray[np.float32]


class Nearest(NamedTuple):
    """The nearest samples found so far, and half of their squared distances."""

    others: Index
    half: NDArray[np.float32]

    def limits(self) -> NDArray[np.float32]:
        """Return the half distances below which a sample is a better neighbour."""
        return np.asarray(self.half.max(axis=1))

    def update(self, found: Iterable[Pairs]) -> None:
        """Keep the nearest of the known neighbours and of the samples found."""
        sample, other, half = map(np.concatenate, zip(*found, strict=True))
        n_samples, count = self.others.shape
        changed = np.flatnonzero(np.bincount(sample, minlength=n_samples))
        sample = np.append(changed.repeat(count), sample)
        other = np.append(self.others[changed], other)
        half = np.append(self.half[changed], half.astype(np.float32))
        # Floats that are not negative are ordered as the integers of the same bits.
        order = np.argsort(sample << 32 | np.maximum(half, 0).view(np.int32))
        first = np.searchsorted(sample[order], changed)
        best = order[first[:, np.newaxis] + np.arange(count)]
        self.others[changed], self.half[changed] = other[best], half[best]


def _half_distances(samples: Any, centres: NDArray[Any]) -> NDArray[Any]:
    """Return half the squared distances to centres, minus half the squared norms."""
    return np.asarray(row_norms(centres, squared=True) / 2 - samples @ centres.T)


def neighbours_in_cells(points: Any, count: int) -> tuple[Float, Index]:
    """Return approximate nearest neighbours, found in the nearest cells."""
    cells = _divide(points)
    n_samples, n_cells = len(cells.order), len(cells.centres)
    nearest, covered = _first_pass(cells, count)
    n_ranked, n_probed = _n_probed(cells, nearest, covered)
    if bool(sp.issparse(points)) and n_probed > MAX_SPARSE_SHARE * n_cells:
        _compare_with_all(cells.as_single_cell(), nearest)
    elif n_probed:
        step = max(1, PROBES_BY_SAMPLE * n_cells // n_probed)
        for start in range(0, n_cells, step):
            some = range(start, min(start + step, n_cells))
            _second_pass(cells, some, nearest, covered, n_ranked, n_probed)
    distances = np.empty((n_samples, count))
    index = np.empty((n_samples, count), np.intp)
    index[cells.order] = cells.order[nearest.others]
    blocks = [(block,) for block in _blocks(n_samples, count * points.shape[1])]
    for (block,), measured in zip(
        blocks, in_threads(partial(_sorted, points, index), blocks), strict=True
    ):
        distances[block], index[block] = measured
    return distances, index


def _divide(points: Any) -> Cells:
    """Divide samples into cells of limited size by k-means in two levels."""
    n_samples, random = points.shape[0], np.random.RandomState(0)
    samples: Any
    if bool(sp.issparse(points)):
        samples = sp.csr_array(points)
        samples = samples / (np.max(np.abs(samples.data), initial=0.0) or 1.0)
        n_cells = round(np.sqrt(n_samples))
    else:
        # After centring and scaling, single precision is sufficient.
        mean = np.mean(points, axis=0, dtype=np.float64)
        unit = max(np.max(points.max(axis=0) - mean), np.max(mean - points.min(axis=0)))
        unit = unit or 1.0
        samples = np.empty(points.shape, np.float32)
        for block in _blocks(*points.shape):
            samples[block] = (points[block] - mean) / unit
        n_cells = min(n_samples // CELL_SIZE, MAX_CELLS)
    size = n_samples / n_cells
    _, group = _k_means(samples, round(np.sqrt(n_cells)), random)
    parts, cell, n_found = [], np.empty(n_samples, np.intp), 0
    for members in _by_label(group):
        n_parts = max(1, round(len(members) / size))
        found, nearest = _k_means(samples[members], n_parts, random)
        parts.append(found)
        cell[members] = n_found + nearest
        n_found += len(found)
    centres = np.concatenate(parts)
    # The nearest centre may be one of another group.
    gaps, n_near = euclidean_distances(centres), min(N_REASSIGNED, len(centres))
    for members in _by_label(cell):
        near = np.argpartition(gaps[cell[members[0]]], n_near - 1)[:n_near]
        half = _half_distances(samples[members], centres[near])
        cell[members] = near[half.argmin(axis=1)]
    order = np.argsort(cell, kind="stable")
    cell = cell[order]
    # Split a cell that is too large, as with duplicates, into cells with one centre.
    inside = np.arange(n_samples) - np.searchsorted(cell, cell)
    key = cell * n_samples + inside // int(MAX_CELL * size)
    _, starts, split = np.unique(key, return_index=True, return_inverse=True)
    centres, samples = centres[cell[starts]], samples[order]
    if not sp.issparse(points):
        # Computed from the data again, to keep the digits of small differences.
        for block in _blocks(*points.shape):
            samples[block] = (points[order[block]] - mean) / unit - centres[
                split[block]
            ]
    halves = row_norms(samples, squared=True) / 2
    starts = np.append(starts, n_samples)
    columns = [samples[start:end].T for start, end in pairwise(starts)]
    if sp.issparse(points):
        columns = [each.tocsr() for each in columns]
    gaps = euclidean_distances(centres)
    np.fill_diagonal(gaps, -1.0)
    return Cells(centres, order, split, starts, samples, halves, columns, gaps)


def _by_label(labels: Index) -> list[Index]:
    """Return the positions of each label that occurs."""
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)


def _k_means(
    samples: Any, n_clusters: int, random: np.random.RandomState
) -> tuple[NDArray[Any], Index]:
    """Return centres, found on a subsample, and the nearest one of each sample."""
    n_samples = samples.shape[0]
    some = random.permutation(n_samples)[: SAMPLES_BY_CELL * n_clusters]
    drawn = samples[np.sort(some)]
    if bool(sp.issparse(drawn)):
        # SciPy returns 64-bit indices for selected rows, which KMeans does not accept.
        drawn.indices, drawn.indptr = map(np.int32, (drawn.indices, drawn.indptr))
    centres = rough_centres(drawn, min(n_clusters, len(some)), random)
    nearest = [
        _half_distances(samples[block], centres).argmin(axis=1)
        for block in _blocks(n_samples, len(centres))
    ]
    return centres, np.concatenate(nearest)


def rough_centres(
    samples: Any,
    n_clusters: int,
    random: np.random.RandomState,
    weights: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Return centres after a few iterations of k-means; equal samples may share one."""
    model = KMeans(
        n_clusters,
        init="random",
        n_init=1,
        max_iter=MAX_K_MEANS_ITERATIONS,
        random_state=random,
    )
    with warnings.catch_warnings():
        # With fewer distinct samples than clusters, several centres are equal.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(model.fit(samples, sample_weight=weights).cluster_centers_)


def _first_pass(cells: Cells, count: int) -> tuple[Nearest, NDArray[np.bool_]]:
    """Return the neighbours in the nearest cells, and the cells searched by each."""
    n_samples, n_cells = len(cells.order), len(cells.centres)
    needed = max(count + 1, FIRST_CELLS * n_samples // n_cells)
    search = partial(_search_near, cells, count, needed)
    found, covered = [], np.zeros((n_cells, n_cells), bool)
    for this, (taken, *near) in enumerate(in_threads(search, zip(range(n_cells)))):
        covered[this, taken] = True
        found.append(near)
    index, half = map(np.concatenate, zip(*found, strict=True))
    return Nearest(index, half), covered


def _search_near(
    cells: Cells, count: int, needed: int, this: int
) -> tuple[Index, Index, NDArray[np.float32]]:
    """Return the cells nearest to one, and the neighbours of its samples in them."""
    nearest = np.argsort(cells.gaps[this], kind="stable")
    sizes = np.diff(cells.starts)[nearest]
    taken = nearest[np.cumsum(sizes) - sizes < needed]
    others = np.concatenate([cells.members(each) for each in taken])
    samples = cells.relative_to(cells.centres[this], others)
    halves, n_own = row_norms(samples, squared=True) / 2, sizes[0]
    closeness = dot(samples[:n_own], samples.T, dense_output=True) - halves
    # The cell itself comes first, so that the diagonal holds each sample itself.
    np.fill_diagonal(closeness, -np.inf)
    best = np.argpartition(closeness, -count, axis=1)[:, -count:]
    half = halves[:n_own, np.newaxis] - np.take_along_axis(closeness, best, axis=1)
    return taken, others[best], half.astype(np.float32)


def _n_probed(
    cells: Cells, nearest: Nearest, covered: NDArray[np.bool_]
) -> tuple[int, int]:
    """Return how many centres to rank and how many cells to probe for TARGET_RECALL."""
    drawn = np.random.RandomState(0).permutation(len(cells.order))[:N_QUERIES]
    exact = Nearest(nearest.others.copy(), nearest.half.copy())
    nearer = partial(_nearer, cells, nearest.limits(), covered, False)
    exact.update(in_threads(nearer, ((drawn, to) for to in range(len(cells.centres)))))
    other = exact.others[drawn].ravel()
    sample = drawn.repeat(len(other) // len(drawn))
    step = max(1, len(other) // MAX_CALIBRATION_PAIRS)
    sample, other = sample[::step], other[::step]
    missed = ~covered[cells.cell[sample], cells.cell[other]]
    # The sample in the cell of lower number probes the other cell.
    low = np.where(cells.cell[sample] < cells.cell[other], sample, other)[missed]
    source = cells.cell[low]
    target = np.maximum(cells.cell[sample], cells.cell[other])[missed, np.newaxis]
    gaps = cells.gaps[source]
    needed = np.zeros(len(sample), int)
    needed[missed] = 1 + np.sum(gaps < np.take_along_axis(gaps, target, 1), axis=1)
    n_ranked = int(np.quantile(needed, RANKED_SHARE, method="higher"))
    if not n_ranked:
        return 0, 0
    far = _half_distances(cells.relative_to(0, low), cells.centres)
    far[gaps > np.partition(gaps, n_ranked - 1, axis=1)[:, [n_ranked - 1]]] = np.inf
    needed[missed] = 1 + np.sum(far < np.take_along_axis(far, target, 1), axis=1)
    n_probed = int(np.quantile(needed, TARGET_RECALL, method="higher"))
    return n_ranked, min(n_probed, n_ranked)


def _second_pass(
    cells: Cells,
    sources: Sequence[int],
    nearest: Nearest,
    covered: NDArray[np.bool_],
    n_ranked: int,
    n_probed: int,
) -> None:
    """Compare the samples of some cells with those of the cells that they probe."""
    probing = partial(_probed, cells, covered, n_ranked, n_probed)
    probes = in_threads(probing, ((source,) for source in sources))
    sample, target = map(np.concatenate, zip(*probes, strict=True))
    if not len(sample):
        return
    order = np.argsort(target, kind="stable")
    sample, target = sample[order], target[order]
    # Distances of few samples at a time stay in the cache of the processor.
    inside = np.arange(len(target)) - np.searchsorted(target, target)
    cuts = np.flatnonzero(inside % COMPARED_TOGETHER == 0)[1:]
    tasks = zip(np.split(sample, cuts), target[np.append(0, cuts)], strict=True)
    nearer = partial(_nearer, cells, nearest.limits(), covered, True)
    nearest.update(in_threads(nearer, tasks))


def _probed(
    cells: Cells, covered: NDArray[np.bool_], n_ranked: int, n_probed: int, this: int
) -> tuple[Index, Index]:
    """Return the samples of a cell and the cells of higher number that each probes."""
    ranked = np.argpartition(cells.gaps[this], n_ranked - 1)[:n_ranked]
    members = cells.members(this)
    far = _half_distances(cells.relative_to(0, members), cells.centres[ranked])
    probes = far <= np.partition(far, n_probed - 1, axis=1)[:, [n_probed - 1]]
    searched = covered[this, ranked] & covered[ranked, this]
    row, column = np.nonzero(probes & (ranked > this) & ~searched)
    return members[row], ranked[column]


def _nearer(
    cells: Cells,
    limits: NDArray[Any],
    covered: NDArray[np.bool_],
    both: bool,
    chosen: Index,
    target: int,
) -> Pairs:
    """Return the samples of a cell that are nearer to chosen samples than the limits.

    With ``both``, a chosen sample is also returned as neighbour of one in the cell.
    Pairs of cells that the first pass has covered are left out.
    """
    members = slice(cells.starts[target], cells.starts[target + 1])
    samples = cells.relative_to(cells.centres[target], chosen)
    halves = row_norms(samples, squared=True)[:, np.newaxis] / 2
    closeness = dot(samples, cells.columns[target], dense_output=True)
    closeness -= cells.halves[members]
    near = closeness > halves - limits[chosen, np.newaxis]
    if both:
        closeness += limits[members]
        near |= closeness > halves
    row, column = np.divmod(np.flatnonzero(near), near.shape[1])
    half = halves[row, 0] - closeness[row, column]
    if both:
        half += limits[members][column]
    sample, other = chosen[row], members.start + column
    source = cells.cell[sample]
    ahead = (half < limits[sample]) & ~covered[source, target]
    back = (half < limits[other]) & ~covered[target, source] & both
    return Pairs(
        np.append(sample[ahead], other[back]),
        np.append(other[ahead], sample[back]),
        np.append(half[ahead], half[back]),
    )


def _compare_with_all(cells: Cells, nearest: Nearest) -> None:
    """Find the exact neighbours of sparse samples, all in one cell."""
    n_samples = len(cells.order)
    # Slightly larger, so that all neighbours of the first pass are found again despite
    # rounding, even those of a sample of zeros.
    limits = nearest.limits() + EQUAL * cells.halves + np.finfo(np.float32).tiny
    step = max(1, MAX_DISTANCES // n_samples)
    uncovered = np.zeros((1, 1), bool)
    nearest.half[:] = np.inf
    nearer = partial(_nearer, cells, limits, uncovered, False)
    blocks = np.split(np.arange(n_samples), range(step, n_samples, step))
    for start in range(0, len(blocks), BLOCKS_BY_UPDATE):
        some = [(block, 0) for block in blocks[start : start + BLOCKS_BY_UPDATE]]
        nearest.update(
            Pairs(*(each[found.sample != found.other] for each in found))
            for found in in_threads(nearer, some)
        )


def _sorted(points: Any, index: Index, block: slice) -> tuple[Float, Index]:
    """Return the distances of the neighbours of some samples, sorted by them."""
    places, others = np.arange(block.start, block.stop), index[block]
    distances = distances_to(points, places, others)
    best = np.argsort(distances, axis=1, kind="stable")
    return (
        np.take_along_axis(distances, best, axis=1),
        np.take_along_axis(others, best, axis=1),
    )


def distances_to(points: Any, places: Index, others: Index) -> Float:
    """Return the distance of each sample to each of its listed others."""
    result = np.empty(others.shape)
    values = points.nnz if bool(sp.issparse(points)) else points.size
    width = others.shape[1] * -(-values // points.shape[0])
    # Eight times smaller than other blocks: several copies stay in the cache.
    for block in _blocks(len(places), max(1, 8 * width)):
        left = points[places[block].repeat(others.shape[1])]
        measured = paired_euclidean_distances(left, points[others[block].ravel()])
        result[block] = measured.reshape(-1, others.shape[1])
    return result


def _blocks(length: int, width: int) -> list[slice]:
    step = max(1, BLOCK_BYTES // (8 * width))
    return [slice(start, min(start + step, length)) for start in range(0, length, step)]
