"""Conversion of a user's data to a matrix, and checks of these data."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, time, timedelta
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ufselect.matrix.arrays import DenseMatrix, RowBlockMatrix, RowSource, SparseMatrix
from ufselect.matrix.base import BLOCK_BYTES, DataMatrix, Index, is_memory_mapped

# Packages with arrays that can be read in slices of rows; of anndata, backed matrices.
ROW_SOURCES = {"zarr", "h5py", "anndata"}

# Type names of pd.NA, pd.NaT and None, so that pandas need not be imported.
MISSING = {"NAType", "NaTType", "NoneType"}
DATES = (date, time, timedelta)
LONGEST_REASON = 200


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
    _refuse_shape(data)
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


def out_of_core_columns(data: Any, index: Index) -> Any:
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


def _stacked(pieces: list[Any]) -> Any:
    if sp.issparse(pieces[0]):
        return sp.vstack(pieces, format="csr")
    return np.concatenate(pieces)


def _refuse_shape(data: Any) -> None:
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


# Checks of the input


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


def column_names(data: Any) -> NDArray[np.object_] | None:
    """Return the column names of a data frame or AnnData if all are strings."""
    given = data.var_names if is_anndata(data) else getattr(data, "columns", ())
    names = np.asarray(given, dtype=object)
    strings = len(names) > 0 and all(isinstance(name, str) for name in names)
    return names if strings else None


def refuse_disguised(data: Any, name: str = "X") -> None:
    """Raise an error for dates, masked cells and damaged sparse matrices.

    These would be converted to numbers without an error.
    """
    if bool(sp.issparse(data)):
        from ufselect._sparse import check_sparse

        check_sparse(data, name)
        return
    if np.ma.is_masked(data) and data.ndim == 2:
        masked = np.ma.getmaskarray(data)
        raise ValueError(_missing("a masked value", masked, name, None))
    frame = hasattr(data, "columns") and hasattr(data, "dtypes")
    kinds = data.dtypes if frame else [getattr(data, "dtype", None)]
    for place, kind in enumerate(kinds):
        # Types of pandas and NumPy have a kind, those of Polars a name.
        if getattr(kind, "kind", "") in ("M", "m") or str(kind).startswith(
            ("Date", "Time", "Duration")
        ):
            raise ValueError(_dates(data.columns[place] if frame else place, name))
    if getattr(getattr(data, "dtype", None), "kind", "") == "O" and data.ndim == 2:
        for place, cells in enumerate(data.T):
            # NumPy would convert it to the number of days since 1970.
            if any(isinstance(cell, np.datetime64 | np.timedelta64) for cell in cells):
                raise ValueError(_dates(place, name))


@contextmanager
def refusing_in_one_line(name: str = "X") -> Iterator[None]:
    """Convert errors of reading a table to a ValueError or TypeError of one line.

    Errors of files and of Dask clusters are not converted.
    """
    try:
        yield
    except (ValueError, TypeError) as error:
        text = str(error)
        if len(text.splitlines()) == 1:
            raise
        if "Complex data not supported" in text:  # followed by the array
            text = "Complex data not supported; use real numbers."
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(" ".join(text.split()) or f"{name} cannot be read") from error
    except MemoryError as error:
        raise ValueError(
            f"{name} needs more memory than is available; use fewer samples or "
            "features."
        ) from error
    except (ArithmeticError, AttributeError, LookupError, RuntimeError) as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:LONGEST_REASON]
        raise ValueError(
            f"{name} cannot be read as a table of numbers ({reason}); give samples in "
            "rows and features in columns."
        ) from error


@contextmanager
def refusing_cells(data: Any, name: str = "X") -> Iterator[None]:
    """Raise an error that names the first cell that is not a number."""
    try:
        yield
    except (TypeError, ValueError, OverflowError) as error:
        about_cells = type(error) is not ValueError or "string to float" in str(error)
        if about_cells and (sentence := _bad_cell(data, name)):
            raise ValueError(sentence) from None
        raise


def _bad_cell(data: Any, name: str) -> str:
    """Return a sentence about the first cell that is not a number, if there is one."""
    try:
        table = np.asarray(data, dtype=object)
    except ValueError:
        return ""  # Rows of different lengths have their own error message.
    if table.ndim != 2:
        return (
            f"Expected 2D array, got {table.ndim}D array instead: {name} is "
            f"{str(data)[:40]!r}; give samples in rows and features in columns."
        )
    names = getattr(data, "columns", range(table.shape[1]))
    for column, cells in zip(names, table.T, strict=True):
        missing = np.array([type(cell).__name__ in MISSING for cell in cells])
        if missing.any():
            return _missing("NaN", missing[:, np.newaxis], name, [repr(column)])
        for cell in cells:
            try:
                float(cell)
            except OverflowError:
                return (
                    f"Column {column!r} of {name} holds a whole number of "
                    f"{cell.bit_length()} bits, which is too large; rescale or drop "
                    "the column before selecting."
                )
            except (TypeError, ValueError):
                if hasattr(cell, "year") or isinstance(cell, DATES):
                    return _dates(column, name)
                if isinstance(cell, str | bytes):
                    return (
                        f"Column {column!r} of {name} holds the text {cell!r}, which "
                        "is not a number; drop or encode the column before selecting."
                    )
                return ""
    return ""


def _dates(column: Any, name: str) -> str:
    return (
        f"Column {column!r} of {name} holds dates or times, which are not numbers; "
        "drop or encode the column before selecting."
    )


def _missing(kind: str, bad: NDArray[np.bool_], name: str, names: Any) -> str:
    """Return the message about missing values in the first column with any."""
    first = int(bad.any(axis=0).argmax())
    column = first if names is None else names[first]
    count = int(np.count_nonzero(bad[:, first]))
    lacking = "masked" if "masked" in kind else "not finite"
    return (
        f"Input {name} contains {kind} in column {column} ({count} of {len(bad)} "
        f"values are {lacking}); impute or drop such values before selecting."
    )


def refuse_non_finite(data: Any, name: str = "X", names: Any = None) -> None:
    """Raise an error that names the first column with a NaN or an infinity."""
    sparse = bool(sp.issparse(data))
    values = data.data if sparse else data
    # A sum of finite numbers may overflow, but a finite sum excludes NaN and infinity.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(np.sum(values)):
            return
    bad = ~np.isfinite(values)
    if not bad.any():
        return
    columns = data.tocoo().col[bad] if sparse else np.nonzero(bad)[1]
    first = int(columns.min())
    column = data[:, [first]].toarray() if sparse else data[:, [first]]
    kind = "NaN" if np.isnan(column).any() else "infinity"
    label = first if names is None else repr(str(names[first]))
    raise ValueError(_missing(kind, ~np.isfinite(column), name, [label]))
