"""Several rankings of the same features, made into one."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from ufselect.matrix import Float


def ranks_of(scores: Float) -> Float:
    """Return the rank of each score in its row: 1 is the highest, ties share a mean.

    Examples
    --------
    >>> import numpy as np
    >>> ranks_of(np.array([[0.1, 0.9, 0.5], [2.0, 2.0, 1.0]]))
    array([[3. , 1. , 2. ],
           [1.5, 1.5, 3. ]])
    """
    return np.asarray(rankdata(-np.atleast_2d(scores), axis=1, method="average"))


def combined_scores(ranks: Float, combine: str = "log-rank") -> Float:
    """Return one score per feature from its rank in each row, higher is better.

    Parameters
    ----------
    ranks : ndarray of shape (members, p)
        As ``ranks_of`` returns them.
    combine : {"log-rank", "mean-rank", "reciprocal-rank", "best-rank"}
        One over the geometric mean of the ranks; one over their mean, which orders as
        a Borda count does; the mean of one over the rank; or the best of the ranks,
        where equals are told apart by the geometric mean.

    Examples
    --------
    >>> import numpy as np
    >>> combined_scores(np.array([[1.0, 2.0, 3.0], [4.0, 2.0, 3.0]]))
    array([0.5       , 0.5       , 0.33333333])
    """
    return COMBINATIONS[combine](ranks)


def frequency_scores(scores: Float, times: NDArray[np.integer]) -> Float:
    """Return ``(m + 1 / g) / (M + 1)``, by which what is chosen more often is better.

    A feature is chosen m times in M rows, and its ranks there have the geometric mean
    g, which tells apart features that are chosen equally often.

    Parameters
    ----------
    scores : ndarray of shape (M, p)
        Higher is better.
    times : ndarray of shape (p,)
        In how many rows each feature is chosen.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[0.9, 0.5, 0.1], [0.9, 0.2, 0.4]])
    >>> frequency_scores(scores, np.array([2, 0, 0]))
    array([1.        , 0.13608276, 0.13608276])
    """
    return (times + combined_scores(ranks_of(scores))) / (len(scores) + 1)


def rank_agreement(ranks: Float) -> Float:
    """Return Spearman's correlation between all pairs of rows.

    A row in which all features are tied says nothing, and agrees with none.

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
    """Return the mean of a symmetric table beside its diagonal.

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
    # NumPy 2.0 gave the inverse a second axis.
    return (place.ravel() + 1.0) / len(levels)


COMBINATIONS: dict[str, Callable[[Float], Float]] = {
    "log-rank": _log_rank,
    "mean-rank": _mean_rank,
    "reciprocal-rank": _reciprocal_rank,
    "best-rank": _best_rank,
}
