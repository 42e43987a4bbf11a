"""What commands work with: libraries, the user's table, methods by name."""

import json
import re
import shlex
import signal
import threading
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ufselect.cli.output import files_beside
from ufselect.data.replacing import file_problem, is_protected, protect

if TYPE_CHECKING:
    from ufselect import UnsupervisedSelector
    from ufselect.cli.output import Progress
    from ufselect.data import Table

# Descriptors of open files.
STDIN, STDOUT = 0, 1
# By default the output fits a screen of 24 lines.
MAX_NOTES = 3
USUAL = re.compile("^Text |holds sample names|is text and was left out")
# Options that say how a table is read, as ``read_table`` calls them.
READING = (
    *("labels", "id_column", "groups", "use", "drop", "transpose", "variable", "sheet"),
    *("header", "na_values", "skip_rows", "delimiter", "decimal", "thousands"),
    *("allow_large", "name"),
)
# Parameters that have their own option.
OPTIONS = {
    "n_features_to_select": "-k",
    "n_clusters": "--clusters",
    "random_state": "--seed",
}


class Invocation(NamedTuple):
    """What was typed, and what to call when the first libraries are loaded."""

    arguments: list[str]
    loaded: Callable[[], None]


@contextmanager
def loading() -> Iterator[None]:
    """Import in this block what takes time, once there is something to do.

    The first call makes Ctrl-C an exception; until then it ends the process at once.
    Later Ctrl-C waits for the import: in its midst, exceptions may be swallowed.
    """
    pending = []
    handler = signal.getsignal(signal.SIGINT)
    # Only the main thread may set a handler.
    main_thread = threading.current_thread() is threading.main_thread()
    deferred = main_thread and handler is signal.default_int_handler
    if deferred:
        signal.signal(signal.SIGINT, lambda *received: pending.append(received))
    try:
        yield
    finally:
        if deferred:
            signal.signal(signal.SIGINT, handler)
    if pending:
        raise KeyboardInterrupt
    click.get_current_context().obj.loaded()


def check_source(name: str) -> None:
    """Refuse a file that is not there or not readable, before anything is loaded.

    From now on, no output can replace it.
    """
    if name == "-":
        protect(STDIN)
    elif problem := file_problem(Path(name)):
        raise ValueError(problem)
    else:
        protect(Path(name), *files_beside(Path(name)))
    if is_protected(STDOUT):
        raise click.UsageError(
            f"standard output goes into {name}, which this command reads; send it to "
            "another file"
        )


def reading_options(options: SimpleNamespace) -> dict[str, Any]:
    """Return the arguments of ``read_table`` and ``preview``."""
    return {name: getattr(options, name) for name in READING}


def read(options: SimpleNamespace, progress: "Progress") -> "Table":
    """Read the table as the options say; refuse one that cannot be selected from."""
    from ufselect.data import read_table
    from ufselect.data.tables.isolation import within_memory
    from ufselect.data.tables.missing import (
        filled,
        incomplete_error,
        without_incomplete,
    )

    progress.now(f"reading {options.name or options.file}")
    with within_memory():
        table = read_table(options.file, isolate=True, **reading_options(options))
        if options.drop_incomplete:
            table = without_incomplete(table)
        if options.fill is not None:
            table = filled(table, options.fill)
    brief = not options.verbose and options.progress == "text"
    progress.note(*(few_notes(table.notes) if brief else table.notes))
    if error := incomplete_error(table):
        raise error
    _check_numbers(options, table)
    return table


def few_notes(notes: Sequence[str], most: int | None = None) -> list[str]:
    """Return the notes that matter most, the usual ones last."""
    shown = (most or MAX_NOTES) - 1
    if len(notes) <= shown + 1:
        return list(notes)
    unusual_first = sorted(notes, key=lambda note: bool(USUAL.search(note)))
    n_more = len(notes) - shown
    return [*unusual_first[:shown], f"{n_more} more notes: see them with -v."]


def _check_numbers(options: SimpleNamespace, table: "Table") -> None:
    """Refuse to select more features than there are, and more clusters than samples."""
    n_samples, n_features = table.shape
    asked = {
        "-k": (options.features or 1, n_features, "features"),
        "--clusters": (options.clusters or 1, n_samples, "samples"),
    }
    for option, (number, most, things) in asked.items():
        if number > most:
            raise ValueError(
                f"{option} {number} is more than the {most} {things} of "
                f"{table.origin.name}; ask for at most {most}"
            )


def named_selector(
    name: str, parameters: Sequence[tuple[str, str]] = ()
) -> "UnsupervisedSelector":
    """Return the method of this name, upper or lower case, with parameters.

    Examples
    --------
    >>> named_selector("scfs", [("alpha", "0.5")])
    SCFS(alpha=0.5)
    """
    from ufselect import selector

    for each, _ in parameters:
        if each in OPTIONS:
            message = f"{each} is not for --param; use {OPTIONS[each]}"
            raise click.UsageError(message)
    try:
        made = selector(name, **{each: literal(value) for each, value in parameters})
    except (TypeError, ValueError) as error:
        words = str(error).rstrip(".")
        raise click.UsageError(words.replace("There is", "there is")) from None
    return checked(made)


def checked(selector: Any) -> Any:
    """Return a selector whose parameters are valid, before data is read."""
    from ufselect.tuning.fits import checked_selector

    try:
        return checked_selector(selector, "ufselect")
    except ValueError as error:
        raise click.UsageError(str(error).rstrip(".")) from error


def in_options(text: str) -> str:
    """Return a text of the package with options in place of parameters.

    Examples
    --------
    >>> in_options("no feature; set n_features_to_select, or max_correlation=0.5")
    'no feature; set -k, or --max-correlation 0.5'
    """
    text = text.replace("set n_features_to_select", "set -k")
    return text.replace("max_correlation=", "--max-correlation ")


def literal(text: str) -> Any:
    """Return what a text means in JSON or in TOML; other text is taken as it is.

    Examples
    --------
    >>> [literal(text) for text in ("0.5", "null", "[1, 2]", "inf", "exact")]
    [0.5, None, [1, 2], inf, 'exact']
    """
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        content: Mapping[str, Any] = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return content["value"] if len(content) == 1 else text


def command_line(options: SimpleNamespace) -> str:
    """Return the command to repeat, with the name of the table if --name gave one.

    The web page gives such names; its own options are left out.
    """
    words = list(click.get_current_context().obj.arguments)
    if options.name is not None:
        programs = {f"--name={options.name}", "--json", "--progress=json"}
        words = [word for word in words if word not in programs]
        # A name that looks like an option would be taken for one.
        name = f"./{options.name}" if options.name.startswith("-") else options.name
        words[words.index(options.file)] = name
    return shlex.join(["ufselect", *words])
