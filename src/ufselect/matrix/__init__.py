"""Access to data: one small interface for data in memory, on disk and on Dask."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ufselect.matrix.arrays import DenseMatrix as DenseMatrix
    from ufselect.matrix.arrays import RowBlockMatrix as RowBlockMatrix
    from ufselect.matrix.arrays import SparseMatrix as SparseMatrix
    from ufselect.matrix.base import ColumnSummary as ColumnSummary
    from ufselect.matrix.base import DataMatrix as DataMatrix
    from ufselect.matrix.base import Float as Float
    from ufselect.matrix.base import Index as Index
    from ufselect.matrix.base import Mask as Mask
    from ufselect.matrix.inputs import as_matrix as as_matrix
    from ufselect.matrix.inputs import as_row_source as as_row_source
    from ufselect.matrix.inputs import is_out_of_core as is_out_of_core
    from ufselect.matrix.inputs import out_of_core_columns as out_of_core_columns
    from ufselect.matrix.inputs import out_of_core_rows as out_of_core_rows
    from ufselect.matrix.inputs import storage_of as storage_of
else:
    from ufselect._names import attach

    __getattr__, __dir__, __all__ = attach(__name__)
