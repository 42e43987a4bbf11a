"""How a table is prepared before anything is selected from it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import MaxAbsScaler, StandardScaler, minmax_scale, normalize


def _logarithm(table: Any) -> Any:
    smallest = table.min()
    if smallest < 0:
        raise ValueError(
            f"preparation 'log' needs values of at least 0, and one is {smallest:g}"
        )
    # np.log1p keeps a sparse table sparse, since log(1 + 0) = 0.
    return np.log1p(table)


def _unit_range(table: Any) -> Any:
    # Zero stays zero in a sparse table, which counts from zero anyway.
    if sp.issparse(table):
        return MaxAbsScaler().fit_transform(table)
    return minmax_scale(table)


def _unit_variance(table: Any) -> Any:
    return StandardScaler(with_mean=not sp.issparse(table)).fit_transform(table)


PREPARATIONS: dict[str, Callable[[Any], Any]] = {
    "none": lambda table: table,
    "unit-variance": _unit_variance,
    "unit-range": _unit_range,
    "unit-samples": normalize,
    "log": _logarithm,
}


def prepare_table(table: Any, preparation: str) -> Any:
    """Return the table after one of ``PREPARATIONS``.

    Examples
    --------
    >>> import numpy as np
    >>> prepare_table(np.array([[1.0], [3.0]]), "unit-range")
    array([[0.],
           [1.]])
    """
    return PREPARATIONS[preparation](table)
