"""Which columns follow the clusters of the samples, and whether they stand apart."""

from typing import NamedTuple

import numpy as np

from ufselect.matrix import DataMatrix, Float


class UpperGroup(NamedTuple):
    """The larger of some numbers.

    ``separation`` is the share of their variance that lies between the two groups:
    three quarters where they are spread evenly, one where there are two values only.
    """

    size: int
    separation: float


def explained_shares(centred: DataMatrix, memberships: Float) -> Float:
    """Return the share of the variance of each column that clusters explain.

    Corrected for what as many clusters would explain by chance, and never negative; of
    a constant column they explain nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from ufselect.matrix import as_matrix
    >>> X = np.array([[-1.0, 1.0], [-1.0, -1.0], [1.0, 1.0], [1.0, -1.0]])
    >>> explained_shares(as_matrix(X), np.array([[1, 0], [1, 0], [0, 1], [0, 1.0]]))
    array([1., 0.])
    """
    n_samples = len(memberships)
    directions = memberships - memberships.mean(axis=0)
    basis, sizes, _ = np.linalg.svd(directions, full_matrices=False)
    basis = basis[:, sizes > 1e-10 * max(sizes[0], 1.0)]
    squares = n_samples * centred.summary().deviation ** 2
    share = np.zeros(centred.shape[1])
    found = np.sum(centred.transpose_dot(basis) ** 2, axis=1)
    np.divide(found, squares, out=share, where=squares > 0)
    freedom = n_samples - 1 - basis.shape[1]
    if freedom < 1:
        return np.clip(share, 0.0, 1.0)
    return np.clip(1 - (1 - share) * (n_samples - 1) / freedom, 0.0, 1.0)


def upper_group(values: Float) -> UpperGroup:
    """Return the split into two groups with the least variance within them (Otsu).

    Equal numbers go to the same group. If all are equal, that is the upper one.

    Examples
    --------
    >>> import numpy as np
    >>> upper_group(np.array([0.1, 0.9, 0.0, 0.8, 0.1]))
    UpperGroup(size=2, separation=0.98...)
    """
    falling = np.sort(values)[::-1]
    n_values, variance = len(falling), falling.var()
    size = np.flatnonzero(falling[:-1] > falling[1:]) + 1
    if len(size) == 0:
        return UpperGroup(n_values, 0.0)
    above = np.cumsum(falling)[size - 1]
    rest = n_values - size
    gap = above / size - (falling.sum() - above) / rest
    between = size * rest * gap**2 / n_values**2
    best = int(np.argmax(between))
    return UpperGroup(int(size[best]), float(between[best] / variance))
