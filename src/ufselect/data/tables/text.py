"""Read text tables, in blocks, into one array of numbers.

Blocks of plain numbers are read at once, by pyarrow where it is installed. Others are
read cell by cell, which finds the line and the value that a message names. All ways
round to the nearest number.
"""

import contextlib
import csv
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from io import StringIO, TextIOWrapper
from itertools import chain, repeat
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from ufselect.data.tables.columns import (
    Columns,
    ReadColumns,
    columns_of,
    table_of_columns,
)
from ufselect.data.tables.detection import USUAL_MEMORY, opened
from ufselect.data.tables.isolation import available_bytes
from ufselect.data.tables.layout import (
    MISSING,
    SERIES_MARK,
    TRUTH,
    Dialect,
    Layout,
    decorated_number,
    missing_words,
    number,
    text_layout,
    unescaped,
    with_point,
)
from ufselect.data.tables.table import (
    EMPTY,
    TEXT,
    File,
    Remedy,
    Request,
    Table,
    TableError,
    left_out,
    listed,
)

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
# Reading fewer characters cell by cell is faster than importing pyarrow.
SMALL_BLOCK = 1 << 16
# When a large array grows, the system moves its pages and does not copy them: small
# steps take little time and leave little memory unused.
GROWTH = 1.25
MAX_STRAY_CELLS = 3
MISSING_SPELLED = sorted(
    {"NaN"}.union(*({word, word.upper(), word.title()} for word in MISSING))
)
Texts = dict[int, Sequence[str]]


def read_text(file: File, request: Request, notes: list[str]) -> Table:
    """Read a text table, compressed or not, in UTF-8, UTF-16 or else Latin-1."""
    with opened(file) as stream:
        start = stream.read(4)
    marks = (e for mark, e in BYTE_ORDER_MARKS.items() if start.startswith(mark))
    encoding = next(marks, "utf-8")
    try:
        try:
            return _read(file, request, notes, encoding)
        except UnicodeDecodeError as error:
            if encoding != "utf-8":
                raise TableError(
                    f"{file.name} is not the {encoding} that its first bytes declare "
                    f"({error.reason}); save it in UTF-8"
                ) from error
        notes.clear()
        table = _read(file, request, notes, "latin-1")
    except csv.Error as error:
        raise TableError(
            f"{file.name} cannot be split into cells ({error}); check its delimiter "
            "and its quotation marks"
        ) from error
    notes.insert(0, "The file is not in UTF-8 and was read as Latin-1.")
    return table


def _read(file: File, request: Request, notes: list[str], encoding: str) -> Table:
    with _blocks(file, encoding) as (head, _):
        dialect, layout = text_layout(list(StringIO(head)), request, file.name, notes)
    if layout.commas:
        words = request.na_values
        request = request._replace(na_values=(*words, *map(with_point, words)))

    def add(rows: TableRows) -> None:
        line = layout.skipped + 1
        with _blocks(file, encoding) as (head, others):
            below = head.split("\n", layout.skipped)[-1]
            for block in chain([below], others):
                rows.add_text(block, dialect, line)
                line += block.count("\n")

    details = {
        "delimiter": dialect.delimiter,
        "decimal": dialect.decimal,
        "header": layout.names is not None,
        "encoding": "utf-8-sig" if encoding == "utf-8-sig" else "utf-8",
    }
    return table_of_rows(layout, file, request, notes, add, details)


@contextlib.contextmanager
def _blocks(file: File, encoding: str) -> Iterator[tuple[str, Iterator[str]]]:
    """Open a file; yield enough lines to detect its layout, and blocks of the rest."""
    with opened(file) as stream, TextIOWrapper(stream, encoding=encoding) as text:
        blocks, head = _blocks_of(text, file), ""
        for block in blocks:
            head += block
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


def table_of_rows(
    layout: Layout,
    file: File,
    request: Request,
    notes: list[str],
    add: Callable[["TableRows"], None],
    details: dict[str, Any],
) -> Table:
    """Return the table of the rows that ``add`` adds.

    If a column of numbers turns out to be text, the rows are read once more.
    """
    while True:
        said: list[str] = []
        columns = columns_of(layout, request, file.name, said)
        rows = TableRows(layout, columns, file, request)
        add(rows)
        late = rows.late_text()
        if not late:
            notes += said
            found = rows.finished(notes)
            return table_of_columns(columns, found, file, request, notes, details)
        layout = layout._replace(text_columns=layout.text_columns | late)


