"""Tables and selections as the metrics take them, refused in one sentence if bad."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from ufselect.matrix import DataMatrix, Index, as_matrix
from ufselect.solvers.preparation import Kind, preparation_kind, prepare

# What a parameter ``standardize`` may be.
PREPARATIONS = ("auto", "features", "samples", "none", True, False)

# How a table was prepared, in words.
UNITS = {
    "features": "with features scaled to unit variance",
    "samples": "with samples scaled to unit length",
    "none": "in the units of the table",
}


def checked_table(table: Any, name: str = "table") -> Any:
    """Return a finite float array or CSR matrix with samples in rows."""
    n_dimensions = 2 if sp.issparse(table) else np.ndim(table)
    if n_dimensions != 2:
        raise ValueError(
            f"{name} has {n_dimensions} dimension(s) but needs two: samples in rows, "
            "features in columns."
        )
    # Looking for infinity, scikit-learn adds it to its opposite.
    with np.errstate(invalid="ignore"):
        checked = check_array(
            table,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_min_samples=2,
            input_name=name,
        )
    peak = largest_magnitude(checked)
    if peak > np.finfo(checked.dtype).max / (4 * np.sqrt(np.prod(checked.shape))):
        raise ValueError(
            f"A value of {name} is of size {peak:.3g}, where differences are no finite "
            f"numbers; rescale {name}."
        )
    return checked


def largest_magnitude(table: Any) -> float:
    """Return the largest absolute value of an array or sparse matrix."""
    # The maximum of a sparse matrix would tidy it up in place.
    values = table.data if bool(sp.issparse(table)) else table
    return float(max(values.max(initial=0.0), -values.min(initial=0.0)))


def checked_selection(selected: ArrayLike, n_features: int) -> Index:
    """Return the selected columns, given as a mask or by index, in increasing order.

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
            f"A selection has {given.ndim} dimension(s) but needs one: a mask of all "
            "columns, or the indices of the selected ones."
        )
    if given.dtype == bool:
        return _from_mask(given, n_features)
    if given.size and not np.issubdtype(given.dtype, np.integer):
        raise ValueError(
            f"A selection holds values of type {given.dtype}; give a mask of booleans "
            "or indices that are integers."
        )
    return _from_indices(given.astype(np.intp), n_features)


def _from_mask(mask: Any, n_features: int) -> Index:
    if len(mask) != n_features:
        raise ValueError(
            f"A mask has {len(mask)} values but the table has {n_features} columns; "
            "give one value per column."
        )
    return np.flatnonzero(mask)


def _from_indices(indices: Index, n_features: int) -> Index:
    outside = indices[(indices < 0) | (indices >= n_features)]
    if len(outside):
        raise ValueError(
            f"Column {outside[0]} is selected but the table has {n_features} columns; "
            f"indices go from 0 to {n_features - 1}."
        )
    distinct, counts = np.unique(indices, return_counts=True)
    if len(distinct) < len(indices):
        raise ValueError(
            f"Column {distinct[counts.argmax()]} is selected {counts.max()} times; "
            "select each column once."
        )
    return distinct


def some_of(selected: ArrayLike, n_features: int) -> Index:
    """Return the selected columns, of which there must be one at least."""
    kept = checked_selection(selected, n_features)
    if not len(kept):
        raise ValueError("The selection is empty; select at least one column.")
    return kept


class Centred(NamedTuple):
    """A table minus its column means, where ``|X|^2 = 1``, and its constant columns."""

    data: DataMatrix
    constant: NDArray[np.bool_]


def centred(table: Any, kind: Kind = "none") -> Centred:
    """Return the table with column means subtracted, which must not leave nothing."""
    data = as_matrix(checked_table(table))
    summary = data.summary()
    if summary.constant.all():
        raise ValueError(
            f"All {data.shape[1]} columns of the table are constant: it has no "
            "structure to keep."
        )
    return Centred(prepare(data, summary, kind, 1.0).centred, summary.constant)


class InUnits(NamedTuple):
    """A table in the units in which it is judged, and how it was prepared."""

    table: Any
    kind: Kind


def in_units(table: Any, standardize: bool | str) -> InUnits:
    """Return the table as a selector with this parameter ``standardize`` sees it.

    The result is only given up to a shift of its columns and a common factor, which
    change no distance between samples by more than this factor.

    Examples
    --------
    >>> import numpy as np
    >>> found = in_units(np.array([[0.0, 10.0], [2.0, 70.0]]), "features")
    >>> found.kind, np.ptp(found.table, axis=0).tolist()
    ('features', [2.0, 2.0])
    """
    if standardize not in PREPARATIONS:
        raise ValueError(
            f"standardize={standardize!r} is not known; use 'auto', 'features', "
            "'samples' or 'none'."
        )
    if standardize in (False, "none"):
        return InUnits(table, "none")
    checked = checked_table(table)
    data = as_matrix(checked)
    summary = data.summary()
    varying = int(np.count_nonzero(~summary.constant))
    if not varying:
        return InUnits(checked, "none")
    kind = preparation_kind(standardize, data, summary)
    if kind == "none":
        return InUnits(checked, kind)
    size = float(data.shape[0] * varying)
    return InUnits(prepare(data, summary, kind, size).centred.points(), kind)
