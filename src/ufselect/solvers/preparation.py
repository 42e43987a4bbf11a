"""Preparation of X before a model sees it, decided from X alone."""

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
)

Kind = Literal["features", "samples", "none"]

# A typical column of measurements hardly ever repeats its median exactly; counts,
# words and codes do.
REPETITION_OF_MEASUREMENTS = 0.1

# Offsets beyond this many typical deviations are subtracted before products.
LARGEST_OFFSET = {np.dtype(np.float64): 1e3, np.dtype(np.float32): 3e1}

# Squares of numbers up to here, or down to its inverse, fit into single precision.
LARGEST_IN_SINGLE = 1e15

# Beyond these, squares of X overflow when they are summed, or vanish.
LARGEST_LENGTH, LEAST_DEVIATION = 1e153, 1e-151


class Prepared(NamedTuple):
    """Two views of the prepared matrix, in units where ``|X - mean|^2 = size``.

    ``unit`` is the factor by which the prepared matrix was multiplied to get there.
    """

    centred: DataMatrix
    uncentred: DataMatrix
    unit: float


def refuse_immeasurable(
    summary: ColumnSummary,
    n_samples: int,
    *,
    name: str = "X",
    name_of: Callable[[int], str] = str,
) -> None:
    """Raise an error if squares of the data cannot be summed, or are all zero.

    Examples
    --------
    >>> import numpy as np
    >>> from ufselect.matrix import as_matrix
    >>> marked = as_matrix(np.array([[0.5, 1e300], [0.7, 2.0]]))
    >>> refuse_immeasurable(marked.summary(), 2)
    Traceback (most recent call last):
    ...
    ValueError: Column 1 of X reaches 1e+300, whose square is not finite; ...
    """
    peaks = np.maximum(np.abs(summary.minimum), np.abs(summary.maximum))
    highest = int(peaks.argmax())
    if peaks[highest] > LARGEST_LENGTH / np.sqrt(n_samples * len(peaks)):
        raise ValueError(
            f"Column {name_of(highest)} of {name} reaches {peaks[highest]:.3g}, whose "
            "square is not finite; rescale the column, or impute such values if "
            "they stand for missing ones."
        )
    widest = float(summary.deviation[~summary.constant].max(initial=0.0))
    if 0 < widest < LEAST_DEVIATION:
        raise ValueError(
            f"No column of {name} has a standard deviation above {widest:.3g}, whose "
            f"square is zero in floating point; rescale {name} towards values of "
            "order one."
        )


def choose_preparation(data: DataMatrix, summary: ColumnSummary) -> Kind:
    """Return how a matrix should be prepared.

    * Columns of measurements, each in its own unit: scale **features** to unit
      variance.
    * Several non-negative columns that keep repeating one value, usually zero (words,
      counts, cells, drawings): they share a unit, and scaling would blow up the
      rare ones; but samples differ in total amount, so scale **samples** to unit
      length.
    * Codes with both signs: they share a unit and have no total amount, **none**.
    """
    varying = ~summary.constant
    typical = float(np.median(data.repetition()[varying]))
    if typical < REPETITION_OF_MEASUREMENTS:
        return "features"
    amounts = data.shape[1] > 1 and summary.minimum.min() >= 0
    return "samples" if amounts else "none"


def preparation_kind(
    standardize: bool | str, data: DataMatrix, summary: ColumnSummary
) -> Kind:
    """Return the preparation that a parameter ``standardize`` asks for."""
    if standardize == "auto":
        return choose_preparation(data, summary)
    if standardize == "samples":
        return "samples"
    return "features" if standardize else "none"