class TableRows:
    """The rows of a text table or of a sheet that have been read so far.

    Numbers go into one growing array, other columns into lists of text. Numbers and
    texts in a column are counted, to refuse a column of numbers with stray text.
    """

    def __init__(
        self, layout: Layout, columns: Columns, file: File, request: Request
    ) -> None:
        self.layout, self.columns, self.name = layout, columns, file.name
        self.clean = unescaped if layout.escaped else str
        self.numeric = [j for j in columns.free if j not in layout.text_columns]
        self.watched = [j for j in columns.free if j in layout.text_columns]
        self.kept: dict[int, list[str]] = {
            place: [] for place in (*columns.roles.named, *self.watched)
        }
        self.missing = missing_words(request)
        self.na_values = request.na_values
        self.values = np.empty((0, len(self.numeric)), dtype=request.dtype)
        self.n_rows = self.n_empty = 0
        self.seen = np.zeros(len(self.numeric), dtype=bool)
        # Counts of numbers and texts in each column that has any text.
        self.n_numbers: dict[int, int] = defaultdict(int)
        self.texts: dict[int, Counter[str]] = defaultdict(Counter)
        self.first_text: dict[int, tuple[int, str]] = {}  # line and value
        self.decorated: dict[int, str] = {}
        # Columns of true and false and the like, which pyarrow reads as text.
        self.odd: dict[int, None] = {}
        # Rows of a transposed table with labels or groups, or to be dropped.
        self.pulled: dict[str, list[str]] = {}
        wanted = [*request.drop, request.labels or "", request.groups or ""]
        self.pulled_names = set(filter(None, wanted)) if columns.transposed else set()

    def add_text(self, block: str, dialect: Dialect, first: int) -> None:
        """Add lines of text; ``first`` is the line number of the first."""
        if not block or self._add_at_once(block, dialect, first):
            return
        lines, numbers = [], []
        for line_number, line in enumerate(StringIO(block), first):
            if dialect.is_blank(line):
                about = line.startswith(SERIES_MARK)
                self.n_empty += bool(line.strip()) and not about
            else:
                lines.append(line)
                numbers.append(line_number)
        rows = list(dialect.rows(lines))
        if len(rows) < len(lines):  # line breaks in quotes
            heights = [1 + "".join(row).count("\n") for row in rows]
            numbers = (numbers[0] + np.cumsum([0, *heights[:-1]])).tolist()
        self._add_rows(rows, numbers)

    def add_cells(self, rows: Sequence[Sequence[str]], first: int) -> None:
        """Add rows of a sheet; ``first`` is the row number of the first."""
        filled = [(row, line) for line, row in enumerate(rows, first) if any(row)]
        self.n_empty += len(rows) - len(filled)
        self._add_rows([row for row, _ in filled], [line for _, line in filled])

    def _add_at_once(self, block: str, dialect: Dialect, first: int) -> bool:
        """Add a block whose numeric columns have plain numbers only."""
        plain = [place for place in self.numeric if place not in self.odd]
        if len(block) < SMALL_BLOCK or not plain:
            return False
        if any(name in block for name in self.pulled_names):
            return False
        textual = [*self.kept, *self.odd]
        width, missing = self.layout.width, self.na_values
        found = parsed(block, dialect, width, plain, textual, missing)
        # Empty rows are left out, which is done row by row.
        if found is None or np.isnan(found[0]).all(axis=1).any():
            return False
        values, texts = found
        lines = range(first, first + len(values))
        for place in self.kept:
            self._keep(place, texts[place], lines)
        if self.odd:
            columns = dict(zip(plain, values.T, strict=True))
            columns |= {j: self._numbers(j, texts[j], lines) for j in self.odd}
            values = np.column_stack([columns[place] for place in self.numeric])
        self._append(values)
        return True

    def _add_rows(self, rows: Sequence[Sequence[str]], numbers: Sequence[int]) -> None:
        """Add rows of cells, and count the cells that are text."""
        wanted = []
        for row, line in zip(rows, numbers, strict=True):
            if len(row) != self.layout.width:
                remedies = self._skip_remedy(line)
                raise TableError(
                    f"{self.name} has {len(row)} cells in line {line}, but "
                    f"{self.layout.width} in other lines; correct that line, "
                    f"{_skip_hint(remedies)}or close its quotation marks",
                    remedies,
                )
            if self.pulled_names and row[0].strip() in self.pulled_names:
                self.pulled[row[0].strip()] = list(map(self.clean, row))
            else:
                wanted.append((row, line))
        if not wanted:
            return
        lines = [line for _, line in wanted]
        cells = list(zip(*(row for row, _ in wanted), strict=True))
        for place in self.kept:
            self._keep(place, cells[place], lines)
        values = np.empty((len(wanted), len(self.numeric)))
        for target, place in enumerate(self.numeric):
            values[:, target] = self._numbers(place, cells[place], lines)
        self._append(values)

    def _append(self, block: NDArray[Any]) -> None:
        needed = self.n_rows + len(block)
        if needed > len(self.values):
            self._resize(max(needed, int(GROWTH * len(self.values))))
        self.values[self.n_rows : needed] = block
        self.n_rows = needed
        if not self.seen.all():
            self.seen |= ~np.isnan(block).all(axis=0)

    def _resize(self, length: int) -> None:
        self.values.resize((length, self.values.shape[1]), refcheck=False)

    def _keep(self, place: int, cells: Sequence[str], lines: Sequence[int]) -> None:
        """Keep the text of a column, equal texts once in memory, and count it."""
        self.kept[place] += [sys.intern(self.clean(cell.strip())) for cell in cells]
        if place in self.watched:
            self._numbers(place, cells, lines)

    def _numbers(
        self, place: int, cells: Sequence[str], lines: Sequence[int]
    ) -> NDArray[np.float64]:
        """Return cells as numbers, NaN for text, and count both."""
        if self.layout.commas:
            cells = list(map(with_point, cells))
        if self.missing is MISSING and place not in self.layout.text_columns:
            with contextlib.suppress(ValueError):
                plain = np.array(list(map(float, cells)))
                # Python reads 1_000 as a thousand, unlike number().
                if not any("_" in cell for cell in cells):
                    return plain
        found: dict[str, float] = {}
        odd = False
        for cell, count in Counter(cells).items():
            value = number(cell, self.missing)
            odd = odd or value is None or cell.strip().lower() in TRUTH
            if value is None and (value := decorated_number(cell)) is not None:
                self.decorated.setdefault(place, cell.strip())
            if value is None:
                self.texts[place][cell.strip()] += count
                if place not in self.first_text:
                    line = lines[list(cells).index(cell)]
                    self.first_text[place] = line, cell
            elif value == value:  # NaN alone differs from itself
                self.n_numbers[place] += count
            found[cell] = np.nan if value is None else value
        if odd and place not in self.layout.text_columns:
            self.odd[place] = None
        return np.array([found[cell] for cell in cells])

    def late_text(self) -> frozenset[int]:
        """Return columns that turned out to be text; refuse numbers with stray text."""
        for place in self.watched:
            self._is_text(place, self.n_numbers[place])
        late = []
        for index, place in enumerate(self.numeric):
            if self.texts.get(place):
                column = self.values[: self.n_rows, index]
                if self._is_text(place, int(np.count_nonzero(~np.isnan(column)))):
                    late.append(place)
        return frozenset(late)

    def _is_text(self, place: int, n_numbers: int) -> bool:
        """Tell whether most cells are text; refuse numbers with stray text."""
        texts = self.texts[place]
        if texts.total() > n_numbers:
            return True
        if not texts:
            return False
        title, (line, value) = self.columns.names[place], self.first_text[place]
        others = texts.total() - 1
        more = f" and {others} more such cell{'s' * (others > 1)}" if others else ""
        common = [text for text, _ in texts.most_common(MAX_STRAY_CELLS)]
        missing = " ".join(f"--na {text!r}" for text in common)
        shown = " and ".join(map(repr, common))
        skip = self._skip_remedy(line)
        raise TableError(
            f"{self.name}: column {title!r} is numeric except for {value!r} in line "
            f"{line}{more}; correct it, read it as missing ({missing}), "
            f"{_skip_hint(skip)}or leave the column out (--drop {title!r})",
            [
                # A sign such as ? does not belong to a header.
                *(skip if value.strip()[:1].isalnum() else ()),
                Remedy(f"Read {shown} as missing", tuple(f"--na={t}" for t in common)),
                Remedy(f"Leave column {title!r} out", (f"--drop={title}",)),
            ],
        )

    def _skip_remedy(self, line: int) -> list[Remedy]:
        """Return how to skip a possible title, if the first line of data is bad."""
        skipped = self.layout.skipped
        if line != skipped + 1:
            return []
        n_lines = line if self.layout.names is None else skipped
        lines = f"the first {n_lines} lines" if n_lines > 1 else "the first line"
        return [Remedy(f"Skip {lines}", (f"--skip-rows={n_lines}",))]

    def finished(self, notes: list[str]) -> ReadColumns:
        """Return the columns that are not empty, with notes on what was left out."""
        if self.n_empty:
            notes.append(f"Rows without any value were left out: {self.n_empty}.")
        names = self.columns.names
        places = np.array(self.numeric, dtype=np.intp)
        seen, empty = places[self.seen].tolist(), places[~self.seen].tolist()
        if empty:
            notes.append(f"{left_out([names[j] for j in empty], EMPTY)}.")
        if decorated := [j for j in self.decorated if j in self.numeric]:
            example = self.decorated[decorated[0]]
            notes.append(
                "Thousands separators, percent and currency signs were removed in "
                f"{listed([names[j] for j in decorated])} ({example!r} was read as "
                f"{decorated_number(example):g})."
            )
        self._resize(self.n_rows)
        return ReadColumns(
            self.values[:, self.seen] if empty else self.values,
            seen,
            self.watched,
            TEXT,
            self.kept.__getitem__,
            lambda place: np.array(self.kept[place], dtype=object),
            self.pulled,
        )


