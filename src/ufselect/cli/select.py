"""``ufselect select``: from a file to the columns that matter."""

import argparse
import json
import shlex
import sys
import time
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ufselect.cli.default_files import name_files, ranking_name
from ufselect.cli.outputs import write_whole
from ufselect.cli.progress import Waiting
from ufselect.cli.progress_json import waiting_for
from ufselect.cli.select_options import add_options, check_writing
from ufselect.cli.selectors import checked, named_selector
from ufselect.cli.tables import read, refuse_incomplete, refuse_too_many

if TYPE_CHECKING:
    from ufselect import AutoSelect
    from ufselect.data import Table
    from ufselect.report import SelectionReport

# Random sets of features to compare with if no page is asked for.
N_RANDOM = 99


def add_parser(commands: Any) -> None:
    """Add this command to the parser."""
    add_options(commands).set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Select, write and print."""
    from ufselect._sklearn_compat import listening

    end = None
    if options.time_budget is not None:
        end = time.monotonic() + options.time_budget
    notes = name_files(options)
    check_writing(options)
    selector = _selector(options)
    kept: dict[str, str] = {}
    try:
        with waiting_for(options) as waiting, listening(waiting.iteration):
            waiting.note(*notes)
            table = _read(options, waiting)
            caught = _fit(selector, table, waiting)
            _write(table, selector, options, kept)
            report = _report(table, selector, options, end, waiting)
            _write_page(report, options, kept, waiting)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_interrupted(kept)) from None
    except ValueError as error:
        if not kept:
            raise
        problem = str(error).rstrip(".")
        raise ValueError(f"{problem}; {_complete(kept)}") from error
    result = {"warnings": caught, "seed": options.seed, "written": kept}
    if options.json:
        _print_json(table, selector, report, result)
    else:
        _print_text(table, selector, report, options, kept)
    return 0


def _selector(options: argparse.Namespace) -> "AutoSelect":
    from ufselect import AutoSelect

    # If you name a method or its parameters, you get the ranking of that method.
    named = None
    if options.method is not None or options.param:
        named = named_selector(options.method or "SCFS", options.param)
    unlimited = options.max_correlation is None
    selector: AutoSelect = checked(
        AutoSelect(
            named,
            n_features_to_select=options.features or "auto",
            n_clusters=options.clusters or "auto",
            max_correlation="auto" if unlimited else options.max_correlation,
            n_jobs=options.jobs,
            random_state=options.seed,
        )
    )
    return selector


def _read(options: argparse.Namespace, waiting: Waiting) -> "Table":
    waiting.now(f"reading {options.name or options.file}")
    table = read(options)
    waiting.note(*table.notes)
    refuse_incomplete(table)
    refuse_too_many(options, table)
    if options.image_shape is not None:
        rows, columns = options.image_shape
        if rows * columns != table.shape[1]:
            raise ValueError(
                f"--image-shape {rows}x{columns} has {rows * columns} pixels, but "
                f"{table.origin.name} has {table.shape[1]} features; give the shape of "
                "one image"
            )
    return table


def _fit(selector: "AutoSelect", table: "Table", waiting: Waiting) -> list[str]:
    """Fit the selector; return what it warned of."""
    n_samples, n_features = table.shape
    waiting.now(f"ranking {n_features} features of {n_samples} samples")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        selector.fit(table.values)
    said = dict.fromkeys(
        str(each.message) for each in caught if issubclass(each.category, UserWarning)
    )
    waiting.note(*said)
    return list(said)


def _write(
    table: "Table",
    selector: "AutoSelect",
    options: argparse.Namespace,
    kept: dict[str, str],
) -> None:
    """Write table and ranking as soon as they are known: a page may take longer."""
    from ufselect.data import write_table
    from ufselect.report.downloads import csv_text
    from ufselect.report.selection_text import ranking_frame

    chosen = selector.get_support()
    if options.output is not None and chosen.any():
        write_table(
            table,
            chosen,
            options.output,
            scores=selector.scores_,
            escape_formulas=not options.keep_formulas,
        )
        kept["table"] = "standard output" if options.output == "-" else options.output
    elif options.output is not None and options.output != "-":
        # Nothing was chosen: the ranking takes the place of the table.
        options.scores = options.scores or ranking_name(options.output)
    if options.scores is not None:
        frame = ranking_frame(table.names(), selector)
        text = csv_text(frame, None, escape_formulas=not options.keep_formulas)
        write_whole(options.scores, text)
        kept["scores"] = str(options.scores)


def _report(
    table: "Table",
    selector: "AutoSelect",
    options: argparse.Namespace,
    end: float | None,
    waiting: Waiting,
) -> "SelectionReport":
    from ufselect.report import Effort, selection_report
    from ufselect.report.selection_subject import who_chose

    effort: Any = Effort(0, 0, N_RANDOM)
    if options.report is not None:
        effort = options.effort or "quick"
    samples = table.sample_names
    report = selection_report(
        table.values,
        selector,
        feature_names=table.names().tolist(),
        labels=table.labels,
        sample_names=None if samples is None else samples.tolist(),
        image_shape=options.image_shape,
        image_order=options.image_order,
        title=f"{table.origin.name}: {selector.n_selected_} features",
        command=_command(options),
        effort=effort,
        time_budget=None if end is None else max(0.0, end - time.monotonic()),
        n_jobs=options.jobs,
        random_state=options.seed,
        progress=waiting.step,
    )
    if selector.selector_ is not None:
        report = replace(report, method=who_chose(selector.selector_))
    return report


def _command(options: argparse.Namespace) -> str:
    """Return the command to repeat; a table with a name of its own is called by it.

    Such a name comes from a program, whose own options are of no use to people.
    """
    command = list(options.arguments)
    if options.name is not None:
        programs = {f"--name={options.name}", "--json", "--progress=json"}
        command = [word for word in command if word not in programs]
        # A name that looks like an option would be taken for one.
        name = f"./{options.name}" if options.name.startswith("-") else options.name
        command[command.index(options.file)] = name
    return shlex.join(["ufselect", *command])


def _write_page(
    report: "SelectionReport",
    options: argparse.Namespace,
    kept: dict[str, str],
    waiting: Waiting,
) -> None:
    if options.report is not None:
        waiting.now("drawing")
        write_whole(options.report, report.html())
        kept["report"] = str(options.report)


def _interrupted(kept: dict[str, str]) -> str:
    if not kept:
        return "interrupted; nothing was written"
    return f"interrupted; {_complete(kept)}, nothing else was written"


def _complete(kept: dict[str, str]) -> str:
    names = " and ".join(kept.values())
    return f"{names} {'is' if len(kept) == 1 else 'are'} complete"


def _print_json(
    table: "Table",
    selector: "AutoSelect",
    report: "SelectionReport",
    result: dict[str, Any],
) -> None:
    from ufselect.report.selection_text import selection_data

    source = {
        "file": table.origin.name,
        "format": table.format,
        "reading": list(table.notes),
    }
    found = selection_data(report, selector, table.label_column)
    print(json.dumps(source | found | result, indent=2, allow_nan=False))


def _print_text(
    table: "Table",
    selector: "AutoSelect",
    report: "SelectionReport",
    options: argparse.Namespace,
    kept: dict[str, str],
) -> None:
    from ufselect.report.selection_text import selection_text

    # Standard output may be taken by the table.
    stream = sys.stderr if options.output == "-" else sys.stdout
    if stream is sys.stderr and options.quiet:
        return
    names = (table.origin.name, table.label_column)
    print(selection_text(report, selector, *names), end="", file=stream)
    if kept:
        files = ", ".join(f"{what} in {name}" for what, name in kept.items())
        print(f"\nWritten: {files}.", file=stream)