def scaled(
    data: DataMatrix, summary: ColumnSummary, kind: Kind
) -> tuple[DataMatrix, ColumnSummary, Float]:
    """Return the data with its samples scaled, and the scale of its features."""
    scale = np.ones(data.shape[1])
    if kind == "samples":
        peak = np.maximum(np.abs(summary.minimum), np.abs(summary.maximum)).max()
        data = data.with_unit_rows(float(peak))
        summary = data.summary()
        if summary.constant.all():
            raise ValueError(
                "All samples are multiples of one another, so that scaling them to "
                "unit length leaves nothing to rank; use standardize=False."
            )
    elif kind == "features":
        np.divide(1.0, summary.deviation, out=scale, where=~summary.constant)
    return data, summary, scale


def prepare(
    data: DataMatrix, summary: ColumnSummary, kind: Kind, size: float
) -> Prepared:
    """Return views of the matrix, scaled so that ``|X - mean|^2 = size``."""
    data, summary, scale = scaled(data, summary, kind)
    deviations = np.where(summary.constant, 0.0, summary.deviation * scale)
    largest = deviations.max()
    norm = largest * np.sqrt(data.shape[0] * np.sum((deviations / largest) ** 2))
    unit = float(np.sqrt(size) / norm)
    scale *= unit
    centred = _centred(data, summary, scale)
    return Prepared(centred, data.affine(np.zeros(data.shape[1]), scale), unit)


def steady_points(data: DataMatrix, summary: ColumnSummary) -> Any:
    """Return the samples in their own unit, to measure distances between.

    They are moved where the distance to zero is so much larger than those between
    samples that these would be lost in rounding.
    """
    scale = np.ones(data.shape[1])
    if _near_zero(data, summary, scale):
        safe = max(summary.maximum.max(), -summary.minimum.min()) < LARGEST_IN_SINGLE
        safe = safe and float(summary.deviation.max()) > 1 / LARGEST_IN_SINGLE
        return data.raw if safe else data.raw.astype(np.float64, copy=False)
    return _centred(data, summary, scale).points()


def non_negative(data: DataMatrix, summary: ColumnSummary, kind: Kind) -> DataMatrix:
    """Return the prepared matrix, shifted as a whole if it has negative values."""
    data, summary, scale = scaled(data, summary, kind)
    lowest = min(float(np.min(summary.minimum * scale)), 0.0)
    return data.affine(lowest / scale, scale)


def without_offsets(
    data: DataMatrix, summary: ColumnSummary, shift: Float
) -> tuple[DataMatrix, Float]:
    """Return sparse data less the shift of columns far from zero, and that of others.

    Products with such columns would lose their digits if they were shifted afterwards.
    """
    if not isinstance(data, SparseMatrix):
        return data, shift
    # A column as far from zero as that can have hardly any zeros to lose.
    far = np.abs(shift) > LARGEST_OFFSET[data.raw.dtype] * summary.deviation
    offsets = np.where(far & ~summary.constant, shift, 0.0)
    return (data.less(offsets), shift - offsets) if offsets.any() else (data, shift)


def _near_zero(data: DataMatrix, summary: ColumnSummary, scale: Float) -> bool:
    """Tell whether products may be corrected for the mean and lose no digits."""
    deviations = np.where(summary.constant, 0.0, summary.deviation * scale)
    largest = deviations.max()
    typical = largest * np.sqrt(np.mean((deviations / largest) ** 2))
    offset = float(np.max(np.abs(summary.mean) * scale)) / max(typical, 1e-300)
    return offset <= LARGEST_OFFSET.get(data.raw.dtype, 0.0)


def _centred(data: DataMatrix, summary: ColumnSummary, scale: Float) -> DataMatrix:
    """Return the scaled matrix minus its means, in a form that keeps its digits."""
    shift, near_zero = summary.mean, _near_zero(data, summary, scale)
    if isinstance(data, DenseMatrix) and not near_zero:
        data = RowBlockMatrix(data.raw, sample_scale=data.sample_scale)
    elif not near_zero:
        data, shift = without_offsets(data, summary, shift)
    # What the mean leaves of a constant column is rounding.
    scale = np.where(summary.constant, 0.0, scale)
    return data.affine(shift, scale, near_zero=near_zero)
