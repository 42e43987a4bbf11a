"""Sparse matrices are checked before compiled code trusts their indices."""

from typing import Any


def check_sparse(matrix: Any, name: str) -> None:
    """Refuse a sparse matrix of SciPy, in any form, whose parts contradict each other.

    Compiled code reads and writes wherever the indices of a matrix point to. This takes
    one pass over the indices and allocates nothing of their size for CSR, CSC and COO.
    Values may be NaN: what is missing is not damaged.

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
    ValueError: X is a damaged sparse matrix: it has an index outside its 2 columns; \
build it again from its entries
    """
    problem = _problem(matrix)
    if problem is not None:
        raise ValueError(
            f"{name} is a damaged sparse matrix: {problem}; build it again from its "
            "entries"
        )


def _problem(matrix: Any) -> str | None:
    """Return what is wrong with a sparse matrix, or None."""
    if len(matrix.shape) != 2 or min(matrix.shape) < 0:
        return f"its shape is {matrix.shape}, not that of a table"
    n_rows, n_columns = map(int, matrix.shape)
    form = matrix.format
    if form == "dok":  # a dictionary of Python objects
        return _problem(matrix.tocoo())
    data = matrix.data
    if form == "lil":  # lists of Python objects
        if len(matrix.rows) != n_rows or len(data) != n_rows:
            return "it has another number of rows than its shape says"
        if any(len(a) != len(b) for a, b in zip(matrix.rows, data, strict=True)):
            return "it has rows with more indices than values, or fewer"
        return _problem(matrix.tocsr())
    if form == "dia":
        offsets = matrix.offsets
        if data.ndim != 2 or offsets.shape != data.shape[:1]:
            return "it has more diagonals than offsets, or fewer"
        repeated = len(set(offsets.tolist())) < len(offsets)
        return "it has an offset twice" if repeated else None
    if form == "coo":
        if not len(matrix.row) == len(matrix.col) == len(data):
            return "it has more indices than values, or fewer"
        return _outside(matrix.row, n_rows, "rows") or _outside(
            matrix.col, n_columns, "columns"
        )
    n_lines, n_places, places = n_rows, n_columns, "columns"
    if form == "csc":
        n_lines, n_places, places = n_columns, n_rows, "rows"
    elif form == "bsr":
        if data.ndim != 3 or 0 in data.shape[1:]:
            return "its blocks are not matrices"
        (n_lines, extra), (n_places, rest) = (
            divmod(n_rows, data.shape[1]),
            divmod(n_columns, data.shape[2]),
        )
        if extra or rest:
            return f"blocks of {data.shape[1:]} do not fill its shape {matrix.shape}"
        places = "columns of blocks"
    indptr, indices = matrix.indptr, matrix.indices
    if indptr.shape != (n_lines + 1,) or indices.ndim != 1 or indptr.dtype.kind != "i":
        return "its indptr does not fit its shape"
    if indptr.dtype != indices.dtype:
        return f"its indptr is {indptr.dtype} and its indices are {indices.dtype}"
    if indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        return "its indptr does not rise from 0"
    if indptr[-1] > min(len(indices), len(data)):
        return "its indptr points beyond its entries"
    return _outside(indices[: indptr[-1]], n_places, places)


def _outside(indices: Any, size: int, places: str) -> str | None:
    """Say so if an index is not in range(size)."""
    if indices.dtype.kind != "i":
        return "its indices are not integers"
    # A negative number is a very large one without its sign: one pass finds both.
    unsigned = indices.view(f"u{indices.itemsize}") if len(indices) else indices
    if len(indices) and int(unsigned.max()) >= size:
        return f"it has an index outside its {size} {places}"
    return None
