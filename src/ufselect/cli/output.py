"""What commands print: sentences, tables, JSON, and progress on standard error."""

import json
import re
import shutil
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from textwrap import wrap
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Self

import click

from ufselect._names import printable as printable
from ufselect._names import shortened as shortened
from ufselect.data.replacing import is_protected
from ufselect.data.replacing import write_whole as write_whole

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bars

# Longer lines are hard to read, however wide the terminal.
WIDEST_TEXT = 100
DEFAULT_WIDTH = 80
UNLIMITED_WIDTH = 10_000
# Letters of an error message; a value in it may be long.
MAX_MESSAGE_LENGTH = 1000
# A line on a terminal may change often; a log gets fewer lines.
SECONDS_BETWEEN_LINES = 10.0
SECONDS_BETWEEN_REFRESHES = 0.25
# Work that ends sooner shows no progress.
SECONDS_OF_SILENCE = 2.0
# At most this often, however fast the steps are.
SECONDS_BETWEEN_OBJECTS = 0.2


def say(message: object, *, error: bool = False) -> None:
    """Print a note, or an error, to standard error in one sentence."""
    # Messages of libraries may have several lines.
    text = printable(" ".join(str(message).split()))
    if len(text) > MAX_MESSAGE_LENGTH:
        half = MAX_MESSAGE_LENGTH // 2
        text = f"{text[:half]} ... {text[-half:]}"
    text = f"ufselect: {text}"
    if sys.stderr.isatty():
        text = wrapped(text, shutil.get_terminal_size().columns)
    if error:
        text = text.replace("ufselect:", click.style("ufselect:", fg="red"), 1)
    click.echo(text, err=True)


def wrapped(text: str, width: int) -> str:
    """Return lines that end between words; the name of a file stays in one piece.

    Examples
    --------
    >>> print(wrapped("genes.selected.csv is complete", 15))
    genes.selected.csv
    is complete
    """
    lines = (
        wrap(line, width, break_long_words=False, break_on_hyphens=False) or [""]
        for line in text.split("\n")
    )
    return "\n".join(part for line in lines for part in line)


