"""Similarity of all pairs of samples: dense n x n kernels and their roots."""

import numpy as np
from scipy.linalg import eigh

from ufselect.matrix.base import Float

# Eigenvalues below this share of the largest are rounding.
ROUNDING = 1e-14


def squared_distances_of(gram: Float) -> Float:
    """Return the n x n squared distances of points with the Gram matrix ``X X'``.

    Examples
    --------
    >>> squared_distances_of(np.outer([0.0, 3.0], [0.0, 3.0]))
    array([[0., 9.],
           [9., 0.]])
    """
    squares = np.diagonal(gram)
    distances = squares[:, np.newaxis] + squares - 2 * gram
    # Rounding must neither make a distance negative nor a sample differ from itself.
    np.maximum(distances, 0.0, out=distances)
    np.fill_diagonal(distances, 0.0)
    return distances


def median_distance(squared: Float) -> float:
    """Return the median distance over pairs; of distinct points if it is zero."""
    # The root of a median of squares is another number if the pairs are even.
    pairs = np.sqrt(squared[np.triu_indices(len(squared), 1)])
    median = float(np.median(pairs))
    if median > 0:
        return median
    positive = pairs[pairs > 0]
    return float(np.median(positive)) if len(positive) else 1.0


def gaussian_kernel(squared: Float, bandwidth: float | None = None) -> Float:
    """Return ``exp(-d^2 / (2 bandwidth^2))``.

    Parameters
    ----------
    squared : ndarray of shape (n, n)
        Squared distances.
    bandwidth : float, optional
        By default the median distance divided by the square root of two, so that
        the kernel is ``exp(-d^2 / median^2)``.
    """
    if bandwidth is None:
        bandwidth = median_distance(squared) / np.sqrt(2)
    # Divided twice: the square of a tiny bandwidth would vanish.
    return np.exp(-0.5 * squared / bandwidth / bandwidth)


def centred_kernel(kernel: Float) -> Float:
    """Return the kernel of the same features with their means removed."""
    means = kernel.mean(axis=0)
    return kernel - means - means[:, np.newaxis] + means.mean()


def kernel_root(
    kernel: Float, *, n_columns: int | None = None, share: float = 1.0
) -> Float:
    """Return Y with ``Y Y' = K``, or the best Y of fewer columns.

    Parameters
    ----------
    kernel : ndarray of shape (n, n)
        Symmetric; negative eigenvalues are left out.
    n_columns : int, optional
        At most so many columns, those of the largest eigenvalues.
    share : float
        Columns are left out while the trace keeps at least this share.

    Returns
    -------
    root : ndarray of shape (n, r)
        Largest eigenvalue first; the largest entry of a column is positive.
    """
    n_samples = len(kernel)
    wanted = n_samples if n_columns is None else min(n_columns, n_samples)
    subset = (n_samples - wanted, n_samples - 1)
    values, vectors = eigh(kernel, subset_by_index=subset)
    values, vectors = values[::-1], vectors[:, ::-1]
    positive = values > ROUNDING * max(values[0], 0.0)
    if share < 1.0:
        reached = np.cumsum(values) >= share * np.trace(kernel)
        positive[1:] &= ~reached[:-1]
    root = vectors[:, positive] * np.sqrt(values[positive])
    peaks = root[np.abs(root).argmax(axis=0), np.arange(root.shape[1])]
    return root * np.sign(peaks)
