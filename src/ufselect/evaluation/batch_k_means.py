"""k-means from many starts at once, of which the best is kept.

The random numbers, the rules and so, up to rounding, the labels are those of
scikit-learn's ``KMeans(n_clusters, n_init=n_init)``: greedy k-means++, Lloyd's
iteration, clusters without samples moved to the farthest one. The distances between
samples are computed once for all starts.

An iteration of a restart costs the samples that moved times n, not n k c: only the
clusters that lose or win samples get new distances, from those of the samples they
lose or win. With signs s_i = -1 or 1 for these, and C' the new cluster,

    u'(i) = (|C| u(i) + sum_l s_l |x_l - x_i|^2) / |C'|,
    2 |C'|^2 v' = 2 |C|^2 v + sum_i s_i (|C| u(i) + |C'| u'(i)),
    |m' - m|^2 = (|C| v + sum_i s_i |x_i - m|^2) / |C'| - v',

where u and v are those of ``sample_distances``.
"""

import numpy as np
from numpy.typing import NDArray

from ufselect.evaluation.sample_distances import (
    Labels,
    SampleDistances,
    own,
    weighted_counts,
)
from ufselect.matrix import Float

Mask = NDArray[np.bool_]

# Finished restarts are dropped once less than this share is left.
SPARSE_BATCH = 0.7

# Above this share of changed clusters all are written, which saves picking them.
MANY_ROWS = 0.6

# Distances below this share of the largest are rounding errors.
DISTANCE_ROUNDING = 1e-13

# Two inertias closer than this may differ by rounding only.
INERTIA_ROUNDING = 1e-9


def lloyd(
    geometry: SampleDistances,
    distances: Float,
    *,
    tolerance: float,
    max_iter: int,
    group: int = 1,
) -> tuple[Labels, Float]:
    """Iterate from given distances to the first centres until nothing moves.

    Parameters
    ----------
    geometry : SampleDistances
    distances : ndarray of shape (B, c, n)
        Squared distances of the samples to the first centres; overwritten.
    tolerance : float
        Stop, too, when the squared moves of the centres of a restart sum to no more.
    max_iter : int
    group : int
        Restarts multiplied together at first; B is a multiple of it.

    Returns
    -------
    labels : ndarray of shape (B, n)
    inertia : ndarray of shape (B,)
        Sum of the squared distances to the nearest of the last centres.
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
    """The state of several restarts; clusters are numbered through them.

    ``members`` are the clusters whose means the centres are: ``labels``, but for
    samples that fill empty clusters.
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
        """Give every sample to its nearest centre; tell which restarts changed."""
        self.labels, moved = nearest(self.distances, self.labels)
        return moved

    def move_centres(self, group: int) -> Float:
        """Move the centres to the means; return their summed squared moves."""
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
        """Compute all distances to the means of some restarts; return the moves."""
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
        """Update the distances for samples that left old for new; return the moves."""
        clusters = np.column_stack([old, new]).ravel()
        samples = np.repeat(sample, 2)
        signs = np.tile([-1.0, 1.0], len(sample))
        n_before, n_after = self.sizes.ravel(), np.maximum(sizes.ravel(), 1.0)
        within = self.within.ravel()
        changed = changed_rows(clusters, sizes.size)
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
        """Write ratio times distances plus joint plus constant to changed rows."""
        flat = self.distances.reshape(len(changed), -1)
        every = len(joint) == len(flat)
        fresh = flat if every else flat[changed]
        fresh *= ratio[changed, None]
        fresh += joint
        fresh += constant[changed, None]
        if not every:
            flat[changed] = fresh

    def _mean_distances_of_empty(self, sizes: Float) -> Float:
        """Return how far the biggest cluster is from centres that lose all samples."""
        restarts, clusters = np.nonzero(sizes == 0)
        biggest = sizes.argmax(axis=1)
        far = [
            self.distances[b, j, self.members[b] == biggest[b] + self.first[b]].mean()
            for b, j in zip(restarts, clusters, strict=True)
        ]
        return np.array(far)

    def _place_empty(self, outer: Float, shift: Float) -> None:
        """Put the centres of empty clusters on that of the biggest cluster."""
        restarts, clusters = np.nonzero(self.sizes == 0)
        biggest = self.sizes.argmax(axis=1)[restarts]
        shift[restarts, clusters] = outer - self.within[restarts, biggest]
        self.distances[restarts, clusters] = self.distances[restarts, biggest]
        self.within[restarts, clusters] = 0.0

    def finish(self, done: Labels, moved: Mask) -> tuple[Labels, Float]:
        """Return labels and inertia under the last centres.

        Where nothing moved the labels stand; elsewhere they follow the centres.
        """
        distances, first = self.distances[done], self.first[: len(done)]
        labels = self.labels[done] - self.first[done] + first
        labels = np.where(moved[:, None], nearest(distances, labels)[0], labels)
        inertia = np.maximum(own(distances, labels), 0.0).sum(axis=1)
        return labels - first, inertia


