"""Text tables are written as they were read, safe to open in a spreadsheet."""

import csv
from collections.abc import Iterable, Iterator
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import numpy as np

from ufselect.data.tables.choice import Choice, Column, columns_to_write
from ufselect.data.tables.formulas import without_formula
from ufselect.data.tables.matrices import number_text
from ufselect.data.tables.sources import OPENERS

TABS = (".tsv", ".tab")


def write_text(
    chosen: Choice, path: Path, compression: str | None, suffix: str, safe: bool
) -> None:
    """Write text with the delimiter, the decimal sign and the header it had."""
    details = chosen.details if chosen.table.format == "text" else {}
    delimiter = _delimiter(details, suffix)
    if delimiter == ",":
        details = {**details, "decimal": "."}
    encoding = details.get("encoding", "utf-8")
    with (
        OPENERS[compression](path, "wb") as stream,
        TextIOWrapper(stream, encoding=encoding, newline="") as text,
    ):
        writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
        gap = "NA" if delimiter == " " else ""
        for row in _rows(chosen, details, safe):
            writer.writerow([cell or gap for cell in row] if gap else row)


def _delimiter(details: dict[str, Any], suffix: str) -> str:
    """Return the delimiter of the source, unless the name promises another one."""
    delimiter = details.get("delimiter", ",") or " "
    if suffix in TABS:
        return "\t"
    return "," if suffix == ".csv" and delimiter not in (",", ";") else delimiter


def _rows(chosen: Choice, details: dict[str, Any], safe: bool) -> Iterator[list[str]]:
    clean = without_formula if safe else str
    columns = columns_to_write(chosen)
    if details.get("header", True):
        yield [clean(column.title) for column in columns]
    if details.get("turned") and chosen.table.labels is not None:
        title = chosen.table.label_column or "label"
        yield [clean(title), *map(clean, chosen.table.labels.tolist())]
    cells = (_cells(column, clean, details.get("decimal", ".")) for column in columns)
    yield from map(list, zip(*cells, strict=True))


def _cells(column: Column, clean: Any, decimal: str) -> Iterable[str]:
    if column.is_text:
        return map(clean, column.cells.tolist())
    texts = number_text(np.asarray(column.cells))
    return texts if decimal == "." else [text.replace(".", decimal) for text in texts]
