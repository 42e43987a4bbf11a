"""Missing and infinite values: fill them in, leave their samples out, or name them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.data.tables.table import (
    FilledCells,
    Remedy,
    Table,
    TableError,
    column_of,
    is_sparse,
    listed,
    mostly_known,
    named_option,
)

# Columns that a message names.
MAX_NAMED = 3
FILLINGS: Mapping[str, Callable[[NDArray[Any]], Any]] = {
    "mean": np.mean,
    "median": np.median,
    "zero": lambda known: 0.0,
}
FILL = Remedy("Fill them in with the median of their column", ("--fill=median",))


def filled(table: Table, by: str) -> Table:
    r"""Fill in missing and infinite values, with a note.

    Features with more missing than known values are left out, with a note.

    Parameters
    ----------
    table : Table
        What :func:`read_table` returned; it is not changed.
    by : {"mean", "median", "zero"}
        The value to fill in: the mean or the median of the known values of the column,
        or 0.

    Examples
    --------
    >>> import io
    >>> from ufselect.data import read_table
    >>> table = read_table(io.BytesIO(b"a,b\n1,5\n,6\n3,7\n"))
    >>> filled(table, "mean").values[:, 0].tolist()
    [1.0, 2.0, 3.0]
    """
    if by not in FILLINGS:
        raise ValueError(f"by={by!r} is unknown; choose one of {', '.join(FILLINGS)}.")
    table = mostly_known(table)
    if not table.shape[1]:
        raise TableError(
            f"{table.origin.name} has more missing values than known ones in every "
            "column; give a table with more known values"
        )
    places = np.flatnonzero(table.n_incomplete()).tolist()
    if not places:
        return table
    values = table.values.copy() if is_sparse(table.values) else np.array(table.values)
    cells = [_fill_column(values, place, FILLINGS[by]) for place in places]
    rows, before = (np.concatenate(each) for each in zip(*cells, strict=True))
    columns = np.repeat(places, [len(each) for each, _ in cells])
    value = "0" if by == "zero" else f"the {by} of their columns"
    note = (
        f"{len(rows)} missing or infinite values, in {len(places)} of {table.shape[1]} "
        f"columns, were replaced by {value}."
    )
    return replace(
        table,
        values=values,
        notes=(*table.notes, note),
        filled_cells=FilledCells(rows, columns, before),
    )


def without_incomplete(table: Table) -> Table:
    r"""Return the table without the samples that have missing or infinite values.

    Features with fewer known values than missing ones are left out first, with a
    note, so that they do not cost all samples.

    Examples
    --------
    >>> import io
    >>> from ufselect.data import read_table
    >>> table = read_table(io.BytesIO(b"a,b\n1,5\n,6\n3,7\n"))
    >>> without_incomplete(table).values[:, 0].tolist()
    [1.0, 3.0]
    """
    table = mostly_known(table)
    keep = np.flatnonzero(table.n_incomplete(axis=1) == 0)
    n_left_out = table.shape[0] - len(keep)
    if not n_left_out:
        return table
    if len(keep) < 2:
        raise TableError(
            f"{table.origin.name} has {len(keep) or 'no'} row{'s' * (len(keep) != 1)} "
            "without missing values, but selection needs two samples; fill them in "
            "(--fill median)",
            [FILL],
        )
    samples, labels, groups = (
        None if each is None else each[keep]
        for each in (table.sample_names, table.labels, table.groups)
    )
    rows = "row was" if n_left_out == 1 else "rows were"
    note = f"{n_left_out} {rows} left out for missing or infinite values."
    return replace(
        table,
        values=table.values[keep],
        sample_names=samples,
        labels=labels,
        groups=groups,
        others=tuple(
            each if each.of_features else replace(each, cells=each.cells[keep])
            for each in table.others
        ),
        notes=(*table.notes, note),
        origin=replace(table.origin, rows=keep),
    )


def incomplete_error(table: Table) -> TableError | None:
    r"""Return the error for missing or infinite values, or None if there are none.

    Selectors take no such values. The error names the first columns and has remedies.

    Examples
    --------
    >>> import io
    >>> from ufselect.data import read_table
    >>> error = incomplete_error(read_table(io.BytesIO(b"a,b\n1,5\n,6\n3,7\n")))
    >>> [remedy.options for remedy in error.remedies]
    [('--fill=median',), ('--drop-incomplete=rows',), ('--drop=a',)]
    """
    names = table.incomplete().tolist()
    if not names:
        return None
    first = ", ".join(map(repr, names[:MAX_NAMED]))
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    plural = "s" if len(names) > 1 else ""
    drop = " ".join(named_option("--drop", name) for name in names[:MAX_NAMED])
    rows = Remedy("Leave their samples out", ("--drop-incomplete=rows",))
    columns = f"column{plural} {listed(names, MAX_NAMED)}"
    return TableError(
        f"{table.origin.name} has missing or infinite values in column{plural} {first}"
        f"{more}; fill them in (--fill median), leave the rows out "
        f"(--drop-incomplete rows), or leave the column{plural} out "
        f"({drop}{' ...' if more else ''})",
        [
            FILL,
            rows,
            Remedy(f"Leave {columns} out", tuple(f"--drop={name}" for name in names)),
        ],
    )


def _fill_column(
    values: Any, place: int, value_of: Callable[[Any], Any]
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Fill in one column in place; return the rows that were, and their values."""
    column = column_of(values, place)
    known = np.isfinite(column)
    value = value_of(column[known])
    if is_sparse(values):
        values.data[(values.indices == place) & ~np.isfinite(values.data)] = value
    else:
        values[~known, place] = value
    return np.flatnonzero(~known), column[~known]
