"""The checks of tables and of selections of their columns."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ufselect.matrix import DataMatrix, Index, SparseMatrix
from ufselect.matrix.checks import checked_matrix
from ufselect.solvers.preparation import Kind, prepare


def checked_table(table: Any, name: str = "table") -> DataMatrix:
    """Return a checked table; a sparse one is stored by rows, which are taken.

    Distances between samples must not overflow.
    """
    if isinstance(table, DataMatrix):
        return table
    matrix = checked_matrix(table, name)
    if isinstance(matrix, SparseMatrix):
        matrix = SparseMatrix(matrix.raw.tocsr())
    peak = largest_magnitude(matrix.raw)
    if peak > np.finfo(matrix.raw.dtype).max / (4 * np.sqrt(np.prod(matrix.shape))):
        raise ValueError(
            f"A value of {name} is of size {peak:.3g}, where differences overflow; "
            f"rescale {name}."
        )
    return matrix


def largest_magnitude(table: Any) -> float:
    """Return the largest absolute value of an array or sparse matrix."""
    # The max method of a sparse matrix would sum its duplicates in place.
    values = table.data if bool(sp.issparse(table)) else table
    return float(max(values.max(initial=0.0), -values.min(initial=0.0)))


def checked_selection(selected: ArrayLike, n_features: int) -> Index:
    """Return the indices of selected columns, given as mask or indices, sorted.

    Examples
    --------
    >>> checked_selection([True, False, True], 3)
    array([0, 2])
    >>> checked_selection([2, 0], 3)
    array([0, 2])
    """
    given = np.asarray(selected)
    if given.ndim != 1:
        raise ValueError(
            f"A selection has {given.ndim} dimension(s) but needs one; give a mask of "
            "all columns, or the indices of the selected ones."
        )
    if given.dtype == bool:
        if len(given) != n_features:
            raise ValueError(
                f"A mask has {len(given)} values but the table has {n_features} "
                "columns; give one value per column."
            )
        return np.flatnonzero(given)
    if given.size and not np.issubdtype(given.dtype, np.integer):
        raise ValueError(
            f"A selection has values of type {given.dtype}; give a boolean mask or "
            "integer indices."
        )
    indices = given.astype(np.intp)
    outside = indices[(indices < 0) | (indices >= n_features)]
    if len(outside):
        raise ValueError(
            f"Column {outside[0]} is selected but the table has {n_features} columns; "
            f"use indices from 0 to {n_features - 1}."
        )
    distinct, counts = np.unique(indices, return_counts=True)
    if len(distinct) < len(indices):
        raise ValueError(
            f"Column {distinct[counts.argmax()]} is selected {counts.max()} times; "
            "select each column once."
        )
    return distinct


def some_of(selected: ArrayLike, n_features: int) -> Index:
    """Return the selected columns; raise ValueError if there are none."""
    kept = checked_selection(selected, n_features)
    if not len(kept):
        raise ValueError("The selection is empty; select at least one column.")
    return kept


class Centred(NamedTuple):
    """A centred table scaled to ``|X|^2 = 1``, and the mask of its constant columns."""

    data: DataMatrix
    constant: NDArray[np.bool_]


def centred(table: Any, kind: Kind = "none") -> Centred:
    """Return the centred table; raise ValueError if all columns are constant."""
    data = checked_table(table)
    constant = data.summary().constant
    if constant.all():
        raise ValueError(
            f"All {data.shape[1]} columns of the table are constant; give a table with "
            "other columns."
        )
    return Centred(prepare(data, kind, 1.0).centred, constant)
