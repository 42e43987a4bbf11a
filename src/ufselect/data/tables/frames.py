"""Files of named columns: Parquet, Feather and Arrow by pyarrow, Excel by openpyxl."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import date, time
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ufselect.data.tables.detection import needed
from ufselect.data.tables.layout import (
    FEATURE_WORDS,
    SAMPLED_ROWS,
    Dialect,
    columns_of,
    features_in_rows,
    table_layout,
)
from ufselect.data.tables.matrices import matrix_parts, transposed
from ufselect.data.tables.table import (
    ID_NAMES,
    File,
    Parts,
    Request,
    TableError,
    listed,
    place_of,
    roles,
)
from ufselect.data.tables.text import TableRows

BATCH_CELLS = 1 << 21
# Cells for each that is not empty; a cell far away from the table would fill memory.
MOST_EMPTY = 1000


class _Frame(NamedTuple):
    """A file of columns: its schema, its number of rows, and how to read columns."""

    schema: Any
    n_rows: int
    batches: Callable[[Sequence[str], int], Iterable[Any]]

    def columns(self, names: Sequence[str]) -> Iterable[Any]:
        """Return batches of rows of some columns."""
        return self.batches(names, max(1, BATCH_CELLS // max(1, len(names))))

    def text(self, name: str) -> list[str]:
        """Return a column as text, nothing as an empty one."""
        cells = chain(*(each.column(0).to_pylist() for each in self.columns([name])))
        texts = ["" if cell is None else str(cell) for cell in cells]
        self.check_length(len(texts))
        return texts

    def is_numeric(self, place: int) -> bool:
        """Tell whether a column holds numbers or truth values."""
        types, kind = needed("pyarrow.types", "it"), self.schema.field(place).type
        tests = (types.is_integer, types.is_floating, types.is_boolean)
        return any(test(kind) for test in (*tests, types.is_decimal))

    def check_length(self, length: int) -> None:
        """Refuse a file that has fewer rows than it says; the rest could be any."""
        if length != self.n_rows:
            raise ValueError(f"it has {length} rows, but says {self.n_rows}")


def read_parquet(file: File, request: Request, notes: list[str]) -> Parts:
    """Read a Parquet file, a batch of rows at a time."""
    with needed("pyarrow.parquet", file.name).ParquetFile(file.path) as source:
        frame = _Frame(
            source.schema_arrow,
            source.metadata.num_rows,
            lambda names, size: source.iter_batches(size, columns=list(names)),
        )
        return _parts(frame, file, request, notes)


def read_feather(file: File, request: Request, notes: list[str]) -> Parts:
    """Read a Feather or Arrow file, mapped into memory."""
    feather = needed("pyarrow.feather", file.name)
    table = feather.read_table(file.path, memory_map=True)
    frame = _Frame(
        table.schema,
        table.num_rows,
        lambda names, size: table.select(list(names)).to_batches(max_chunksize=size),
    )
    return _parts(frame, file, request, notes)


def _parts(frame: _Frame, file: File, request: Request, notes: list[str]) -> Parts:
    names = list(frame.schema.names)
    twice = sorted({name for name in names if names.count(name) > 1})
    if len(set(names)) < len(names):
        raise TableError(
            f"{file.name} has two columns of one name, {listed(twice)}; "
            "rename one of them"
        )
    place = _index_place(frame, names, file, request)
    title = None if place is None else names[place]
    index = None if title is None else frame.text(title)
    turn = request.transpose
    if turn is None:
        turn = index is not None and features_in_rows(title, index)
    asked = request._replace(id_column=title)
    found = roles(
        names, asked._replace(labels=None, drop=()) if turn else asked, file.name
    )
    free = [j for j in range(len(names)) if j not in found.taken]
    numeric = [j for j in free if frame.is_numeric(j)]
    if not numeric:
        raise TableError(
            f"{file.name} has no numeric column to select from, only {listed(names)}"
        )
    others = [names[j] for j in free if j not in set(numeric)]
    if others:
        notes.append(f"Columns without numbers were left out: {listed(others)}.")
    if title is not None:
        notes.append(f"Column {title!r} holds sample names.")
    columns = [names[j] for j in numeric]
    values = _numbers(frame, columns, request)
    if turn:
        notes.append("The table was transposed: its columns are samples.")
        # Labels and what to drop are rows of the file, then.
        by_row = request._replace(id_column=None)
        parts = matrix_parts(transposed(values), index, columns, file, by_row, notes)
        return replace(parts, id_column=title, details={"transposed": True})
    types = dict(zip(names, frame.schema.types, strict=True))
    return Parts(
        values,
        columns,
        index,
        id_column=title,
        labels=None if found.labels is None else frame.text(names[found.labels]),
        label_column=request.labels,
        details={"types": types, "places": (found.index_column, found.labels)},
        positions=numeric,
    )


def _index_place(
    frame: _Frame, names: list[str], file: File, request: Request
) -> int | None:
    """Find the index column: named, stored by pandas, or the first."""
    if request.id_column is not None:
        return place_of(request.id_column, names, file.name)
    stored = (frame.schema.pandas_metadata or {}).get("index_columns", [])
    index = [each for each in stored if isinstance(each, str) and each in names]
    place = names.index(index[0]) if len(index) == 1 else None
    if place is None and names and _names_rows(frame, names[0]):
        place = 0
    others = {request.labels, *request.drop}
    return None if place is None or names[place] in others else place


def _names_rows(frame: _Frame, first: str) -> bool:
    """Tell whether the first column holds sample names: by its name, or unique text."""
    if first.lower() in ID_NAMES | FEATURE_WORDS:
        return True
    if frame.is_numeric(0):
        return False
    values = frame.text(first)
    return len(set(values)) == len(values)


def _numbers(frame: _Frame, names: Sequence[str], request: Request) -> NDArray[Any]:
    """Return columns as one array, filled a batch at a time; null is NaN."""
    float64 = needed("pyarrow", "it").float64()
    types = {str(frame.schema.field(name).type) for name in names}
    kind = np.dtype(np.float32) if types == {"float"} else request.dtype
    result = np.empty((frame.n_rows, len(names)), dtype=kind)
    start = 0
    for batch in frame.columns(names):
        stop = start + batch.num_rows
        for place, column in enumerate(batch.columns):
            numbers = column.cast(float64, safe=False)
            result[start:stop, place] = numbers.to_numpy(zero_copy_only=False)
        start = stop
    frame.check_length(start)
    return result


def read_excel(file: File, request: Request, notes: list[str]) -> Parts:
    """Read a sheet of a workbook: the one asked for, else the first."""
    rows, title, others = _sheet_cells(file, request, notes)
    name = f"sheet {title!r} of {file.name}"
    some = [i for i, row in enumerate(rows) if any(row) and i >= request.skip_rows]
    try:
        if not some:
            raise TableError(f"{name} is empty; give another one")
        head = some[:SAMPLED_ROWS]
        layout = table_layout(
            *(Dialect(","), [rows[i] for i in head], head, None, request, name, notes)
        )
        notes.append(f"A sheet with {'a' if layout.names else 'no'} header.")
        columns = columns_of(layout, request, file.name, notes)
        table = TableRows(layout, columns, file.name, request)
        table.add_cells(rows[layout.skipped :], layout.skipped + 1)
        parts = table.finished(request, notes)
    except TableError as error:
        if request.sheet is not None or not others:
            raise
        raise TableError(
            f"{error}; this is the first sheet, {title!r}, and --sheet reads "
            f"{listed(others)}"
        ) from None
    parts.details.update(sheet=title, header=layout.names is not None)
    return parts


def _sheet_cells(
    file: File, request: Request, notes: list[str]
) -> tuple[list[list[str]], str, list[str]]:
    """Return the cells of a sheet, its title, and the titles of the others."""
    openpyxl = needed("openpyxl", file.name)
    with warnings.catch_warnings():
        # Of styles and other things that are of no use here.
        warnings.simplefilter("ignore")
        book = openpyxl.load_workbook(file.path, read_only=True, data_only=True)
        try:
            titles = [sheet.title for sheet in book.worksheets]
            place = 0
            if request.sheet is not None:
                place = place_of(request.sheet, titles, file.name, "sheet")
            elif len(titles) > 1:
                notes.append(
                    f"Sheet {titles[0]!r} was read; --sheet reads {listed(titles[1:])}."
                )
            sheet = book.worksheets[place]
            sheet.reset_dimensions()  # what the file says of them may be wrong
            rows = [
                [_cell_text(cell) for cell in row]
                for row in sheet.iter_rows(values_only=True)
            ]
        finally:
            book.close()
    others = titles[:place] + titles[place + 1 :]
    return _rectangular(rows, file.name), titles[place], others


def _cell_text(cell: Any) -> str:
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
