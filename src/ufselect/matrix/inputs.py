"""From what a user gives to a matrix: in memory, memory-mapped, in a file, on Dask."""

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from ufselect.matrix.arrays import DenseMatrix, SparseMatrix
from ufselect.matrix.base import BLOCK_BYTES, DataMatrix, Index, is_memory_mapped
from ufselect.matrix.row_blocks import RowBlockMatrix, RowSource

# Packages whose arrays give slices of rows; anndata means its backed matrices.
ROW_SOURCES = {"zarr", "h5py", "anndata"}


Storage = Literal["memory", "mapped", "file", "dask"]


def storage_of(data: Any) -> Storage:
    """Tell where data is: in memory, memory-mapped, in a file or on Dask's workers.

    Packages are recognised without importing them. Arrays of other packages may hold
    a Dask collection, or numbers in memory; a part of an AnnData in memory has types
    of its own.

    Examples
    --------
    >>> storage_of(np.eye(2)), storage_of([[1.0]])
    ('memory', 'memory')
    """
    if isinstance(data, np.ndarray) or sp.issparse(data):
        return "mapped" if is_memory_mapped(data) else "memory"
    packages = {kind.__module__.split(".")[0] for kind in type(data).__mro__}
    if hasattr(data, "__dask_graph__") and "dask" in packages:
        return "dask"
    is_array = hasattr(data, "shape") and hasattr(data, "dtype")
    return "file" if is_array and not ROW_SOURCES.isdisjoint(packages) else "memory"


def is_out_of_core(data: Any) -> bool:
    """Tell whether data is in a file or on Dask's workers."""
    return storage_of(data) in ("file", "dask")


def as_matrix(data: Any, block_bytes: int = BLOCK_BYTES) -> DataMatrix:
    """Return the matrix interface over validated two-dimensional data.

    Parameters
    ----------
    data : {ndarray, sparse matrix, memory-mapped array} or row source
        Floats; see ``as_row_source`` for what is on disk or on a cluster.
    block_bytes : int
        Size of the blocks in which data on disk are read.

    >>> as_matrix(np.eye(3)).feature_gram().shape
    (3, 3)
    """
    storage = storage_of(data)
    if storage == "dask":
        from ufselect.matrix.dask_rows import DaskMatrix

        return DaskMatrix(data)
    if storage == "mapped" or isinstance(data, RowSource):
        return RowBlockMatrix(data, block_bytes=block_bytes)
    return SparseMatrix(data) if sp.issparse(data) else DenseMatrix(data)


def as_row_source(data: Any) -> Any:
    """Return data that ``as_matrix`` can read by rows, and refuse what it cannot.

    A Dask array gets chunks of rows of known length, a Dask data frame becomes such an
    array, and an array on disk a ``RowSource``.
    """
    _refuse_shape(data)
    if storage_of(data) != "dask" and getattr(data, "format", None) == "csc":
        raise ValueError(
            "X is stored by columns (CSC) and cannot be read by rows; write it in CSR, "
            "or give X.to_memory()."
        )
    rows = _dask_rows(data) if storage_of(data) == "dask" else RowSource(data)
    if rows.dtype.kind not in "biufc":
        raise ValueError(
            f"X holds values of type {rows.dtype}, which are not numbers; convert or "
            "drop such columns before selecting."
        )
    if np.issubdtype(rows.dtype, np.complexfloating):
        raise ValueError("Complex data not supported: X holds complex numbers.")
    return rows


def out_of_core_columns(data: Any, index: Index) -> Any:
    """Return some columns: lazily those of Dask, in memory those of a file."""
    if hasattr(data, "iloc"):
        return data.iloc[:, index]
    if storage_of(data) == "dask":
        return data[:, index]
    rows = as_row_source(data)
    return _stacked([rows[block, index] for block in RowBlockMatrix(rows).row_slices()])


def out_of_core_rows(data: Any, index: Index) -> Any:
    """Return some rows, in rising order: lazily those of Dask, else in memory."""
    rows = as_row_source(data)
    if storage_of(rows) == "dask":
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
