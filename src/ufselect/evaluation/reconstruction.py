"""How well all columns of a table follow from the selected ones by least squares."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import orth
from sklearn.model_selection import KFold
from sklearn.utils import gen_batches

from ufselect.evaluation.tables import centred, some_of
from ufselect.matrix import DataMatrix, Float, Index

# Directions of the selected columns below this share of the largest are rounding
# errors of columns that depend on one another.
NEGLIGIBLE = 1e-10

# Dense pieces hold about this many values.
VALUES_AT_ONCE = 1_000_000


def reconstruction_error(
    table: Any, selected: ArrayLike, *, standardize: bool = False
) -> float:
    """Return the share of the variance of all columns that the selected leave open.

    ``min_B |X - X_s B|^2 / |X|^2`` for the centred table: 0 if every column is a
    linear combination of the selected ones, 1 if they say nothing about any. Any
    columns as many as the samples leave nothing open: compare small selections, or
    use `held_out_reconstruction_error`.

    Parameters
    ----------
    table : {array-like, sparse matrix} of shape (n, p)
    selected : array-like
        Mask or indices of the selected columns.
    standardize : bool
        Whether each column counts the same, instead of by its variance.

    Examples
    --------
    >>> table = [[0.0, 0.0, 1.0], [1.0, 2.0, -2.0], [2.0, 4.0, 1.0]]
    >>> round(reconstruction_error(table, [0]), 3)
    0.375
    """
    data, constant = centred(table, "features" if standardize else "none")
    kept = some_of(selected, data.shape[1])
    kept = kept[~constant[kept]]
    columns = _without_unit(data.columns(kept))
    if not columns.shape[1]:
        return 1.0
    basis = orth(columns / np.linalg.norm(columns, axis=0), rcond=NEGLIGIBLE)
    explained = sum(
        float(np.sum(data.transpose_dot(basis[:, batch]) ** 2))
        for batch in gen_batches(basis.shape[1], _batch_size(data.shape[1]))
    )
    return float(np.clip(1.0 - explained, 0.0, 1.0))


def held_out_reconstruction_error(
    table: Any, selected: ArrayLike, *, n_splits: int = 5, seed: int = 0
) -> float:
    """Return the share of variance left open in samples that the fit did not see.

    Means and coefficients come from the other folds. Unlike `reconstruction_error`
    it does not vanish when the selected columns are as many as the samples, and it
    exceeds 1 where the mean would predict better.

    Parameters
    ----------
    table : {array-like, sparse matrix} of shape (n, p)
    selected : array-like
        Mask or indices of the selected columns.
    n_splits : int
        Folds, of which each is left out once.
    seed : int
        Of the assignment of samples to folds.

    Examples
    --------
    >>> table = [[0.0, 0.0], [1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]
    >>> round(held_out_reconstruction_error(table, [0], n_splits=2), 6)
    0.0
    """
    data, constant = centred(table)
    kept = some_of(selected, data.shape[1])
    kept = kept[~constant[kept]]
    if not 2 <= n_splits <= data.shape[0]:
        raise ValueError(
            f"n_splits={n_splits} but the table has {data.shape[0]} samples; ask for 2 "
            f"to {data.shape[0]} folds."
        )
    folds = KFold(n_splits, shuffle=True, random_state=seed)
    squares = sum(
        _squares_of_fold(data, kept, train, test)
        for train, test in folds.split(np.empty((data.shape[0], 0)))
    )
    left, total = np.asarray(squares)
    return float(left / total)


def _squares_of_fold(data: DataMatrix, kept: Index, train: Index, test: Index) -> Float:
    """Return the squares left by the prediction of a fold, and by its means."""
    mean = _combined(data, train, np.full((len(train), 1), 1 / len(train)))
    columns = _without_unit(data.columns(kept) - mean[kept].T)
    columns = _of_unit_length(columns, train)
    inverse = np.linalg.pinv(columns[train], rcond=NEGLIGIBLE)
    # Each row of the inverse of centred columns sums to zero, so that it does not
    # matter that the data are centred on all samples.
    coefficients = _combined(data, train, inverse.T.astype(np.float64, copy=False))
    left = total = 0.0
    for batch in gen_batches(len(test), _batch_size(data.shape[1])):
        piece = data.rows(test[batch]) - mean.T
        total += float(np.sum(piece**2))
        piece -= columns[test[batch]] @ coefficients.T
        left += float(np.sum(piece**2))
    return np.array([left, total])


def _without_unit(columns: Float) -> Float:
    """Return columns that reach one, without those that are all zero.

    Squares of a column that is very small beside another would vanish.
    """
    peaks = np.abs(columns).max(axis=0, initial=0.0)
    return columns[:, peaks > 0] / peaks[peaks > 0]


def _of_unit_length(columns: Float, train: Index) -> Float:
    """Return columns of unit length in training, without those that are constant there.

    Words of a single text, for instance, are constant in most folds.
    """
    lengths = np.linalg.norm(columns[train], axis=0)
    varying = lengths > NEGLIGIBLE * np.linalg.norm(columns, axis=0)
    return columns[:, varying] / lengths[varying]


def _combined(data: DataMatrix, rows: Index, weights: Float) -> Float:
    """Return ``X[rows].T @ weights`` without cutting the rows out."""
    padded = np.zeros((data.shape[0], weights.shape[1]))
    padded[rows] = weights
    return data.transpose_dot(padded)


def _batch_size(width: int) -> int:
    return max(1, VALUES_AT_ONCE // width)
