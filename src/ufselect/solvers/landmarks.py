"""Approximate graphs of many samples, by landmarks (anchor graphs).

Each sample is connected to its nearest landmarks by weights that sum to one, the rows
of Z (n x m). Two samples are similar if they share landmarks::

    S = Z diag(d)^-1 Z',    d = Z'1

Rows of S sum to one: all degrees are one, and the Laplacian is I - S. Scores and
eigenvectors need only Z'X (m x p) and Z'Z (m x m), which are sums over the samples and
are computed in blocks. Z'Z is a graph of the landmarks with degrees d. If V are
eigenvectors of ``diag(d)^-1/2 Z'Z diag(d)^-1/2`` with eigenvalues v, then
``Z diag(d)^-1/2 V diag(v)^-1/2`` are eigenvectors of S with the same eigenvalues.

W. Liu, J. He, S.-F. Chang. Large graph construction for scalable semi-supervised
learning. ICML 2010, 679-686.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.utils.random import sample_without_replacement

from ufselect.matrix import DataMatrix, DenseMatrix, Float, RowBlockMatrix
from ufselect.matrix.base import (
    BLOCK_BYTES,
    AlignedRows,
    Arrays,
)
from ufselect.solvers.cells import rough_centres
from ufselect.solvers.graphs import inverse_root
from ufselect.solvers.spectral import spectral_embedding

# Squared distances that differ by less than this share of the squared norms are tied:
# rounding, which depends on the blocks, must not decide which one is smaller.
DISTANCE_ROUNDING = 1e-12

# Eigenvalues of S below this count as rounding errors.
EIGENVALUE_ROUNDING = 1e-10

# Largest number of samples on which landmarks are computed, and of their values.
MAX_SAMPLES_SEARCHED = 5000

MAX_VALUES_SEARCHED = 10_000_000


def is_not_an_array(data: DataMatrix) -> bool:
    """Return whether samples are neither in memory nor in a memory-mapped array."""
    return data.out_of_core and not isinstance(data.raw, np.ndarray)


def in_memory_if_few(data: DataMatrix, n_landmarks: int) -> DataMatrix:
    """Return the samples in memory if there are no more of them than landmarks.

    The exact graph is then no larger than the approximate one.
    """
    if is_not_an_array(data) and data.shape[0] <= n_landmarks:
        data.summary()  # raises an error for chunks with a wrong shape
        return DenseMatrix(data.rows(slice(None)))
    return data


class Landmarks(NamedTuple):
    """Coordinates of landmarks, and how samples are connected to them.

    A sample is connected to its ``n_nearest`` landmarks, and to others at the same
    distance as the last of them, with weights proportional to
    ``exp(-d^2 / (2 bandwidth^2))`` for the distance d. An infinite bandwidth gives
    equal weights.
    """

    places: Float
    n_nearest: int
    bandwidth: float = np.inf


class LandmarkSums(NamedTuple):
    """``Z'X`` (m x p), ``Z'Z`` (m x m) and, if requested, ``X'X`` (else empty)."""

    cross: Float
    graph: Float
    gram: Float = np.empty((0, 0))

    @property
    def degree(self) -> Float:
        """Return ``d = Z'1``, which is ``Z'Z 1``."""
        result: Float = self.graph.sum(axis=1)
        return result


def near_landmarks(
    block: DataMatrix, landmarks: Landmarks
) -> tuple[Float, NDArray[np.bool_]]:
    """Return squared distances to all landmarks, and a mask of the nearest."""
    places, last = landmarks.places, landmarks.n_nearest - 1
    squares = np.einsum("ij,ij->i", places, places)
    sizes = block.row_norms()[:, np.newaxis] ** 2 + squares
    squared = sizes - 2 * block.dot(places.T)
    reach = np.partition(squared, last, axis=1)[:, [last]]
    sizes *= DISTANCE_ROUNDING
    squared[squared <= sizes] = 0.0
    return squared, squared <= reach + sizes


def landmark_weights(block: DataMatrix, landmarks: Landmarks) -> sp.csr_array:
    """Return the rows of Z for a block of samples.

    Examples
    --------
    >>> import numpy as np
    >>> from ufselect.matrix import as_matrix
    >>> landmarks = Landmarks(np.array([[0.0], [4.0], [9.0]]), n_nearest=2)
    >>> landmark_weights(as_matrix(np.array([[1.0], [7.0]])), landmarks).toarray()
    array([[0.5, 0.5, 0. ],
           [0. , 0.5, 0.5]])
    """
    squared, near = near_landmarks(block, landmarks)
    # softmax is relative to the nearest landmark: weights cannot all underflow.
    exponents = np.where(near, squared * (-0.5 / landmarks.bandwidth**2), -np.inf)
    return sp.csr_array(softmax(exponents, axis=1))


def landmark_sums(
    matrix: DataMatrix, landmarks: Landmarks, *, gram: bool = False
) -> LandmarkSums:
    """Return the sums over all samples, in one pass over the blocks of rows."""
    return LandmarkSums(*matrix.sums_over_rows(_sums, (), landmarks, gram))


def _sums(
    block: DataMatrix, rows: Arrays, landmarks: Landmarks, gram: bool
) -> tuple[Arrays, Arrays]:
    small = in_small_blocks(block, landmarks)
    sums = small.over_rows(_small_sums, (), landmarks)[1]
    return (), (*sums, block.feature_gram()) if gram else sums


def _small_sums(
    block: DataMatrix, rows: Arrays, landmarks: Landmarks
) -> tuple[Arrays, Arrays]:
    weights = landmark_weights(block, landmarks)
    cross = weights.T @ block.rows(slice(None))
    return (), (cross, (weights.T @ weights).toarray())


