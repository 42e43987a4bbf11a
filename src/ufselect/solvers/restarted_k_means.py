"""k-means from several starts at once, of which the best is kept.

The random numbers, the rules and so, up to rounding, the labels are those of
scikit-learn's ``KMeans(n_clusters, n_init=n_init)``: greedy k-means++, Lloyd's
iteration, clusters without samples moved to the farthest one. The distances between
samples are computed once for all starts.
"""

import numpy as np

from ufselect.matrix.base import Float
from ufselect.solvers.k_means_seeding import greedy_seeds
from ufselect.solvers.lloyd import lloyd
from ufselect.solvers.sample_distances import Labels, SampleDistances

# Two inertias closer than this may differ by rounding only.
ROUNDING = 1e-9


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
            clearly = inertia[at] < (1.0 - ROUNDING) * inertia[best]
            if clearly or not same_clustering(labels[at], labels[best]):
                best = at
    return best


def same_clustering(labels: Labels, others: Labels) -> bool:
    """Tell whether two labellings differ by the names of the clusters only."""
    pairs = np.unique(labels * (others.max() + 1) + others)
    return len(pairs) == len(np.unique(labels)) == len(np.unique(others))
