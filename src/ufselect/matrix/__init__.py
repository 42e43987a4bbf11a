"""How data is touched: one small interface over dense, sparse and mapped arrays."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from ufselect.matrix.arrays import DenseMatrix, SparseMatrix
from ufselect.matrix.base import ColumnSummary, DataMatrix, Float, Index
from ufselect.matrix.memory_mapped import RowBlockMatrix

__all__ = [
    "ColumnSummary",
    "DataMatrix",
    "DenseMatrix",
    "Float",
    "Index",
    "RowBlockMatrix",
    "SparseMatrix",
    "as_matrix",
]


def as_matrix(data: Any) -> DataMatrix:
    """Return the matrix interface over a validated two-dimensional float array.

    >>> import numpy as np
    >>> as_matrix(np.eye(3)).feature_gram().shape
    (3, 3)
    """
    if sp.issparse(data):
        return SparseMatrix(data)
    if is_memory_mapped(data):
        return RowBlockMatrix(data)
    return DenseMatrix(data)


def is_memory_mapped(array: Any) -> bool:
    """Tell whether an array is, or is a view of, a file on disk."""
    while array is not None:
        if isinstance(array, np.memmap):
            return True
        array = getattr(array, "base", None)
    return False
