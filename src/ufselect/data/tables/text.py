"""Text tables: read in blocks, straight into one array of numbers.

A library reads blocks of plain numbers: pyarrow where it is installed, else NumPy.
Both round to the nearest number. What they refuse is read cell by cell, which finds
the line and the value that a message names.
"""

import contextlib
import csv
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import import_module
from io import StringIO, TextIOWrapper
from itertools import chain
from typing import Any, NamedTuple, TextIO

import numpy as np
from numpy.typing import NDArray

from ufselect.data.tables.cells import (
    MISSING,
    TRUTH,
    decorated_number,
    number,
    unescaped,
)
from ufselect.data.tables.detection import USUAL_MEMORY, opened
from ufselect.data.tables.isolation import available_bytes
from ufselect.data.tables.layout import (
    SERIES_MARK,
    TALL,
    Columns,
    Dialect,
    Layout,
    columns_of,
    missing_words,
    text_layout,
    transpose_hint,
    which_way,
    with_point,
)
from ufselect.data.tables.table import (
    ID_NAMES,
    File,
    OtherColumn,
    Remedy,
    Request,
    Table,
    TableError,
    assembled,
    by_place,
    listed,
)

BLOCK_CHARACTERS = 1 << 20
LONGEST_CELL = 1000  # lines
# Characters of a line, each of which may be a cell that takes so many bytes.
LONGEST_LINE = 1 << 26
CELL_BYTES = 128
BYTE_ORDER_MARKS = {
    b"\xef\xbb\xbf": "utf-8-sig",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
# From so many columns on, what libraries do per column takes longer than the numbers.
MANY_COLUMNS = 200
# Fewer characters are read cell by cell sooner than a library is imported.
SMALL_BLOCK = 1 << 16
# The system moves pages rather than copies them when a large array grows, so that
# growing in small steps costs little time and leaves little memory unused.
GROWTH = 1.25
MOST_STRAYS = 3
MISSING_SPELLED = sorted(
    {"NaN"}.union(*({word, word.upper(), word.title()} for word in MISSING))
)


def read_text(file: File, request: Request, notes: list[str]) -> Table:
    """Read a table of text, compressed or not, in UTF-8 or else in Latin-1."""
    with opened(*file) as stream:
        start = stream.read(4)
    marks = (e for mark, e in BYTE_ORDER_MARKS.items() if start.startswith(mark))
    encoding = next(marks, "utf-8")
    try:
        return _read(file, request, notes, encoding)
    except csv.Error as error:
        raise TableError(
            f"{file.name} cannot be split into cells ({error}); check its delimiter "
            "and its quotation marks"
        ) from error
    except UnicodeDecodeError as error:
        if encoding != "utf-8":
            raise TableError(
                f"{file.name} is not the {encoding} that its first bytes promise "
                f"({error.reason}); save it in UTF-8"
            ) from error
    notes.clear()
    table = _read(file, request, notes, "latin-1")
    notes.insert(0, "It is not in UTF-8 and was read as Latin-1.")
    return table


def _read(file: File, request: Request, notes: list[str], encoding: str) -> Table:
    with _blocks(file, encoding) as (head, _):
        layout = text_layout(_lines(head), request, file.name, notes)
    layout = layout._replace(
        names=layout.names and list(map(unescaped, layout.names)), escaped=True
    )

    def add(rows: TableRows) -> None:
        line = layout.skipped + 1
        with _blocks(file, encoding) as (head, others):
            for block in chain([_without_lines(head, layout.skipped)], others):
                rows.add_text(block, line)
                line += block.count("\n")

    details = {
        "delimiter": layout.dialect.delimiter,
        "decimal": layout.dialect.decimal,
        "header": layout.names is not None,
        "encoding": "utf-8-sig" if encoding == "utf-8-sig" else "utf-8",
    }
    return table_of_rows(layout, file, request, notes, add, details)


@contextlib.contextmanager
def _blocks(file: File, encoding: str) -> Iterator[tuple[str, Iterator[str]]]:
    """Open a file; return enough of its lines to judge by, and blocks of the others."""
    with opened(*file) as stream, TextIOWrapper(stream, encoding=encoding) as text:
        blocks, head = _blocks_of(text, file), ""
        for block in blocks:
            head += block
            starts = (line[:1] for line in head.split("\n"))
            if sum(start not in ("", "#", "!") for start in starts) > 3:
                break
        yield head, blocks


def _blocks_of(text: TextIO, file: File) -> Iterator[str]:
    """Return blocks of whole lines; a cell in quotes is not cut by a block's end."""
    memory = available_bytes() or USUAL_MEMORY
    longest = -1 if file.allow_large else min(LONGEST_LINE, memory // CELL_BYTES)
    while block := text.read(BLOCK_CHARACTERS):
        _refuse_nul(block, file)
        if not block.endswith("\n"):
            rest = text.readline(longest)
            if not rest.endswith("\n") and len(rest) == longest:
                raise TableError(
                    f"{file.name} has a line of more than {longest} characters, so it "
                    "is no text table, or has very many columns; if it has, read it "
                    "with --allow-large",
                    [Remedy("Read it, however large it is", ("--allow-large",))],
                )
            block += rest
        if block.count('"') % 2:
            block += _to_closing_quote(text)
        _refuse_nul(block, file)
        yield block if block.endswith("\n") else f"{block}\n"


def _refuse_nul(block: str, file: File) -> None:
    if "\0" in block:
        raise TableError(
            f"{file.name} has NUL bytes, so it is no text table, or is damaged; "
            "export it again as CSV in UTF-8"
        )


def _to_closing_quote(text: TextIO) -> str:
    """Return the lines up to the next one with an odd number of quotation marks."""
    lines: list[str] = []
    # A mark that closes nothing, as in 5", must not make all the rest one block.
    while len(lines) < LONGEST_CELL and (line := text.readline()):
        lines.append(line)
        if line.count('"') % 2:
            break
    return "".join(lines)


def _lines(block: str) -> list[str]:
    """Return lines with their ends; str.splitlines knows more ends than files have."""
    return [f"{line}\n" for line in block.split("\n")[:-1]]


def _without_lines(text: str, n_lines: int) -> str:
    for _ in range(n_lines):
        text = text[text.index("\n") + 1 :]
    return text


def table_of_rows(
    layout: Layout,
    file: File,
    request: Request,
    notes: list[str],
    add: Callable[["TableRows"], None],
    details: dict[str, Any],
) -> Table:
    """Return the table of the rows that are added, maybe more than once.

    A column of numbers may turn out to be text, which then is read as text.
    """
    while True:
        said: list[str] = []
        columns = columns_of(layout, request, file.name, said)
        rows = TableRows(layout, columns, file, request)
        add(rows)
        late = rows.late_text(request)
        if not late:
            notes += said
            return rows.finished(request, notes, details)
        layout = layout._replace(text_columns=layout.text_columns | late)


class TableRows:
    """The rows of a text table or of a sheet that have been read so far.

    Numbers go into one growing array, other columns into lists of text. What text
    columns hold is counted, so that a column of numbers with a few cells of text is
    noticed wherever they are.
    """

    def __init__(
        self, layout: Layout, columns: Columns, file: File, request: Request
    ) -> None:
        self.layout, self.columns = layout, columns
        self.file, self.name = file, file.name
        roles = columns.roles
        free = [j for j in range(layout.width) if j not in roles.taken]
        self.numeric = [j for j in free if j not in layout.text_columns]
        self.watched = [j for j in free if j in layout.text_columns]
        self.kept: dict[int, list[str]] = {j: [] for j in (*roles.named, *self.watched)}
        self.missing = missing_words(request)
        self.na_values = tuple(request.na_values)
        self.values = np.empty((0, len(self.numeric)), dtype=request.dtype)
        self.n_rows = self.n_empty = 0
        self.seen = np.zeros(len(self.numeric), dtype=bool)
        # Of each column that is not plainly numeric: its numbers, its text.
        self.n_numbers: dict[int, int] = defaultdict(int)
        self.texts: dict[int, Counter[str]] = defaultdict(Counter)
        self.first_text: dict[int, tuple[int, str]] = {}  # its line, and what it is
        self.decorated: dict[int, str] = {}
        # Columns of truth values and the like, which libraries read as text.
        self.odd: dict[int, None] = {}
        # Rows of a transposed table that hold labels or are to be dropped.
        self.pulled: dict[str, list[str]] = {}
        wanted = [*request.drop, request.labels or "", request.groups or ""]
        self.pulled_names = set(filter(None, wanted)) if columns.transposed else set()

    def add_text(self, block: str, first: int) -> None:
        """Add lines of text, of which the first has a number in the file."""
        if not block:
            return
        if self._at_once(block, first):
            return
        dialect = self.layout.dialect
        lines, numbers = [], []
        for line_number, line in enumerate(_lines(block), first):
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
        """Add rows of cells, of which the first has a number in its sheet."""
        some = [any(row) for row in rows]
        self.n_empty += len(rows) - sum(some)
        wanted = [i for i, any_cell in enumerate(some) if any_cell]
        self._add_rows([rows[i] for i in wanted], [first + i for i in wanted])

    def _at_once(self, block: str, first: int) -> bool:
        """Add a block by a library, if there is one that can read it."""
        plain = [place for place in self.numeric if place not in self.odd]
        if len(block) < SMALL_BLOCK or not plain:
            return False
        if any(name in block for name in self.pulled_names):
            return False
        textual = [*self.kept, *self.odd]
        dialect, width = self.layout.dialect, self.layout.width
        found = parsed(block, dialect, width, plain, textual, self.na_values)
        # Rows without any value are left out, which is done row by row.
        if found is None or np.isnan(found[0]).all(axis=1).any():
            return False
        values, texts = found
        if dialect.may_have_commas:
            texts = {j: list(map(with_point, cells)) for j, cells in texts.items()}
        lines = range(first, first + len(values))
        for place in self.kept:
            self._take(place, texts[place], lines)
        if self.odd:
            columns = dict(zip(plain, values.T, strict=True))
            columns |= {j: self._numbers(j, texts[j], lines) for j in self.odd}
            values = np.column_stack([columns[place] for place in self.numeric])
        self._append(values)
        return True

    def _add_rows(self, rows: Sequence[Sequence[str]], numbers: Sequence[int]) -> None:
        """Add rows of cells, and count the cells that are text."""
        for row, line in zip(rows, numbers, strict=True):
            if len(row) != self.layout.width:
                raise TableError(
                    f"{self.name} has {len(row)} cells in line {line}, but "
                    f"{self.layout.width} in other lines; correct that line, "
                    f"{self._skip_hint(line)}or close its quotation marks",
                    self._skip_remedy(line),
                )
        if self.pulled_names:
            clean = unescaped if self.layout.escaped else str
            titles = [row[0].strip() for row in rows]
            keep = [i for i, each in enumerate(titles) if each not in self.pulled_names]
            for title, row in zip(titles, rows, strict=True):
                if title in self.pulled_names:
                    self.pulled[title] = list(map(clean, row))
            rows, numbers = [rows[i] for i in keep], [numbers[i] for i in keep]
        if not rows:
            return
        cells = list(zip(*rows, strict=True))
        for place in self.kept:
            self._take(place, cells[place], numbers)
        values = np.empty((len(rows), len(self.numeric)))
        for target, place in enumerate(self.numeric):
            values[:, target] = self._numbers(place, cells[place], numbers)
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

    def _take(self, place: int, cells: Sequence[str], lines: Sequence[int]) -> None:
        """Keep the text of a column, each text once in memory; count what it holds."""
        clean = unescaped if self.layout.escaped else str
        self.kept[place] += [sys.intern(clean(cell.strip())) for cell in cells]
        if place in self.watched:
            self._numbers(place, cells, lines)

    def _numbers(
        self, place: int, cells: Sequence[str], lines: Sequence[int]
    ) -> NDArray[np.float64]:
        """Return cells as numbers, NaN for text, and count what they are."""
        if self.missing is MISSING and place not in self.layout.text_columns:
            with contextlib.suppress(ValueError):
                plain = np.array(list(map(float, cells)))
                # Python reads 1_000 as a thousand, which number() does not.
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

    def late_text(self, request: Request) -> frozenset[int]:
        """Return columns of numbers that are text; refuse numbers with stray text."""
        if not self.columns.transposed:
            asked = by_place(request) if self.layout.names is None else request
            for each in asked.use:
                if self.columns.names.index(each) in self.watched:
                    raise TableError(
                        f"{self.name}: column {each!r} is text and cannot be a "
                        "feature; encode it as numbers first"
                    )
        for place in self.watched:
            self._is_text(place, self.n_numbers[place])
        late = []
        for index, place in enumerate(self.numeric):
            if self.texts.get(place):
                column = self.values[: self.n_rows, index]
                if self._is_text(place, int(np.count_nonzero(~np.isnan(column)))):
                    late.append(place)
        return frozenset(late)

    def finished(
        self, request: Request, notes: list[str], details: dict[str, Any]
    ) -> Table:
        """Return what the table holds; leave out columns of text and empty ones."""
        names, roles, turned = (*self.columns[:2], self.columns.transposed)
        index = self._index(notes)
        text = list(self.watched)
        if index is None and roles.index_column is not None:
            text.append(roles.index_column)
        if self.n_empty:
            notes.append(f"Rows without any value were left out: {self.n_empty}.")
        empty = [j for j, seen in zip(self.numeric, self.seen, strict=True) if not seen]
        self._note_columns(empty, notes)
        places = [j for j, seen in zip(self.numeric, self.seen, strict=True) if seen]
        if not places:
            shown = listed([name or "(no name)" for name in names])
            raise TableError(
                f"{self.name} has no numeric column to select from, only {shown}; "
                "check the delimiter and the decimal sign, or give another file"
            )
        self._resize(self.n_rows)
        values = self.values[:, self.seen] if empty else self.values
        features = [names[place] for place in places]
        known: dict[str, Any] = {
            "id_column": None if index is None else names[roles.index_column or 0],
            "others": [
                OtherColumn(
                    names[j],
                    j,
                    np.array(self.kept[j], dtype=object),
                    why="It is text.",
                    of_features=turned,
                )
                for j in text
            ],
        }
        if turned:
            # Names alone say that rows are features: their number has to agree.
            if self.columns.in_doubt and index and len(index) < TALL * len(features):
                raise which_way(self.name, index, features)
            if request.transpose:
                notes.append("The table was transposed: its columns are samples.")
            rows: dict[str, Any] = {"id_column": None}
            rows["drop"] = tuple(d for d in request.drop if d not in self.pulled)
            for role, asked_row in (
                ("labels", request.labels),
                ("groups", request.groups),
            ):
                if asked_row in self.pulled:
                    row = self.pulled[asked_row]
                    known[role] = [row[place] for place in places]
                    rows[role] = None
            return assembled(
                np.ascontiguousarray(values.T),
                index,
                features if self.layout.names else None,
                *(self.file, request._replace(**rows), notes),
                details=details | {"transposed": True},
                label_column=request.labels,
                **known,
            )
        if index is not None and request.transpose is None:
            shown_names = features if self.layout.names else None
            hint = transpose_hint(self.name, shown_names, index, known["id_column"])
            notes += [hint] if hint else []
        nameless = self.layout.names is None and len(places) == self.layout.width
        for role, place in (("labels", roles.labels), ("groups", roles.groups)):
            known[role] = None if place is None else self.kept[place]
        return assembled(
            values,
            None if nameless else features,
            index,
            *(self.file, Request(), notes),
            details=details | {"places": roles[:3]},
            positions=places,
            label_column=None if roles.labels is None else names[roles.labels],
            **known,
        )

    def _index(self, notes: list[str]) -> list[str] | None:
        """Return the names of the rows; a guess is given up if they are not unique."""
        place = self.columns.roles.index_column
        if place is None:
            return None
        names, title = self.kept[place], self.columns.names[place]
        shown = f"Column {title!r}" if title else "The column without a name"
        guessed = self.columns.guessed and title.lower() not in ID_NAMES
        transposed = self.columns.transposed
        if guessed and not transposed and len(set(names)) < len(names):
            notes.append(f"{shown} is text and was left out.")
            return None
        what = "feature" if transposed else "sample"
        notes.append(f"{shown} holds {what} names.")
        return names

    def _note_columns(self, empty: list[int], notes: list[str]) -> None:
        """Say which columns were left out, and which were read as numbers."""
        names = self.columns.names
        for kind, places in (("text", self.watched), ("empty", empty)):
            found = listed([names[place] for place in places])
            if len(places) == 1:
                notes.append(f"Column {found} is {kind} and was left out.")
            elif places:
                notes.append(
                    f"{len(places)} columns are {kind} and were left out: {found}."
                )
        decorated = [j for j in self.decorated if j in self.numeric]
        if decorated:
            example = self.decorated[decorated[0]]
            notes.append(
                "Thousands separators, percent and currency signs were taken off in "
                f"{listed([names[j] for j in decorated])} ({example!r} was read as "
                f"{decorated_number(example):g})."
            )

    def _is_text(self, place: int, n_numbers: int) -> bool:
        """Tell whether most cells are text; refuse numbers with a few cells of text."""
        texts = self.texts[place]
        if texts.total() > n_numbers:
            return True
        if not texts:
            return False
        title, (line, value) = self.columns.names[place], self.first_text[place]
        others = texts.total() - 1
        more = f" and {others} more such cell{'s' * (others > 1)}" if others else ""
        common = [text for text, _ in texts.most_common(MOST_STRAYS)]
        missing = " ".join(f"--na {text!r}" for text in common)
        shown = " and ".join(map(repr, common))
        raise TableError(
            f"{self.name}: column {title!r} is numeric but for {value!r} in line {line}"
            f"{more}; correct it, say that it means missing ({missing}), "
            f"{self._skip_hint(line)}or leave the column out (--drop {title!r})",
            [
                # A sign such as ? is no part of a header.
                *(self._skip_remedy(line) if value.strip()[:1].isalnum() else ()),
                Remedy(f"Read {shown} as missing", tuple(f"--na={t}" for t in common)),
                Remedy(f"Leave column {title!r} out", (f"--drop={title}",)),
            ],
        )

    def _skip_hint(self, line: int) -> str:
        """Say how to skip what may be a title, if the first line of data is wrong."""
        remedies = self._skip_remedy(line)
        options = (each.options[0].replace("=", " ") for each in remedies)
        return "".join(f"skip the lines above the table ({each}), " for each in options)

    def _skip_remedy(self, line: int) -> list[Remedy]:
        skipped = self.layout.skipped
        if line != skipped + 1:
            return []
        n_lines = line if self.layout.names is None else skipped
        lines = f"the first {n_lines} lines" if n_lines > 1 else "the first line"
        return [Remedy(f"Skip {lines}", (f"--skip-rows={n_lines}",))]


class _Block(NamedTuple):
    """Text for a library: how its cells are told apart, which columns are wanted."""

    content: str
    delimiter: str
    decimal: str
    width: int
    numeric: Sequence[int]
    textual: Sequence[int]
    missing: Sequence[str]


def parsed(
    block: str,
    dialect: Dialect,
    width: int,
    numeric: Sequence[int],
    textual: Sequence[int],
    na_values: Sequence[str] = (),
) -> tuple[NDArray[Any], dict[int, Sequence[str]]] | None:
    r"""Return the numbers in some columns of a block of lines, and the text in others.

    Returns None if a line is too short, too long or empty, or if a number is none.

    Examples
    --------
    >>> parsed("a,1,2\nb,NA,\n", Dialect(","), 3, [1, 2], [0])
    (array([[ 1.,  2.],
           [nan, nan]]), {0: ['a', 'b']})
    """
    delimiter = dialect.delimiter or " "
    if dialect.delimiter is None:
        lines = block.split("\n")[:-1]
        block = "".join([f"{' '.join(line.split())}\n" for line in lines])
    decimal = "," if dialect.may_have_commas and "," in block else "."
    missing = [*MISSING_SPELLED, *na_values]
    wanted = _Block(block, delimiter, decimal, width, numeric, textual, missing)
    return _by_numpy(wanted) if _arrow_csv() is None else _by_arrow(wanted)


@cache
def _arrow_csv() -> Any:
    """Return pyarrow's reader of CSV, or None if it is not installed."""
    try:
        return import_module("pyarrow.csv")
    except ImportError:
        return None


def _by_arrow(block: _Block) -> tuple[NDArray[Any], dict[int, Sequence[str]]] | None:
    """Read a block by pyarrow, which rounds correctly and is the fastest."""
    n_lines, width = block.content.count("\n"), block.width
    if width <= MANY_COLUMNS or '"' in block.content:
        columns = _arrow_columns(block)
        if columns is None or len(columns[block.numeric[0]]) != n_lines:
            return None
        values = np.empty((n_lines, len(block.numeric)))
        for target, place in enumerate(block.numeric):
            values[:, target] = columns[place]
        return values, {place: columns[place] for place in block.textual}
    # One cell in each line, so that there is only one column.
    rows = block.content.split("\n")[:-1]
    if any(row.count(block.delimiter) != width - 1 for row in rows):
        return None
    texts: dict[int, Sequence[str]] = {}
    content, numeric = block.content, block.numeric
    if len(numeric) < width:
        # Most often all the text comes before the numbers, which then stay together.
        together = len(numeric) == width - numeric[0]
        split = numeric[0] if together else -1
        cells = [row.split(block.delimiter, split) for row in rows]
        texts = {j: [row[j] for row in cells] for j in block.textual}
        wanted = numeric[:1] if together else numeric
        parts = (block.delimiter.join([row[j] for j in wanted]) for row in cells)
        content = "".join([f"{part}\n" for part in parts])
    content = content.replace(block.delimiter, "\n")
    one = block._replace(content=content, delimiter="\t", width=1)
    columns = _arrow_columns(one._replace(numeric=[0], textual=[]))
    if columns is None or len(columns[0]) != n_lines * len(numeric):
        return None
    return columns[0].reshape(n_lines, -1), texts


def _arrow_columns(block: _Block) -> dict[int, Any] | None:
    """Return columns of a block, or None if pyarrow does not read it."""
    arrow, reader = import_module("pyarrow"), _arrow_csv()
    types = {str(j): arrow.float64() for j in block.numeric}
    types |= {str(j): arrow.string() for j in block.textual}
    content = block.content.encode()
    try:
        table = reader.read_csv(
            arrow.BufferReader(content),
            reader.ReadOptions(
                use_threads=False,
                block_size=len(content) + 1,
                column_names=[str(j) for j in range(block.width)],
            ),
            reader.ParseOptions(
                delimiter=block.delimiter,
                newlines_in_values=True,
                ignore_empty_lines=False,
            ),
            reader.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                null_values=block.missing,
                strings_can_be_null=False,
                decimal_point=block.decimal,
            ),
        )
    except arrow.ArrowInvalid:
        return None
    numbers = {j: table.column(str(j)).to_numpy() for j in block.numeric}
    return numbers | {j: table.column(str(j)).to_pylist() for j in block.textual}


def _by_numpy(block: _Block) -> tuple[NDArray[Any], dict[int, Sequence[str]]] | None:
    """Read a block by NumPy, which rounds correctly in less time than pandas does."""
    content, delimiter = block.content, block.delimiter
    lines = content.split("\n")[:-1]
    texts: dict[int, Sequence[str]] = {}
    if '"' in content:
        rows = list(csv.reader(lines, delimiter=delimiter))
        if len(rows) != len(lines) or any(len(row) != block.width for row in rows):
            return None
        texts = {j: [row[j] for row in rows] for j in block.textual}
    elif any(line.count(delimiter) != block.width - 1 for line in lines):
        return None
    elif block.textual:
        most = max(block.textual) + 1
        cells = [line.split(delimiter, most) for line in lines]
        texts = {j: [row[j] for row in cells] for j in block.textual}
    if block.decimal == ",":
        content = content.replace(",", ".")
    usecols = block.numeric if len(block.numeric) < block.width else None
    sign = re.escape(delimiter)
    words = "|".join(map(re.escape, sorted(block.missing, key=len, reverse=True)))
    missing = re.compile(
        f'(?<![^{sign}\\n])(?: *(?:{words}) *|"(?:{words})")(?![^{sign}\\n])'
    )
    for spelled in (str, lambda text: missing.sub("nan", text)):
        with contextlib.suppress(ValueError):
            return np.loadtxt(
                StringIO(spelled(content)),
                delimiter=delimiter,
                comments=None,
                quotechar='"',
                usecols=usecols,
                ndmin=2,
            ), texts
    return None
