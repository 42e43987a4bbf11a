"""Columns that say the same as a better one, told by their correlations."""

import numpy as np
from sklearn.utils import gen_batches

from ufselect.matrix import ColumnSummary, DataMatrix, Float, Index, as_matrix
from ufselect.solvers.preparation import prepare

# Values of columns are held for this many at a time.
VALUES_AT_ONCE = 1_000_000

# Redundancy is removed among the best features until so many are left.
MOST_DISTINCT = 500

# A correlation of exactly 1 may be computed as this much more or less.
ROUNDING = 1e-7


def unit_columns(
    data: DataMatrix, summary: ColumnSummary, varying: Index
) -> DataMatrix:
    """Return columns that vary, centred and of unit length: products correlate them."""
    kept = ColumnSummary(*(part[varying] for part in summary))
    # To take all columns would be to copy the table.
    some = data.take(varying) if len(varying) < data.shape[1] else data
    return prepare(some, kept, "features", len(varying)).centred


def distinct_columns(
    unit: DataMatrix, places: Index, n_features: int, most: float
) -> list[int]:
    """Return which places hold a column that resembles none taken before it.

    Columns are taken in the order of ``places`` until there are ``n_features``; one
    whose absolute correlation with a column taken before exceeds ``most`` is skipped.
    """
    n_samples = unit.shape[0]
    taken: list[int] = []
    basis = np.empty((min(n_features, len(places)), n_samples))
    for batch in gen_batches(len(places), max(1, VALUES_AT_ONCE // n_samples)):
        for step, column in enumerate(unit.columns(places[batch]).T):
            correlations = np.abs(basis[: len(taken)] @ column)
            if correlations.max(initial=0.0) <= most + ROUNDING:
                basis[len(taken)] = column
                taken.append(batch.start + step)
            if len(taken) == n_features:
                return taken
    return taken


def redundant_features(
    data: DataMatrix, summary: ColumnSummary, order: Index, max_correlation: float
) -> Index:
    """Return the features that correlate with a better one, among the best.

    The search ends when 500 are left that do not. Of many samples, some that are evenly
    spaced are looked at.
    """
    rows = data.some_rows()
    if len(rows) < data.shape[0]:
        data = as_matrix(data.raw[rows])
        summary = data.summary()
    varying = np.flatnonzero(~summary.constant)
    order = order[np.isin(order, varying)]
    unit = unit_columns(data, summary, varying).by_columns()
    places = np.searchsorted(varying, order)
    distinct = distinct_columns(unit, places, MOST_DISTINCT, max_correlation)
    compared = order[: distinct[-1] + 1] if len(distinct) == MOST_DISTINCT else order
    return np.setdiff1d(compared, order[distinct])


def lowered(scores: Float, behind: Index) -> Float:
    """Return scores in which some come strictly behind all others, in their order.

    Examples
    --------
    >>> import numpy as np
    >>> lowered(np.array([3.0, 1.0, 2.0]), np.array([0]))
    array([0.33333333, 1.        , 2.        ])
    """
    result = scores.copy()
    if len(behind) in (0, len(scores)):
        return result
    lowest = np.delete(scores, behind).min()
    gap = np.ptp(scores) / len(scores) or 1.0
    result[behind] -= max(0.0, scores[behind].max() - lowest) + gap
    return result
