"""Preparation of X before a model sees it, decided from X alone."""

from typing import Literal, NamedTuple

import numpy as np

from ufselect.matrix import (
    ColumnSummary,
    DataMatrix,
    DenseMatrix,
    Float,
    RowBlockMatrix,
)

Kind = Literal["features", "samples", "none"]

# A typical column of measurements hardly ever repeats its median exactly; counts,
# words and codes do.
REPETITION_OF_MEASUREMENTS = 0.1

# Offsets beyond this many typical deviations are subtracted before products.
LARGEST_OFFSET = {np.dtype(np.float64): 1e3, np.dtype(np.float32): 3e1}


class Prepared(NamedTuple):
    """Two views of the prepared matrix, in units where ``|X - mean|^2 = size``.

    ``unit`` is the factor by which the prepared matrix was multiplied to get there.
    """

    centred: DataMatrix
    uncentred: DataMatrix
    unit: float


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
    centred = _steady(data, summary, scale).affine(summary.mean, scale)
    return Prepared(centred, data.affine(np.zeros(data.shape[1]), scale), unit)


def non_negative(data: DataMatrix, summary: ColumnSummary, kind: Kind) -> DataMatrix:
    """Return the prepared matrix, shifted as a whole if it has negative values."""
    data, summary, scale = scaled(data, summary, kind)
    lowest = min(float(np.min(summary.minimum * scale)), 0.0)
    return data.affine(lowest / scale, scale)


def _steady(data: DataMatrix, summary: ColumnSummary, scale: Float) -> DataMatrix:
    """Return the matrix in the form that keeps its digits when shifted."""
    typical = np.sqrt(np.mean((summary.deviation * scale) ** 2))
    offset = float(np.max(np.abs(summary.mean) * scale)) / max(typical, 1e-300)
    if offset <= LARGEST_OFFSET.get(data.raw.dtype, 0.0):
        return data.known_near_zero()
    if isinstance(data, DenseMatrix):
        return RowBlockMatrix(data.raw, sample_scale=data.sample_scale)
    return data
