"""Read files of named columns: Parquet, Feather, Arrow and Excel."""

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, time
from typing import Any

import numpy as np

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
    cell_text,
    listed,
    place_of,
)

# Cells per filled one: a cell far away from the table would fill the memory.
MAX_CELLS_PER_FILLED = 1000
# Bytes that a cell of a sheet takes; smaller sheets need no check.
CELL_BYTES = 64
MIN_CHECKED_CELLS = 1 << 20


def read_parquet(file: File, request: Request, notes: list[str]) -> Table:
    """Read a Parquet file."""
    # As a file: pyarrow takes a folder for one table in parts.
    with needed("pyarrow.parquet", file.name).ParquetFile(file.path) as source:
        n_columns, n_rows = len(source.schema_arrow), source.metadata.num_rows
        check_size(8 * n_columns * n_rows, file.path.stat().st_size, file)
        return _table_of_arrow(source.read(), file, request, notes)


def read_feather(file: File, request: Request, notes: list[str]) -> Table:
    """Read a Feather or Arrow file, mapped into memory."""
    feather = needed("pyarrow.feather", file.name)
    found = feather.read_table(file.path, memory_map=True)
    n_cells = found.num_rows * found.num_columns
    check_size(8 * n_cells, file.path.stat().st_size, file)
    return _table_of_arrow(found, file, request, notes)


def _table_of_arrow(
    found: Any, file: File, request: Request, notes: list[str]
) -> Table:
    """Return the table of the columns of a file."""
    names, kinds = list(found.schema.names), found.schema.types
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise TableError(
            f"{file.name} has two columns called {listed(twice)}; rename one of them"
        )
    source = _Columns(found, request)
    others = [j for j, kind in enumerate(kinds) if not _is_numeric(kind)]
    known = _index_place(found.schema, names, file, request)
    place = known or 0
    layout = Layout(
        names,
        len(names),
        frozenset(j for j in others if not source.holds_numbers(j)),
        source.text(place) if known is not None or place in others else [],
        uneven=frozenset(others),
        index_place=known,
    )
    types = {"types": dict(zip(names, kinds, strict=True))}
    return table_of_cells(layout, source, file, request, notes, types, NO_NUMBERS)


def _is_numeric(kind: Any) -> bool:
    """Tell whether a type of Arrow holds numbers or booleans."""
    types = needed("pyarrow.types", "it")
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    return any(test(kind) for test in tests)


class _Columns:
    """The columns of an Arrow table; only text leaves a doubt about its numbers."""

    decimal = "."

    def __init__(self, found: Any, request: Request) -> None:
        self.found, self.dtype = found, request.dtype

    def text(self, place: int) -> list[str]:
        """Return a column as text; null is empty text."""
        cells = self.found.column(place).to_pylist()
        return ["" if cell is None else str(cell) for cell in cells]

    def holds_numbers(self, place: int) -> bool:
        """Tell whether most of the first cells of a column of text are numbers."""
        types, column = needed("pyarrow.types", "it"), self.found.column(place)
        kind = column.type
        kind = kind.value_type if types.is_dictionary(kind) else kind
        cells = column.slice(0, SAMPLED_ROWS).to_pylist()
        known = [cell for cell in cells if cell is not None]
        textual = types.is_string(kind) or types.is_large_string(kind)
        return textual and 2 * sum(map(is_text, known)) <= len(known)

    def read(
        self, numeric: Sequence[int], textual: Sequence[int], columns: Columns
    ) -> Found:
        """Read some columns as numbers, others as they are; null is NaN."""
        float64 = needed("pyarrow", "it").float64()
        kinds = {str(self.found.column(j).type) for j in numeric}
        dtype = np.dtype(np.float32) if kinds == {"float"} else self.dtype
        values = np.empty((self.found.num_rows, len(numeric)), dtype=dtype)
        for target, place in enumerate(numeric):
            numbers = self.found.column(place).cast(float64, safe=False)
            values[:, target] = numbers.to_numpy()
        return Found(values, {j: self.text(j) for j in textual})

    def line(self, row: int, columns: Columns) -> int:
        """Return the number of a row."""
        return row + 1


def _index_place(
    schema: Any, names: list[str], file: File, request: Request
) -> int | None:
    """Find the index column: the one asked for, else the one that pandas stored."""
    if request.id_column is not None:
        return place_of(request.id_column, names, file.name)
    stored = (schema.pandas_metadata or {}).get("index_columns", [])
    index = [each for each in stored if isinstance(each, str) and each in names]
    return names.index(index[0]) if len(index) == 1 else None


def read_excel(file: File, request: Request, notes: list[str]) -> Table:
    """Read a sheet of a workbook: the one asked for, else the first visible one."""
    rows, title, others = _sheet_cells(file, request, notes)
    name = f"sheet {title!r} of {file.name}"
    texts = [list(map(cell_text, row)) for row in rows]
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
                cell_text(row[0]): list(map(cell_text, row))
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

    def types(*, results: bool) -> dict[tuple[int, int], str]:
        with _workbook(file, results=results) as book:
            sheet = book.worksheets[place]
            sheet.reset_dimensions()
            return {
                (i, j): cell.data_type
                for i, cells in enumerate(sheet.iter_rows(max_row=len(rows)))
                for j, cell in enumerate(cells[: len(rows[i])])
                if rows[i][j] == ""
            }

    formulas = [at for at, kind in types(results=False).items() if kind == "f"]
    found = types(results=True) if formulas else {}
    for at in formulas:
        if found[at] != "str":  # empty text is a result, too
            raise TableError(
                f"{file.name} holds formulas without results, the first in row "
                f"{at[0] + 1}, column {at[1] + 1}; open and save it in a spreadsheet"
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
