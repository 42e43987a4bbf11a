"""Where landmarks are put among samples that may be elsewhere."""

import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.random import sample_without_replacement

from ufselect.matrix import DataMatrix, DenseMatrix, Float, Index
from ufselect.solvers.landmarks import Landmarks, near_landmarks

# Samples among which landmarks are looked for, and the values that these may have.
MANY_SAMPLES = 5000
MANY_VALUES = 10_000_000

# Rounds of k-means that spread the landmarks: as many again change nothing that shows.
ROUNDS = 5


def find_landmarks(
    matrix: DataMatrix,
    n_landmarks: int,
    n_nearest: int,
    *,
    bandwidth: float | None = np.inf,
) -> Landmarks:
    """Return landmarks that are spread over the samples by a few rounds of k-means.

    They are found in some of the samples, drawn with a fixed seed, so that they do not
    depend on how the samples are cut into blocks.

    Parameters
    ----------
    matrix : DataMatrix
    n_landmarks : int
        As many at most: no more than there are distinct samples.
    n_nearest : int
        Landmarks of a sample; one is always left to which it is not tied.
    bandwidth : float, optional
        None is the median distance to such a landmark.

    Examples
    --------
    >>> import numpy as np
    >>> from ufselect.matrix import as_matrix
    >>> points = np.array([[0.0], [1.0], [9.0], [9.0], [8.0], [0.0]])
    >>> np.sort(find_landmarks(as_matrix(points), 2, 1).places.ravel()).round(3)
    array([0.333, 8.667])
    """
    if n_landmarks <= n_nearest:
        raise ValueError(
            f"n_landmarks={n_landmarks} but every sample is tied to n_neighbors="
            f"{n_nearest} of them; ask for at least {n_nearest + 1} landmarks."
        )
    view = matrix.affine(rounded(matrix.shift), rounded(matrix.scale))
    random = np.random.RandomState(0)
    distinct, counts = np.unique(
        some_samples(view, n_landmarks, random), axis=0, return_counts=True
    )
    if len(distinct) < 2:
        raise ValueError(
            f"The {counts.sum()} samples among which landmarks were looked for are "
            "all equal, so that there are no neighbours; leave repeated samples out."
        )
    places = distinct
    if len(distinct) > n_landmarks:
        places = spread_centres(distinct, counts, n_landmarks, random)
    found = Landmarks(seen_as(places, view, matrix), min(n_nearest, len(places) - 1))
    if bandwidth is None:
        samples = DenseMatrix(seen_as(distinct, view, matrix))
        bandwidth = typical_distance(samples, found)
    return found._replace(bandwidth=bandwidth)


def rounded(values: Float) -> Float:
    """Return values with seven digits, in which errors of rounding do not show.

    Means and deviations summed over other blocks differ in the last digit; where
    distances are tied, as between counts, that would be enough for other landmarks.
    """
    fractions, exponents = np.frexp(values)
    return np.asarray(np.ldexp(np.round(fractions * 2**24) / 2**24, exponents))


def seen_as(points: Float, view: DataMatrix, matrix: DataMatrix) -> Float:
    """Return points of one view of a matrix as they are in another."""
    # A column scaled to zero was constant: all of it is shift.
    raw = np.divide(
        points, view.scale, out=np.zeros_like(points), where=view.scale != 0
    )
    return (raw + (view.shift - matrix.shift)) * matrix.scale


def some_samples(
    matrix: DataMatrix, n_least: int, random: np.random.RandomState
) -> Float:
    """Return samples drawn at random: enough to see where they are, or n_least."""
    n_drawn = n_looked_at(matrix, n_least)
    drawn = sample_without_replacement(matrix.shape[0], n_drawn, random_state=random)
    return matrix.rows(np.sort(drawn))


def n_looked_at(matrix: DataMatrix, n_least: int) -> int:
    """Return the number of samples among which landmarks are looked for."""
    n_samples, n_features = matrix.shape
    return min(n_samples, max(n_least, min(MANY_SAMPLES, MANY_VALUES // n_features)))


def spread_centres(
    points: Float, weights: Index, n_centres: int, random: np.random.RandomState
) -> Float:
    """Return the centres of a few rounds of k-means, from some of distinct points."""
    model = KMeans(
        n_centres, init="random", n_init=1, max_iter=ROUNDS, random_state=random
    )
    with warnings.catch_warnings():
        # A centre that was left without points is of no use, and does no harm.
        warnings.simplefilter("ignore", ConvergenceWarning)
        centres: Float = model.fit(points, sample_weight=weights).cluster_centers_
    return centres


def typical_distance(samples: DataMatrix, landmarks: Landmarks) -> float:
    """Return the median distance to one of the nearest landmarks, if positive."""
    squared, near = near_landmarks(samples, landmarks)
    positive = squared[near & (squared > 0)]
    return float(np.sqrt(np.median(positive))) if len(positive) else 1.0
