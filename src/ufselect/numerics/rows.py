"""Coefficients with one row per feature: their sizes, shrinkage and ranking."""

import numpy as np

from ufselect.matrix.base import Float


def row_norms(matrix: Float) -> Float:
    """Return the Euclidean norm of each row."""
    return np.sqrt(np.einsum("ij,ij->i", matrix, matrix))


def shrink_rows(matrix: Float, amount: float) -> Float:
    """Shorten each row by amount; a shorter row becomes zero."""
    norms = row_norms(matrix)
    factors = np.zeros_like(norms)
    np.divide(norms - amount, norms, out=factors, where=norms > amount)
    return matrix * factors[:, np.newaxis]


def ranked_below(sizes: Float, nearness: Float) -> Float:
    """Return sizes in which zeros are ranked, below all others, by their nearness.

    A nearness of one or more lies just below the smallest size.

    Examples
    --------
    >>> ranked_below(np.array([2.0, 0.0, 4.0, 0.0]), np.array([1.0, 0.5, 1.0, 0.0]))
    array([2.   , 0.999, 4.   , 0.   ])
    """
    inside = sizes > 0
    if not inside.any():
        return nearness
    outside = 0.999 * sizes[inside].min() * np.minimum(nearness, 1.0)
    return np.where(inside, sizes, outside)