def _skip_hint(remedies: Sequence[Remedy]) -> str:
    options = (each.options[0].replace("=", " ") for each in remedies)
    return "".join(f"skip the lines above the table ({each}), " for each in options)


def parsed(
    block: str,
    dialect: Dialect,
    width: int,
    numeric: Sequence[int],
    textual: Sequence[int],
    na_values: Sequence[str] = (),
) -> tuple[NDArray[Any], Texts] | None:
    r"""Return the numbers in some columns of a block of lines, and the text in others.

    Returns None if a line is too short, too long or empty, or if a cell of a numeric
    column is text.

    Examples
    --------
    >>> parsed("a,1,2\nb,NA,\n", Dialect(","), 3, [1, 2], [0])
    (array([[ 1.,  2.],
           [nan, nan]]), {0: ['a', 'b']})
    """
    lines, delimiter = block.split("\n")[:-1], dialect.delimiter or " "
    if dialect.delimiter is None:
        lines = [" ".join(line.split()) for line in lines]
        block = "\n".join([*lines, ""])
    rows: Sequence[Sequence[str]] = []
    if '"' in block:
        rows = list(csv.reader(lines, delimiter=delimiter))
        if len(rows) != len(lines) or any(len(row) != width for row in rows):
            return None
    elif set(map(str.count, lines, repeat(delimiter))) != {width - 1}:
        return None
    # Of one cell in each line: libraries take long for each column of a wide table.
    if not rows and len(numeric) == width:
        column = block.replace(delimiter, "\n")
    elif not rows and len(numeric) == width - numeric[0]:  # text before the numbers
        rows = [line.split(delimiter, numeric[0]) for line in lines]
        column = "\n".join([*(row[-1] for row in rows), ""]).replace(delimiter, "\n")
    else:
        rows = rows or [line.split(delimiter) for line in lines]
        column = "".join([f"{row[place]}\n" for row in rows for place in numeric])
    decimal = "," if dialect.may_have_commas and "," in column else "."
    parse = _by_python if _arrow_csv() is None else _by_arrow
    found = parse(column, decimal, [*MISSING_SPELLED, *na_values])
    if found is None or found.size != len(lines) * len(numeric):
        return None
    texts: Texts = {place: [row[place] for row in rows] for place in textual}
    return found.reshape(len(lines), -1), texts


