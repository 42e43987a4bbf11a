"""How data is touched: one small interface over data in memory, on disk and on Dask."""

from typing import Any

import scipy.sparse as sp

from ufselect.matrix.arrays import DenseMatrix, SparseMatrix
from ufselect.matrix.base import (
    BLOCK_BYTES,
    ColumnSummary,
    DataMatrix,
    Float,
    Index,
    is_memory_mapped,
)
from ufselect.matrix.elsewhere import (
    as_rows_elsewhere,
    columns_elsewhere,
    is_dask,
    is_elsewhere,
    is_mapped_to_cast,
    rows_elsewhere,
)
from ufselect.matrix.row_blocks import RowBlockMatrix, RowSource

__all__ = [
    "ColumnSummary",
    "DataMatrix",
    "DenseMatrix",
    "Float",
    "Index",
    "RowBlockMatrix",
    "SparseMatrix",
    "as_matrix",
    "as_rows_elsewhere",
    "columns_elsewhere",
    "is_dask",
    "is_elsewhere",
    "is_mapped_to_cast",
    "is_memory_mapped",
    "rows_elsewhere",
]


def as_matrix(data: Any, block_bytes: int = BLOCK_BYTES) -> DataMatrix:
    """Return the matrix interface over validated two-dimensional data.

    Parameters
    ----------
    data : {ndarray, sparse matrix, memory-mapped array} or rows elsewhere
        Floats; see ``as_rows_elsewhere`` for what is on disk or on a cluster.
    block_bytes : int
        Size of the blocks in which data on disk are read.

    >>> import numpy as np
    >>> as_matrix(np.eye(3)).feature_gram().shape
    (3, 3)
    """
    if sp.issparse(data):
        return SparseMatrix(data)
    if is_dask(data):
        from ufselect.matrix.dask_rows import DaskMatrix

        return DaskMatrix(data)
    if isinstance(data, RowSource) or is_memory_mapped(data):
        return RowBlockMatrix(data, block_bytes=block_bytes)
    return DenseMatrix(data)
