"""Columns whose values are permuted: what they would be without the others."""

from typing import Any

import numpy as np
import scipy.sparse as sp


def permuted_columns(X: Any, random: np.random.Generator) -> Any:
    """Return X with the values of each column permuted, each on its own.

    A sparse X gives a sparse result, in CSC.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(8.0).reshape(4, 2)
    >>> np.sort(permuted_columns(X, np.random.default_rng(0)), axis=0).T
    array([[0., 2., 4., 6.],
           [1., 3., 5., 7.]])
    """
    sparse = bool(sp.issparse(X))
    if not sparse:
        return random.permuted(X, axis=0)
    result: Any = sp.csc_array(X, copy=True)
    n_samples, n_features = result.shape
    # In a random order of the rows, each column moves down by a number of its own: the
    # values of a column go to other rows, and its zeros with them.
    moves = np.repeat(
        random.integers(n_samples, size=n_features), np.diff(result.indptr)
    )
    rows = random.permutation(n_samples)[result.indices]
    result.indices = ((rows + moves) % n_samples).astype(result.indices.dtype)
    result.has_sorted_indices = False
    return result
