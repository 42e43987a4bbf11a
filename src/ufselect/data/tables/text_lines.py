"""Lines of a text table and the cells in them."""

import csv
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import NamedTuple, TextIO

from ufselect.data.tables.cells import DECIMAL_COMMA
from ufselect.data.tables.sources import opened
from ufselect.data.tables.table import TableError

BLOCK_CHARACTERS = 1 << 20
LONGEST_CELL = 1000  # lines
# What is about the table, and no part of it, in series matrix files of GEO.
SERIES_MARK = ("!Series_", "!Sample_", "!series_matrix_table_")
BYTE_ORDER_MARKS = {
    b"\xef\xbb\xbf": "utf-8-sig",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}


class Dialect(NamedTuple):
    """How cells are told apart; a delimiter of None is white space of any length."""

    delimiter: str | None
    decimal: str = "."

    def cells(self, line: str) -> list[str]:
        """Return the cells of a line without line breaks inside quotes."""
        return next(self.rows([line]), [])

    def rows(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """Return the cells of lines, which may have line breaks inside quotes."""
        rows = self.raw_rows(lines)
        # Semicolons are used because commas are decimal, in whichever line.
        if self.decimal == "." and self.delimiter != ";":
            return rows
        return ([_with_point(cell) for cell in row] for row in rows)

    def raw_rows(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """Return the cells of lines with decimal commas left as they are."""
        if self.delimiter is None:
            lines = (" ".join(line.split()) for line in lines)
        return csv.reader(lines, delimiter=self.delimiter or " ")

    def is_blank(self, line: str) -> bool:
        """Tell whether a line has no cell of the table with anything in it."""
        if line.startswith(SERIES_MARK):
            return True
        return not line.strip(f" \t\r\n{self.delimiter or ''}")


def _with_point(cell: str) -> str:
    """Return a number with a decimal comma as one with a point; text as it is."""
    if "," in cell and DECIMAL_COMMA.fullmatch(cell.strip()):
        return cell.replace(",", ".")
    return cell


def encoding_of(path: Path, compression: str | None, name: str) -> str:
    """Return the encoding that the byte order mark says; UTF-8 without one."""
    with opened(path, compression, name) as stream:
        start = stream.read(4)
    for mark, encoding in BYTE_ORDER_MARKS.items():
        if start.startswith(mark):
            return encoding
    return "utf-8"


@contextmanager
def opened_text(
    path: Path, compression: str | None, name: str, encoding: str
) -> Iterator[TextIO]:
    """Open a text file, decompressed and decoded, with any kind of line ends."""
    with (
        opened(path, compression, name) as stream,
        TextIOWrapper(stream, encoding=encoding) as text,
    ):
        yield text


def blocks_of(text: TextIO, name: str) -> Iterator[list[str]]:
    """Return blocks of lines; a cell in quotes is not cut by the end of a block."""
    while lines := _lines(text, name):
        if sum(line.count('"') for line in lines) % 2:
            lines += _to_closing_quote(text, name)
        yield lines


def _to_closing_quote(text: TextIO, name: str) -> list[str]:
    """Return the lines up to the next one with an odd number of quotation marks."""
    lines: list[str] = []
    # A mark that closes nothing, as in 5", must not make all the rest one block.
    while len(lines) < LONGEST_CELL and (line := _lines(text, name, characters=1)):
        lines += line
        if line[-1].count('"') % 2:
            break
    return lines


def _lines(text: TextIO, name: str, characters: int = BLOCK_CHARACTERS) -> list[str]:
    lines = text.readlines(characters)
    for line in lines:
        if "\0" in line:
            raise TableError(
                f"{name} has NUL bytes, so it is no text table, or is damaged; "
                "export it again as CSV in UTF-8"
            )
    return lines
