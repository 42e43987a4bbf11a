"""Text tables: read in blocks, straight into one array of numbers.

A library reads blocks of plain numbers: pyarrow where it is installed, else pandas.
Both round to the nearest number. What they refuse is read cell by cell, which finds
the line and the value that a message names.
"""

import contextlib
import csv
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from io import BytesIO, TextIOWrapper
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
from ufselect.data.tables.detection import opened
from ufselect.data.tables.layout import (
    SERIES_MARK,
    Columns,
    Dialect,
    Layout,
    columns_of,
    missing_words,
    text_layout,
    transpose_hint,
    with_point,
)
from ufselect.data.tables.table import (
    ID_NAMES,
    File,
    Parts,
    Request,
    TableError,
    listed,
    place_of,
    unique_names,
)

BLOCK_CHARACTERS = 1 << 20
LONGEST_CELL = 1000  # lines
BYTE_ORDER_MARKS = {
    b"\xef\xbb\xbf": "utf-8-sig",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
# From so many columns on, what libraries do per column takes longer than the numbers.
MANY_COLUMNS = 200
# Fewer characters are read cell by cell sooner than a library is imported.
SMALL_BLOCK = 1 << 16
# So many characters without an exponent have at most 15 digits, which pandas' quicker
# parser rounds correctly: integers and powers of ten of that size are exact.
SHORT_CELL = 15
# The system moves pages rather than copies them when a large array grows, so that
# growing in small steps costs little time and leaves little memory unused.
GROWTH = 1.25
MOST_STRAYS = 3
MISSING_SPELLED = sorted(
    {"NaN"}.union(*({word, word.upper(), word.title()} for word in MISSING))
)


def read_text(file: File, request: Request, notes: list[str]) -> Parts:
    """Read a table of text, compressed or not, in UTF-8 or else in Latin-1."""
    with opened(*file) as stream:
        start = stream.read(4)
    marks = (e for mark, e in BYTE_ORDER_MARKS.items() if start.startswith(mark))
    encoding = next(marks, "utf-8")
    before = list(notes)
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
    notes[:] = before
    parts = _read(file, request, notes, "latin-1")
    notes.insert(0, "It is not in UTF-8 and was read as Latin-1.")
    return parts


def _read(file: File, request: Request, notes: list[str], encoding: str) -> Parts:
    with (
        opened(*file) as stream,
        TextIOWrapper(stream, encoding=encoding) as text,
    ):
        blocks = _blocks(text, file.name)
        head = _head(blocks)
        layout = text_layout(_lines(head), request, file.name, notes)
        if layout.names is not None:
            layout = layout._replace(names=list(map(unescaped, layout.names)))
        columns = columns_of(layout, request, file.name, notes)
        rows = TableRows(layout, columns, file.name, request)
        line = layout.skipped + 1
        rows.add_text(_without_lines(head, layout.skipped), line)
        line = head.count("\n") + 1
        for block in blocks:
            rows.add_text(block, line)
            line += block.count("\n")
    parts = rows.finished(request, notes)
    parts.details.update(
        delimiter=layout.dialect.delimiter,
        decimal=layout.dialect.decimal,
        header=layout.names is not None,
        encoding="utf-8-sig" if encoding == "utf-8-sig" else "utf-8",
    )
    # Names in a header were looked at before anybody asked for one of them.
    names = parts.feature_names
    if names is not None and columns.transposed:
        names = list(map(unescaped, names))
    return replace(
        parts,
        feature_names=names,
        sample_names=parts.sample_names and list(map(unescaped, parts.sample_names)),
        labels=parts.labels and list(map(unescaped, parts.labels)),
    )


def _blocks(text: TextIO, name: str) -> Iterator[str]:
    """Return blocks of whole lines; a cell in quotes is not cut by a block's end."""
    while block := text.read(BLOCK_CHARACTERS):
        if not block.endswith("\n"):
            block += text.readline()
        if block.count('"') % 2:
            block += _to_closing_quote(text)
        if "\0" in block:
            raise TableError(
                f"{name} has NUL bytes, so it is no text table, or is damaged; "
                "export it again as CSV in UTF-8"
            )
        yield block if block.endswith("\n") else f"{block}\n"


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


def _head(blocks: Iterator[str]) -> str:
    """Return the first block, with more if it has too few lines to judge by."""
    head = ""
    for block in blocks:
        head += block
        starts = (line[:1] for line in head.split("\n"))
        if sum(start not in ("", "#", "!") for start in starts) > 3:
            break
    return head


def _without_lines(text: str, n_lines: int) -> str:
    for _ in range(n_lines):
        text = text[text.index("\n") + 1 :]
    return text


class TableRows:
    """The rows of a text table or of a sheet that have been read so far.

    Numbers go into one growing array. Of other columns only the index column and the
    labels are kept; what the rest holds is counted, so that a column of numbers with
    a few cells of text is noticed wherever they are.
    """

    def __init__(
        self, layout: Layout, columns: Columns, name: str, request: Request
    ) -> None:
        self.layout, self.columns, self.name = layout, columns, name
        roles = columns.roles
        free = [j for j in range(layout.width) if j not in roles.taken]
        self.numeric = [j for j in free if j not in layout.text_columns]
        self.watched = [j for j in free if j in layout.text_columns]
        named = (roles.index_column, roles.labels)
        self.kept: dict[int, list[str]] = {j: [] for j in named if j is not None}
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
        wanted = {*request.drop, *([request.labels] if request.labels else [])}
        self.pulled_names = wanted if columns.transposed else set()

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
        textual = [*self.kept, *self.watched, *self.odd]
        dialect, width = self.layout.dialect, self.layout.width
        found = parsed(block, dialect, width, plain, textual, self.na_values)
        # Rows without any value are left out, which is done row by row.
        if found is None or np.isnan(found[0]).all(axis=1).any():
            return False
        values, texts = found
        if dialect.may_have_commas:
            texts = {j: list(map(with_point, cells)) for j, cells in texts.items()}
        lines = range(first, first + len(values))
        for place in [*self.kept, *self.watched]:
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
                    f"{self._skip_hint(line)}or close its quotation marks"
                )
        if self.pulled_names:
            titles = [row[0].strip() for row in rows]
            keep = [i for i, each in enumerate(titles) if each not in self.pulled_names]
            for title, row in zip(titles, rows, strict=True):
                if title in self.pulled_names:
                    self.pulled[title] = list(row)
            rows, numbers = [rows[i] for i in keep], [numbers[i] for i in keep]
        if not rows:
            return
        cells = list(zip(*rows, strict=True))
        for place in [*self.kept, *self.watched]:
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
        """Keep the text of a column, or count what it holds."""
        if place in self.kept:
            self.kept[place] += [cell.strip() for cell in cells]
        else:
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

    def finished(self, request: Request, notes: list[str]) -> Parts:
        """Return what the table holds; leave out columns of text and empty ones."""
        names, roles = self.columns.names, self.columns.roles
        index = self._index(notes)
        if self.n_empty:
            notes.append(f"Rows without any value were left out: {self.n_empty}.")
        self._resize(self.n_rows)
        keep = self._features(notes)
        places = [self.numeric[j] for j in keep]
        if not places:
            shown = listed([name or "(no name)" for name in names])
            raise TableError(
                f"{self.name} has no numeric column to select from, only {shown}; "
                "check the delimiter and the decimal sign, or give another file"
            )
        values = self.values if len(keep) == len(self.numeric) else self.values[:, keep]
        title = (
            None
            if index is None or roles.index_column is None
            else names[roles.index_column]
        )
        features = [names[place] for place in places]
        if self.columns.transposed:
            return self._transposed(values, places, index, title, request, notes)
        if index is not None and request.transpose is None:
            shown_names = features if self.layout.names else None
            hint = transpose_hint(shown_names, index, title)
            notes += [hint] if hint else []
        nameless = self.layout.names is None and len(places) == self.layout.width
        labels = roles.labels
        return Parts(
            values,
            None if nameless else features,
            index,
            id_column=title,
            labels=None if labels is None else self.kept[labels],
            label_column=None if labels is None else names[labels],
            details={"places": (roles.index_column, labels)},
            positions=places,
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

    def _features(self, notes: list[str]) -> list[int]:
        """Return which columns of numbers to keep; refuse numbers with stray text."""
        names = self.columns.names
        text, empty, keep = list(self.watched), [], []
        for index, place in enumerate(self.numeric):
            if self.texts.get(place):
                known = int(np.count_nonzero(~np.isnan(self.values[:, index])))
                if self._is_text(place, known):
                    text.append(place)
                    continue
            (keep.append(index) if self.seen[index] else empty.append(place))
        for place in self.watched:
            self._is_text(place, self.n_numbers[place])
        for kind, places in (("text", sorted(text)), ("empty", empty)):
            found = listed([names[place] for place in places])
            if len(places) == 1:
                notes.append(f"Column {found} is {kind} and was left out.")
            elif places:
                notes.append(
                    f"{len(places)} columns are {kind} and were left out: {found}."
                )
        decorated = [j for j in self.decorated if j not in text and j in self.numeric]
        if decorated:
            example = self.decorated[decorated[0]]
            notes.append(
                "Thousands separators, percent and currency signs were taken off in "
                f"{listed([names[j] for j in decorated])} ({example!r} was read as "
                f"{decorated_number(example):g})."
            )
        return keep

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
        raise TableError(
            f"{self.name}: column {title!r} is numeric but for {value!r} in line {line}"
            f"{more}; correct it, say that it means missing ({missing}), "
            f"{self._skip_hint(line)}or leave the column out (--drop {title!r})"
        )

    def _skip_hint(self, line: int) -> str:
        """Say how to skip what may be a title, if the first line of data is wrong."""
        skipped = self.layout.skipped
        if line != skipped + 1:
            return ""
        n_lines = line if self.layout.names is None else skipped
        return f"skip the lines above the table (--skip-rows {n_lines}), "

    def _transposed(
        self,
        values: NDArray[Any],
        places: Sequence[int],
        index: Sequence[str] | None,
        title: str | None,
        request: Request,
        notes: list[str],
    ) -> Parts:
        """Return a table whose rows are features with samples in rows."""
        known = [*(index or []), *self.pulled]
        for each in (request.labels, *request.drop):
            if each is not None:
                place_of(each, known, self.name, "row")
        if request.transpose:
            notes.append("The table was transposed: its columns are samples.")
        labels = self.pulled.get(request.labels or "")
        samples = [self.columns.names[place] for place in places]
        return Parts(
            np.ascontiguousarray(values.T),
            None if index is None else unique_names(index, notes),
            samples if self.layout.names else None,
            id_column=title,
            labels=None if labels is None else [labels[place] for place in places],
            label_column=request.labels,
            details={"transposed": True},
        )


class _Block(NamedTuple):
    """Text for a library: how its cells are told apart, which columns are wanted."""

    content: bytes
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
    n_lines = block.count("\n")
    read = _by_pandas if _arrow_csv() is None else _by_arrow
    if width <= MANY_COLUMNS or '"' in block:
        columns = read(
            _Block(block.encode(), delimiter, decimal, width, numeric, textual, missing)
        )
        if columns is None or len(columns[numeric[0]]) != n_lines:
            return None
        values = np.empty((n_lines, len(numeric)))
        for target, place in enumerate(numeric):
            values[:, target] = columns[place]
        return values, {place: columns[place] for place in textual}
    # One cell in each line, so that there is only one column.
    rows = block.split("\n")[:-1]
    if any(row.count(delimiter) != width - 1 for row in rows):
        return None
    texts: dict[int, Sequence[str]] = {}
    if len(numeric) < width:
        # Most often all the text comes before the numbers, which then stay together.
        together = len(numeric) == width - numeric[0]
        cells = [row.split(delimiter, numeric[0] if together else -1) for row in rows]
        texts = {j: [row[j] for row in cells] for j in textual}
        wanted = numeric[:1] if together else numeric
        parts = (delimiter.join([row[j] for j in wanted]) for row in cells)
        block = "".join([f"{part}\n" for part in parts])
    content = block.encode().replace(delimiter.encode(), b"\n")
    columns = read(_Block(content, "\t", decimal, 1, [0], [], missing))
    if columns is None or len(columns[0]) != n_lines * len(numeric):
        return None
    return columns[0].reshape(n_lines, -1), texts


@cache
def _arrow_csv() -> Any:
    """Return pyarrow's reader of CSV, or None if it is not installed."""
    try:
        return import_module("pyarrow.csv")
    except ImportError:
        return None


def _by_arrow(block: _Block) -> dict[int, Any] | None:
    """Read a block by pyarrow, which rounds correctly and is the fastest."""
    arrow, reader = import_module("pyarrow"), _arrow_csv()
    types = {str(j): arrow.float64() for j in block.numeric}
    types |= {str(j): arrow.string() for j in block.textual}
    try:
        table = reader.read_csv(
            arrow.BufferReader(block.content),
            reader.ReadOptions(
                use_threads=False,
                block_size=len(block.content) + 1,
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


def _by_pandas(block: _Block) -> dict[int, Any] | None:
    """Read a block by pandas, whose quick parser is exact only for short cells."""
    import pandas as pd

    content, delimiter = block.content, block.delimiter.encode()
    characters = np.frombuffer(content, np.uint8)
    line_ends = characters == ord("\n")
    ends = np.flatnonzero(line_ends | (characters == delimiter[0]))
    # pandas fills lines that are too short: every so many ends must be that of a line.
    at_ends = line_ends[ends]
    n_lines, rest = divmod(len(ends), block.width)
    last = at_ends[block.width - 1 :: block.width]
    if rest or not last.all() or np.count_nonzero(at_ends) != n_lines:
        return None
    short = np.diff(ends, prepend=-1).max() <= SHORT_CELL + 1
    exact = short and b"e" not in content and b"E" not in content
    kinds: dict[int, Any] = dict.fromkeys(block.numeric, float)
    try:
        frame = pd.read_csv(
            BytesIO(content),
            sep=block.delimiter,
            header=None,
            names=list(range(block.width)),
            usecols=[*block.numeric, *block.textual],
            dtype=kinds | dict.fromkeys(block.textual, str),
            na_values=dict.fromkeys(block.numeric, block.missing),
            keep_default_na=False,
            decimal=block.decimal,
            index_col=False,
            skip_blank_lines=False,
            low_memory=False,
            float_precision="high" if exact else "round_trip",
        )
    except ValueError:  # which ParserError is
        return None
    numbers = {j: frame[j].to_numpy() for j in block.numeric}
    return numbers | {j: frame[j].tolist() for j in block.textual}