def console(*, stderr: bool = False) -> "Console":
    """Return where text for people goes; names in it are never taken for markup."""
    from rich.console import Console

    class Stream(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # a reader such as head closed the pipe

        def show_cursor(self, show: bool = True) -> bool:
            return False  # a killed process could not show it again

    stream = sys.stderr if stderr else sys.stdout
    # A file gets the same text from any terminal.
    width = None if stream.isatty() else DEFAULT_WIDTH
    return Stream(
        stderr=stderr, markup=False, highlight=False, emoji=False, width=width
    )


def print_text(text: str, style: str = "", *, stderr: bool = False) -> None:
    """Print a paragraph, wrapped between words to the width of the terminal."""
    from rich.text import Text

    out = console(stderr=stderr)
    lines = wrapped(text, min(out.width, WIDEST_TEXT))
    out.print(Text(lines, style), soft_wrap=True)


def print_plain(text: str, style: str = "", *, stderr: bool = False) -> None:
    """Print text that is laid out already; a terminal gets no line that is too long.

    Paragraphs are wrapped. Tables are cut between columns. With a style, the first line
    stands out.
    """
    stream = sys.stderr if stderr else sys.stdout
    if not stream.isatty():
        print(*map(str.rstrip, text.splitlines()), sep="\n", file=stream)
        return
    width = console(stderr=stderr).width
    for number, block in enumerate(text.rstrip("\n").split("\n\n")):
        if number:
            print(file=stream)
        lines = block.splitlines()
        if style and not number:
            print_text(lines.pop(0), style, stderr=stderr)
        rule = lines[1] if len(lines) > 1 else ""
        if re.fullmatch("-+(  -+)+", rule):
            print("\n".join(parts_of_table(lines, width)), file=stream)
        elif re.fullmatch("=+", rule):
            print(block, file=stream)
        elif lines:
            print_text(" ".join(lines), stderr=stderr)


def parts_of_table(lines: Sequence[str], width: int) -> list[str]:
    r"""Return the lines of a table in parts that are not too wide.

    Parameters
    ----------
    lines : sequence of str
        Header, rule and rows, as ``text_table`` makes them, and perhaps remarks.
    width : int
        Letters in a line. Each part begins with the first column.

    Examples
    --------
    >>> table = ["method  ACC  NMI", "------  ---  ---", "SCFS     79   64"]
    >>> print("\n".join(parts_of_table(table, 12)))
    method  ACC
    ------  ---
    SCFS     79
    <BLANKLINE>
    method  NMI
    ------  ---
    SCFS     64
    """
    first, *rest = (found.span() for found in re.finditer("-+", lines[1]))
    rows = [line for line in lines if len(line) == len(lines[1])]
    parts: list[list[tuple[int, int]]] = []
    for start, stop in rest:
        used = sum(end - begin + 2 for begin, end in parts[-1]) if parts else width
        if used + stop - start > width:
            parts.append([first])
        parts[-1].append((start, stop))
    tables = [
        ["  ".join(row[begin:end] for begin, end in part) for row in rows]
        for part in parts
    ]
    remarks = [line for line in lines if len(line) != len(lines[1])]
    return [*tables[0], *chain(*(["", *table] for table in tables[1:])), *remarks]


def print_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    words: Sequence[str] = (),
) -> None:
    """Print a table; on a terminal, cells of ``words`` wrap where it is too narrow.

    Parameters
    ----------
    header : sequence of str
    rows : sequence of sequence of str
    words : sequence of str
        Titles of columns that are aligned to the left, beside the first.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0)
    )
    for place, title in enumerate(header):
        table.add_column(
            Text(printable(title)),
            justify="left" if place == 0 or title in words else "right",
            no_wrap=title not in words,
        )
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    out = console()
    if out.is_terminal:
        out.print(table)
        return
    # One row in one line, for other programs.
    out.width = UNLIMITED_WIDTH
    with out.capture() as captured:
        out.print(table)
    for line in captured.get().splitlines():
        print(line.rstrip(), file=out.file)


def print_written(written: Mapping[str, str], *, stderr: bool = False) -> None:
    """Print which files a command has written, if any."""
    if written:
        files = ", ".join(f"{what} in {path}" for what, path in written.items())
        print_text(f"\nWritten: {printable(files)}.", stderr=stderr)


def print_json(data: Any) -> None:
    """Print data as JSON, which has no infinity."""
    print(json.dumps(data, indent=2, allow_nan=False))


def check_outputs(*paths: Path | None) -> None:
    """Refuse outputs that cannot be written, before anything is computed.

    None may be an input, whatever links lead to it, nor the same file as another one.
    """
    outputs = [path for path in paths if path is not None]
    for number, path in enumerate(outputs):
        if not path.parent.is_dir():
            raise ValueError(
                f"cannot write {path}: the folder {path.parent} does not exist; create "
                "it or choose another file"
            )
        if path.is_dir():
            raise ValueError(f"{path} is a folder; give the name of a file in it")
        for written in (path, *files_beside(path)):
            if is_protected(written):
                raise click.UsageError(
                    f"{written} is a file that this command reads; choose another "
                    "output"
                )
        for other in outputs[:number]:
            if _same_file(path, other):
                raise click.UsageError(
                    f"{other} and {path} are the same file; give each output its own"
                )


def _same_file(path: Path, other: Path) -> bool:
    """Tell whether two paths name one file, on some systems if only case differs."""
    if str(path.resolve()).casefold() == str(other.resolve()).casefold():
        return True
    return path.exists() and other.exists() and path.samefile(other)


def files_beside(path: Path) -> list[Path]:
    """Return where the names of a Matrix Market file may be read and written."""
    if ".mtx" not in path.name:
        return []
    from ufselect.data.tables.matrices import FEATURE_FILES, SAMPLE_FILES, name_files

    kinds = (*FEATURE_FILES, *SAMPLE_FILES)
    return [file for kind in kinds for file in name_files(path, kind)]


class Progress:
    """Shows what is being done, from two seconds on, until it is done.

    A context manager. A thread writes, so that the work need not call it: a terminal
    shows one line that is rewritten, a log gets a line now and then.

    Parameters
    ----------
    quiet : bool
        Show nothing.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet
        self.what, self.detail = "", ""
        self.done, self.total, self.since = 0, 0, time.monotonic()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._bars: Bars | None = None
        self._turn = threading.Lock()

    def note(self, *sentences: str) -> None:
        """Print sentences, one per line."""
        if self.quiet:
            return
        with self._turn:
            if self._bars is not None:
                # Above the line that is rewritten.
                self._bars.stop()
            for sentence in sentences:
                say(sentence)
            if self._bars is not None:
                self._bars.start()

    def now(self, what: str) -> None:
        """Begin work of unknown length."""
        self.step(0, 0, what)

    def step(self, done: int, total: int, what: str) -> None:
        """Report how much of the current work is done; the first step begins it."""
        if done == 0:
            self.since = time.monotonic()
        self.what, self.detail, self.done, self.total = what, "", done, total
        self._moved()

    def iteration(self, method: str, number: int) -> None:
        """Report the iteration of a fit; their total number is unknown."""
        self.detail = f", {method} iteration {number}"
        self._moved()

    def seconds_left(self) -> float | None:
        """Return an estimate of the seconds left."""
        if not self.done:
            return None
        return (time.monotonic() - self.since) / self.done * (self.total - self.done)

    def text(self) -> str:
        """Return what is being done, the time so far, and the time left."""
        left = self.seconds_left()
        times = duration(time.monotonic() - self.since)
        times += "" if left is None else f", {duration(left)} left"
        return f"{printable(self.what + self.detail)}, {times}"

    def _moved(self) -> None:
        """Do nothing: the thread reads the state when it writes."""

    def __enter__(self) -> Self:
        """Start the thread."""
        if not self.quiet:
            self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Stop the thread, which ends its line."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()

    def _watch(self) -> None:
        if self._over.wait(SECONDS_OF_SILENCE):
            return
        if not sys.stderr.isatty():
            print(self.text(), file=sys.stderr, flush=True)
            while not self._over.wait(SECONDS_BETWEEN_LINES):
                print(self.text(), file=sys.stderr, flush=True)
            return
        display = bars()
        while True:
            with self._turn:
                show(display, self.text(), self.done, self.total)
                display.start()
                self._bars = display
            if self._over.wait(SECONDS_BETWEEN_REFRESHES):
                display.stop()
                return


