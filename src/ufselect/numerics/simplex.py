"""Euclidean projection on the probability simplex."""

import numpy as np

from ufselect.matrix.base import Float


def project_rows_to_simplex(points: Float) -> Float:
    """Return, for each row, the nearest point with entries >= 0 that sum to 1.

    The projection is ``max(row - threshold, 0)``; the threshold is found from the
    sorted row (Held, Wolfe and Crowder, 1974).

    >>> import numpy as np
    >>> project_rows_to_simplex(np.array([[0.4, 0.6], [2.0, 0.0]]))
    array([[0.4, 0.6],
           [1. , 0. ]])
    """
    n_columns = points.shape[1]
    descending = -np.sort(-points, axis=1)
    excess = np.cumsum(descending, axis=1)
    excess -= 1.0
    excess /= np.arange(1, n_columns + 1)
    support = np.count_nonzero(descending > excess, axis=1)
    threshold = np.take_along_axis(excess, support[:, np.newaxis] - 1, axis=1)
    return np.maximum(points - threshold, 0.0)
