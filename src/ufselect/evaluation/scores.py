"""Tables of scores, methods in rows and data sets in columns, checked and named."""

from typing import Any

import numpy as np

from ufselect.matrix import Float

# Cells named in an error; the others are counted.
MOST_SHOWN = 5


def checked_scores(table: Any) -> Float:
    """Return the scores as an array without gaps, or say which cells are missing."""
    dense = table.toarray() if hasattr(table, "toarray") else table
    scores = np.asarray(dense, dtype=np.float64)
    if scores.ndim != 2 or scores.shape[0] < 2 or scores.shape[1] < 2:
        raise ValueError(
            f"A table of scores has shape {scores.shape} but needs two methods (rows) "
            "and two data sets (columns) at least."
        )
    missing = np.argwhere(~np.isfinite(scores))
    if len(missing):
        rows, columns = _names(table, scores.shape)
        shown = missing[:MOST_SHOWN]
        cells = ", ".join(f"({rows[i]!r}, {columns[j]!r})" for i, j in shown)
        if len(missing) > len(shown):
            cells += f" and {len(missing) - len(shown)} others"
        raise ValueError(
            f"The table of scores has no finite value for (method, data set) {cells}; "
            "fill these cells, or leave out their methods or data sets."
        )
    return scores


def row_of(table: Any, reference: Any) -> int:
    """Return the row of a method, given by index or, for a DataFrame, by name."""
    rows, _ = _names(table, np.shape(table))
    if reference not in rows:
        raise ValueError(
            f"reference={reference!r} is not a method of the table; choose from "
            f"{', '.join(map(repr, rows))}."
        )
    return rows.index(reference)


def _names(table: Any, shape: tuple[int, ...]) -> tuple[list[Any], list[Any]]:
    if hasattr(table, "columns") and hasattr(table, "index"):
        return table.index.tolist(), table.columns.tolist()
    return list(range(shape[0])), list(range(shape[1]))
