"""What is done row by row: norms, shrinkage, ranking, projection on the simplex."""

import numpy as np

from ufselect.matrix.base import Float

# Rows are projected in blocks that stay in the processor's cache.
CACHED_VALUES = 32_768


def row_norms(matrix: Float) -> Float:
    """Return the Euclidean norm of each row."""
    return np.sqrt(np.einsum("ij,ij->i", matrix, matrix))


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


def project_rows_to_simplex(points: Float) -> Float:
    """Return, for each row, the nearest point with entries >= 0 that sum to 1.

    The projection is ``max(row - threshold, 0)``; the threshold is found from the
    sorted row (Held, Wolfe and Crowder, 1974).

    >>> import numpy as np
    >>> project_rows_to_simplex(np.array([[0.4, 0.6], [2.0, 0.0]]))
    array([[0.4, 0.6],
           [1. , 0. ]])
    """
    result = np.empty_like(points)
    step = max(1, CACHED_VALUES // max(1, points.shape[1]))
    for start in range(0, len(points), step):
        rows = points[start : start + step]
        # The projection does not see a constant, but large numbers lose digits to it.
        rows = rows - rows.max(axis=1, keepdims=True)
        descending = -np.sort(-rows, axis=1)
        excess = np.cumsum(descending, axis=1)
        excess -= 1.0
        excess /= np.arange(1, rows.shape[1] + 1)
        support = np.count_nonzero(descending > excess, axis=1)
        # Rounding may hide that the largest entry always remains.
        last = np.maximum(support, 1)[:, np.newaxis] - 1
        rows -= np.take_along_axis(excess, last, axis=1)
        np.maximum(rows, 0.0, out=result[start : start + step])
    return result
