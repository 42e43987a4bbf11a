"""Read text tables in blocks: plain numbers into one array, other cells as they are.

Where pyarrow is installed, it reads the blocks in which every line is regular. The
others, and small files, are split here, which finds the line that a message names. Both
ways round to the nearest number, as pandas does with ``float_precision="round_trip"``
only, which takes longer than either.
"""

import contextlib
import csv
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO, TextIOWrapper
from itertools import chain
from typing import TextIO

import numpy as np

from ufselect.data.tables.cells import (
    Found,
    pulled_names,
    skip_hint,
    skip_remedies,
    table_of_cells,
)
from ufselect.data.tables.columns import Columns
from ufselect.data.tables.conventions import MISSING, missing_words
from ufselect.data.tables.detection import USUAL_MEMORY, opened
from ufselect.data.tables.isolation import available_bytes
from ufselect.data.tables.layout import (
    TABLE_MARKS,
    Dialect,
    Layout,
    plain_number,
    text_layout,
    unescaped,
)
from ufselect.data.tables.table import File, Remedy, Request, Table, TableError

BLOCK_CHARACTERS = 1 << 20
MAX_CELL_LINES = 1000  # lines
# Characters of a line. Each may be a cell, which takes CELL_BYTES.
MAX_LINE_LENGTH = 1 << 26
CELL_BYTES = 128
BYTE_ORDER_MARKS = {
    b"\xef\xbb\xbf": "utf-8-sig",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
# Reading fewer characters line by line is faster than importing pyarrow, and so is
# reading a block of more columns, each of which takes pyarrow some time.
SMALL_BLOCK = 1 << 16
MAX_ARROW_COLUMNS = 1500
# When a large array grows, the system moves its pages and does not copy them: small
# steps take little time and leave little memory unused.
GROWTH = 1.25
MISSING_SPELLED = sorted(
    {"NaN"}.union(*({word, word.upper(), word.title()} for word in MISSING))
)


def read_text(file: File, request: Request, notes: list[str]) -> Table:
    """Read a text table, compressed or not, in UTF-8, UTF-16 or else Windows-1252."""
    with opened(file) as stream:
        start = stream.read(4)
    marks = (e for mark, e in BYTE_ORDER_MARKS.items() if start.startswith(mark))
    encoding = next(marks, "utf-8")
    try:
        return _read(file, request, notes, encoding)
    except UnicodeDecodeError as error:
        if encoding != "utf-8":
            raise TableError(
                f"{file.name} is not the {encoding} that its first bytes declare "
                f"({error.reason}); save it in UTF-8"
            ) from error
    notes.clear()
    try:
        table = _read(file, request, notes, "cp1252")
    except UnicodeDecodeError as error:
        raise TableError(
            f"{file.name} is neither in UTF-8 nor in Windows-1252; save it in UTF-8"
        ) from error
    notes.insert(0, "The file is not in UTF-8 and was read as Windows-1252.")
    return table


def _read(file: File, request: Request, notes: list[str], encoding: str) -> Table:
    try:
        with _blocks(file, encoding) as (head, _):
            lines = list(StringIO(head))
            dialect, layout = text_layout(lines, request, file.name, notes)
        source = _Text(file, encoding, dialect, layout, request)
        details = {
            "delimiter": dialect.delimiter,
            "decimal": dialect.decimal,
            "header": layout.names is not None,
            "encoding": "utf-8-sig" if encoding == "utf-8-sig" else "utf-8",
        }
        return table_of_cells(layout, source, file, request, notes, details)
    except csv.Error as error:
        raise TableError(
            f"{file.name} has a cell of more than {csv.field_size_limit()} characters, "
            "which is no number; close its quotation marks or leave the cell out"
            if "field larger" in str(error)
            else f"{file.name} cannot be split into cells ({error}); check its "
            "delimiter and its quotation marks"
        ) from error


@contextlib.contextmanager
def _blocks(file: File, encoding: str) -> Iterator[tuple[str, Iterator[str]]]:
    """Open a file; yield enough lines to detect its layout, and blocks of the rest."""
    with opened(file) as stream, TextIOWrapper(stream, encoding=encoding) as text:
        blocks, head = _blocks_of(text, file), ""
        for block in blocks:
            # Some programs write a second byte order mark.
            head += block if head else block.lstrip("\ufeff")
            starts = (line[:1] for line in head.split("\n"))
            if sum(start not in ("", "#", "!") for start in starts) > 3:
                break
        yield head, blocks


def _blocks_of(text: TextIO, file: File) -> Iterator[str]:
    """Yield blocks of whole lines; a quoted cell stays within one block."""
    memory = available_bytes() or USUAL_MEMORY
    longest = -1 if file.allow_large else min(MAX_LINE_LENGTH, memory // CELL_BYTES)
    while block := text.read(BLOCK_CHARACTERS):
        rest = "" if block.endswith("\n") else text.readline(longest)
        block += rest
        if "\0" in block:
            raise TableError(
                f"{file.name} has NUL bytes, so it is binary or damaged; export it "
                "again as CSV in UTF-8"
            )
        if len(rest) == longest and not rest.endswith("\n"):
            raise TableError(
                f"{file.name} has a line of more than {longest} characters, which is "
                "too long for a text table; if it has that many columns, read it with "
                "--allow-large",
                [Remedy("Read it, however large it is", ("--allow-large",))],
            )
        # A mark without its pair, as in 5", must not make one block of all the rest.
        n_lines, in_quotes = 0, block.count('"') % 2 == 1
        while in_quotes and n_lines < MAX_CELL_LINES and (line := text.readline()):
            block += line
            n_lines, in_quotes = n_lines + 1, line.count('"') % 2 == 0
        yield block if block.endswith("\n") else f"{block}\n"


@dataclass
class _Text:
    """The rows of a text table."""

    file: File
    encoding: str
    dialect: Dialect
    layout: Layout
    request: Request

    def __post_init__(self) -> None:
        self.decimal = self.dialect.decimal
        self.missing = missing_words(self.request.na_values)
        self.blank = self.dialect.blank_lines()

    def blocks(self) -> Iterator[tuple[str, int]]:
        """Yield blocks of lines below the header, with the number of the first."""
        line = self.layout.skipped + 1
        with _blocks(self.file, self.encoding) as (head, others):
            below = head.split("\n", self.layout.skipped)[-1]
            for block in chain([below], others):
                yield self.dialect.spaced(block), line
                line += block.count("\n")

    def read(
        self, numeric: Sequence[int], textual: Sequence[int], columns: Columns
    ) -> Found:
        """Read some columns as plain numbers, others as they are."""
        values = np.empty((0, len(numeric)), dtype=self.request.dtype)
        cells: dict[int, list[str]] = {place: [] for place in textual}
        late: dict[int, None] = {}
        pulled: dict[str, list[str]] = {}
        n_rows = n_empty = 0
        names = pulled_names(columns, self.request)
        numbers = self.layout.uneven - self.layout.text_columns
        for block, line in self.blocks():
            found = None
            if len(block) >= SMALL_BLOCK and not any(name in block for name in names):
                found = self._by_arrow(block, numeric, textual)
            if found is None:
                rows, _, n_blank = self._rows(block, line)
                n_empty += n_blank
                for row in rows:
                    if row[0].strip() in names:
                        pulled[row[0].strip()] = [unescaped(each) for each in row]
                kept = [row for row in rows if row[0].strip() not in names]
                # Python reads 1_000 as a thousand.
                found = self._by_cells(kept, numeric, textual, plain="_" not in block)
            needed = n_rows + len(found.values)
            if needed > len(values):
                size = max(needed, int(GROWTH * len(values)))
                values.resize((size, len(numeric)), refcheck=False)
            values[n_rows:needed] = found.values
            n_rows = needed
            late |= dict.fromkeys(found.late)
            for place, texts in found.cells.items():
                # Equal texts are kept once in memory; numbers are seldom equal.
                keep = str if place in numbers else sys.intern
                cells[place] += [keep(unescaped(str(each).strip())) for each in texts]
        values.resize((n_rows, len(numeric)), refcheck=False)
        return Found(values, dict(cells), list(late), pulled, n_empty)

    def line(self, row: int, columns: Columns) -> int:
        """Return the line of a row, counted from 1."""
        names = pulled_names(columns, self.request)
        for block, first in self.blocks():
            rows, lines, _ = self._rows(block, first)
            kept = [
                line
                for cells, line in zip(rows, lines, strict=True)
                if cells[0].strip() not in names
            ]
            if row < len(kept):
                return kept[row]
            row -= len(kept)
        raise IndexError(row)

    def _rows(self, block: str, first: int) -> tuple[list[list[str]], list[int], int]:
        """Return the rows of a block, their lines, and the number of empty rows."""
        lines, numbers, n_blank = block.split("\n")[:-1], [], 0
        filled = []
        for number, line in enumerate(lines, first):
            if self.blank.match(line):
                n_blank += bool(line.strip(" ")) and not line.startswith(TABLE_MARKS)
            else:
                filled.append(line)
                numbers.append(number)
        if '"' in block:
            rows = list(self.dialect.rows(f"{line}\n" for line in filled))
            if len(rows) < len(filled):  # line breaks in quotes
                heights = [1 + "".join(row).count("\n") for row in rows]
                numbers = (numbers[0] + np.cumsum([0, *heights[:-1]])).tolist()
        else:
            delimiter = self.dialect.delimiter or " "
            rows = [line.split(delimiter) for line in filled]
        width = self.layout.width
        for row, number in zip(rows, numbers, strict=True):
            if len(row) != width:
                remedies = skip_remedies(number, self.layout)
                raise TableError(
                    f"{self.file.name} has {len(row)} cells in line {number}, but "
                    f"{width} in other lines; correct that line, "
                    f"{skip_hint(remedies)}or close its quotation marks",
                    remedies,
                )
        return rows, numbers, n_blank

    def _by_cells(
        self,
        rows: list[list[str]],
        numeric: Sequence[int],
        textual: Sequence[int],
        *,
        plain: bool,
    ) -> Found:
        """Read rows here; if they may be ``plain``, NumPy tries all numbers at once."""
        texts = {place: [row[place] for row in rows] for place in textual}
        every = len(numeric) == self.layout.width
        cells = rows if every else [[row[j] for j in numeric] for row in rows]
        shape = len(rows), len(numeric)
        if plain:
            with contextlib.suppress(ValueError):
                points = self._with_points(list(chain.from_iterable(cells)))
                return Found(np.array(points, dtype=np.float64).reshape(shape), texts)
        values, late = np.empty(shape), []
        for target, column in enumerate(zip(*cells, strict=True)):
            found = {
                cell: plain_number(cell, self.decimal, self.missing)
                for cell in set(column)
            }
            if None in found.values():
                late.append(numeric[target])
            values[:, target] = [
                np.nan if (value := found[cell]) is None else value for cell in column
            ]
        return Found(values, texts, late)

    def _with_points(self, cells: list[str]) -> list[str]:
        """Return the cells with decimal points; ValueError if one has some already."""
        if self.decimal == ".":
            return cells
        text = "\t".join(cells)
        if "." in text:
            raise ValueError("a point is no decimal comma")
        return text.replace(",", ".").split("\t")

    def _by_arrow(
        self, block: str, numeric: Sequence[int], textual: Sequence[int]
    ) -> Found | None:
        """Read a block with pyarrow; None if a line or a cell needs a closer look."""
        if self.layout.width > MAX_ARROW_COLUMNS:
            return None
        # Lines without a value start with one of these; few other lines do.
        starts = {line[:1] for line in block.split("\n")[:-1]}
        if not starts.isdisjoint({*' \t"!', "", self.dialect.delimiter}) and any(
            map(self.blank.match, block.split("\n")[:-1])
        ):
            return None
        try:
            import pyarrow as arrow
            from pyarrow import csv as reader
        except ImportError:
            return None
        content, names = block.encode(), [str(j) for j in range(self.layout.width)]
        wanted = [*numeric, *textual]
        types = dict.fromkeys((names[j] for j in textual), arrow.string())
        types |= dict.fromkeys((names[j] for j in numeric), arrow.float64())
        try:
            table = reader.read_csv(
                arrow.BufferReader(content),
                reader.ReadOptions(
                    use_threads=False, block_size=len(content) + 1, column_names=names
                ),
                reader.ParseOptions(
                    delimiter=self.dialect.delimiter or " ",
                    ignore_empty_lines=False,
                    newlines_in_values='"' in block,
                ),
                reader.ConvertOptions(
                    column_types=types,
                    include_columns=[names[j] for j in wanted],
                    null_values=[*MISSING_SPELLED, *self.request.na_values],
                    strings_can_be_null=False,
                    decimal_point=self.decimal,
                ),
            )
        except arrow.ArrowInvalid:
            return None
        values = np.empty((table.num_rows, len(numeric)))
        for target, place in enumerate(numeric):
            values[:, target] = table.column(names[place]).to_numpy()
        texts = {place: table.column(names[place]).to_pylist() for place in textual}
        return Found(values, texts)
