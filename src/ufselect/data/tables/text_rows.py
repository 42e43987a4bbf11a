"""Blocks of lines become rows of numbers, with the text of a few columns beside."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ufselect.data.tables.columns import Roles
from ufselect.data.tables.growing import GrowingRows
from ufselect.data.tables.plain_lines import numbers as plain_numbers
from ufselect.data.tables.plain_lines import plain
from ufselect.data.tables.table import Request, TableError
from ufselect.data.tables.tally import Tally
from ufselect.data.tables.text_layout import Layout
from ufselect.data.tables.text_lines import SERIES_MARK


class Columns(NamedTuple):
    """What the columns of a text table are for.

    ``automatic`` says that the column of identities was guessed, ``turned`` that the
    rows of the file are features.
    """

    names: list[str]
    roles: Roles
    automatic: bool
    turned: bool


class TextRows:
    """The rows of a text table that have been read so far.

    Numbers go into one growing array. Of other columns only the identities and the
    labels are kept; what the rest holds is counted, so that a column of numbers with
    a few cells of text is noticed wherever they are.
    """

    def __init__(
        self, layout: Layout, columns: Columns, name: str, request: Request
    ) -> None:
        self.layout, self.columns, self.name = layout, columns, name
        found = columns.roles
        taken = found.taken
        free = [j for j in range(layout.width) if j not in taken]
        self.numeric = [j for j in free if j not in layout.text_columns]
        self.watched = [j for j in free if j in layout.text_columns]
        named = (found.identity, found.labels)
        self.kept: dict[int, list[str]] = {j: [] for j in named if j is not None}
        self.tally = Tally()
        self.rows = GrowingRows(len(self.numeric), request.dtype)
        self.seen = np.zeros(len(self.numeric), dtype=bool)
        self.n_empty = 0
        self.pulled: dict[str, list[str]] = {}
        wanted = {*request.drop, *([request.labels] if request.labels else [])}
        self._pulled_names = wanted if columns.turned else set()

    def add(self, lines: Sequence[str], first: int) -> None:
        """Add lines, of which the first has a number in the file."""
        numbers: Sequence[int] = range(first, first + len(lines))
        wanted = [i for i, line in enumerate(lines) if self._is_row(line)]
        if len(wanted) < len(lines):
            lines, numbers = [lines[i] for i in wanted], [numbers[i] for i in wanted]
        if not lines:
            return
        block = self._at_once(lines, numbers)
        if block is None:
            block = self._by_cell(lines, numbers)
        self._add_block(block)

    def _is_row(self, line: str) -> bool:
        dialect = self.layout.dialect
        if dialect.is_blank(line):
            self.n_empty += bool(line.strip()) and not line.startswith(SERIES_MARK)
            return False
        if not self._pulled_names:
            return True
        start = line.split(dialect.delimiter, 1)[0].strip('" \n')
        if start in self._pulled_names:
            self.pulled[start] = dialect.cells(line)
        return start not in self._pulled_names

    def _at_once(
        self, lines: Sequence[str], numbers: Sequence[int]
    ) -> NDArray[Any] | None:
        """Return the numbers of plain lines, or None if something is not plain."""
        dialect, width = self.layout.dialect, self.layout.width
        simple = plain(lines, dialect, width) if self.numeric else None
        if simple is None:
            return None
        columns = None if len(self.numeric) == width else self.numeric
        block = plain_numbers(simple, dialect, columns)
        if block is not None:
            self._keep_text(simple, numbers)
        return block

    def _keep_text(self, lines: Sequence[str], numbers: Sequence[int]) -> None:
        wanted = [*self.kept, *self.watched]
        if not wanted:
            return
        delimiter = self.layout.dialect.delimiter
        rows = [line.rstrip("\n").split(delimiter, max(wanted) + 1) for line in lines]
        self._take(lambda place: [row[place] for row in rows], numbers)

    def add_rows(self, rows: Sequence[Sequence[str]], first: int) -> None:
        """Add rows that are cells already, of which the first has a number."""
        wanted = [i for i, row in enumerate(rows) if self._is_row_of_cells(row)]
        rows, numbers = [rows[i] for i in wanted], [first + i for i in wanted]
        if rows:
            self._add_block(self._of_cells(rows, numbers, underscores=True))

    def _is_row_of_cells(self, row: Sequence[str]) -> bool:
        if row[0] in self._pulled_names:
            self.pulled[row[0]] = list(row)
            return False
        self.n_empty += not any(row)
        return any(row)

    def _add_block(self, block: NDArray[Any]) -> None:
        self.seen |= (block == block).any(axis=0)  # NaN alone differs from itself
        self.rows.add(block)

    def _by_cell(self, lines: Sequence[str], numbers: Sequence[int]) -> NDArray[Any]:
        """Return the numbers of any lines."""
        rows = list(self.layout.dialect.rows(lines))
        if len(rows) < len(lines):  # line breaks in quotes
            heights = [1 + "".join(row).count("\n") for row in rows]
            numbers = (numbers[0] + np.cumsum([0, *heights[:-1]])).tolist()
        underscores = any("_" in line for line in lines)
        return self._of_cells(rows, numbers, underscores=underscores)

    def _of_cells(
        self, rows: Sequence[Any], numbers: Sequence[int], *, underscores: bool
    ) -> NDArray[Any]:
        """Return the numbers in cells, and count the cells that are text."""
        self._check_widths(rows, numbers)
        cells = list(zip(*rows, strict=True))
        self._take(lambda place: cells[place], numbers)
        block = np.empty((len(rows), len(self.numeric)))
        for target, place in enumerate(self.numeric):
            block[:, target] = self._numbers(place, cells[place], numbers, underscores)
        return block

    def _numbers(
        self, place: int, cells: Sequence[str], lines: Sequence[int], strict: bool
    ) -> NDArray[np.float64]:
        try:
            if not strict:
                return np.array(list(map(float, cells)))
        except ValueError:
            pass
        return self.tally.numbers_of(place, cells, lines)

    def _take(self, column: Any, numbers: Sequence[int]) -> None:
        for place, texts in self.kept.items():
            texts += [cell.strip() for cell in column(place)]
        for place in self.watched:
            self.tally.numbers_of(place, column(place), numbers)

    def _check_widths(self, rows: Sequence[Any], numbers: Sequence[int]) -> None:
        for row, line in zip(rows, numbers, strict=True):
            if len(row) != self.layout.width:
                raise TableError(
                    f"{self.name} has {len(row)} cells in line {line}, but "
                    f"{self.layout.width} in the lines before; correct that line, or "
                    "close its quotation marks"
                )
