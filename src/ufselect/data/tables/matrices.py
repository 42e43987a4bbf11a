"""Matrices of numbers: made floating, turned, and rid of columns on request."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ufselect.data.tables.columns import roles, unique_names
from ufselect.data.tables.table import File, Parts, Request, TableError

SHAPE_REMEDY = "save an array with a row per sample and a column per feature"


def is_sparse(values: Any) -> bool:
    """Tell whether a matrix is one of SciPy's sparse ones."""
    return bool(sp.issparse(values))


def floating(values: Any, request: Request, name: str) -> Any:
    """Return numbers as float64 or float32; sparse ones as rows (CSR)."""
    if values.ndim != 2:
        raise TableError(
            f"{name} holds an array of shape {values.shape}, which is no table; "
            f"{SHAPE_REMEDY}"
        )
    if values.dtype.kind not in "fiub":
        raise TableError(
            f"{name} holds values of type {values.dtype}, which are no plain numbers; "
            "save them as floats"
        )
    kind = values.dtype
    if kind not in (np.float64, np.float32) or not kind.isnative:
        kind = request.dtype
    if is_sparse(values):
        _check_indices(values)
        return sp.csr_array(values, dtype=kind)
    if isinstance(values, np.memmap) and values.dtype == kind:
        return values
    return np.ascontiguousarray(values, dtype=kind)


def _check_indices(values: Any) -> None:
    """Refuse indices beyond the shape: in a damaged file they end the process."""
    if values.format not in ("csr", "csc"):
        return
    values.check_format(full_check=True)
    if (np.diff(values.indptr) < 0).any():
        raise ValueError("pointers into a sparse matrix fall")


def transposed(values: Any) -> Any:
    """Return a matrix turned, with its rows together in memory."""
    if is_sparse(values):
        return sp.csr_array(values.T)
    return np.ascontiguousarray(values.T)


def matrix_parts(
    values: Any,
    names: Sequence[str] | None,
    samples: Sequence[str] | None,
    file: File,
    request: Request,
    notes: list[str],
) -> Parts:
    """Return the parts of a matrix with samples in rows and of its names.

    Without names columns are called by their place, as in text without a header.
    """
    if is_sparse(values):
        notes.append("The matrix is sparse and was kept so.")
    asked = request.labels, request.id_column, *request.drop
    if asked == (None, None):
        unique = None if names is None else unique_names(names, notes)
        return Parts(values, unique, samples)
    return _without_columns(values, names, samples, file, request, notes)


def _without_columns(
    values: Any,
    names: Sequence[str] | None,
    samples: Sequence[str] | None,
    file: File,
    request: Request,
    notes: list[str],
) -> Parts:
    if names is None:
        names = [f"x{place + 1}" for place in range(values.shape[1])]
        request = by_place(request)
    names = unique_names(names, notes)
    found = roles(names, request, file.name)
    keep = sorted(set(range(len(names))) - found.taken)
    identity, labels = (
        None if place is None else column_text(values, place)
        for place in (found.identity, found.labels)
    )
    return Parts(
        values[:, keep],
        [names[place] for place in keep],
        samples if identity is None else identity,
        id_column=request.id_column,
        labels=labels,
        label_column=request.labels,
        positions=keep,
    )


def column_text(values: Any, place: int) -> list[str]:
    """Return a column of numbers as text; whole numbers have no point."""
    column = values[:, [place]]
    column = column.toarray() if is_sparse(column) else column
    return number_text(column.ravel())


def number_text(values: Any) -> list[str]:
    """Return numbers as the shortest text that gives them back.

    Examples
    --------
    >>> import numpy as np
    >>> number_text(np.array([1.0, 0.1, np.nan, 1e300], dtype=np.float64))
    ['1', '0.1', '', '1e+300']
    >>> number_text(np.array([0.1], dtype=np.float32))
    ['0.1']
    """
    texts = [str(value) for value in values.tolist()]
    if values.dtype == np.float32:
        texts = [str(value) for value in values]
    return ["" if t == "nan" else t.removesuffix(".0") for t in texts]


def by_place(request: Request) -> Request:
    """Let columns without names be called by their place: 3 is x3."""

    def spelled(each: str) -> str:
        return f"x{each}" if str(each).isdigit() else each

    return request._replace(
        labels=None if request.labels is None else spelled(request.labels),
        id_column=None if request.id_column is None else spelled(request.id_column),
        drop=tuple(map(spelled, request.drop)),
    )
