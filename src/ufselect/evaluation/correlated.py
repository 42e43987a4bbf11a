"""Correlated columns: those that a selected column represents, and near-duplicates."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import gen_batches

from ufselect.evaluation.tables import (
    checked_selection,
    checked_table,
    some_of,
)
from ufselect.matrix import ColumnSummary, DataMatrix, Float, Index, as_matrix
from ufselect.solvers.rankings import ROUNDING, distinct_columns, unit_columns

# Number of correlations, or of values of columns, that are held in memory at once.
VALUES_AT_ONCE = 1_000_000


class StandIn(NamedTuple):
    """A selected column and the columns that it represents.

    Attributes
    ----------
    column : int
        The selected column.
    stands_for : ndarray of int
        Columns that it represents, the most correlated first.
    correlations : ndarray of float
        Their correlations with it, with sign.
    alternative : int or None
        The most correlated column that was not selected, which can replace it.
    alternative_correlation : float
        Its correlation, which may be small; 0 without an alternative.
    """

    column: int
    stands_for: Index
    correlations: Float
    alternative: int | None
    alternative_correlation: float


def stand_ins(
    table: Any, selected: ArrayLike, *, threshold: float = 0.8
) -> list[StandIn]:
    """Return, for each selected column, those it represents and its best alternative.

    A column that was not selected is represented by the selected column with which its
    absolute correlation is largest, if that reaches the threshold.

    Parameters
    ----------
    table : {array-like, sparse matrix} of shape (n, p)
    selected : array-like
        Mask or indices of the selected columns.
    threshold : float
        Smallest absolute correlation at which one column represents another.

    Returns
    -------
    list of StandIn
        In the order of the columns. A constant column represents no other column and
        has no alternative.

    Examples
    --------
    >>> table = [[0.0, 0.0, 1.0], [1.0, -2.0, 0.0], [2.0, -4.0, 1.0], [3.0, -6.0, 3.0]]
    >>> first = stand_ins(table, [0])[0]
    >>> first.stands_for, first.correlations.round(6)
    (array([1]), array([-1.]))
    >>> first.alternative
    1
    """
    _check_correlation("threshold", threshold)
    data = as_matrix(checked_table(table))
    kept = some_of(selected, data.shape[1])
    summary = data.summary()
    varying = np.flatnonzero(~summary.constant)
    places = np.searchsorted(varying, kept[np.isin(kept, varying)])
    nearest = _nearest(data, summary, varying, places)
    found = {
        column: _stand_in(column, row, nearest, varying, threshold)
        for row, column in enumerate(varying[places].tolist())
    }
    nothing = np.empty(0, dtype=np.intp), np.empty(0)
    return [
        found.get(column, StandIn(column, *nothing, None, 0.0))
        for column in kept.tolist()
    ]


class _Nearest(NamedTuple):
    """Representative and correlation of each column; alternative of each selected."""

    owner: Index
    correlation: Float
    alternative: Index
    alternative_correlation: Float


def _nearest(
    data: DataMatrix, summary: ColumnSummary, varying: Index, places: Index
) -> _Nearest:
    """Find the best pairs of selected and other columns, in blocks."""
    owner, best = np.full(len(varying), -1), np.zeros(len(varying))
    alternative, its = np.full(len(places), -1), np.zeros(len(places))
    if len(places) == 0 or len(places) == len(varying):
        return _Nearest(owner, best, alternative, its)
    unit = unit_columns(data, summary, varying)
    for batch in gen_batches(len(places), max(1, VALUES_AT_ONCE // len(varying))):
        values = unit.transpose_dot(unit.columns(places[batch])).clip(-1.0, 1.0)
        sizes = np.abs(values)
        # Below any correlation: no selected column represents another.
        sizes[places] = -1.0
        alternative[batch] = rows = sizes.argmax(axis=0)
        its[batch] = values[rows, np.arange(values.shape[1])]
        ahead = sizes.argmax(axis=1)
        every = np.arange(len(varying))
        nearer = sizes[every, ahead] > np.abs(best)
        owner[nearer] = batch.start + ahead[nearer]
        best[nearer] = values[every, ahead][nearer]
    return _Nearest(owner, best, alternative, its)


def _stand_in(
    column: int, row: int, nearest: _Nearest, varying: Index, threshold: float
) -> StandIn:
    sizes = np.abs(nearest.correlation)
    own = np.flatnonzero((nearest.owner == row) & (sizes >= threshold - ROUNDING))
    own = own[np.argsort(-sizes[own], kind="stable")]
    place = int(nearest.alternative[row])
    return StandIn(
        column,
        varying[own],
        nearest.correlation[own],
        int(varying[place]) if place >= 0 else None,
        float(nearest.alternative_correlation[row]),
    )


def skip_near_duplicates(
    table: Any, order: ArrayLike, n_features: int, max_correlation: float
) -> Index:
    """Return the first columns of an order without near-duplicates.

    A column is skipped if it is constant, or if its absolute correlation with an
    accepted column exceeds the limit.

    Parameters
    ----------
    table : {array-like, sparse matrix} of shape (n, p)
    order : array-like of int
        Columns, the best first; not necessarily all of them.
    n_features : int
        Number of columns to return.
    max_correlation : float
        Largest absolute correlation between any two of them.

    Returns
    -------
    columns : ndarray of int
        In the given order. If there are fewer than ``n_features``, all of them, with a
        warning.

    Examples
    --------
    >>> table = [[0.0, 0.0, 1.0], [1.0, -2.0, 0.0], [2.0, -4.0, 1.0], [3.0, -6.0, 3.0]]
    >>> skip_near_duplicates(table, [1, 0, 2], 2, max_correlation=0.9)
    array([1, 2])
    """
    _check_correlation("max_correlation", max_correlation)
    data = as_matrix(checked_table(table))
    columns = _checked_order(order, data.shape[1], n_features)
    summary = data.summary()
    varying = np.flatnonzero(~summary.constant)
    columns = columns[np.isin(columns, varying)]
    taken = columns[:0]
    if len(columns):
        unit = unit_columns(data, summary, varying).by_columns()
        places = np.searchsorted(varying, columns)
        taken = columns[distinct_columns(unit, places, n_features, max_correlation)]
    if len(taken) < n_features:
        warnings.warn(
            f"Only {len(taken)} of n_features={n_features} columns have no pairwise "
            f"correlation above max_correlation={max_correlation}; raise "
            "max_correlation or ask for fewer columns.",
            UserWarning,
            stacklevel=2,
        )
    return taken


def _check_correlation(name: str, value: float) -> None:
    if not 0.0 <= value <= 1.0:
        raise ValueError(
            f"{name}={value} is not an absolute correlation; give a number from 0 to 1."
        )


def _checked_order(order: ArrayLike, n_columns: int, n_features: int) -> Index:
    columns = np.asarray(order)
    if columns.dtype == bool:
        raise ValueError(
            "The order is a mask, which has no best column; give indices of columns, "
            "the best first."
        )
    checked_selection(columns, n_columns)
    if not 1 <= n_features <= len(columns):
        raise ValueError(
            f"n_features={n_features} but the order has {len(columns)} columns; ask "
            f"for 1 to {len(columns)}."
        )
    return columns.astype(np.intp)
