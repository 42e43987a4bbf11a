"""What commands print: sentences, tables, JSON."""

import json
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

from ufselect._names import printable as printable
from ufselect._names import shortened as shortened
from ufselect.data.replacing import write_whole as write_whole

if TYPE_CHECKING:
    from rich.console import Console

# Longer lines are hard to read, however wide the terminal.
WIDEST_TEXT = 100
DEFAULT_WIDTH = 80
UNLIMITED_WIDTH = 10_000
# Letters of an error message; a value in it may be long.
LONGEST_MESSAGE = 1000


def say(message: object, *, error: bool = False) -> None:
    """Print a note, or an error, to standard error in one sentence."""
    # Messages of libraries may have several lines.
    text = printable(" ".join(str(message).split()))
    if len(text) > LONGEST_MESSAGE:
        half = LONGEST_MESSAGE // 2
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
    stderr: bool = False,
) -> None:
    """Print a table; on a terminal, cells of ``words`` wrap where it is too narrow.

    Parameters
    ----------
    header : sequence of str
    rows : sequence of sequence of str
    words : sequence of str
        Titles of columns that are aligned to the left, beside the first.
    stderr : bool
        Where to print.
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
    out = console(stderr=stderr)
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


def refuse_missing_folders(*paths: Path | None) -> None:
    """Refuse a file that cannot be written, before anything is computed."""
    for path in paths:
        if path is not None and not path.parent.is_dir():
            raise ValueError(
                f"cannot write {path}: the folder {path.parent} does not exist; create "
                "it or choose another file"
            )
        if path is not None and path.is_dir():
            raise ValueError(f"{path} is a folder; give the name of a file in it")