class JsonProgress(Progress):
    """Writes one JSON object per line, for programs that show progress themselves.

    A line has either ``note``, a sentence, or ``doing``, what is being done, with the
    ``seconds`` it has taken; where they are known also ``done`` of ``total`` and the
    ``seconds_left``.
    """

    _last = ("", float("-inf"))

    def note(self, *sentences: str) -> None:
        """Write sentences, one object each."""
        for sentence in sentences:
            self._write({"note": " ".join(sentence.split())})

    def __enter__(self) -> Self:
        """Start no thread: every step writes."""
        return self

    def _moved(self) -> None:
        now = time.monotonic()
        if self.what == self._last[0] and now - self._last[1] < SECONDS_BETWEEN_OBJECTS:
            return
        self._last = (self.what, now)
        state: dict[str, Any] = {
            "doing": self.what + self.detail,
            "seconds": round(now - self.since, 1),
        }
        if self.total:
            state |= {"done": self.done, "total": self.total}
        if (left := self.seconds_left()) is not None:
            state["seconds_left"] = round(left, 1)
        self._write(state)

    def _write(self, content: dict[str, Any]) -> None:
        if not self.quiet:
            print(json.dumps(content), file=sys.stderr, flush=True)


def progress_for(options: SimpleNamespace) -> Progress:
    """Return the progress display that the options ask for."""
    kind = JsonProgress if options.progress == "json" else Progress
    return kind(quiet=options.quiet)


def bars(*, transient: bool = True) -> "Bars":
    """Return rich's progress display, with one bar and one text."""
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bars

    display = Bars(
        BarColumn(bar_width=20),
        TextColumn("{task.description}", markup=False),
        console=console(stderr=True),
        transient=transient,
    )
    display.add_task("", total=None)
    return display


def show(display: "Bars", text: str, done: int, total: int) -> None:
    """Show the state of the only bar."""
    (line,) = display.tasks
    line.total = total or None
    display.update(line.id, description=text, completed=done)


def duration(seconds: float) -> str:
    """Return a time in words.

    Examples
    --------
    >>> duration(42), duration(200), duration(7300)
    ('42 s', '3 min', '2 h 2 min')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
