"""Sparse matrices are checked before compiled code trusts their indices."""

from copy import copy
from typing import Any

import scipy.sparse as sp


def check_sparse(matrix: Any, name: str) -> None:
    """Refuse a sparse matrix of SciPy, in any form, whose parts contradict each other.

    Compiled code reads and writes wherever the indices of a matrix point to. This takes
    one pass over the indices. Values may be NaN: what is missing is not damaged.

    Parameters
    ----------
    matrix : sparse array or matrix of SciPy
    name : str
        What the message calls it, such as "X" or the name of a file.

    Raises
    ------
    ValueError
        With one sentence that says what is wrong.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> matrix = sp.csr_array([[1.0, 0.0], [0.0, 2.0]])
    >>> check_sparse(matrix, "X")
    >>> matrix.indices[1] = 7
    >>> check_sparse(matrix, "X")
    Traceback (most recent call last):
    ...
    ValueError: X is a damaged sparse matrix: ... must be < 2; build it again from ...
    """
    try:
        _check(matrix)
    except (IndexError, TypeError, ValueError) as error:
        raise ValueError(
            f"{name} is a damaged sparse matrix: {str(error).rstrip('.')}; build it "
            "again from its entries"
        ) from error


def _check(matrix: Any) -> None:
    """Let SciPy check a matrix; building one checks its parts, too."""
    shape = matrix.shape
    if len(shape) != 2 or min(shape) < 0:
        raise ValueError(f"its shape is {shape}, not that of a table")
    match matrix.format:
        case "csr" | "csc" | "bsr":
            if {matrix.indptr.dtype.kind, matrix.indices.dtype.kind} != {"i"}:
                raise ValueError("indices must be integers")
            # Of a copy, whose parts SciPy may cast.
            copy(matrix).check_format(full_check=True)
        case "coo":
            sp.coo_array((matrix.data, (matrix.row, matrix.col)), shape=shape)
        case "dia":
            sp.dia_array((matrix.data, matrix.offsets), shape=shape)
        case "lil":
            if not len(matrix.rows) == len(matrix.data) == shape[0]:
                raise ValueError("rows and values must be as many as the shape says")
            pairs = zip(matrix.rows, matrix.data, strict=True)
            if any(len(indices) != len(values) for indices, values in pairs):
                raise ValueError("a row has other numbers of indices and values")
            _check(matrix.tocsr())
        case _:
            _check(matrix.tocoo())
