"""Scaled cluster indicators ``F = Y (Y'Y)^(-1/2)``, from a graph of the samples."""

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans

from ufselect.matrix.base import Float, Index
from ufselect.solvers.rows import row_norms
from ufselect.solvers.spectral import smoothest_vectors
from ufselect.solvers.starts import N_RUNS, crisp_memberships, with_every_cluster

# Added to every entry: a multiplicative rule can never move a zero.
OFFSET = 0.2


def indicator_from_labels(
    labels: Index, n_clusters: int, offset: float = OFFSET
) -> Float:
    """Return ``Y (Y'Y)^(-1/2) + offset``, where Y has a one at the label.

    Examples
    --------
    >>> import numpy as np
    >>> indicator_from_labels(np.array([0, 0, 0, 0, 1]), 2, 0.0)[3:]
    array([[0.5, 0. ],
           [0. , 1. ]])
    """
    memberships = crisp_memberships(labels, n_clusters)
    return memberships / np.sqrt(memberships.sum(axis=0)) + offset


def clusters_of_graph(
    graph: sp.csr_array, n_clusters: int, random: np.random.RandomState
) -> Index:
    """Return the labels of spectral clustering with the normalised Laplacian.

    k-means, from ten starts, on the lowest eigenvectors with rows of unit length.
    """
    vectors = smoothest_vectors(graph, n_clusters)
    lengths = row_norms(vectors)
    lengths[lengths == 0] = 1.0
    points = vectors / lengths[:, np.newaxis]
    model = KMeans(n_clusters, n_init=N_RUNS, random_state=random).fit(points)
    return with_every_cluster(model.labels_, n_clusters)
