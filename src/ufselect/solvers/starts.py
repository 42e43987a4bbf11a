"""Initial clusters: soft partitions from k-means, fuzzy c-means or random numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import cholesky
from scipy.special import softmax
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils import check_array
from sklearn.utils.random import sample_without_replacement

from ufselect.matrix import storage_of
from ufselect.matrix.base import (
    AlignedRows,
    Arrays,
    DataMatrix,
    Float,
    Index,
    column_sums,
)

# Largest number of samples for the clustering; more do not improve the start.
MAX_SAMPLE = 5000

# Runs of k-means; the best one is used.
N_RUNS = 10

# Up to this many samples, X X' is small enough even for a very sparse X.
SMALL_KERNEL = 4096

# Exponent of fuzzy c-means in the published experiments; almost crisp clusters.
FUZZIFIER = 1.0005


def kernel_matrix(X: DataMatrix) -> Float | None:
    """Return ``K = X X'`` if that saves work, else None.

    It does if n <= p / 2; K then needs at most half the memory of X. The exception is a
    sparse X with many samples, for which K would be much larger than X.
    """
    n_samples, n_features = X.shape
    affordable = n_samples <= SMALL_KERNEL or 2 * n_samples**2 <= X.multiplications
    if 2 * n_samples <= n_features and affordable and not X.scattered:
        return X.sample_gram()
    return None


def start(
    init: Any,
    X: DataMatrix,
    n_clusters: int,
    random: np.random.RandomState,
    *,
    K: Float | None = None,
    gram: Float | None = None,
    components: bool = True,
) -> AlignedRows:
    """Return initial memberships, aligned with the rows of X.

    Parameters
    ----------
    init : {"k-means", "fuzzy", "random"} or array-like of shape (n, c)
    X : DataMatrix
        Centred, if ``components`` is True.
    n_clusters : int
    random : RandomState
    K, gram : ndarray, optional
        ``X X'`` and ``X'X``, if already computed.
    components : bool
        If True, k-means clusters the leading principal components of X, with ten runs;
        otherwise X itself, with one.
    """
    if not isinstance(init, str):
        return X.aligned(check_memberships(init, X.shape[0], n_clusters))
    by_components = init == "k-means" and components
    if by_components and X.shape[0] > MAX_SAMPLE:
        return start_beside_rows(X, n_clusters, random, gram)
    check_distinct_rows(X, n_clusters)
    if not by_components:
        return X.aligned(start_memberships(init, X, n_clusters, random, K))
    # As many components as clusters contain the differences between clusters, and most
    # of the noise is orthogonal to them. Several runs are cheap in few dimensions, and
    # different seeds agree far more often than with k-means on X itself.
    multiply = (lambda B: X.dot(X.transpose_dot(B))) if K is None else K.__matmul__
    values, vectors = leading_eigenpairs(multiply, X.shape[0], n_clusters, random)
    points = vectors * np.sqrt(np.maximum(values, 0.0))
    model = KMeans(n_clusters, n_init=N_RUNS, random_state=random).fit(points)
    labels = with_every_cluster(model.labels_, n_clusters)
    return X.aligned(crisp_memberships(labels, n_clusters))


def isometric_rows(gram: Float) -> Float:
    """Return n points in n dimensions with the given Gram matrix.

    They have the same distances; clustering them is cheaper than in p > n dimensions.
    """
    points = gram.copy()
    mean_square = max(np.trace(gram) / len(gram), np.finfo(np.float64).tiny)
    points.flat[:: len(gram) + 1] += 1e-10 * mean_square
    return cholesky(points, lower=True, overwrite_a=True, check_finite=False)


def start_memberships(
    kind: str,
    matrix: DataMatrix,
    n_clusters: int,
    random: np.random.RandomState,
    gram: Float | None = None,
) -> Float:
    """Return an initial soft partition (n x c).

    Parameters
    ----------
    kind : {"k-means", "fuzzy", "random"}
    matrix : DataMatrix
    n_clusters : int
    random : RandomState
    gram : ndarray of shape (n, n), optional
        ``X X'``, if already computed.
    """
    n_samples = matrix.shape[0]
    if kind == "random":
        return random.dirichlet(np.ones(n_clusters), size=n_samples)
    if gram is not None:
        points = isometric_rows(gram)
    else:
        rows: slice | Index = slice(None)
        if n_samples > MAX_SAMPLE:
            rows = np.sort(random.permutation(n_samples)[:MAX_SAMPLE])
        # Products round differently in another layout, and c-means may amplify that.
        points = np.ascontiguousarray(matrix.rows(rows))
    find = k_means_centres if kind == "k-means" else c_means_centres
    centres = find(points, n_clusters, random)
    if len(points) == n_samples:
        labels = pairwise_distances_argmin(points, centres)
    else:
        labels = nearest_centres(matrix, centres)
    return crisp_memberships(with_every_cluster(labels, n_clusters), n_clusters)


def leading_eigenpairs(
    multiply: Callable[[Float], Float],
    size: int,
    n_pairs: int,
    random: np.random.RandomState,
    n_rounds: int = 8,
) -> tuple[Float, Float]:
    """Return approximate leading eigenvalues, ascending, and eigenvectors.

    Subspace iteration with products with ``X X'`` or ``X'X``. For a centred X, the
    vectors are the normalised principal components or the principal axes.
    """
    width = min(n_pairs + 8, size)
    basis = random.standard_normal((size, width))
    for _ in range(n_rounds):
        basis = np.linalg.qr(multiply(basis))[0]
    values, vectors = np.linalg.eigh(basis.T @ multiply(basis))
    leading = slice(max(width - n_pairs, 0), None)
    return values[leading], basis @ vectors[:, leading]


def start_beside_rows(
    matrix: DataMatrix,
    n_clusters: int,
    random: np.random.RandomState,
    gram: Float | None = None,
) -> AlignedRows:
    """Return initial memberships for many samples, in memory or out-of-core.

    Principal components are computed from products with ``X'X``, and k-means runs on a
    subsample.

    Parameters
    ----------
    matrix : DataMatrix
        Centred.
    n_clusters : int
    random : RandomState
    gram : ndarray of shape (p, p), optional
        ``X'X``, if already computed.
    """
    multiply = gram.__matmul__ if gram is not None else matrix.normal_dot
    _, axes = leading_eigenpairs(multiply, matrix.shape[1], n_clusters, random)
    points, _ = matrix.over_rows(_scores, (), axes)
    n_seen = min(matrix.shape[0], MAX_SAMPLE)
    seen = sample_without_replacement(matrix.shape[0], n_seen, random_state=random)
    sample = matrix.pick(points, np.sort(seen))
    if len(np.unique(sample, axis=0)) < n_clusters:
        check_distinct_rows(matrix, n_clusters)
    model = KMeans(n_clusters, n_init=N_RUNS, random_state=random).fit(sample)
    clusters, (sizes,) = matrix.over_rows(_nearest, points, model.cluster_centers_)
    if sizes.min() == 0:
        labels = matrix.gather(clusters).argmax(axis=1)
        labels = with_every_cluster(labels, n_clusters)
        return matrix.aligned(crisp_memberships(labels, n_clusters))
    return clusters


def _scores(block: DataMatrix, rows: Arrays, axes: Float) -> tuple[Arrays, Arrays]:
    return (block.dot(axes),), ()


def _nearest(block: DataMatrix, rows: Arrays, centres: Float) -> tuple[Arrays, Arrays]:
    labels = pairwise_distances_argmin(rows[0], centres)
    memberships = crisp_memberships(labels, len(centres))
    return (memberships,), (column_sums(memberships),)


def k_means_centres(
    points: Float, n_clusters: int, random: np.random.RandomState
) -> Float:
    """Return the centres of one run of k-means.

    The points are not copied and may change by rounding errors. A tolerance of zero
    avoids the copy with which k-means computes their variance.
    """
    model = KMeans(
        n_clusters, n_init=1, max_iter=100, tol=0, random_state=random, copy_x=False
    )
    centres: Float = model.fit(points).cluster_centers_
    return centres


def c_means_centres(
    points: Float,
    n_clusters: int,
    random: np.random.RandomState,
    max_iter: int = 100,
) -> Float:
    """Return the centres of fuzzy c-means, started from random memberships."""
    memberships = random.dirichlet(np.ones(n_clusters), size=len(points))
    for _ in range(max_iter):
        weights = memberships**FUZZIFIER
        sizes = np.maximum(weights.sum(axis=0), np.finfo(np.float64).tiny)
        centres = (weights.T @ points) / sizes[:, np.newaxis]
        squared = np.maximum(squared_distances(points, centres), 1e-300)
        previous = memberships
        memberships = softmax(-np.log(squared) / (FUZZIFIER - 1), axis=1)
        if np.abs(memberships - previous).max() < 1e-5:
            break
    return centres


def soft_start(
    X: Float,
    n_clusters: int,
    random: np.random.RandomState,
    exponent: float = 1.2,
    max_iter: int = 300,
) -> Float:
    """Return the memberships of fuzzy c-means, which stay soft.

    From those of exponent 1.2, on X without negative values, the published algorithm of
    SCFS draws five of the six convergence curves of its paper.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> U = soft_start(X, 2, np.random.RandomState(0))
    >>> U.argmax(axis=1)[[0, 2]] == U.argmax(axis=1)[[1, 3]]
    array([ True,  True])
    """
    points = X - X.mean(axis=0)
    if X.shape[1] > X.shape[0]:
        points = isometric_rows(points @ points.T)
    memberships = random.uniform(size=(len(points), n_clusters))
    memberships /= memberships.sum(axis=1, keepdims=True)
    for _ in range(max_iter):
        weights = memberships**exponent
        centres = weights.T @ points / weights.sum(axis=0)[:, np.newaxis]
        squared = np.maximum(squared_distances(points, centres), 1e-300)
        previous = memberships
        memberships = softmax(-np.log(squared) / (exponent - 1), axis=1)
        # Of six tolerances, the one that meets the published curve of Lymphoma best.
        if np.linalg.norm(memberships - previous) < 1e-4:
            break
    return memberships


def squared_distances(points: Float, centres: Float) -> Float:
    """Return the n x c squared Euclidean distances."""
    squares = np.einsum("ij,ij->i", points, points)[:, np.newaxis]
    return squares - 2 * points @ centres.T + np.einsum("ij,ij->i", centres, centres)


def nearest_centres(matrix: DataMatrix, centres: Float) -> Index:
    """Return the index of the nearest centre of each row."""
    scores = -2 * matrix.dot(centres.T)
    scores += np.einsum("ij,ij->i", centres, centres)
    return scores.argmin(axis=1)


def with_every_cluster(labels: Index, n_clusters: int) -> Index:
    """Return labels in which no cluster is empty.

    Each empty cluster gets one sample of the largest one.
    """
    labels = labels.copy()
    counts = np.bincount(labels, minlength=n_clusters)
    for empty in np.flatnonzero(counts == 0):
        donor = counts.argmax()
        labels[np.flatnonzero(labels == donor)[-1]] = empty
        counts[donor] -= 1
        counts[empty] += 1
    return labels


def crisp_memberships(labels: Index, n_clusters: int) -> Float:
    """Return the n x c one-hot matrix of the labels."""
    memberships = np.zeros((len(labels), n_clusters))
    memberships[np.arange(len(labels)), labels] = 1.0
    return memberships


def check_memberships(memberships: Any, n_samples: int, n_clusters: int) -> Float:
    """Return memberships given as init; raise ValueError if they are not valid."""
    if storage_of(memberships) == "dask":
        memberships = memberships.compute()
    result = check_array(memberships, dtype=np.float64, input_name="init", copy=True)
    if result.shape != (n_samples, n_clusters):
        raise ValueError(
            f"init has shape {result.shape} but must have shape (n_samples, "
            f"n_clusters) = ({n_samples}, {n_clusters})."
        )
    sums = result.sum(axis=1)
    if result.min() < 0 or np.abs(sums - 1).max() > 1e-6:
        raise ValueError(
            "init must contain memberships, with entries >= 0 and rows that sum to 1; "
            f"its smallest entry is {result.min():.3g}, and its row sums are between "
            f"{sums.min():.3g} and {sums.max():.3g}."
        )
    if result.sum(axis=0).min() == 0:
        empty = int(result.sum(axis=0).argmin())
        raise ValueError(
            f"init leaves cluster {empty} empty; each column needs a positive entry."
        )
    result /= sums[:, np.newaxis]
    return result


def distinct_rows(matrix: DataMatrix) -> int:
    """Return the number of distinct rows.

    Rows are compared by a random projection: it is equal for equal rows, and differs
    for distinct rows with probability one.
    """
    vector = np.random.RandomState(0).standard_normal((matrix.shape[1], 1))
    places = np.sort(matrix.dot(vector).ravel())
    resolution = 1e-10 * (places[-1] - places[0]) + 1e-14 * np.abs(places).max()
    return 1 + int(np.count_nonzero(np.diff(places) > resolution))


def check_distinct_rows(matrix: DataMatrix, n_clusters: int) -> None:
    """Raise ValueError if there are fewer distinct rows than clusters."""
    n_distinct = distinct_rows(matrix)
    if n_distinct < n_clusters:
        raise ValueError(
            f"X has {n_distinct} distinct rows, fewer than n_clusters={n_clusters}; "
            f"ask for at most {n_distinct} clusters."
        )
