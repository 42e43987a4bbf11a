"""Read files of named columns: Parquet, Feather, Arrow and Excel."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, time
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ufselect.data.tables.cells import Found, pulled_names, table_of_cells
from ufselect.data.tables.columns import Columns
from ufselect.data.tables.conventions import Cell, is_text
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
    number_text,
    place_of,
)

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

    def holds_numbers(self, place: int) -> bool:
        """Tell whether most of the first cells of a column of text are numbers."""
        types, kind = needed("pyarrow.types", "it"), self.schema.field(place).type
        if types.is_dictionary(kind):
            kind = kind.value_type
        if not (types.is_string(kind) or types.is_large_string(kind)):
            return False
        cells = self.text(self.schema.names[place])[:SAMPLED_ROWS]
        return 2 * sum(map(is_text, cells)) <= len(cells)

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
    others = [j for j in range(len(names)) if not frame.is_numeric(j)]
    n_cells = frame.n_rows * (len(names) - len(others))
    check_size(8 * n_cells, file.path.stat().st_size, file)
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise TableError(
            f"{file.name} has two columns called {listed(twice)}; rename one of them"
        )
    known = _index_place(frame, names, file, request)
    place = known or 0
    first_cells = []
    if known is not None or place in others:
        first_cells = frame.text(names[place])
    layout = Layout(
        names,
        len(names),
        frozenset(j for j in others if not frame.holds_numbers(j)),
        first_cells,
        uneven=frozenset(others),
        index_place=known,
    )
    types = dict(zip(names, frame.schema.types, strict=True))
    source = _Columns(frame, names, request)
    details = {"types": types}
    return table_of_cells(layout, source, file, request, notes, details, NO_NUMBERS)


class _Columns:
    """The columns of a file; only text leaves a doubt about its numbers."""

    decimal = "."

    def __init__(self, frame: _Frame, names: list[str], request: Request) -> None:
        self.frame, self.names, self.request = frame, names, request

    def read(
        self, numeric: Sequence[int], textual: Sequence[int], columns: Columns
    ) -> Found:
        """Read some columns as numbers, others as they are."""
        values = _numbers(self.frame, [self.names[j] for j in numeric], self.request)
        cells = {j: self.frame.text(self.names[j]) for j in textual}
        return Found(values, cells)

    def line(self, row: int, columns: Columns) -> int:
        """Return the number of a row."""
        return row + 1


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
    """Read a sheet of a workbook: the one asked for, else the first visible one."""
    rows, title, others = _sheet_cells(file, request, notes)
    name = f"sheet {title!r} of {file.name}"
    texts = [list(map(_text, row)) for row in rows]
    some = [i for i, row in enumerate(texts) if any(row) and i >= request.skip_rows]
    try:
        if not some:
            raise TableError(f"{name} is empty; give another one")
        head = some[:SAMPLED_ROWS]
        sample = [texts[i] for i in head]
        layout, _ = table_layout(sample, head, None, request, name, notes)
        notes.append(f"A sheet with {'a' if layout.names else 'no'} header.")
        layout = layout._replace(uneven=frozenset(range(layout.width)))
        source = _Sheet(rows, layout, request)
        details = {"sheet": title, "header": layout.names is not None}
        table = table_of_cells(layout, source, file, request, notes, details)
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


class _Sheet:
    """The rows of a sheet: numbers, and text that may be numbers."""

    decimal = "."

    def __init__(
        self, rows: list[list[Cell]], layout: Layout, request: Request
    ) -> None:
        self.request = request
        below = list(enumerate(rows, start=1))[layout.skipped :]
        self.rows = [(number, row) for number, row in below if set(row) != {""}]
        self.n_empty = len(below) - len(self.rows)

    def kept(self, columns: Columns) -> list[tuple[int, list[Cell]]]:
        """Return the rows, with their numbers, that are not labels or dropped."""
        names = pulled_names(columns, self.request)
        return [each for each in self.rows if each[1][0] not in names]

    def read(
        self, numeric: Sequence[int], textual: Sequence[int], columns: Columns
    ) -> Found:
        """Return columns as they are."""
        rows = [row for _, row in self.kept(columns)]
        names = pulled_names(columns, self.request)
        return Found(
            np.empty((len(rows), 0)),
            {place: [row[place] for row in rows] for place in textual},
            rows={
                _text(row[0]): list(map(_text, row))
                for _, row in self.rows
                if row[0] in names
            },
            n_empty=self.n_empty,
        )

    def line(self, row: int, columns: Columns) -> int:
        """Return the number of a row."""
        return self.kept(columns)[row][0]


def _sheet_cells(
    file: File, request: Request, notes: list[str]
) -> tuple[list[list[Cell]], str, list[str]]:
    """Return the cells of a sheet, its title, and the titles of the others."""
    with _workbook(file, results=True) as book:
        titles = [sheet.title for sheet in book.worksheets]
        visible = [
            place
            for place, sheet in enumerate(book.worksheets)
            if sheet.sheet_state == "visible"
        ]
        place = visible[0] if visible else 0
        others = titles[:place] + titles[place + 1 :]
        if request.sheet is not None:
            place = place_of(request.sheet, titles, file.name, "sheet")
        elif others:
            notes.append(
                f"Sheet {titles[place]!r} was read; --sheet reads {listed(others)}."
            )
        rows = _sheet_rows(book.worksheets[place], file)
    if any("" in row for row in rows):
        _check_formulas(rows, place, file)
    return rows, titles[place], others


@contextmanager
def _workbook(file: File, *, results: bool) -> Iterator[Any]:
    """Open a workbook, with the results of its formulas or with the formulas."""
    openpyxl = needed("openpyxl", file.name)
    with warnings.catch_warnings(), file.path.open("rb") as stream:
        # Warnings about styles and the like do not matter here.
        warnings.simplefilter("ignore")
        book = openpyxl.load_workbook(stream, read_only=True, data_only=results)
        try:
            yield book
        finally:
            book.close()


def _check_formulas(rows: list[list[Cell]], place: int, file: File) -> None:
    """Refuse a sheet with formulas whose results were never stored."""
    with _workbook(file, results=False) as book:
        sheet = book.worksheets[place]
        sheet.reset_dimensions()
        for row, cells in zip(rows, sheet.iter_rows(), strict=False):
            for value, cell in zip(row, cells, strict=False):
                if value == "" and cell.data_type == "f":
                    raise TableError(
                        f"{file.name} holds formulas without results, the first in "
                        f"{cell.coordinate} of sheet {sheet.title!r}; open and save it "
                        "in a spreadsheet"
                    )


def _sheet_rows(sheet: Any, file: File) -> list[list[Cell]]:
    """Return rows of equal length, without empty cells to the right and below."""
    sheet.reset_dimensions()  # those in the file may be wrong
    rows: list[list[Cell]] = []
    width = height = n_filled = 0
    for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
        cells = list(map(_cell, row))
        filled = [j for j, cell in enumerate(cells) if cell != ""]
        rows.append(cells[: filled[-1] + 1] if filled else [])
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


def _cell(value: Any) -> Cell:
    """Return what a cell holds: a number, or text."""
    if isinstance(value, (int, float)):  # also true and false
        return float(value)
    if isinstance(value, (date, time)):
        return value.isoformat()
    return "" if value is None else str(value).strip()


def _text(cell: Cell) -> str:
    return cell if isinstance(cell, str) else number_text(np.array([cell]))[0]
