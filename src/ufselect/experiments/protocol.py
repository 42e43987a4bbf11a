"""The preparations of tables and the metrics of rankings that a plan may name.

There are three kinds of metrics: k-means on the chosen columns against the classes
(repeated with other starts), cross-validated classifiers on the chosen columns
(repeated with other folds), and how much of the table the columns keep (without labels,
deterministic, once).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.preprocessing import MaxAbsScaler, StandardScaler, minmax_scale, normalize

from ufselect.evaluation import (
    neighbourhood_agreement,
    reconstruction_error,
    redundancy,
)
from ufselect.evaluation.judging import METRICS as AGREEMENTS

CLASSIFIERS = ("nearest_neighbour", "logistic_regression")
STRUCTURE: dict[str, Callable[[Any, NDArray[np.intp]], float]] = {
    "redundancy": lambda table, chosen: redundancy(table[:, chosen]),
    "reconstruction_error": reconstruction_error,
    "neighbourhood_agreement": neighbourhood_agreement,
}
METRICS = (*AGREEMENTS, *CLASSIFIERS, *STRUCTURE)
LOWER_IS_BETTER = frozenset({"redundancy", "reconstruction_error"})


def _logarithm(table: Any) -> Any:
    smallest = table.min()
    if smallest < 0:
        raise ValueError(
            f"preparation 'log' needs values of at least 0, and one is {smallest:g}"
        )
    # np.log1p keeps a sparse table sparse, since log(1 + 0) = 0.
    return np.log1p(table)


def _unit_range(table: Any) -> Any:
    # In a sparse table zero stays zero.
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
