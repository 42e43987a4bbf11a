"""Data that are not in memory: what they are, and that they can be read by rows."""

from typing import Any

import numpy as np

from ufselect.matrix.row_blocks import RowSource

# Packages whose arrays give slices of rows; anndata means its backed matrices.
ROW_SOURCES = {"zarr", "h5py", "anndata"}


def is_dask(data: Any) -> bool:
    """Tell whether data is a collection of Dask, without importing it."""
    return hasattr(data, "__dask_graph__")


def is_row_source(data: Any) -> bool:
    """Tell whether data is an array on disk that gives slices of its rows."""
    package = type(data).__module__.split(".")[0]
    return package in ROW_SOURCES and hasattr(data, "shape") and hasattr(data, "dtype")


def is_elsewhere(data: Any) -> bool:
    """Tell whether data is neither in memory nor a memory-mapped array.

    Examples
    --------
    >>> is_elsewhere(np.eye(2)), is_elsewhere([[1.0]])
    (False, False)
    """
    return is_dask(data) or is_row_source(data)


def as_rows_elsewhere(data: Any) -> Any:
    """Return data that ``as_matrix`` can read by rows, and refuse what it cannot.

    A Dask array gets chunks of rows of known length, a Dask data frame becomes such an
    array, and an array on disk a ``RowSource``.
    """
    rows = _dask_rows(data) if is_dask(data) else RowSource(data)
    if not np.issubdtype(rows.dtype, np.number) and rows.dtype != bool:
        raise ValueError(
            f"X holds values of type {rows.dtype}, which are not numbers; convert or "
            "drop such columns before selecting."
        )
    if np.issubdtype(rows.dtype, np.complexfloating):
        raise ValueError("Complex data not supported: X holds complex numbers.")
    return rows


def _dask_rows(data: Any) -> Any:
    if hasattr(data, "to_dask_array"):
        data = data.to_dask_array(lengths=True)
    if data.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {data.ndim}D array instead; a Dask array of "
            "samples in rows and features in columns is needed."
        )
    if any(np.isnan(size) for size in data.chunks[0]):
        data = data.compute_chunk_sizes()
    if data.numblocks[1] > 1:
        data = data.rechunk({1: -1})
    return data
