"""The check of a table: X is checked once, where it enters, and becomes a matrix.

Everything inside takes that matrix, or rows of it. Its values are finite floats.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, time, timedelta
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.utils import check_array

from ufselect._sparse import check_sparse
from ufselect.matrix.base import DataMatrix
from ufselect.matrix.inputs import (
    as_matrix,
    as_row_source,
    in_memory,
    is_anndata,
    is_out_of_core,
    storage_of,
    unwrapped,
)

# Type names of pd.NA, pd.NaT and None, so that pandas need not be imported.
MISSING = {"NAType", "NaTType", "NoneType"}
DATES = (date, time, timedelta)
MAX_REASON_LETTERS = 200

MIN_SAMPLES = 2


def checked_matrix(
    X: Any,
    name: str = "X",
    *,
    owner: str | None = None,
    names: Any = None,
    in_blocks: bool = False,
) -> DataMatrix:
    """Return X as a matrix of finite floats; raise an error of one sentence otherwise.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame, AnnData, Dask or file array
        A DataMatrix was checked before and is returned as it is.
    name : str
        What an error calls it.
    owner : str, optional
        Who needs it, for errors.
    names : sequence of str, optional
        Names of the columns, for errors, if X has none of its own.
    in_blocks : bool
        Whether data in a file or on Dask stay there, and integers that are mapped to
        memory are not converted at once; otherwise they are read into memory. Then
        they are checked for NaN and infinity when they are first read.

    Examples
    --------
    >>> checked_matrix([[1, 2], [3, 4]]).raw
    array([[1., 2.],
           [3., 4.]])
    """
    if isinstance(X, DataMatrix):
        return X
    with one_line_errors(name):
        table = unwrapped(X)
        if in_blocks and _suits_blocks(table):
            return as_matrix(_checked_rows(table, owner))
        table = in_memory(table)
        check_number_types(table, name)
        # Selectors compute with NumPy; see docs/decisions.md.
        with cell_errors(table, name), config_context(array_api_dispatch=False):
            data = check_array(
                table,
                accept_sparse=["csr", "csc"],
                dtype=[np.float64, np.float32],
                ensure_all_finite=False,
                ensure_min_samples=MIN_SAMPLES,
                estimator=owner,
                input_name=name,
            )
        check_finite(data, name, column_names(X) if names is None else names)
        return as_matrix(data)


def _suits_blocks(table: Any) -> bool:
    """Return whether a table is not in memory, or would need much more of it."""
    if storage_of(table) != "mapped":
        return is_out_of_core(table)
    # Converting it to floats at once would need all of it in memory.
    return table.dtype.kind in "biuf" and table.dtype not in (np.float32, float)


def _checked_rows(table: Any, owner: str | None) -> Any:
    """Check the shape of a table without reading it."""
    rows = as_row_source(table)
    for count, what, fewest in zip(
        rows.shape, ("sample", "feature"), (MIN_SAMPLES, 1), strict=True
    ):
        if count < fewest:
            raise ValueError(
                f"Found array with {count} {what}(s) (shape={rows.shape}) while a "
                f"minimum of {fewest} is required{f' by {owner}' if owner else ''}."
            )
    return rows


def column_names(data: Any) -> NDArray[np.object_] | None:
    """Return the column names of a data frame or AnnData if all are strings."""
    given = data.var_names if is_anndata(data) else getattr(data, "columns", ())
    names = np.asarray(given, dtype=object)
    strings = len(names) > 0 and all(isinstance(name, str) for name in names)
    return names if strings else None


def check_number_types(data: Any, name: str = "X") -> None:
    """Raise an error for dates, masked cells and damaged sparse matrices.

    These would be converted to numbers without an error.
    """
    if bool(sp.issparse(data)):
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
def one_line_errors(name: str = "X") -> Iterator[None]:
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
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        reason = reason[:MAX_REASON_LETTERS]
        raise ValueError(
            f"{name} cannot be read as a table of numbers ({reason}); give samples in "
            "rows and features in columns."
        ) from error


@contextmanager
def cell_errors(data: Any, name: str = "X") -> Iterator[None]:
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


def check_finite(data: Any, name: str = "X", names: Any = None) -> None:
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
