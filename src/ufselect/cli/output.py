"""What commands print: sentences, tables, JSON, and progress on standard error."""

import json
import os
import shutil
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Self, TextIO

import click

from ufselect._names import printable as printable
from ufselect._names import shortened as shortened
from ufselect.data.replacing import is_protected
from ufselect.data.replacing import write_whole as write_whole

if TYPE_CHECKING:
    from rich.console import Console

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
        text = wrapped(text, width_of(sys.stderr))
    if error and not os.environ.get("NO_COLOR"):
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
    """Return a terminal; names in what it prints are never taken for markup."""
    from rich.console import Console

    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


def print_text(text: str, style: str = "", *, stderr: bool = False) -> None:
    """Print a paragraph, wrapped between words to the width of the terminal."""
    stream = sys.stderr if stderr else sys.stdout
    lines = wrapped(text, min(width_of(stream), WIDEST_TEXT))
    if style and stream.isatty():
        console(stderr=stderr).print(lines, style=style, soft_wrap=True)
    else:
        print(lines, file=stream)


def width_of(stream: TextIO) -> int:
    """Return the letters in a line; a file gets the same text from any terminal."""
    return shutil.get_terminal_size().columns if stream.isatty() else DEFAULT_WIDTH


def print_plain(text: str, style: str = "", *, stderr: bool = False) -> None:
    """Print text that is laid out already; its first line may stand out."""
    lines = [line.rstrip() for line in text.rstrip("\n").split("\n")]
    if style:
        print_text(lines.pop(0), style, stderr=stderr)
    print(*lines, sep="\n", file=sys.stderr if stderr else sys.stdout)


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
    if sys.stdout.isatty():
        out.print(table)
        return
    # One row in one line, for other programs.
    out.width = UNLIMITED_WIDTH
    with out.capture() as captured:
        out.print(table)
    print(*map(str.rstrip, captured.get().splitlines()), sep="\n")


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

    def note(self, *sentences: str) -> None:
        """Print sentences, one per line."""
        for sentence in sentences if not self.quiet else ():
            say(sentence)

    def now(self, what: str) -> None:
        """Begin work of unknown length."""
        self.step(0, 0, what)

    def step(self, done: int, total: int, what: str) -> None:
        """Report how much of the current work is done; the first step begins it."""
        if done == 0:
            self.since = time.monotonic()
        self.what, self.detail, self.done, self.total = what, "", done, total

    def iteration(self, method: str, number: int) -> None:
        """Report the iteration of a fit; their total number is unknown."""
        self.detail = f", {method} iteration {number}"

    def seconds_left(self) -> float | None:
        """Return an estimate of the seconds left."""
        if not self.done:
            return None
        return (time.monotonic() - self.since) / self.done * (self.total - self.done)

    def text(self) -> str:
        """Return what is being done, the time so far, and the time left."""
        left = self.seconds_left()
        times = duration(time.monotonic() - self.since)
        times += f", {duration(left)} left" if left and left >= 1 else ""
        return f"{printable(self.what + self.detail)}, {times}"

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
        from rich import progress

        columns = (
            progress.BarColumn(20),
            progress.TextColumn("{task.description}", markup=False),
        )
        # What is printed meanwhile appears above the bar.
        with progress.Progress(
            *columns, console=console(stderr=True), transient=True
        ) as bars:
            bar = bars.add_task("", total=None)
            over = False
            while not over:
                bars.update(
                    bar,
                    description=self.text(),
                    completed=self.done,
                    total=self.total or None,
                )
                over = self._over.wait(SECONDS_BETWEEN_REFRESHES)


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

    def step(self, done: int, total: int, what: str) -> None:
        """Write the step, unless the last one was a moment ago."""
        super().step(done, total, what)
        self._write_state()

    def iteration(self, method: str, number: int) -> None:
        """Write the iteration, unless the last one was a moment ago."""
        super().iteration(method, number)
        self._write_state()

    def __enter__(self) -> Self:
        """Start no thread: every step writes."""
        return self

    def _write_state(self) -> None:
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
