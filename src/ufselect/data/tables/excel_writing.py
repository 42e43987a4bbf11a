"""Excel workbooks are written with one sheet."""

from pathlib import Path
from typing import Any

import numpy as np

from ufselect.data.tables.choice import Choice, columns_to_write
from ufselect.data.tables.packages import needed


def write_excel(chosen: Choice, path: Path) -> None:
    """Write a workbook; text is stored as text, never as a formula."""
    openpyxl = needed("openpyxl", "Excel")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet(chosen.details.get("sheet", "selected"))
    columns = columns_to_write(chosen)
    if chosen.details.get("header", True):
        sheet.append([_text_cell(sheet, column.title) for column in columns])
    if chosen.details.get("turned") and chosen.table.labels is not None:
        labels = [chosen.table.label_column or "label", *chosen.table.labels.tolist()]
        sheet.append([_text_cell(sheet, each) for each in labels])
    for row in range(len(columns[0].cells) if columns else 0):
        sheet.append([_cell(sheet, column.cells[row]) for column in columns])
    book.save(path)


def _cell(sheet: Any, value: Any) -> Any:
    if isinstance(value, str):
        return _text_cell(sheet, str(value))
    return None if np.isnan(value) else float(value)


def _text_cell(sheet: Any, text: str) -> Any:
    cells = needed("openpyxl.cell.cell", "Excel")
    clean = cells.ILLEGAL_CHARACTERS_RE.sub("", str(text))
    cell = cells.WriteOnlyCell(sheet, clean)
    cell.data_type = "s"  # even if it begins with =
    return cell
