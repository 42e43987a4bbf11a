"""k-means from many starts: the results of scikit-learn, computed faster.

Distances between samples are computed once for all starts. For a cluster C with mean m,
and u(i) the mean of |x_l - x_i|^2 over l in C,

    |x_i - m|^2 = u(i) - v,    v = half the mean of u(i) over i in C,

and v is also the mean of |x_i - m|^2 over C: centres are not needed. The cost of an
iteration is n times the number of samples that changed their cluster, instead of n k c:
only distances to clusters that lose or gain samples change, and they are updated with
the distances to these samples. With signs s_i = -1 (lost) or 1 (gained), and C' the new
cluster,

    u'(i) = (|C| u(i) + sum_l s_l |x_l - x_i|^2) / |C'|,
    2 |C'|^2 v' = 2 |C|^2 v + sum_i s_i (|C| u(i) + |C'| u'(i)),
    |m' - m|^2 = (|C| v + sum_i s_i |x_i - m|^2) / |C'| - v'.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state, gen_batches

from ufselect._warn import warn
from ufselect.evaluation.checks import largest_magnitude
from ufselect.matrix import Float
from ufselect.solvers.preparation import MAX_LENGTH

Labels = NDArray[np.intp]
Mask = NDArray[np.bool_]

# Up to this many rows (200 MB), the distances of all pairs are stored.
KEEP_PAIRS_UP_TO = 5000

# Time of a multiplication in BLAS, relative to an addition of indexed rows.
COST_IN_BLAS = 0.13

# Finished restarts are removed once less than this share is unfinished.
SPARSE_BATCH = 0.7

# Above this share of changed clusters, all are updated, which avoids indexing.
MAX_CHANGED_SHARE = 0.6

# Distances below this share of the largest count as rounding errors.
DISTANCE_ROUNDING = 1e-13

# Relative difference of inertias that may be due to rounding.
INERTIA_ROUNDING = 1e-9

# Number of distances (restart, cluster, sample) of a block; two such arrays are used.
BLOCK = 800_000


class SampleDistances:
    """Squared distances between the rows of a table, shared by many k-means runs.

    The results of a restart do not depend on other restarts of the same call, not even
    by rounding: products are computed for one restart, or one group of constant size,
    at a time. Clusters are numbered over all restarts: cluster j of restart b is
    b c + j.
    """

    def __init__(self, columns: Any, keep_pairs_up_to: int = KEEP_PAIRS_UP_TO) -> None:
        self.n_samples, self.n_columns = columns.shape
        rows = columns.toarray() if bool(sp.issparse(columns)) else columns
        self.rows: Float = rows - rows.mean(axis=0)
        norms = squared_norms(self.rows)
        # The mean variance of the columns.
        self.variance = float(norms.sum() / max(1, self.rows.size))
        # |x - y|^2 = (-2 x, |x|^2, 1)' (y, 1, |y|^2): one product, no further pass.
        self.right: Float = np.column_stack([self.rows, np.ones(len(norms)), norms]).T
        self.pairs: Float | None = None
        if self.n_samples <= keep_pairs_up_to:
            self.pairs = self.to_points(self.rows)
            # Copies of a sample are at distance zero with every BLAS.
            for rows in gen_batches(len(norms), max(1, BLOCK // len(norms))):
                rounding = DISTANCE_ROUNDING * np.add.outer(norms[rows], norms)
                self.pairs[rows][self.pairs[rows] <= rounding] = 0.0

    def to_points(self, points: Float) -> Float:
        """Return the distances (..., m, n) to centred points (..., m, k)."""
        norms = squared_norms(points)[..., None]
        left = np.concatenate([-2.0 * points, norms, np.ones(norms.shape)], axis=-1)
        return left @ self.right

    def to_samples(self, samples: Labels) -> Float:
        """Return the distances (..., m, n) to the samples (..., m)."""
        if self.pairs is not None:
            return self.pairs.take(samples, axis=0)
        return np.maximum(self.to_points(self.rows[samples]), 0.0)

    def to_means(self, members: Labels, sizes: Float, group: int = 1) -> Float:
        """Return the distances (B, c, n) to the means of the clusters of B restarts.

        Parameters
        ----------
        members : ndarray of shape (B, n)
            Clusters of the samples, numbered over all restarts.
        sizes : ndarray of shape (B, c)
            Numbers of samples, at least 1 even for empty clusters.
        group : int
            Number of restarts in one product; B is a multiple of it.
        """
        n_restarts, n_clusters = sizes.shape
        starts = np.arange(0, members.size + 1, n_restarts)
        weights = (1.0 / sizes).ravel()
        clusters = np.ascontiguousarray(members.T).ravel()
        average = by_samples(weights[clusters], clusters, starts, sizes.size)
        if self.pairs is None or self._cost_by_means(n_clusters) < self.n_samples:
            means = average @ self.rows
            shape = (-1, group * n_clusters, self.n_columns)
            distances = self.to_points(means.reshape(shape))
        else:
            distances = average @ self.pairs
            within = weighted_counts(members, own(distances, members), sizes.size)
            distances -= (within / (2.0 * sizes.ravel()))[:, None]
        return np.asarray(distances).reshape(n_restarts, n_clusters, -1)

    def _cost_by_means(self, n_clusters: int) -> float:
        return self.n_columns * (1.0 + COST_IN_BLAS * n_clusters)

    def most_changes(self, n_clusters: int) -> float:
        """Return the number of moved samples up to which an update is cheaper.

        For a sample that moves, one row is subtracted and one is added.
        """
        if self.pairs is None:
            return 0.0
        return min(self._cost_by_means(n_clusters), self.n_samples) / 2.0

    def changes(
        self, samples: Labels, rows: Labels, weights: Float, height: int
    ) -> Float:
        """Return sums (height, n) of weighted distances, from sorted samples."""
        starts = np.zeros(self.n_samples + 1, dtype=np.intp)
        np.cumsum(np.bincount(samples, minlength=self.n_samples), out=starts[1:])
        return np.asarray(by_samples(weights, rows, starts, height) @ self.pairs)


def by_samples(weights: Float, rows: Labels, starts: Labels, height: int) -> Any:
    """Return the sparse matrix whose column i has rows[starts[i]:starts[i + 1]]."""
    return sp.csc_array((weights, rows, starts), shape=(height, len(starts) - 1))


def own(values: Float, members: Labels) -> Float:
    """Return, for every sample (B, n), the value in the row of its cluster."""
    n_samples = members.shape[1]
    cells = members * n_samples
    cells += np.arange(n_samples)
    return values.ravel().take(cells)


def weighted_counts(members: Labels, weights: Float, length: int) -> Float:
    """Return the summed weights of every cluster."""
    sums = np.bincount(members.ravel(), weights.ravel(), minlength=length)
    return np.asarray(sums, dtype=np.float64)


def squared_norms(points: Float) -> Float:
    """Return the sums of squares along the last axis."""
    return np.einsum("...j,...j->...", points, points)


def lloyd(
    geometry: SampleDistances,
    distances: Float,
    *,
    tolerance: float,
    max_iter: int,
    group: int = 1,
) -> tuple[Labels, Float]:
    """Run Lloyd's algorithm from the distances to the initial centres.

    Parameters
    ----------
    geometry : SampleDistances
    distances : ndarray of shape (B, c, n)
        Squared distances of the samples to the initial centres; overwritten.
    tolerance : float
        Stop a restart if the sum of squared shifts of its centres is at most this, or
        if no label changes.
    max_iter : int
    group : int
        Number of restarts in one product at first; B is a multiple of it.

    Returns
    -------
    labels : ndarray of shape (B, n)
    inertia : ndarray of shape (B,)
        Sum of the squared distances to the nearest final centre.
    """
    n_restarts, _, n_samples = distances.shape
    labels = np.empty((n_restarts, n_samples), dtype=np.intp)
    inertia = np.empty(n_restarts)
    batch = RestartBatch(geometry, distances)
    where, running = np.arange(n_restarts), np.ones(n_restarts, dtype=bool)
    for iteration in range(1, max_iter + 1):
        moved = np.ones(len(where), dtype=bool) if iteration == 1 else batch.assign()
        shift = batch.move_centres(group if iteration == 1 else 1)
        still = moved & (shift > tolerance) & (iteration < max_iter)
        (done,) = np.nonzero(running & ~still)
        if len(done):
            labels[where[done]], inertia[where[done]] = batch.finish(done, moved[done])
        running &= still
        if not running.any():
            break
        if running.mean() < SPARSE_BATCH:
            batch = batch.only(running)
            where, running = where[running], running[running]
    return labels, inertia


class RestartBatch:
    """The state of several restarts, with clusters numbered over all of them.

    ``members`` are the clusters whose means are the centres: ``labels``, except for
    samples that are moved to empty clusters.
    """

    def __init__(self, geometry: SampleDistances, distances: Float) -> None:
        n_restarts, n_clusters, _ = distances.shape
        self.geometry = geometry
        self.distances = distances
        self.first = n_clusters * np.arange(n_restarts)[:, None]
        self.labels = distances.argmin(axis=1) + self.first
        self.members = np.full_like(self.labels, -1)
        self.sizes: Float = np.zeros((n_restarts, n_clusters))
        self.within: Float = np.zeros((n_restarts, n_clusters))

    def only(self, kept: Mask) -> "RestartBatch":
        """Return the state of some of the restarts."""
        fewer = RestartBatch.__new__(RestartBatch)
        fewer.geometry = self.geometry
        fewer.first = self.first[: np.count_nonzero(kept)]
        for name in ("distances", "sizes", "within"):
            setattr(fewer, name, getattr(self, name)[kept])
        back = self.first[kept] - fewer.first
        fewer.labels = self.labels[kept] - back
        fewer.members = self.members[kept] - back
        return fewer

    def assign(self) -> Mask:
        """Assign every sample to its nearest centre; return which restarts changed."""
        self.labels, moved = nearest(self.distances, self.labels)
        return moved

    def move_centres(self, group: int) -> Float:
        """Move the centres to the means; return the sums of their squared shifts."""
        before = self.members
        self.members, sizes = relocated(self.labels, self.distances)
        differ = before != self.members
        n_changes = np.count_nonzero(differ, axis=1)
        anew = n_changes > self.geometry.most_changes(self.sizes.shape[1])
        if before[0, 0] < 0:
            anew[:] = True
        differ[anew] = False
        outer = self._mean_distances_of_empty(sizes)
        shift = np.zeros(self.sizes.shape)
        if anew.any():
            shift[anew] = self._average(anew, np.maximum(sizes[anew], 1.0), group)
            self.sizes[anew] = sizes[anew]
        restart, sample = np.nonzero(differ)
        if len(restart):
            order = np.argsort(sample, kind="stable")
            at = restart[order], sample[order]
            shift += self._add_changes(before[at], self.members[at], at[1], sizes)
        self.sizes = sizes
        if len(outer):
            self._place_empty(outer, shift)
        return np.asarray(np.maximum(shift, 0.0).sum(axis=1))

    def _average(self, anew: Mask, sizes: Float, group: int) -> Float:
        """Compute all distances to the means of some restarts; return the shifts."""
        members = self.members[anew] - self.first[anew]
        members += self.first[: len(members)]
        old = own(self.distances[anew], members)
        outer = weighted_counts(members, old, sizes.size).reshape(sizes.shape)
        fresh = self.geometry.to_means(members, sizes, group)
        inner = weighted_counts(members, own(fresh, members), sizes.size)
        self.within[anew] = inner.reshape(sizes.shape) / sizes
        self.distances[anew] = fresh
        return np.asarray(outer / sizes - self.within[anew])

    def _add_changes(
        self, old: Labels, new: Labels, sample: Labels, sizes: Float
    ) -> Float:
        """Update the distances for samples that changed cluster; return the shifts."""
        clusters = np.column_stack([old, new]).ravel()
        samples = np.repeat(sample, 2)
        signs = np.tile([-1.0, 1.0], len(sample))
        n_before, n_after = self.sizes.ravel(), np.maximum(sizes.ravel(), 1.0)
        within = self.within.ravel()
        changed = np.zeros(sizes.size, dtype=bool)
        changed[clusters] = True
        if np.count_nonzero(changed) > MAX_CHANGED_SHARE * sizes.size:
            changed[:] = True
        rows = (np.cumsum(changed) - 1)[clusters]
        joint = self.geometry.changes(
            samples, rows, signs / n_after[clusters], int(np.count_nonzero(changed))
        )
        apart = self.distances.reshape(sizes.size, -1)[clusters, samples]
        gain = 2.0 * n_before[clusters] * (apart + within[clusters])
        gain += n_after[clusters] * joint[rows, samples]
        scatter = 2.0 * n_before**2 * within
        scatter += weighted_counts(clusters, signs * gain, sizes.size)
        outer = n_before * within
        outer += weighted_counts(clusters, signs * apart, sizes.size)
        after, ratio = scatter / (2.0 * n_after**2), n_before / n_after
        self._rescale(changed, ratio, joint, ratio * within - after)
        self.within = after.reshape(sizes.shape)
        return np.asarray((outer / n_after - after).reshape(sizes.shape))

    def _rescale(
        self, changed: Mask, ratio: Float, joint: Float, constant: Float
    ) -> None:
        """Replace changed rows by ratio times distances plus joint plus constant."""
        flat = self.distances.reshape(len(changed), -1)
        every = len(joint) == len(flat)
        fresh = flat if every else flat[changed]
        fresh *= ratio[changed, None]
        fresh += joint
        fresh += constant[changed, None]
        if not every:
            flat[changed] = fresh

    def _mean_distances_of_empty(self, sizes: Float) -> Float:
        """Return mean distances of the largest cluster to centres of empty clusters."""
        restarts, clusters = np.nonzero(sizes == 0)
        biggest = sizes.argmax(axis=1)
        far = [
            self.distances[b, j, self.members[b] == biggest[b] + self.first[b]].mean()
            for b, j in zip(restarts, clusters, strict=True)
        ]
        return np.array(far)

    def _place_empty(self, outer: Float, shift: Float) -> None:
        """Move the centres of empty clusters to that of the largest cluster."""
        restarts, clusters = np.nonzero(self.sizes == 0)
        biggest = self.sizes.argmax(axis=1)[restarts]
        shift[restarts, clusters] = outer - self.within[restarts, biggest]
        self.distances[restarts, clusters] = self.distances[restarts, biggest]
        self.within[restarts, clusters] = 0.0

    def finish(self, done: Labels, moved: Mask) -> tuple[Labels, Float]:
        """Return labels and inertia for the final centres.

        Labels are assigned again in restarts whose last iteration changed labels.
        """
        distances, first = self.distances[done], self.first[: len(done)]
        labels = self.labels[done] - self.first[done] + first
        labels = np.where(moved[:, None], nearest(distances, labels)[0], labels)
        inertia = np.maximum(own(distances, labels), 0.0).sum(axis=1)
        return labels - first, inertia


def nearest(distances: Float, labels: Labels) -> tuple[Labels, Mask]:
    """Return the nearest clusters, the current one if tied, and changed restarts."""
    n_clusters = distances.shape[1]
    closer = distances.min(axis=1) < own(distances, labels)
    restart, sample = np.nonzero(closer)
    labels = labels.copy()
    choice = distances[restart, :, sample].argmin(axis=1)
    labels[restart, sample] = choice + n_clusters * restart
    moved = np.zeros(len(labels), dtype=bool)
    moved[restart] = True
    return labels, moved


def relocated(labels: Labels, distances: Float) -> tuple[Labels, Float]:
    """Move the farthest samples to empty clusters; return members and sizes."""
    n_clusters = distances.shape[1]
    sizes = cluster_sizes(labels, distances)
    empty = np.flatnonzero(sizes == 0)
    if not len(empty):
        return labels, sizes
    members, apart = labels.copy(), own(distances, labels)
    for restart in np.unique(empty // n_clusters):
        if apart[restart].max() > DISTANCE_ROUNDING * distances[restart].max():
            lost = empty[empty // n_clusters == restart]
            order = np.argpartition(apart[restart], -len(lost))
            members[restart, order[: -len(lost) - 1 : -1]] = lost
    return members, cluster_sizes(members, distances)


def cluster_sizes(members: Labels, distances: Float) -> Float:
    """Return the numbers of samples (B, c)."""
    shape = distances.shape[:2]
    counts = np.bincount(members.ravel(), minlength=shape[0] * shape[1])
    return counts.reshape(shape).astype(np.float64)


def n_trials(n_clusters: int) -> int:
    """Return the number of candidates for every centre except the first."""
    return 2 + int(np.log(n_clusters))


def n_draws(n_clusters: int) -> int:
    """Return the number of uniform random numbers for one restart."""
    return 1 + (n_clusters - 1) * n_trials(n_clusters)


def greedy_seeds(geometry: SampleDistances, uniforms: Float, n_clusters: int) -> Labels:
    """Return the samples (B, c) that are the initial centres, by greedy k-means++.

    Candidates are drawn with probability proportional to the squared distance to the
    nearest centre; the one that decreases the sum of these distances most is chosen.

    Parameters
    ----------
    geometry : SampleDistances
    uniforms : ndarray of shape (B, n_draws(n_clusters))
        Uniform in [0, 1); a restart depends only on its own row.
    n_clusters : int
    """
    n_restarts, trials = len(uniforms), n_trials(n_clusters)
    every = np.arange(n_restarts)
    seeds = np.empty((n_restarts, n_clusters), dtype=np.intp)
    # The first centres are drawn with equal probability.
    chances = np.cumsum(np.full(geometry.n_samples, 1.0 / geometry.n_samples))
    chances /= chances[-1]
    seeds[:, 0] = np.searchsorted(chances, uniforms[:, 0], side="right")
    closest = geometry.to_samples(seeds[:, :1])[:, 0]
    potential = closest.sum(axis=1)
    draws = uniforms[:, 1:].reshape(n_restarts, n_clusters - 1, trials)
    for step in range(1, n_clusters):
        targets = draws[:, step - 1] * potential[:, None]
        # The positions at which the cumulative sums of the distances reach the targets.
        found = map(np.searchsorted, np.cumsum(closest, axis=1), targets)
        candidates = np.minimum(list(found), geometry.n_samples - 1)
        distances = geometry.to_samples(candidates)
        np.minimum(distances, closest[:, None], out=distances)
        potentials = distances.sum(axis=2)
        best = potentials.argmin(axis=1)
        seeds[:, step] = candidates[every, best]
        closest, potential = distances[every, best], potentials[every, best]
    return seeds


def k_means_of_draws(
    geometry: SampleDistances,
    draws: Float,
    n_clusters: int,
    n_init: int,
    max_iter: int = 300,
    tol: float = 1e-4,
) -> tuple[Labels, Float]:
    """Run k-means for several seeds, whose random numbers are the rows of ``draws``."""
    uniforms = draws.reshape(len(draws) * n_init, -1)
    starts = geometry.to_samples(greedy_seeds(geometry, uniforms, n_clusters))
    labels, inertia = lloyd(
        geometry,
        starts,
        tolerance=tol * geometry.variance,
        max_iter=max_iter,
        group=n_init,
    )
    labels = labels.reshape(len(draws), n_init, -1)
    inertia = inertia.reshape(len(draws), n_init)
    best = [best_restart(*both) for both in zip(labels, inertia, strict=True)]
    every = np.arange(len(draws))
    return labels[every, best], inertia[every, best]


def best_restart(labels: Labels, inertia: Float) -> int:
    """Return the restart of smallest inertia, the first one among equal clusterings."""
    best = 0
    for at in range(1, len(inertia)):
        if inertia[at] < inertia[best]:
            clearly = inertia[at] < (1.0 - INERTIA_ROUNDING) * inertia[best]
            # Equal clusterings have equal numbers of pairs, whatever their labels.
            pairs = np.unique(np.column_stack([labels[at], labels[best]]), axis=0)
            counts = len(np.unique(labels[at])), len(np.unique(labels[best]))
            if clearly or not len(pairs) == counts[0] == counts[1]:
                best = at
    return best


def repeated_k_means(
    columns: Any,
    n_clusters: int,
    *,
    seeds: Iterable[int],
    n_init: int = 10,
    max_iter: int = 300,
    tol: float = 1e-4,
) -> tuple[Labels, NDArray[np.float64]]:
    """Cluster the rows of a table by k-means, once per seed.

    For each seed, random numbers and algorithm, and therefore up to rounding the
    labels, are those of scikit-learn's
    ``KMeans(n_clusters, n_init=n_init, random_state=seed)``: greedy k-means++, Lloyd's
    algorithm, empty clusters moved to the farthest samples, and the restart of smallest
    inertia. Distances between samples are computed once, which makes many restarts
    fast. The result of a seed does not depend on the other seeds.

    Parameters
    ----------
    columns : array-like or sparse matrix of shape (n, k)
    n_clusters : int
    seeds : iterable of int
    n_init : int
        Restarts per seed.
    max_iter : int
    tol : float
        A restart ends when the sum of squared shifts of its centres is below this share
        of the mean variance of the columns, or when no label changes.

    Returns
    -------
    labels : ndarray of shape (n_seeds, n)
    inertia : ndarray of shape (n_seeds,)
        Sum of the squared distances to the nearest centre.

    Examples
    --------
    >>> labels, inertia = repeated_k_means([[0.0], [0.2], [9.0], [9.2]], 2, seeds=[0])
    >>> len(set(labels[0, :2])), len(set(labels[0, 2:]))
    (1, 1)
    >>> inertia.round(6)
    array([0.04])
    """
    # The check of scikit-learn for infinity may compute inf - inf.
    with np.errstate(invalid="ignore"):
        columns = check_array(columns, accept_sparse="csr", dtype=np.float64)
    if not 1 <= n_clusters <= columns.shape[0]:
        raise ValueError(
            f"n_clusters={n_clusters} must be between 1 and the {columns.shape[0]} "
            "samples"
        )
    for name, value in {"n_init": n_init, "max_iter": max_iter}.items():
        if value < 1:
            raise ValueError(f"{name}={value} must be at least 1.")
    check_distances_finite(columns)
    geometry = SampleDistances(columns)
    size = n_init * n_draws(n_clusters)
    draws = [check_random_state(seed).uniform(size=size) for seed in seeds]
    per_block = max(1, BLOCK // (n_init * n_clusters * columns.shape[0]))
    blocks = [
        k_means_of_draws(
            geometry,
            np.array(draws[at : at + per_block]),
            n_clusters,
            n_init,
            max_iter,
            tol,
        )
        for at in range(0, len(draws), per_block)
    ]
    if not blocks:
        return np.empty((0, columns.shape[0]), dtype=np.intp), np.empty(0)
    labels = np.concatenate([labels for labels, _ in blocks])
    fewest = min(len(np.unique(row)) for row in labels)
    if fewest < n_clusters:
        warn(
            f"k-means found {fewest} distinct clusters, fewer than "
            f"n_clusters={n_clusters}, possibly due to duplicated samples.",
            ConvergenceWarning,
        )
    return labels, np.concatenate([inertia for _, inertia in blocks])


def check_distances_finite(columns: Any) -> None:
    """Raise ValueError if squared distances would overflow."""
    peak = largest_magnitude(columns)
    if peak > MAX_LENGTH / np.sqrt(columns.shape[0] * columns.shape[1]):
        raise ValueError(
            f"columns reach {peak:.3g}, whose square is not finite; rescale them."
        )
