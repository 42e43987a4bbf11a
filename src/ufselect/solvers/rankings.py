"""Rankings of features: combine them, compare them, remove redundant features."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.utils import gen_batches

from ufselect.matrix import DataMatrix, Float, Index, Mask, as_matrix
from ufselect.solvers.preparation import prepare

# Number of columns that are held in memory at once.
VALUES_AT_ONCE = 1_000_000

# Number of non-redundant features after which the search for redundant ones ends.
MAX_DISTINCT = 500

# Rounding error of a correlation of exactly 1.
ROUNDING = 1e-7


def ranks_of(scores: Float) -> Float:
    """Return the rank of each score in its row: 1 is the best, ties get the mean rank.

    Examples
    --------
    >>> import numpy as np
    >>> ranks_of(np.array([[0.1, 0.9, 0.5], [2.0, 2.0, 1.0]]))
    array([[3. , 1. , 2. ],
           [1.5, 1.5, 3. ]])
    """
    return np.asarray(rankdata(-np.atleast_2d(scores), axis=1, method="average"))


def combined_scores(ranks: Float, combine: str = "log-rank") -> Float:
    """Return one score per feature from its rank in each row; higher is better.

    Parameters
    ----------
    ranks : ndarray of shape (members, p)
        As ``ranks_of`` returns them.
    combine : {"log-rank", "mean-rank", "reciprocal-rank", "best-rank"}
        The inverse of the geometric mean of the ranks; the inverse of their mean,
        which gives the order of a Borda count; the mean of their inverses; or the best
        rank, with ties broken by the geometric mean.

    Examples
    --------
    >>> import numpy as np
    >>> combined_scores(np.array([[1.0, 2.0, 3.0], [4.0, 2.0, 3.0]]))
    array([0.5       , 0.5       , 0.33333333])
    """
    return COMBINATIONS[combine](ranks)


def frequency_scores(scores: Float, times: NDArray[np.integer]) -> Float:
    """Return ``(m + 1 / g) / (M + 1)``: features chosen more often score higher.

    A feature is chosen m times in M rows. The geometric mean g of its ranks in all rows
    breaks ties between features that are chosen equally often.

    Parameters
    ----------
    scores : ndarray of shape (M, p)
        Higher is better.
    times : ndarray of shape (p,)
        Number of rows in which each feature is chosen.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[0.9, 0.5, 0.1], [0.9, 0.2, 0.4]])
    >>> frequency_scores(scores, np.array([2, 0, 0]))
    array([1.        , 0.13608276, 0.13608276])
    """
    return (times + combined_scores(ranks_of(scores))) / (len(scores) + 1)


def rank_agreement(ranks: Float) -> Float:
    """Return Spearman's rank correlation between all pairs of rows.

    It is zero for a row in which all features are tied.

    Examples
    --------
    >>> import numpy as np
    >>> rank_agreement(np.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    centred = ranks - ranks.mean(axis=1, keepdims=True)
    norms = np.linalg.norm(centred, axis=1, keepdims=True)
    unit = centred / np.where(norms > 0, norms, 1.0)
    correlation = np.clip(unit @ unit.T, -1.0, 1.0)
    np.fill_diagonal(correlation, 1.0)
    return correlation


def top_overlap(ranks: Float, n_features: int) -> Float:
    """Return the share of the best features that each pair of rows has in common.

    Examples
    --------
    >>> import numpy as np
    >>> top_overlap(np.array([[1.0, 2.0, 3.0], [1.0, 3.0, 2.0]]), 2)
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    best = np.argsort(ranks, axis=1, kind="stable")[:, :n_features]
    chosen = np.zeros(ranks.shape)
    np.put_along_axis(chosen, best, 1.0, axis=1)
    return chosen @ chosen.T / n_features


def mean_of_pairs(table: Float) -> float:
    """Return the mean of a symmetric table without its diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> mean_of_pairs(np.array([[1.0, 0.25], [0.25, 1.0]]))
    0.25
    """
    return float(table[np.triu_indices(len(table), k=1)].mean())


def _log_rank(ranks: Float) -> Float:
    return np.exp(-np.log(ranks).mean(axis=0))


def _mean_rank(ranks: Float) -> Float:
    return 1.0 / ranks.mean(axis=0)


def _reciprocal_rank(ranks: Float) -> Float:
    return (1.0 / ranks).mean(axis=0)


def _best_rank(ranks: Float) -> Float:
    pairs = np.column_stack([1.0 / ranks.min(axis=0), _log_rank(ranks)])
    levels, place = np.unique(pairs, axis=0, return_inverse=True)
    # In NumPy 2.0, the inverse has a second axis.
    return (place.ravel() + 1.0) / len(levels)


COMBINATIONS: dict[str, Callable[[Float], Float]] = {
    "log-rank": _log_rank,
    "mean-rank": _mean_rank,
    "reciprocal-rank": _reciprocal_rank,
    "best-rank": _best_rank,
}


def unit_columns(data: DataMatrix, varying: Index) -> DataMatrix:
    """Return the non-constant columns, centred and scaled to unit length."""
    # Selecting all columns would copy the table.
    some = data.take(varying) if len(varying) < data.shape[1] else data
    return prepare(some, "features", len(varying)).centred


def distinct_columns(
    unit: DataMatrix, places: Index, n_features: int, most: float
) -> list[int]:
    """Return the positions of columns that do not correlate with a column before them.

    Columns are accepted in the order of ``places`` until there are ``n_features``. A
    column is skipped if its absolute correlation with an accepted one exceeds ``most``.
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


def redundant_features(data: DataMatrix, order: Index, max_correlation: float) -> Index:
    """Return features that correlate with a better one.

    The search goes from the best feature on and ends after 500 that do not. If there
    are many samples, it uses an evenly spaced subset of them.
    """
    rows = data.some_rows()
    if len(rows) < data.shape[0]:
        data = data.take_rows(rows)
    varying = np.flatnonzero(~data.summary().constant)
    order = order[np.isin(order, varying)]
    unit = unit_columns(data, varying).by_columns()
    places = np.searchsorted(varying, order)
    distinct = distinct_columns(unit, places, MAX_DISTINCT, max_correlation)
    compared = order[: distinct[-1] + 1] if len(distinct) == MAX_DISTINCT else order
    return np.setdiff1d(compared, order[distinct])


class DistinctColumns(NamedTuple):
    """The columns of X that carry information of their own.

    These are one of each set of equal columns, and no constant ones. ``place`` is the
    position among them for each column of X, and their number for a constant one.
    """

    matrix: DataMatrix
    place: Index

    def for_all(self, values: Float, constant: float) -> Float:
        """Return values for all columns of X from those of the distinct ones."""
        return np.append(values, constant)[self.place]


def distinct_columns_of(data: DataMatrix) -> DistinctColumns:
    """Return the columns of X that are neither constant nor equal to one before.

    Examples
    --------
    >>> import numpy as np
    >>> data = as_matrix(np.array([[1.0, 2.0, 2.0, 1.0], [3.0, 4.0, 2.0, 3.0]]))
    >>> distinct_columns_of(data).place
    array([0, 1, 2, 0])
    """
    seen: dict[int, int] = {}
    first: list[int] = []
    by_columns = data.by_columns()
    for block in data.column_blocks():
        # Adding zero gives zeros of either sign the same bytes.
        for column in np.ascontiguousarray(by_columns.columns(block).T) + 0.0:
            first.append(seen.setdefault(hash(column.tobytes()), len(first)))
    own, varying = np.array(first), ~data.summary().constant
    kept = np.unique(own[varying])
    place = np.where(varying, np.searchsorted(kept, own), len(kept))
    matrix = data if len(kept) == len(own) else as_matrix(data.raw[:, kept])
    return DistinctColumns(matrix, place)


def lowered(scores: Float, behind: Index, varying: Mask) -> Float:
    """Return scores in which the features ``behind`` rank below all others that vary.

    Examples
    --------
    >>> import numpy as np
    >>> lowered(np.array([3.0, 1.0, 2.0]), np.array([0]), np.ones(3, dtype=bool))
    array([0.33333333, 1.        , 2.        ])
    """
    result, ahead = scores.copy(), varying.copy()
    ahead[behind] = False
    if not len(behind) or not ahead.any():
        return result
    lowest = scores[ahead].min()
    gap = np.ptp(scores[varying]) / np.count_nonzero(varying) or 1.0
    result[behind] -= max(0.0, scores[behind].max() - lowest) + gap
    return result