def changed_rows(clusters: Labels, n_rows: int) -> Mask:
    """Tell which rows to write: those of the clusters, or all if these are many."""
    changed = np.zeros(n_rows, dtype=bool)
    changed[clusters] = True
    if np.count_nonzero(changed) > MANY_ROWS * n_rows:
        changed[:] = True
    return changed


def nearest(distances: Float, labels: Labels) -> tuple[Labels, Mask]:
    """Return the nearest clusters, the present one among equals, and who changed."""
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
    """Give the farthest samples to clusters without any; return members and sizes."""
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
    """Return how many candidates compete for every centre but the first."""
    return 2 + int(np.log(n_clusters))


def n_draws(n_clusters: int) -> int:
    """Return how many uniform numbers one restart uses up."""
    return 1 + (n_clusters - 1) * n_trials(n_clusters)


def greedy_seeds(geometry: SampleDistances, uniforms: Float, n_clusters: int) -> Labels:
    """Return the samples (B, c) that are the first centres of B restarts.

    Candidates are drawn with chances in proportion to the squared distance to the
    nearest centre so far; the one that lowers the sum of these distances most wins.

    Parameters
    ----------
    geometry : SampleDistances
    uniforms : ndarray of shape (B, n_draws(n_clusters))
        Uniform in [0, 1); a restart depends on its own row only.
    n_clusters : int
    """
    n_restarts, trials = len(uniforms), n_trials(n_clusters)
    every = np.arange(n_restarts)
    seeds = np.empty((n_restarts, n_clusters), dtype=np.intp)
    seeds[:, 0] = first_seeds(uniforms[:, 0], geometry.n_samples)
    closest = geometry.to_samples(seeds[:, :1])[:, 0]
    potential = closest.sum(axis=1)
    draws = uniforms[:, 1:].reshape(n_restarts, n_clusters - 1, trials)
    for step in range(1, n_clusters):
        targets = draws[:, step - 1] * potential[:, None]
        candidates = drawn(closest, targets)
        distances = geometry.to_samples(candidates)
        np.minimum(distances, closest[:, None], out=distances)
        potentials = distances.sum(axis=2)
        best = potentials.argmin(axis=1)
        seeds[:, step] = candidates[every, best]
        closest, potential = distances[every, best], potentials[every, best]
    return seeds


def first_seeds(uniforms: Float, n_samples: int) -> Labels:
    """Return samples drawn with equal chances."""
    chances = np.cumsum(np.full(n_samples, 1.0 / n_samples))
    return np.searchsorted(chances / chances[-1], uniforms, side="right")


def drawn(weights: Float, targets: Float) -> Labels:
    """Return, row by row, where the running sum of the weights reaches the targets."""
    running = np.cumsum(weights, axis=1)
    found = [
        np.searchsorted(row, target)
        for row, target in zip(running, targets, strict=True)
    ]
    return np.minimum(found, weights.shape[1] - 1)


def k_means_of_draws(
    geometry: SampleDistances,
    draws: Float,
    n_clusters: int,
    n_init: int,
    max_iter: int = 300,
    tol: float = 1e-4,
) -> tuple[Labels, Float]:
    """Run k-means for seeds whose random numbers are the rows of ``draws``."""
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
    """Return the restart of least inertia, the first among equal clusterings."""
    best = 0
    for at in range(1, len(inertia)):
        if inertia[at] < inertia[best]:
            clearly = inertia[at] < (1.0 - INERTIA_ROUNDING) * inertia[best]
            if clearly or not same_clustering(labels[at], labels[best]):
                best = at
    return best


def same_clustering(labels: Labels, others: Labels) -> bool:
    """Tell whether two labellings differ by the names of the clusters only."""
    pairs = np.unique(labels * (others.max() + 1) + others)
    return len(pairs) == len(np.unique(labels)) == len(np.unique(others))