@cache
def _arrow_csv() -> Any:
    """Return the CSV reader of pyarrow, or None if pyarrow is not installed."""
    try:
        from pyarrow import csv as reader
    except ImportError:
        return None
    return reader


def _by_arrow(
    cells: str, decimal: str, missing: Sequence[str]
) -> NDArray[np.float64] | None:
    """Return cells, one in each line, as numbers; None if one of them is text."""
    import pyarrow as arrow

    reader, content = _arrow_csv(), cells.encode()
    try:
        table = reader.read_csv(
            arrow.BufferReader(content),
            reader.ReadOptions(
                use_threads=False, block_size=len(content) + 1, column_names=["cell"]
            ),
            reader.ParseOptions(
                delimiter="\t", quote_char=False, ignore_empty_lines=False
            ),
            reader.ConvertOptions(
                column_types={"cell": arrow.float64()},
                null_values=missing,
                decimal_point=decimal,
            ),
        )
    except arrow.ArrowInvalid:
        return None
    return np.asarray(table.column("cell").to_numpy())


def _by_python(
    cells: str, decimal: str, missing: Sequence[str]
) -> NDArray[np.float64] | None:
    """Do the same where pyarrow is not installed."""
    if "_" in cells:  # Python reads 1_000 as a thousand
        return None
    known: dict[str, Any] = {word.replace(decimal, "."): np.nan for word in missing}
    lines = cells.replace(decimal, ".").split("\n")[:-1]
    with contextlib.suppress(ValueError):
        return np.array([float(known.get(cell, cell)) for cell in lines])
    return None
