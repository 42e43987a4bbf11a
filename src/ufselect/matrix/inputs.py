"""Conversion of a user's data to a matrix."""

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from ufselect.matrix.arrays import DenseMatrix, RowBlockMatrix, RowSource, SparseMatrix
from ufselect.matrix.base import BLOCK_BYTES, DataMatrix, Index, is_memory_mapped

# Packages with arrays that can be read in slices of rows; of anndata, backed matrices.
ROW_SOURCES = {"zarr", "h5py", "anndata"}

Storage = Literal["memory", "mapped", "file", "dask"]


def storage_of(data: Any) -> Storage:
    """Return where data are: in memory, memory-mapped, in a file or on Dask.

    Packages are recognised without importing them. Arrays of other packages may wrap
    a Dask collection or an array in memory, and slices of an AnnData in memory have
    their own types.

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
    """Return whether data are in a file or on Dask."""
    return storage_of(data) in ("file", "dask")


def is_anndata(data: Any) -> bool:
    """Return whether data are an AnnData, without importing the package."""
    name = type(data).__module__.split(".")[0]
    return name == "anndata" and hasattr(data, "var_names")


def unwrapped(data: Any) -> Any:
    """Return the matrix of an AnnData, and other data unchanged."""
    if not is_anndata(data):
        return data
    if data.X is None:
        raise ValueError(
            "X is an AnnData without a matrix X; set its X, or use one of its "
            "layers (adata.layers['counts'])."
        )
    return data.X


def as_matrix(data: Any, block_bytes: int = BLOCK_BYTES) -> DataMatrix:
    """Return the matrix interface over validated two-dimensional data.

    Parameters
    ----------
    data : {ndarray, sparse matrix, memory-mapped array} or row source
        Floats; for data on disk or on Dask, see ``as_row_source``.
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
    """Return data that ``as_matrix`` can read by rows, or raise an error.

    A Dask array is chunked by rows with known lengths, a Dask data frame is converted
    to such an array, and an array on disk to a ``RowSource``.
    """
    _check_two_dimensional(data)
    if storage_of(data) != "dask" and getattr(data, "format", None) == "csc":
        raise ValueError(
            "X is stored in CSC format and cannot be read by rows; write it in CSR "
            "format, or use X.to_memory()."
        )
    rows = _dask_rows(data) if storage_of(data) == "dask" else RowSource(data)
    if rows.dtype.kind not in "biufc":
        raise ValueError(
            f"X holds values of type {rows.dtype}, which are not numbers; convert or "
            "drop such columns before selecting."
        )
    if np.issubdtype(rows.dtype, np.complexfloating):
        raise ValueError("Complex data not supported: X contains complex numbers.")
    return rows


def out_of_core_columns(data: Any, index: Index | slice) -> Any:
    """Return some columns, lazily for Dask and in memory otherwise."""
    data = unwrapped(data)
    if hasattr(data, "iloc"):
        return data.iloc[:, index]
    if storage_of(data) != "file":
        return data[:, index]
    rows = as_row_source(data)
    return _stacked([rows[block, index] for block in RowBlockMatrix(rows).row_slices()])


def out_of_core_rows(data: Any, index: Index) -> Any:
    """Return some rows in ascending order, lazily for Dask and in memory otherwise."""
    rows = as_row_source(data)
    if storage_of(rows) == "dask":
        return rows[index]
    pieces = []
    # Indexing single rows in a file is slow and differs between libraries.
    for block in RowBlockMatrix(rows).row_slices():
        inside = index[(block.start <= index) & (index < block.stop)]
        if len(inside):
            pieces.append(rows[block][inside - block.start])
    return _stacked(pieces)


def in_memory(data: Any) -> Any:
    """Return data from a file or from Dask as an array or sparse matrix."""
    if storage_of(data) == "dask":
        return data.compute()
    return out_of_core_columns(data, slice(None)) if is_out_of_core(data) else data


def _stacked(pieces: list[Any]) -> Any:
    if sp.issparse(pieces[0]):
        return sp.vstack(pieces, format="csr")
    return np.concatenate(pieces)


def _check_two_dimensional(data: Any) -> None:
    """Raise ValueError unless data are two-dimensional."""
    if not isinstance(getattr(data, "shape", None), tuple):
        raise TypeError(
            f"X is a Dask {type(data).__name__}, which is not a table; use a Dask "
            "array or data frame."
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
