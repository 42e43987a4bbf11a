"""Preparation of X: centring and scaling, chosen from X alone."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from ufselect.matrix import (
    ColumnSummary,
    DataMatrix,
    DenseMatrix,
    Float,
    RowBlockMatrix,
    SparseMatrix,
    as_matrix,
)

Kind = Literal["features", "samples", "none"]

# Values of the parameter ``standardize``.
PREPARATIONS = ("auto", "features", "samples", "none", True, False)

# Preparations in words.
UNITS = {
    "features": "with features scaled to unit variance",
    "samples": "with samples scaled to unit length",
    "none": "in the units of the table",
}

# Largest share of cells equal to the median in a typical column of measurements; counts
# and codes repeat it more often.
REPETITION_OF_MEASUREMENTS = 0.1

# Means larger than this many typical standard deviations are subtracted before products
# with X are computed, to avoid cancellation.
MAX_OFFSET = {np.dtype(np.float64): 1e3, np.dtype(np.float32): 3e1}

# Squares of numbers up to this, and down to its inverse, fit into single precision.
MAX_IN_SINGLE = 1e15

# Outside of these limits, sums of squares of X overflow or underflow.
MAX_LENGTH, MIN_DEVIATION = 1e153, 1e-151


class Prepared(NamedTuple):
    """A prepared matrix, scaled so that ``|X - mean|^2 = size``.

    Constant columns are zero. ``unit`` is the factor of the scaling, ``mean`` holds the
    means of the columns of ``uncentred``, and ``data`` are the samples before scaling.
    """

    centred: DataMatrix
    unit: float
    mean: Float
    data: DataMatrix

    @property
    def uncentred(self) -> DataMatrix:
        """Return the same matrix without centring."""
        return self.data.affine(np.zeros(self.data.shape[1]), self.centred.scale)


def check_magnitudes(
    summary: ColumnSummary,
    n_samples: int,
    *,
    name: str = "X",
    name_of: Callable[[int], str] = str,
) -> None:
    """Raise ValueError if squares of the data overflow or underflow.

    Examples
    --------
    >>> import numpy as np
    >>> from ufselect.matrix import as_matrix
    >>> marked = as_matrix(np.array([[0.5, 1e300], [0.7, 2.0]]))
    >>> check_magnitudes(marked.summary(), 2)
    Traceback (most recent call last):
    ...
    ValueError: Column 1 of X reaches 1e+300, whose square is not finite; ...
    """
    peaks = np.maximum(np.abs(summary.minimum), np.abs(summary.maximum))
    highest = int(peaks.argmax())
    if peaks[highest] > MAX_LENGTH / np.sqrt(n_samples * len(peaks)):
        raise ValueError(
            f"Column {name_of(highest)} of {name} reaches {peaks[highest]:.3g}, whose "
            "square is not finite; rescale the column, or impute such values if they "
            "mark missing ones."
        )
    widest = float(summary.deviation[~summary.constant].max(initial=0.0))
    if 0 < widest < MIN_DEVIATION:
        raise ValueError(
            f"No column of {name} has a standard deviation above {widest:.3g}, whose "
            f"square underflows to zero; rescale {name} to values of order one."
        )


def choose_preparation(data: DataMatrix) -> Kind:
    """Return which preparation suits a matrix.

    * Columns of measurements, each in its own unit: scale **features** to unit
      variance.
    * Several non-negative columns that mostly repeat one value, usually zero (words,
      counts, cells, drawings): they have a common unit, and unit variance would give
      rare features too much weight. Samples differ in their total, so scale
      **samples** to unit length.
    * Codes of both signs: they have a common unit and no total, so scale **none**.
    """
    summary = data.summary()
    varying = np.flatnonzero(~summary.constant)
    typical = float(np.median(data.repetition()[varying]))
    if typical < REPETITION_OF_MEASUREMENTS:
        return "features"
    amounts = len(varying) > 1 and summary.minimum[varying].min() >= 0
    return "samples" if amounts else "none"


def preparation_kind(standardize: bool | str, data: DataMatrix) -> Kind:
    """Return the preparation for a value of the parameter ``standardize``."""
    if standardize == "auto":
        return choose_preparation(data)
    if standardize == "samples":
        return "samples"
    return "features" if standardize else "none"


class InUnits(NamedTuple):
    """A prepared matrix, and the kind of preparation."""

    matrix: DataMatrix
    kind: Kind


def in_units(data: DataMatrix, standardize: bool | str) -> InUnits:
    """Return the matrix with the preparation of a selector for this ``standardize``.

    The result is determined only up to a shift of its columns and a common factor,
    which multiply all distances between samples by this factor.

    Examples
    --------
    >>> import numpy as np
    >>> from ufselect.matrix import as_matrix
    >>> found = in_units(as_matrix(np.array([[0.0, 10.0], [2.0, 70.0]])), "features")
    >>> found.kind, np.ptp(found.matrix.raw, axis=0).tolist()
    ('features', [2.0, 2.0])
    """
    if standardize not in PREPARATIONS:
        raise ValueError(
            f"standardize={standardize!r} is not known; use 'auto', 'features', "
            "'samples' or 'none'."
        )
    if standardize in (False, "none"):
        return InUnits(data, "none")
    varying = int(np.count_nonzero(~data.summary().constant))
    if not varying:
        return InUnits(data, "none")
    kind = preparation_kind(standardize, data)
    if kind == "none":
        return InUnits(data, kind)
    size = float(data.shape[0] * varying)
    return InUnits(as_matrix(prepare(data, kind, size).centred.points()), kind)


def scaled(data: DataMatrix, kind: Kind) -> tuple[DataMatrix, ColumnSummary, Float]:
    """Return data, with scaled samples for "samples", summary and scale of features.

    Constant columns have scale zero and do not count in the length of a sample.
    """
    summary = data.summary()
    varying = ~summary.constant
    if kind == "samples":
        peaks = np.maximum(np.abs(summary.minimum), np.abs(summary.maximum))
        data = data.with_unit_rows(float(peaks[varying].max()), varying)
        # A constant column varies after its samples are scaled.
        summary = ColumnSummary(
            *(np.where(varying, part, 0.0) for part in data.summary())
        )
        varying = ~summary.constant
        if not varying.any():
            raise ValueError(
                "All samples are multiples of one another, so they are equal after "
                "scaling to unit length; use standardize=False."
            )
    scale = varying.astype(np.float64)
    if kind == "features":
        np.divide(1.0, summary.deviation, out=scale, where=varying)
    return data, summary, scale


def prepare(data: DataMatrix, kind: Kind, size: float) -> Prepared:
    """Return the matrix, scaled so that ``|X - mean|^2 = size``.

    Parameters
    ----------
    data : DataMatrix
        Its constant columns become zero.
    kind : {"features", "samples", "none"}
        What is scaled before: features to unit variance, samples to unit length, or
        none; `preparation_kind` finds it for a parameter ``standardize``.
    size : float
        The squared Frobenius norm of the centred matrix, such as n times the number of
        columns that vary.

    Examples
    --------
    >>> from ufselect.matrix import as_matrix
    >>> data = as_matrix(np.array([[0.0, 10.0], [2.0, 70.0]]))
    >>> X = prepare(data, "features", size=4.0).centred
    >>> X.feature_gram()
    array([[2., 2.],
           [2., 2.]])
    """
    data, summary, scale = scaled(data, kind)
    deviations = summary.deviation * scale
    largest = deviations.max()
    norm = largest * np.sqrt(data.shape[0] * np.sum((deviations / largest) ** 2))
    unit = float(np.sqrt(size) / norm)
    scale = scale * unit
    return Prepared(_centred(data, summary, scale), unit, summary.mean * scale, data)


def steady_points(data: DataMatrix) -> Any:
    """Return the samples in their original unit, for distances between them.

    They are centred if they are so far from zero that distances would lose their
    digits, and without constant columns that are far from zero.
    """
    summary = data.summary()
    if summary.mean[summary.constant].any():
        data = data.take(np.flatnonzero(~summary.constant))
        summary = data.summary()
    scale = np.ones(data.shape[1])
    if _near_zero(data, summary, scale):
        safe = max(summary.maximum.max(), -summary.minimum.min()) < MAX_IN_SINGLE
        safe = safe and float(summary.deviation.max()) > 1 / MAX_IN_SINGLE
        return data.raw if safe else data.raw.astype(np.float64, copy=False)
    return _centred(data, summary, scale).points()


def non_negative(data: DataMatrix, kind: Kind) -> DataMatrix:
    """Return the prepared matrix, shifted by one constant if it has negative values.

    Constant columns are zero.
    """
    data, summary, scale = scaled(data, kind)
    lowest = min(float(np.min(summary.minimum * scale)), 0.0)
    shift = np.divide(lowest, scale, out=np.zeros(data.shape[1]), where=scale > 0)
    return data.affine(shift, scale)


def without_offsets(
    data: DataMatrix, summary: ColumnSummary, shift: Float
) -> tuple[DataMatrix, Float]:
    """Return sparse data with the largest shifts subtracted, and the remaining shift.

    For columns far from zero, correcting products for the shift would cancel digits.
    """
    if not isinstance(data, SparseMatrix):
        return data, shift
    # Columns so far from zero have hardly any zeros, so that sparsity is kept.
    far = np.abs(shift) > MAX_OFFSET[data.raw.dtype] * summary.deviation
    offsets = np.where(far & ~summary.constant, shift, 0.0)
    return (data.less(offsets), shift - offsets) if offsets.any() else (data, shift)


def _near_zero(data: DataMatrix, summary: ColumnSummary, scale: Float) -> bool:
    """Return whether products can be corrected for the mean without cancellation."""
    deviations = summary.deviation * scale
    largest = deviations.max()
    typical = largest * np.sqrt(np.mean((deviations / largest) ** 2))
    offset = float(np.max(np.abs(summary.mean) * scale)) / max(typical, 1e-300)
    return offset <= MAX_OFFSET.get(data.raw.dtype, 0.0)


def _centred(data: DataMatrix, summary: ColumnSummary, scale: Float) -> DataMatrix:
    """Return the scaled and centred matrix, in a form that avoids cancellation."""
    shift, near_zero = summary.mean, _near_zero(data, summary, scale)
    if isinstance(data, DenseMatrix) and not near_zero:
        data = RowBlockMatrix(data.raw, sample_scale=data.sample_scale)
    elif not near_zero:
        data, shift = without_offsets(data, summary, shift)
    return data.affine(shift, scale, near_zero=near_zero)
