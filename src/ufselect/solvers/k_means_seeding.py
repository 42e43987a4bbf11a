"""Greedy k-means++: first centres for many restarts at once."""

import numpy as np

from ufselect.matrix import Float
from ufselect.solvers.sample_distances import Labels, SampleDistances


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
