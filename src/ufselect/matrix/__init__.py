"""How data is touched: one small interface over data in memory, on disk and on Dask."""

from ufselect.matrix.arrays import DenseMatrix, SparseMatrix
from ufselect.matrix.base import ColumnSummary, DataMatrix, Float, Index
from ufselect.matrix.inputs import (
    as_matrix,
    as_row_source,
    is_out_of_core,
    out_of_core_columns,
    out_of_core_rows,
    storage_of,
)
from ufselect.matrix.row_blocks import RowBlockMatrix

__all__ = [
    "ColumnSummary",
    "DataMatrix",
    "DenseMatrix",
    "Float",
    "Index",
    "RowBlockMatrix",
    "SparseMatrix",
    "as_matrix",
    "as_row_source",
    "is_out_of_core",
    "out_of_core_columns",
    "out_of_core_rows",
    "storage_of",
]
