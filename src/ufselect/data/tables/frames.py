"""Read files of named columns: Parquet, Feather, Arrow and Excel."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from datetime import date, time
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ufselect.data.tables.columns import ReadColumns, columns_of, table_of_columns
from ufselect.data.tables.detection import check_size, needed
from ufselect.data.tables.layout import SAMPLED_ROWS, Layout, table_layout
from ufselect.data.tables.table import (
    NO_NUMBERS,
    File,
    Remedy,
    Request,
    Table,
    TableError,
    listed,
    place_of,
)
from ufselect.data.tables.text import table_of_rows

BATCH_CELLS = 1 << 21
# Cells per filled one: a cell far away from the table would fill the memory.
MAX_CELLS_PER_FILLED = 1000
# Bytes that a cell of a sheet takes; smaller sheets need no check.
CELL_BYTES = 64
MIN_CHECKED_CELLS = 1 << 20


class _Frame(NamedTuple):
    """A file of columns: schema, number of rows, and a function that reads batches."""

    schema: Any
    n_rows: int
    batches: Callable[[Sequence[str], int], Iterable[Any]]

    def columns(self, names: Sequence[str]) -> Iterable[Any]:
        """Return batches of rows of some columns."""
        return self.batches(names, max(1, BATCH_CELLS // max(1, len(names))))

    def cells(self, name: str) -> NDArray[Any]:
        """Return a column as Python objects: text, dates, None."""
        parts = (each.column(0).to_pylist() for each in self.columns([name]))
        cells = list(chain.from_iterable(parts))
        self.check_length(len(cells))
        # np.array would take lists apart.
        result = np.empty(len(cells), dtype=object)
        result[:] = cells
        return result

    def text(self, name: str) -> list[str]:
        """Return a column as text; null is empty text."""
        return ["" if cell is None else str(cell) for cell in self.cells(name)]

    def is_numeric(self, place: int) -> bool:
        """Tell whether a column holds numbers or booleans."""
        types, kind = needed("pyarrow.types", "it"), self.schema.field(place).type
        tests = (types.is_integer, types.is_floating, types.is_boolean)
        return any(test(kind) for test in (*tests, types.is_decimal))

    def check_length(self, length: int) -> None:
        """Refuse a file that has fewer rows than it declares."""
        if length != self.n_rows:
            raise ValueError(f"it has {length} rows, but declares {self.n_rows}")


def read_parquet(file: File, request: Request, notes: list[str]) -> Table:
    """Read a Parquet file, a batch of rows at a time."""
    with needed("pyarrow.parquet", file.name).ParquetFile(file.path) as source:
        frame = _Frame(
            source.schema_arrow,
            source.metadata.num_rows,
            lambda names, size: source.iter_batches(size, columns=list(names)),
        )
        return _table(frame, file, request, notes)


def read_feather(file: File, request: Request, notes: list[str]) -> Table:
    """Read a Feather or Arrow file, mapped into memory."""
    feather = needed("pyarrow.feather", file.name)
    table = feather.read_table(file.path, memory_map=True)
    frame = _Frame(
        table.schema,
        table.num_rows,
        lambda names, size: table.select(list(names)).to_batches(max_chunksize=size),
    )
    return _table(frame, file, request, notes)


def _table(frame: _Frame, file: File, request: Request, notes: list[str]) -> Table:
    """Return the table of the columns of a file."""
    names = list(frame.schema.names)
    textual = [j for j in range(len(names)) if not frame.is_numeric(j)]
    n_cells = frame.n_rows * (len(names) - len(textual))
    check_size(8 * n_cells, file.path.stat().st_size, file)
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise TableError(
            f"{file.name} has two columns called {listed(twice)}; rename one of them"
        )
    known = _index_place(frame, names, file, request)
    place = known or 0
    first_cells = []
    if known is not None or place in textual:
        first_cells = frame.text(names[place])
    layout = Layout(
        names, len(names), frozenset(textual), first_cells, index_place=known
    )
    columns = columns_of(layout, request, file.name, notes)
    numeric = [j for j in columns.free if j not in textual]
    others = [j for j in columns.free if j in textual]
    read = ReadColumns(
        _numbers(frame, [names[j] for j in numeric], request),
        numeric,
        others,
        NO_NUMBERS,
        lambda place: frame.text(names[place]),
        lambda place: frame.cells(names[place]),
    )
    types = dict(zip(names, frame.schema.types, strict=True))
    return table_of_columns(columns, read, file, request, notes, {"types": types})


def _index_place(
    frame: _Frame, names: list[str], file: File, request: Request
) -> int | None:
    """Find the index column: the one asked for, else the one that pandas stored."""
    if request.id_column is not None:
        return place_of(request.id_column, names, file.name)
    stored = (frame.schema.pandas_metadata or {}).get("index_columns", [])
    index = [each for each in stored if isinstance(each, str) and each in names]
    return names.index(index[0]) if len(index) == 1 else None


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


def read_excel(file: File, request: Request, notes: list[str]) -> Table:
    """Read a sheet of a workbook: the one asked for, else the first."""
    rows, title, others = _sheet_cells(file, request, notes)
    name = f"sheet {title!r} of {file.name}"
    some = [i for i, row in enumerate(rows) if any(row) and i >= request.skip_rows]
    try:
        if not some:
            raise TableError(f"{name} is empty; give another one")
        head = some[:SAMPLED_ROWS]
        layout = table_layout([rows[i] for i in head], head, None, request, name, notes)
        notes.append(f"A sheet with {'a' if layout.names else 'no'} header.")
        table = table_of_rows(
            *(layout, file, request, notes),
            lambda read: read.add_cells(rows[layout.skipped :], layout.skipped + 1),
            {"sheet": title, "header": layout.names is not None},
        )
    except TableError as error:
        if request.sheet is not None or not others:
            raise
        raise TableError(
            f"{error}; this is the first sheet, {title!r}, and --sheet reads "
            f"{listed(others)}",
            [
                *(
                    Remedy(f"Read sheet {each!r}", (f"--sheet={each}",))
                    for each in others
                ),
                *error.remedies,
            ],
        ) from None
    return table


def _sheet_cells(
    file: File, request: Request, notes: list[str]
) -> tuple[list[list[str]], str, list[str]]:
    """Return the cells of a sheet, its title, and the titles of the others."""
    openpyxl = needed("openpyxl", file.name)
    with warnings.catch_warnings(), file.path.open("rb") as stream:
        # Warnings about styles and the like do not matter here.
        warnings.simplefilter("ignore")
        book = openpyxl.load_workbook(stream, read_only=True, data_only=True)
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
            sheet.reset_dimensions()  # those in the file may be wrong
            rows = _sheet_rows(sheet, file)
        finally:
            book.close()
    others = titles[:place] + titles[place + 1 :]
    return rows, titles[place], others


def _sheet_rows(sheet: Any, file: File) -> list[list[str]]:
    """Return rows of equal length, without empty cells to the right and below."""
    rows: list[list[str]] = []
    width = height = n_filled = 0
    for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
        texts = list(map(_cell_text, row))
        filled = [j for j, text in enumerate(texts) if text]
        rows.append(texts[: filled[-1] + 1] if filled else [])
        if not filled:
            continue
        n_filled += len(filled)
        height, width = number, max(width, len(rows[-1]))
        if height * width > MAX_CELLS_PER_FILLED * (n_filled + 1000):
            raise TableError(
                f"{file.name} has a sheet of {height} x {width} cells, but only "
                f"{n_filled} of them are filled; delete those far from the table"
            )
        if height * width > MIN_CHECKED_CELLS:
            check_size(CELL_BYTES * height * width, file.path.stat().st_size, file)
    return [[*row, *[""] * (width - len(row))] for row in rows[:height]]


def _cell_text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, (date, time)):
        return cell.isoformat()
    return str(cell).strip()
