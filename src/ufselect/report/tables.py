"""Tables as aligned text, in Markdown, and as CSV."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from ufselect.data.tables.layout import looks_like_formula

# A report is for looking; if you want more rows, you have them in Python.
MOST_ROWS = 20_000


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return an aligned table: first column to the left, the others to the right.

    Examples
    --------
    >>> print(text_table(["method", "ACC"], [["SCFS", "79.1"], ["all", "9.0"]]))
    method   ACC
    ------  ----
    SCFS    79.1
    all      9.0
    """
    columns = zip(header, *rows, strict=True)
    widths = [max(len(cell) for cell in column) for column in columns]
    lines = [header, ["-" * width for width in widths], *rows]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    r"""Return a table in Markdown, aligned as in `text_table`.

    Examples
    --------
    >>> print(markdown_table(["method", "ACC"], [["SCFS", "79.1"], ["a|b", "9.0"]]))
    | method | ACC |
    |:--|--:|
    | SCFS | 79.1 |
    | a\|b | 9.0 |
    """
    rule = "|:--" + "|--:" * (len(header) - 1) + "|"
    columns = zip(header, *rows, strict=True)
    head, *body = zip(*columns, strict=True)
    return "\n".join([_markdown_row(head), rule, *map(_markdown_row, body)])


def _markdown_row(cells: Sequence[str]) -> str:
    # A line break would end the row.
    escaped = [" ".join(cell.replace("|", r"\|").splitlines()) for cell in cells]
    return "| " + " | ".join(escaped) + " |"


def csv_text(
    columns: pd.DataFrame | Mapping[str, Sequence[Any]],
    most_rows: int | None = MOST_ROWS,
    *,
    escape_formulas: bool = True,
) -> str:
    """Return a table as CSV that no spreadsheet takes for a program.

    Text that could be a formula gets an apostrophe before it, unless that is not
    wanted. Numbers keep all their digits; what is None or not a number is left empty.
    Of more rows than ``most_rows`` the first are written.

    Examples
    --------
    >>> print(csv_text({"name": ["a,b", "=1+1"], "score": [-0.5, float("nan")]}))
    name,score
    "a,b",-0.5
    '=1+1,
    <BLANKLINE>
    """
    frame = pd.DataFrame(columns).iloc[:most_rows]

    def cell(value: Any) -> Any:
        if isinstance(value, bool | np.bool_):
            return "yes" if value else "no"
        formula = isinstance(value, str) and looks_like_formula(value)
        return f"'{value}" if formula and escape_formulas else value

    # By place, for names may come twice.
    columns = [
        column
        if is_numeric_dtype(column) and not is_bool_dtype(column)
        else column.astype(object).map(cell)
        for _, column in frame.items()
    ]
    written = pd.concat(columns, axis=1) if columns else frame
    header = [cell(str(name)) for name in frame]
    return str(written.to_csv(index=False, header=header, lineterminator="\n"))
