"""Cells without a value get that of their column: its median, its mean or zero."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.data.tables.matrices import is_sparse
from ufselect.data.tables.table import Table

FILLINGS: Mapping[str, Callable[[NDArray[Any]], Any]] = {
    "mean": np.mean,
    "median": np.median,
    "zero": lambda known: 0.0,
}


def filled(table: Table, by: str) -> Table:
    r"""Return the table with nothing missing or infinite, and a note of what was done.

    Columns without any finite value stay as they are, and selectors refuse them.

    Parameters
    ----------
    table : Table
        What :func:`read_table` returned; it is left as it is.
    by : {"mean", "median", "zero"}
        What is put in place of a value: the mean or the median of the other values of
        its column, or 0.

    Examples
    --------
    >>> import io
    >>> from ufselect.data import read_table
    >>> table = read_table(io.BytesIO(b"a,b\n1,5\n,6\n3,7\n"))
    >>> filled(table, "mean").values[:, 0].tolist()
    [1.0, 2.0, 3.0]
    """
    if by not in FILLINGS:
        raise ValueError(f"by={by!r} is unknown; it could be {', '.join(FILLINGS)}.")
    places = np.flatnonzero(np.isin(table.names(), table.incomplete())).tolist()
    values = _copy(table.values)
    counts = [_fill_column(values, place, FILLINGS[by]) for place in places]
    n_cells = sum(counts)
    if not n_cells:
        return table
    value = "0" if by == "zero" else f"the {by} of their columns"
    note = (
        f"{n_cells} missing or infinite values, in {len(places)} of {table.shape[1]} "
        f"columns, were replaced by {value}."
    )
    return replace(table, values=values, notes=(*table.notes, note))


def _copy(values: Any) -> Any:
    return values.copy() if is_sparse(values) else np.array(values)


def _fill_column(values: Any, place: int, value_of: Callable[[Any], Any]) -> int:
    """Fill in one column in place; return how many of its cells had no value."""
    sparse = is_sparse(values)
    column = values[:, [place]].toarray().ravel() if sparse else values[:, place]
    known = np.isfinite(column)
    if not known.any():
        return 0
    value = value_of(column[known])
    if sparse:
        values.data[(values.indices == place) & ~np.isfinite(values.data)] = value
    else:
        values[~known, place] = value
    return int(np.count_nonzero(~known))