def in_small_blocks(block: DataMatrix, landmarks: Landmarks) -> RowBlockMatrix:
    """Return a block split into smaller ones, so that a dense Z needs little memory."""
    n_rows = max(1, BLOCK_BYTES // (8 * len(landmarks.places)))
    return RowBlockMatrix(
        block.raw,
        block.shift,
        block.scale,
        block.sample_scale,
        block_bytes=8 * n_rows * block.shape[1],
    )


def explained_squares(sums: LandmarkSums) -> Float:
    """Return ``f'Sf = |diag(d)^-1/2 Z'f|^2`` for each column f of X.

    For a centred f this is the part of ``f'f`` that the graph explains; the rest,
    ``f'f - f'Sf``, is its variation over the graph.
    """
    roots = inverse_root(sums.degree)[:, np.newaxis]
    result: Float = np.sum((roots * sums.cross) ** 2, axis=0)
    return result


def landmark_embedding(sums: LandmarkSums, n_components: int) -> Float:
    """Return A (m x K) such that Z A are the leading eigenvectors of S.

    They have unit length; the constant one is excluded. There are at most m - 1. The
    largest entry of each column of A is positive.
    """
    used = np.flatnonzero(sums.degree > 0)
    graph = sums.graph[np.ix_(used, used)]
    functions = spectral_embedding(sp.csr_array(graph), n_components)
    # For y = diag(d)^-1/2 V: y'Z'Z y = v, while y'diag(d) y = 1.
    values = np.einsum("ij,ij->j", functions, graph @ functions)
    known = values > EIGENVALUE_ROUNDING
    embedding = np.zeros((len(sums.graph), np.count_nonzero(known)))
    embedding[used] = functions[:, known] / np.sqrt(values[known])
    return embedding


def interpolated(
    matrix: DataMatrix, landmarks: Landmarks, values: Float
) -> AlignedRows:
    """Return ``Z values``, which interpolates values at the landmarks."""
    return matrix.over_rows(_carry, (), landmarks, values)[0]


def _carry(
    block: DataMatrix, rows: Arrays, landmarks: Landmarks, values: Float
) -> tuple[Arrays, Arrays]:
    small = in_small_blocks(block, landmarks)
    return small.over_rows(_small_carry, (), landmarks, values)


def _small_carry(
    block: DataMatrix, rows: Arrays, landmarks: Landmarks, values: Float
) -> tuple[Arrays, Arrays]:
    return (landmark_weights(block, landmarks) @ values,), ()


def find_landmarks(
    matrix: DataMatrix,
    n_landmarks: int,
    n_nearest: int,
    *,
    bandwidth: float | None = np.inf,
) -> Landmarks:
    """Return the centres of a few iterations of k-means as landmarks.

    k-means runs on a subsample drawn with a fixed seed, so that the landmarks do not
    depend on how the rows are divided into blocks.

    Parameters
    ----------
    matrix : DataMatrix
    n_landmarks : int
        Largest number of landmarks; there are no more than distinct samples.
    n_nearest : int
        Landmarks of each sample; reduced if needed to one less than all of them.
    bandwidth : float, optional
        If None, the median distance to a connected landmark.

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
            f"n_landmarks={n_landmarks} must be larger than n_neighbors={n_nearest}; "
            f"use at least {n_nearest + 1} landmarks."
        )
    view = matrix.affine(rounded(matrix.shift), rounded(matrix.scale))
    random = np.random.RandomState(0)
    drawn = sample_without_replacement(
        view.shape[0], n_searched(view, n_landmarks), random_state=random
    )
    distinct, counts = np.unique(view.rows(np.sort(drawn)), axis=0, return_counts=True)
    if len(distinct) < 2:
        raise ValueError(
            f"The {counts.sum()} samples drawn for the landmarks are all equal, so "
            "there are no neighbours; remove duplicated samples."
        )
    places = distinct
    if len(distinct) > n_landmarks:
        places = rough_centres(distinct, n_landmarks, random, counts)
    found = Landmarks(in_view_of(places, view, matrix), min(n_nearest, len(places) - 1))
    if bandwidth is None:
        samples = DenseMatrix(in_view_of(distinct, view, matrix))
        squared, near = near_landmarks(samples, found)
        positive = squared[near & (squared > 0)]
        bandwidth = float(np.sqrt(np.median(positive))) if len(positive) else 1.0
    return found._replace(bandwidth=bandwidth)


def rounded(values: Float) -> Float:
    """Return values rounded to seven digits, to remove rounding errors.

    Means and deviations summed over other blocks differ in the last digit. If distances
    are tied, as between counts, this would change the landmarks.
    """
    fractions, exponents = np.frexp(values)
    return np.asarray(np.ldexp(np.round(fractions * 2**24) / 2**24, exponents))


def in_view_of(points: Float, view: DataMatrix, matrix: DataMatrix) -> Float:
    """Return points given in the units of one view in the units of another."""
    # A column with scale zero is constant: its value is the shift.
    raw = np.divide(
        points, view.scale, out=np.zeros_like(points), where=view.scale != 0
    )
    return (raw + (view.shift - matrix.shift)) * matrix.scale


def n_searched(matrix: DataMatrix, n_least: int) -> int:
    """Return the number of samples to draw for the landmarks."""
    n_samples, n_features = matrix.shape
    return min(
        n_samples,
        max(n_least, min(MAX_SAMPLES_SEARCHED, MAX_VALUES_SEARCHED // n_features)),
    )
