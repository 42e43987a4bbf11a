"""Label-free criteria of a set of columns, and columns that correlate with them.

Criteria are designed for many sets of one table: each function takes a table, does the
computations that all sets have in common, and returns a criterion: a function of the
sorted indices of a set of columns. Higher values are better.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist
from sklearn.utils import gen_batches

from ufselect._warn import warn
from ufselect.evaluation.checks import (
    Centred,
    centred,
    checked_selection,
    checked_table,
    some_of,
)
from ufselect.matrix import DataMatrix, Float, Index
from ufselect.matrix.base import product_with
from ufselect.solvers.neighbours import nearest_in_rows
from ufselect.solvers.rankings import ROUNDING, distinct_columns, unit_columns

# Number of correlations, or of values of columns, that are held in memory at once.
VALUES_AT_ONCE = 1_000_000


def redundancy(columns: Any) -> float:
    """Return the mean absolute correlation between pairs of selected columns.

    It is 0 if no two columns are correlated, and 1 if all are copies of one column up
    to sign and scale. Constant columns are excluded. Without any pair the value is 0.

    Parameters
    ----------
    columns : {array-like, sparse matrix} of shape (n, k)
        The selected columns.

    Notes
    -----
    Based on the redundancy rate of Zhao, Wang and Liu (AAAI 2010). Here the sum over
    pairs is divided by their number ``k (k - 1) / 2``, so that the largest value is 1,
    and negative correlations count by their absolute value. Published values may be
    divided by another number.

    Examples
    --------
    >>> redundancy([[0.0, 0.0, 1.0], [1.0, 2.0, 0.0], [2.0, 4.0, 1.0]])
    0.333...
    """
    data = checked_table(columns, "columns")
    varying = np.flatnonzero(~data.summary().constant)
    if not len(varying):
        return 0.0
    unit = unit_columns(data, varying)
    return mean_overlap(
        len(varying), lambda batch: unit.transpose_dot(unit.columns(batch))
    )


def mean_overlap(count: int, products: Callable[[slice], Float]) -> float:
    """Return the mean absolute inner product of pairs of columns of unit length.

    ``products`` returns the inner products of all columns with those of a slice.
    """
    if count < 2:
        return 0.0
    total = sum(
        float(np.abs(products(batch)).sum())
        for batch in gen_batches(count, max(1, VALUES_AT_ONCE // count))
    )
    return float(np.clip((total - count) / (count * (count - 1)), 0.0, 1.0))


Criterion = Callable[[Index], float]


class JudgedTable:
    """A table with the preparations that several criteria use, computed once."""

    def __init__(self, matrix: DataMatrix) -> None:
        self.matrix = matrix

    @classmethod
    def of(cls, table: Any) -> "JudgedTable":
        """Return a ``JudgedTable`` of the table, or the table if it is one already."""
        return table if isinstance(table, cls) else cls(checked_table(table))

    @cached_property
    def centred(self) -> Centred:
        """Return the table in its own units, stored by columns."""
        data, constant = centred(self.matrix)
        return Centred(data.by_columns(), constant)

    @cached_property
    def scaled(self) -> Centred:
        """Return the table with features scaled, stored by columns."""
        data, constant = centred(self.matrix, "features")
        return Centred(data.by_columns(), constant)

    @cached_property
    def gram(self) -> Float:
        """Return the Gram matrix of the samples, in units of the table."""
        return self.centred.data.sample_gram()


N_NEIGHBOURS = 5

# Penalty of ridge regression, relative to the mean squared norm of the centred samples.
RIDGE = 0.1


def kernel_alignment(table: Any) -> Criterion:
    """Return the criterion of the mean squared distance correlation between columns.

    It is high if columns agree on which samples are similar: about 1 for copies and 0
    for independent columns, for linear and non-linear dependence. The distance
    correlation of a constant column is 0.

    Notes
    -----
    With D the distances between samples by one column, the distance covariance of two
    columns is the inner product of their centred D, so that the sum over all pairs
    follows from the sum of all D. The centring is the unbiased one, so that independent
    columns give 0 on average (Szekely and Rizzo, Annals of Statistics 42 (6), 2014).
    The distance variances in the denominator are not bias-corrected, because the
    corrected one is zero for a column that differs in a single sample.
    """
    data, constant = JudgedTable.of(table).scaled
    n_samples, n_features = data.shape
    # What a single column contributes, computed when it occurs in a set for the first
    # time: its sums of distances (a row each), its scale, and its distance variance.
    sums = np.empty((n_features, n_samples))
    scale, own = np.zeros((2, n_features))

    def mean_distance_correlation(columns: Index) -> float:
        used = columns[~constant[columns]]
        if len(used) < 2:
            return 0.0
        values = data.columns(used)
        # Threads may compute a column twice, with the same result.
        new = scale[used] == 0
        if new.any():
            fresh, places = values[:, new], used[new]
            rows, squares = distance_sums(fresh), squared_distances(fresh)
            sums[places], own[places] = rows.T, unbiased_square(squares, rows)
            scale[places] = 1 / np.sqrt(plain_square(squares, rows))
        together = pdist(values * scale[used], "cityblock")
        every = unbiased_square(2 * together @ together, scale[used] @ sums[used])
        pairs = every - scale[used] ** 2 @ own[used]
        return float(pairs) / (len(columns) * (len(columns) - 1))

    return mean_distance_correlation


def distance_sums(values: Float) -> Float:
    """Return, for each value, the sum of its distances to all values of its column."""
    n = len(values)
    order = np.argsort(values, axis=0)
    increasing = np.take_along_axis(values, order, axis=0)
    below = np.cumsum(increasing, axis=0)
    ranks = np.arange(1, n + 1)[:, np.newaxis]
    sums = np.empty_like(values)
    ordered = (2 * ranks - n) * increasing + below[-1] - 2 * below
    np.put_along_axis(sums, order, ordered, axis=0)
    return sums


def squared_distances(values: Float) -> Float:
    """Return, for each column, the sum of the squared distances of all pairs."""
    shifted = values - values.mean(axis=0)
    return np.asarray(2 * len(values) * np.sum(shifted**2, axis=0))


def plain_square(squares: Float, sums: Float) -> Float:
    """Return the mean square of double-centred distances."""
    n = len(sums)
    centring = 2 / n * np.sum(sums**2, axis=0) - (np.sum(sums, axis=0) / n) ** 2
    return np.asarray((squares - centring) / n**2)


def unbiased_square(squares: Any, sums: Float) -> Any:
    """Return the same with the unbiased (U-centred) distances, without the diagonal.

    Its expectation is 0 for independent columns.
    """
    n = len(sums)
    total = np.sum(sums, axis=0)
    centring = 2 / (n - 2) * np.sum(sums**2, axis=0) - total**2 / ((n - 1) * (n - 2))
    return (squares - centring) / (n * (n - 3))


def explained_variance(table: Any) -> Criterion:
    """Return the criterion of the share of variance predicted by leave-one-out.

    Every sample is predicted by ridge regression of all columns on those of the set,
    fitted to the other samples. The value is 1 if the prediction is exact, 0 if it is
    as good as the means, and negative if it is worse.

    Notes
    -----
    Unlike `held_out_reconstruction_error`, it has a penalty, without which sets of
    nearly as many columns as samples overfit. Leave-one-out residuals follow from the
    fit to all samples and from their Gram matrix, so that a set costs one linear
    system.
    """
    judged = JudgedTable.of(table)
    (data, constant), gram = judged.centred, judged.gram
    n = len(gram)
    by_means = np.trace(gram) * (n / (n - 1)) ** 2

    def share_predicted(columns: Index) -> float:
        C = data.columns(columns[~constant[columns]])
        penalty = RIDGE * np.sum(C**2) / n
        if not penalty > 0:
            # Columns so small that their squares underflow predict nothing.
            return 0.0
        # Fitted values are H X with H = 1 1' / n + C R, by the smaller of two systems.
        # NumPy solves them without the GIL, unlike SciPy.
        if C.shape[1] < n:
            R = np.linalg.solve(C.T @ C + penalty * np.eye(C.shape[1]), C.T)
            products = gram @ R.T
            residuals = gram.diagonal() - 2 * np.sum(C * products, axis=1)
            residuals += np.sum((C @ (R @ products)) * C, axis=1)
            without = 1 - 1 / n - np.sum(C * R.T, axis=1)
        else:
            # I - C R is the penalty times the inverse of C C' + penalty I.
            unit = np.eye(n)
            rest = penalty * np.linalg.solve(C @ C.T + penalty * unit, unit)
            residuals = np.sum((rest @ gram) * rest, axis=1)
            without = rest.diagonal() - 1 / n
        return 1.0 - float(np.sum(residuals / without**2) / by_means)

    return share_predicted


def neighbourhood_preservation(table: Any) -> Criterion:
    """Return the criterion `neighbourhood_agreement`; it holds all distances."""
    judged = JudgedTable.of(table)
    data, n = judged.centred.data, len(judged.gram)
    count = min(N_NEIGHBOURS, n - 1)

    def nearest(gram: Float) -> Index:
        norms = gram.diagonal()
        squares = norms + norms[:, np.newaxis] - 2 * gram
        np.fill_diagonal(squares, np.inf)
        return nearest_in_rows(squares, norms, count)

    among = np.zeros((n, n), dtype=bool)
    np.put_along_axis(among, nearest(judged.gram), True, axis=1)

    def neighbours_kept(columns: Index) -> float:
        points = data.columns(columns)
        part = nearest(points @ points.T)
        common = np.take_along_axis(among, part, axis=1).sum(axis=1)
        return float(np.mean(common / (2 * count - common)))

    return neighbours_kept


def low_redundancy(table: Any) -> Criterion:
    """Return the criterion of one minus `redundancy`."""
    data, constant = JudgedTable.of(table).scaled

    def share_not_repeated(columns: Index) -> float:
        values = data.columns(columns[~constant[columns]])
        values /= np.linalg.norm(values, axis=0)
        return 1.0 - mean_overlap(
            values.shape[1], lambda batch: product_with(values.T, values[:, batch])
        )

    return share_not_repeated


CRITERIA: dict[str, Callable[[Any], Criterion]] = {
    "kernel alignment": kernel_alignment,
    "explained variance": explained_variance,
    "neighbourhood preservation": neighbourhood_preservation,
    "low redundancy": low_redundancy,
}


class Representative(NamedTuple):
    """A selected column and the columns that it represents.

    Attributes
    ----------
    column : int
        The selected column.
    represents : ndarray of int
        Columns that it represents, the most correlated first.
    correlations : ndarray of float
        Their correlations with it, with sign.
    alternative : int or None
        The most correlated column that was not selected, which can replace it.
    alternative_correlation : float
        Its correlation, which may be small; 0 without an alternative.
    """

    column: int
    represents: Index
    correlations: Float
    alternative: int | None
    alternative_correlation: float


def representatives(
    table: Any, selected: ArrayLike, *, threshold: float = 0.8
) -> list[Representative]:
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
    list of Representative
        In the order of the columns. A constant column represents no other column and
        has no alternative.

    Examples
    --------
    >>> table = [[0.0, 0.0, 1.0], [1.0, -2.0, 0.0], [2.0, -4.0, 1.0], [3.0, -6.0, 3.0]]
    >>> first = representatives(table, [0])[0]
    >>> first.represents, first.correlations.round(6)
    (array([1]), array([-1.]))
    >>> first.alternative
    1
    """
    _check_correlation("threshold", threshold)
    data = checked_table(table)
    kept = some_of(selected, data.shape[1])
    varying = np.flatnonzero(~data.summary().constant)
    places = np.searchsorted(varying, kept[np.isin(kept, varying)])
    # Representative and correlation of each column; alternative of each selected one.
    owner, best = np.full(len(varying), -1), np.zeros(len(varying))
    alternative, its = np.full(len(places), -1), np.zeros(len(places))
    if 0 < len(places) < len(varying):
        unit, every = unit_columns(data, varying), np.arange(len(varying))
        for batch in gen_batches(len(places), max(1, VALUES_AT_ONCE // len(varying))):
            values = unit.transpose_dot(unit.columns(places[batch])).clip(-1.0, 1.0)
            sizes = np.abs(values)
            # Below any correlation: no selected column represents another.
            sizes[places] = -1.0
            alternative[batch] = rows = sizes.argmax(axis=0)
            its[batch] = values[rows, np.arange(values.shape[1])]
            ahead = sizes.argmax(axis=1)
            nearer = sizes[every, ahead] > np.abs(best)
            owner[nearer] = batch.start + ahead[nearer]
            best[nearer] = values[every, ahead][nearer]
    nothing = np.empty(0, dtype=np.intp), np.empty(0)
    found = {
        column: Representative(column, *nothing, None, 0.0) for column in kept.tolist()
    }
    for row, column in enumerate(varying[places].tolist()):
        own = np.flatnonzero((owner == row) & (np.abs(best) >= threshold - ROUNDING))
        own = own[np.argsort(-np.abs(best[own]), kind="stable")]
        place = alternative[row]
        other = int(varying[place]) if place >= 0 else None
        found[column] = Representative(
            column, varying[own], best[own], other, float(its[row])
        )
    return list(found.values())


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
    data = checked_table(table)
    columns = np.asarray(order)
    if columns.dtype == bool:
        raise ValueError(
            "The order is a mask, which has no best column; give indices of columns, "
            "the best first."
        )
    checked_selection(columns, data.shape[1])
    if not 1 <= n_features <= len(columns):
        raise ValueError(
            f"n_features={n_features} but the order has {len(columns)} columns; ask "
            f"for 1 to {len(columns)}."
        )
    columns = columns.astype(np.intp)
    varying = np.flatnonzero(~data.summary().constant)
    columns = columns[np.isin(columns, varying)]
    taken = columns[:0]
    if len(columns):
        unit = unit_columns(data, varying).by_columns()
        places = np.searchsorted(varying, columns)
        taken = columns[distinct_columns(unit, places, n_features, max_correlation)]
    if len(taken) < n_features:
        warn(
            f"Only {len(taken)} of n_features={n_features} columns have no pairwise "
            f"correlation above max_correlation={max_correlation}; raise "
            "max_correlation or ask for fewer columns.",
        )
    return taken


def _check_correlation(name: str, value: float) -> None:
    if not 0.0 <= value <= 1.0:
        raise ValueError(
            f"{name}={value} is not an absolute correlation; give a number from 0 to 1."
        )
