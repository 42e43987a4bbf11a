"""What commands work with: libraries, the user's table, methods by name."""

import json
import os
import shlex
import signal
import threading
import tomllib
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import click

if TYPE_CHECKING:
    from ufselect import UnsupervisedSelector
    from ufselect.cli.progress import Progress
    from ufselect.data import Table

# What figures are drawn with; that it is missing is found before the work.
FIGURES = "matplotlib.figure"
# Columns that a message names.
MAX_NAMES = 3
# By default the output fits a screen of 24 lines.
MAX_NOTES = 3
# Parameters that have an option of their own.
OPTIONS = {
    "n_features_to_select": "-k",
    "n_clusters": "--clusters",
    "random_state": "--seed",
}


class Invocation(NamedTuple):
    """What was typed, and what to call when the first libraries are loaded."""

    arguments: list[str]
    loaded: Callable[[], None]


def load(*modules: str) -> None:
    """Import what takes time, once it is known that there is something to do.

    The first call makes Ctrl-C an exception; until then it ends the process at once.
    Later Ctrl-C waits for the import: in its midst, exceptions may be swallowed.
    """
    pending = []
    main_thread = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT)
    deferred = main_thread and handler is signal.default_int_handler
    if deferred:
        signal.signal(signal.SIGINT, lambda *received: pending.append(received))
    try:
        for module in modules:
            import_module(module)
    finally:
        if deferred:
            signal.signal(signal.SIGINT, handler)
    if pending:
        raise KeyboardInterrupt
    click.get_current_context().obj.loaded()


def check_source(name: str) -> None:
    """Refuse a file that is not there or not readable, before anything is loaded."""
    if name == "-":
        return
    path = Path(name)
    if path.is_dir():
        raise ValueError(f"{path} is a folder; give the file in it that has the table")
    if not path.exists():
        raise ValueError(f"there is no file {path}; check the name and the folder")
    if not os.access(path, os.R_OK):
        raise ValueError(f"{path} may not be read; ask its owner for the permission")


def read(options: SimpleNamespace, progress: "Progress") -> "Table":
    """Read the table as the options say; refuse one that cannot be selected from."""
    from ufselect.data import read_table
    from ufselect.data.tables.isolation import within_memory
    from ufselect.data.tables.table import filled, without_incomplete

    progress.now(f"reading {options.name or options.file}")
    with within_memory():
        table = read_table(
            options.file,
            labels=options.labels,
            id_column=options.id,
            drop=list(options.drop),
            transpose=options.transpose,
            variable=options.variable,
            sheet=options.sheet,
            header=options.header,
            na_values=list(options.na),
            skip_rows=options.skip_rows,
            name=options.name,
            isolate=True,
        )
        if options.drop_incomplete:
            table = without_incomplete(table)
        if options.fill is not None:
            table = filled(table, options.fill)
    notes = list(table.notes)
    if not options.verbose and options.progress == "text" and len(notes) > MAX_NOTES:
        more = f"{len(notes) - MAX_NOTES + 1} more notes: see them with -v."
        notes = [*notes[: MAX_NOTES - 1], more]
    progress.note(*notes)
    _refuse_incomplete(table)
    _refuse_too_many(options, table)
    return table


def _refuse_incomplete(table: "Table") -> None:
    """Refuse missing and infinite values by the names of their columns."""
    names = table.incomplete().tolist()
    if not names:
        return
    first = ", ".join(repr(name) for name in names[:MAX_NAMES])
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    plural = "s" if len(names) > 1 else ""
    drop = " ".join(map(_drop_option, names[:MAX_NAMES])) + (" ..." if more else "")
    raise ValueError(
        f"{table.origin.name} has missing or infinite values in column{plural} {first}"
        f"{more}; fill them in (--fill median), leave the rows out "
        f"(--drop-incomplete rows), or leave the column{plural} out ({drop})"
    )


def _drop_option(name: str) -> str:
    # What begins like an option would be taken for one.
    return f"--drop{'=' if name.startswith('-') else ' '}{shlex.quote(name)}"


def _refuse_too_many(options: SimpleNamespace, table: "Table") -> None:
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
    from ufselect import all_selectors
    from ufselect.experiments.plan import nearest_words

    methods = {each.lower(): each for each in all_selectors()}
    if name.lower() not in methods:
        near = nearest_words(name.lower(), methods).split(", ")
        meant = ", ".join(methods[each] for each in near)
        raise click.UsageError(f"there is no method {name!r}; it could be {meant}")
    selector = all_selectors()[methods[name.lower()]]()
    title, known = type(selector).__name__, selector.get_params()
    for each, _ in parameters:
        if each in OPTIONS:
            message = f"{each} has an option of its own: use {OPTIONS[each]}"
            raise click.UsageError(message)
        if each not in known:
            others = [other for other in known if other not in OPTIONS]
            raise click.UsageError(
                f"{title} has no parameter {each!r}; it could be "
                f"{nearest_words(each, others)}"
            )
    return checked(
        selector.set_params(**{each: literal(value) for each, value in parameters})
    )


def checked(selector: Any) -> Any:
    """Return a selector whose parameters are valid; say so before data is read."""
    from ufselect.tuning.fits import checked_selector

    try:
        return checked_selector(selector, "ufselect")
    except ValueError as error:
        raise click.UsageError(str(error).rstrip(".")) from error


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
