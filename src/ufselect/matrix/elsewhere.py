"""Data that are not in memory: what they are, and that they can be read by rows."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from ufselect.matrix.base import Index, is_memory_mapped
from ufselect.matrix.row_blocks import RowBlockMatrix, RowSource

# Packages whose arrays give slices of rows; anndata means its backed matrices.
ROW_SOURCES = {"zarr", "h5py", "anndata"}


def _packages(data: Any) -> set[str]:
    """Return the packages that the type of data comes from."""
    return {kind.__module__.split(".")[0] for kind in type(data).__mro__}


def is_dask(data: Any) -> bool:
    """Tell whether data is a collection of Dask, without importing it.

    Arrays of other packages may hold such a collection, or numbers in memory.
    """
    return hasattr(data, "__dask_graph__") and "dask" in _packages(data)


def is_row_source(data: Any) -> bool:
    """Tell whether data is an array on disk that gives slices of its rows."""
    # A part of an AnnData in memory has types of its own, too.
    if isinstance(data, np.ndarray) or sp.issparse(data):
        return False
    known = not ROW_SOURCES.isdisjoint(_packages(data))
    return known and hasattr(data, "shape") and hasattr(data, "dtype")


def is_elsewhere(data: Any) -> bool:
    """Tell whether data is neither in memory nor a memory-mapped array.

    Examples
    --------
    >>> is_elsewhere(np.eye(2)), is_elsewhere([[1.0]])
    (False, False)
    """
    return is_dask(data) or is_row_source(data)


def is_mapped_to_cast(data: Any) -> bool:
    """Tell whether data is a memory-mapped array of numbers to be made floats.

    Made floats at once, all of it would be in memory.
    """
    if not isinstance(data, np.ndarray) or not is_memory_mapped(data):
        return False
    return data.dtype.kind in "biuf" and data.dtype not in (np.float32, np.float64)


def as_rows_elsewhere(data: Any) -> Any:
    """Return data that ``as_matrix`` can read by rows, and refuse what it cannot.

    A Dask array gets chunks of rows of known length, a Dask data frame becomes such an
    array, and an array on disk a ``RowSource``.
    """
    _refuse_shape(data)
    if not is_dask(data) and getattr(data, "format", None) == "csc":
        raise ValueError(
            "X is stored by columns (CSC) and cannot be read by rows; write it in CSR, "
            "or give X.to_memory()."
        )
    rows = _dask_rows(data) if is_dask(data) else RowSource(data)
    if rows.dtype.kind not in "biufc":
        raise ValueError(
            f"X holds values of type {rows.dtype}, which are not numbers; convert or "
            "drop such columns before selecting."
        )
    if np.issubdtype(rows.dtype, np.complexfloating):
        raise ValueError("Complex data not supported: X holds complex numbers.")
    return rows


def columns_elsewhere(data: Any, index: Index) -> Any:
    """Return some columns: lazily those of Dask, in memory those of a file."""
    if hasattr(data, "iloc"):
        return data.iloc[:, index]
    if is_dask(data):
        return data[:, index]
    rows = as_rows_elsewhere(data)
    return _stacked([rows[block, index] for block in RowBlockMatrix(rows).row_slices()])


def rows_elsewhere(data: Any, index: Index) -> Any:
    """Return some rows, in rising order: lazily those of Dask, else in memory."""
    rows = as_rows_elsewhere(data)
    if is_dask(rows):
        return rows[index]
    pieces = []
    # Files read single rows in ways of their own, and slowly.
    for block in RowBlockMatrix(rows).row_slices():
        inside = index[(block.start <= index) & (index < block.stop)]
        if len(inside):
            pieces.append(rows[block][inside - block.start])
    return _stacked(pieces)


def _stacked(pieces: list[Any]) -> Any:
    if sp.issparse(pieces[0]):
        return sp.vstack(pieces, format="csr")
    return np.concatenate(pieces)


def _refuse_shape(data: Any) -> None:
    """Raise an error unless data is a table, which a bag of Dask for one is not."""
    if not isinstance(getattr(data, "shape", None), tuple):
        raise TypeError(
            f"X is a Dask {type(data).__name__}, which is not a table; give an array "
            "or a data frame of Dask."
        )
    n_dimensions = len(data.shape)
    if n_dimensions != 2:
        raise ValueError(
            f"Expected 2D array, got {n_dimensions}D array instead; give samples in "
            "rows and features in columns."
        )


def _dask_rows(data: Any) -> Any:
    if hasattr(data, "to_dask_array"):
        data = data.to_dask_array(lengths=True)
    if any(np.isnan(size) for size in data.chunks[0]):
        data = data.compute_chunk_sizes()
    if data.numblocks[1] > 1:
        data = data.rechunk({1: -1})
    return data
