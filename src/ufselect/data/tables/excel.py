"""Excel workbooks: one sheet, read row by row like text."""

import warnings
from collections.abc import Sequence
from datetime import date, time
from typing import Any

from ufselect.data.tables.columns import listed, place_of
from ufselect.data.tables.packages import needed
from ufselect.data.tables.table import File, Parts, Request, TableError
from ufselect.data.tables.text import columns_of
from ufselect.data.tables.text_finish import finished
from ufselect.data.tables.text_header import header_of
from ufselect.data.tables.text_layout import Layout, layout_of
from ufselect.data.tables.text_lines import Dialect
from ufselect.data.tables.text_rows import TextRows

SAMPLED_ROWS = 100
# Cells for each that is not empty; a cell far away from the table would fill memory.
MOST_EMPTY = 1000


def read_excel(file: File, request: Request, notes: list[str]) -> Parts:
    """Read a sheet of a workbook: the one asked for, else the first."""
    rows, title = _cells(file, request, notes)
    first = next((i for i, row in enumerate(rows) if any(row)), None)
    if first is None:
        raise TableError(f"sheet {title!r} of {file.name} is empty; give another one")
    layout = _layout(rows, first, request, f"sheet {title!r} of {file.name}")
    notes.append(f"A sheet with {'a' if layout.names else 'no'} header.")
    columns = columns_of(layout, request, file.name, notes)
    table = TextRows(layout, columns, file.name, request)
    table.add_rows(rows[layout.skipped :], layout.skipped + 1)
    parts = finished(table, request, notes)
    parts.details.update(sheet=title, header=layout.names is not None)
    return parts


def _cells(
    file: File, request: Request, notes: list[str]
) -> tuple[list[list[str]], str]:
    openpyxl = needed("openpyxl", file.name)
    with warnings.catch_warnings():
        # Of styles and other things that are of no use here.
        warnings.simplefilter("ignore")
        book = openpyxl.load_workbook(file.path, read_only=True, data_only=True)
        try:
            sheet = _sheet(book, file, request, notes)
            sheet.reset_dimensions()  # what the file says of them may be wrong
            rows = [
                [_text(cell) for cell in row]
                for row in sheet.iter_rows(values_only=True)
            ]
            return _rectangular(rows, file.name), sheet.title
        finally:
            book.close()


def _sheet(book: Any, file: File, request: Request, notes: list[str]) -> Any:
    titles = [sheet.title for sheet in book.worksheets]
    if request.sheet is not None:
        return book.worksheets[place_of(request.sheet, titles, file.name, "sheet")]
    if len(titles) > 1:
        notes.append(
            f"Sheet {titles[0]!r} was read; --sheet reads {listed(titles[1:])}."
        )
    return book.worksheets[0]


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, (date, time)):
        return cell.isoformat()
    return str(cell).strip()


def _rectangular(rows: Sequence[Sequence[str]], name: str) -> list[list[str]]:
    """Return rows of equal length, without what is empty to the right and below."""
    filled = sum(cell != "" for row in rows for cell in row)
    width = max(
        (j + 1 for row in rows for j, cell in enumerate(row) if cell), default=0
    )
    height = max((i + 1 for i, row in enumerate(rows) if any(row)), default=0)
    if height * width > MOST_EMPTY * (filled + 1000):
        raise TableError(
            f"{name} has a sheet of {height} x {width} cells of which {filled} hold "
            "something; delete what is far from the table"
        )
    return [[*row[:width], *[""] * (width - len(row))] for row in rows[:height]]


def _layout(rows: list[list[str]], first: int, request: Request, name: str) -> Layout:
    sample = [row for row in rows[first : first + SAMPLED_ROWS] if any(row)]
    header = header_of(sample, None, request.header)
    if header is not None:
        first, sample = first + 1, sample[1:]
    if not sample:
        raise TableError(f"{name} has a header and no data; give another one")
    return layout_of(Dialect(","), header, sample, first)
