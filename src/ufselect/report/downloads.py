"""The data behind a table or a figure, put into the page to be saved as CSV."""

import csv
import io
from collections.abc import Mapping, Sequence
from html import escape
from itertools import chain, islice
from numbers import Number
from typing import Any

import numpy as np

from ufselect.data.tables.cells import looks_like_formula

Columns = Mapping[str, Sequence[Any]]

# A page is for looking; whoever wants more rows has them in Python.
MOST_ROWS = 20_000


def csv_text(
    columns: Columns, most_rows: int | None = MOST_ROWS, *, escape_formulas: bool = True
) -> str:
    """Return columns as CSV that no spreadsheet takes for a program.

    Text that could be a formula gets an apostrophe before it, unless that is not
    wanted. Numbers keep all their
    digits; what is None or not a number is left empty. Of more rows than ``most_rows``
    the first are written.

    Examples
    --------
    >>> print(csv_text({"name": ["a,b", "=1+1"], "score": [-0.5, float("nan")]}))
    name,score
    "a,b",-0.5
    '=1+1,
    <BLANKLINE>
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    rows = chain([columns], islice(zip(*columns.values(), strict=True), most_rows))
    writer.writerows([_cell(value, escape_formulas) for value in row] for row in rows)
    return stream.getvalue()


def distinct(names: Sequence[str]) -> list[str]:
    """Return names in which one that comes again is numbered.

    Examples
    --------
    >>> distinct(["a", "b", "a", "a 2"])
    ['a', 'b', 'a 2', 'a 2 2']
    """
    found: dict[str, None] = {}
    for name in names:
        number, free = 2, name
        while free in found:
            number, free = number + 1, f"{name} {number}"
        found[free] = None
    return list(found)


def download_html(columns: Columns, name: str) -> str:
    """Return a button that saves the columns as a file, and the file itself."""
    length = max((len(column) for column in columns.values()), default=0)
    first = f" (first {MOST_ROWS} of {length} rows)" if length > MOST_ROWS else ""
    return (
        f'<button type="button" class="download" hidden data-name="{escape(name)}.csv">'
        f"Save as CSV{first}</button>"
        f"<template>{escape(csv_text(columns))}</template>"
    )


def _cell(value: Any, safe: bool) -> str:
    if value is None:
        return ""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    # The usual ones first: asking for an abstract class takes ten times as long.
    if isinstance(value, float | int | Number | np.number):
        return "" if value != value else str(value)
    text = str(value)
    return f"'{text}" if safe and looks_like_formula(text) else text
