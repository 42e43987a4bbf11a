"""Validation and preparation of tables and selections, and a view of the samples."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from sklearn.utils import check_array, check_random_state

from ufselect.matrix import DataMatrix, Float, Index, as_matrix
from ufselect.matrix.base import libraries
from ufselect.matrix.inputs import (
    column_names,
    refuse_disguised,
    refuse_non_finite,
    refusing_cells,
    unwrapped,
)
from ufselect.solvers.preparation import (
    Kind,
    choose_preparation,
    preparation_kind,
    prepare,
)

# Values of the parameter ``standardize``.
PREPARATIONS = ("auto", "features", "samples", "none", True, False)

# Largest number of samples in a view. For wide tables it is reduced, but not below
# MIN_SHOWN, so that a Gram matrix takes at most MAX_PRODUCTS multiplications.
MAX_SHOWN = 2000
MAX_PRODUCTS = 2e10
MIN_SHOWN = 200

# Above this number of values, products with a table are faster with several threads.
MANY_VALUES = 4_000_000

# Preparations in words.
UNITS = {
    "features": "with features scaled to unit variance",
    "samples": "with samples scaled to unit length",
    "none": "in the units of the table",
}


def few_threads(n_values: float) -> AbstractContextManager[Any]:
    """Return a context with one BLAS and OpenMP thread if there are few values.

    For such small products, further threads would only wait and occupy processors.
    """
    if n_values >= MANY_VALUES:
        return nullcontext()
    limits: AbstractContextManager[Any] = libraries().limit(limits=1)
    return limits


def checked_table(table: Any, name: str = "table") -> Any:
    """Return a finite float array or CSR matrix with samples in rows."""
    given, table = table, unwrapped(table)
    refuse_disguised(table, name)
    n_dimensions = 2 if sp.issparse(table) else np.ndim(table)
    if n_dimensions != 2:
        raise ValueError(
            f"{name} has {n_dimensions} dimension(s) but needs two: samples in rows, "
            "features in columns."
        )
    with refusing_cells(table, name):
        checked = check_array(
            table,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            ensure_min_samples=2,
            input_name=name,
        )
    refuse_non_finite(checked, name, column_names(given))
    peak = largest_magnitude(checked)
    if peak > np.finfo(checked.dtype).max / (4 * np.sqrt(np.prod(checked.shape))):
        raise ValueError(
            f"A value of {name} is of size {peak:.3g}, where differences overflow; "
            f"rescale {name}."
        )
    return checked


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
    data = as_matrix(checked_table(table))
    summary = data.summary()
    if summary.constant.all():
        raise ValueError(
            f"All {data.shape[1]} columns of the table are constant; give a table with "
            "other columns."
        )
    return Centred(prepare(data, summary, kind, 1.0).centred, summary.constant)


class InUnits(NamedTuple):
    """A prepared table, and the kind of preparation."""

    table: Any
    kind: Kind


def in_units(table: Any, standardize: bool | str) -> InUnits:
    """Return the table with the preparation of a selector for this ``standardize``.

    The result is determined only up to a shift of its columns and a common factor,
    which multiply all distances between samples by this factor.

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


class View(NamedTuple):
    """Samples projected onto the two leading principal components.

    Attributes
    ----------
    points : ndarray of shape (m, 2)
    shares : tuple of float
        Share of the variance explained by each component.
    samples : ndarray of int
        The rows of the table that are shown.
    """

    points: Float
    shares: tuple[float, float]
    samples: Index


def sample_view(
    X: Any, selected: ArrayLike | None = None, *, random_state: Any = None
) -> View:
    """Return samples as points in a plane, by principal components of some columns.

    The preparation is the default of ``SCFS``: measurements are scaled to unit
    variance, samples of counts to unit length.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, p)
        At most 2000 samples are used, drawn at random; fewer if there are many columns.
    selected : array-like, optional
        Mask or indices of columns; by default all.
    random_state : int, RandomState instance or None
        Seed of the samples that are drawn.

    Returns
    -------
    View
        In units in which the mean squared norm of samples over all columns is one.
        Signs are such that the farthest point along each component is positive.

    Examples
    --------
    >>> view = sample_view([[0.0, 0.1], [1.0, 1.2], [2.0, 1.9], [9.0, 9.1]])
    >>> view.points.shape, view.shares[0] > 0.9
    ((4, 2), True)
    """
    table = checked_table(X, "X")
    kept = None if selected is None else some_of(selected, table.shape[1])
    n_samples, n_features = table.shape
    samples = np.arange(n_samples)
    affordable = int((MAX_PRODUCTS / n_features) ** 0.5)
    most = max(MIN_SHOWN, min(MAX_SHOWN, affordable))
    if n_samples > most:
        random = check_random_state(random_state)
        samples = np.sort(random.choice(n_samples, most, replace=False))
        table = table[samples]
    data = as_matrix(table)
    summary = data.summary()
    if summary.constant.all():
        raise ValueError(
            f"All {n_features} columns of X are constant, so all samples are equal; "
            "give a table with other columns."
        )
    kind, n_shown = choose_preparation(data, summary), len(samples)
    # In units in which the mean squared norm of samples is one.
    data = prepare(data, summary, kind, float(n_shown)).centred
    data = data if kept is None else data.take(kept)
    narrow = data.shape[1] < n_shown
    gram = data.feature_gram() if narrow else data.sample_gram()
    total = float(np.trace(gram))
    # The trace over all columns is n: a much smaller one is due to rounding errors.
    if total < np.finfo(np.float64).eps * n_shown:
        return View(np.zeros((n_shown, 2)), (0.0, 0.0), samples)
    count = min(2, len(gram))
    found, vectors = eigh(gram, subset_by_index=[len(gram) - count, len(gram) - 1])
    values, points = np.zeros(2), np.zeros((n_shown, 2))
    values[:count] = np.maximum(found[::-1], 0.0)
    points[:, :count] = (
        data.dot(vectors) if narrow else vectors * np.sqrt(np.maximum(found, 0.0))
    )
    points[:, :count] = points[:, :count][:, ::-1]
    points *= np.sign(points[np.abs(points).argmax(axis=0), [0, 1]])
    first, second = (values / total).tolist()
    return View(points, (first, second), samples)
