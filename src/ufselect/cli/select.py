"""``ufselect select``: from a file to the columns that matter."""

import os
import shlex
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

from ufselect.cli.inputs import (
    check_source,
    checked,
    load,
    named_selector,
    read,
    refuse_incomplete,
    refuse_too_many,
)
from ufselect.cli.options import (
    JSON,
    PATH,
    POSITIVE,
    PROGRESS,
    QUIET,
    READING,
    SEED,
    TABLE,
    TEXT_PATH,
    VERBOSE,
    MethodName,
    Option,
    clusters_option,
    command,
    correlation,
    features_option,
    image_shape,
    parameter,
    seconds,
)
from ufselect.cli.output import (
    print_json,
    print_plain,
    print_table,
    print_text,
    printable,
    refuse_missing_folders,
    write_whole,
)
from ufselect.cli.progress import Progress, progress_for

if TYPE_CHECKING:
    from ufselect import AutoSelect
    from ufselect.data import Table
    from ufselect.report import SelectionReport

# Random sets of features to compare with if no report is asked for.
N_RANDOM = 99
# So that the answer fits a screen of 24 lines and 80 columns.
MAX_LISTED = 8
MAX_NOTES = 3
LONGEST_NAME = 30
SIGNIFICANT = 0.05

SELECTING = [
    features_option("selecting", "to keep"),
    Option(
        "--method",
        type=MethodName(),
        metavar="NAME",
        section="selecting",
        help="method that ranks: see ufselect methods (default: AutoSelect)",
    ),
    Option(
        "--param",
        type=parameter,
        multiple=True,
        metavar="NAME=VALUE",
        section="selecting",
        help="a parameter of the method (may be given several times)",
    ),
    clusters_option("selecting"),
    Option(
        "--max-correlation",
        type=correlation,
        metavar="R",
        section="selecting",
        help="skip features that correlate more than this with a better one (default: "
        "0.8, no limit for a method that you name)",
    ),
    Option(
        "--time-budget",
        type=seconds,
        metavar="SECONDS",
        section="selecting",
        help="start no further fit or test after this time; one that runs goes on",
    ),
    Option(
        "--jobs",
        type=POSITIVE,
        default=1,
        metavar="N",
        section="selecting",
        help="fits at once (default: 1)",
    ),
]
WRITING = [
    Option(
        *("-o", "--output"),
        type=TEXT_PATH,
        metavar="OUT",
        section="writing",
        help="write the table with the chosen features, in the format of its name or "
        "else of FILE; - is standard output",
    ),
    Option(
        "--no-files",
        is_flag=True,
        section="writing",
        help="write no file; so it is with --json and with standard input, unless "
        "files are named",
    ),
    Option(
        "--scores",
        type=PATH,
        metavar="CSV",
        section="writing",
        help="write the ranking of all features",
    ),
    Option(
        "--keep-formulas",
        is_flag=True,
        section="writing",
        help="in text, write names as they are, even if a spreadsheet would run them; "
        "otherwise they get an apostrophe, which reading takes off again",
    ),
    Option(
        "--report",
        type=PATH,
        metavar="HTML",
        section="writing",
        help="write a report with figures",
    ),
    Option(
        "--effort",
        type=click.Choice(["quick", "default", "thorough"]),
        section="writing",
        help="what the report may cost: about 2, 10 or 50 fits (default: quick)",
    ),
    Option(
        "--image-shape",
        type=image_shape,
        metavar="HxW",
        section="writing",
        help="features are pixels: draw the chosen ones in the report",
    ),
    Option(
        "--image-order",
        type=click.Choice(["rows", "columns"]),
        default="rows",
        section="writing",
        help="pixels follow each other along rows, or along columns as in MATLAB "
        "(default: rows)",
    ),
]


@command(
    "select",
    TABLE,
    *READING,
    *SELECTING,
    *WRITING,
    SEED,
    VERBOSE,
    JSON,
    PROGRESS,
    QUIET,
    short_help="select the features of a file",
    help="Reads a table, ranks its features without labels, decides how many to keep "
    "(unless -k says so), and says how far to believe it. Of genes.csv it writes "
    "genes.selected.csv and the report genes.report.html to the current folder, unless "
    "-o, --scores or --report name files; what is there stays, and names get a number.",
    examples=[
        "ufselect select genes.csv",
        "ufselect select genes.csv -k 50 -o selected.csv --report selected.html",
        "ufselect select cells.h5ad --method LaplacianScore --labels cell_type",
        "ufselect select faces.mat --image-shape 32x32 --report faces.html",
        "zcat big.tsv.gz | ufselect select - --json > selection.json",
    ],
)
def select_command(**given: Any) -> int:
    """Select, write and print."""
    options = SimpleNamespace(**given)
    start = time.monotonic()
    _check_usage(options)
    check_source(options.file)
    load("ufselect.data")
    _name_files(options)
    _check_files(options)
    # If you name a method or its parameters, you get the ranking of that method. What
    # is wrong with them is said before the table is read.
    named = None
    if options.method is not None or options.param:
        named = named_selector(options.method or "SCFS", options.param)
    written: dict[str, str] = {}
    with _saying_what_is_complete(written), progress_for(options) as progress:
        table = _read(options, progress)
        load("ufselect.tuning", "ufselect.report")
        selector, warned = _fitted(table, named, options, progress)
        _write(table, selector, options, written)
        report = _report(table, selector, options, start, progress)
        if options.report is not None:
            progress.now("drawing")
            write_whole(options.report, report.html())
            written["report"] = str(options.report)
    _print(table, selector, report, options, warned, written)
    return 0


def _check_usage(options: SimpleNamespace) -> None:
    """Refuse options that contradict one another."""
    if options.no_files and any([options.output, options.scores, options.report]):
        raise click.UsageError(
            "--no-files writes nothing; leave it out, or -o and others"
        )
    if options.output == "-" and options.json:
        raise click.UsageError(
            "-o - and --json both print to standard output; give one a file"
        )
    if options.verbose and options.quiet:
        raise click.UsageError("--verbose and --quiet contradict each other")


def _name_files(options: SimpleNamespace) -> None:
    """Name table and report unless files are named or not wanted.

    Like compilers, this writes to the current folder, wherever the source is.
    """
    named = any([options.output, options.scores, options.report])
    if options.no_files or named or options.json or options.file == "-":
        return
    folder = Path()
    if not os.access(folder, os.W_OK):
        raise ValueError(
            f"cannot write into the current folder {folder.resolve()}; name files "
            "elsewhere with -o and --report, or write none with --no-files"
        )
    table, options.report = free_names(folder, Path(options.file).name)
    options.output = str(table)


def free_names(folder: Path, name: str) -> tuple[Path, Path]:
    """Return names of table and report under which there is nothing yet.

    Examples
    --------
    >>> from pathlib import Path
    >>> table, report = free_names(Path("no-such-folder"), "genes.csv.gz")
    >>> table.name, report.name
    ('genes.selected.csv.gz', 'genes.report.html')
    """
    from ufselect.data.tables.detection import split_name

    stem, ending = split_name(name)
    return next(
        (table, report)
        for mark in _marks()
        for table in [folder / f"{stem}.selected{mark}{ending}"]
        for report in [folder / f"{stem}.report{mark}.html"]
        if not table.exists() and not report.exists()
    )


def _free_ranking_name(table: str) -> Path:
    """Return a name for the ranking that is written where no table can be."""
    from ufselect.data.tables.detection import split_name

    path = Path(table)
    stem = split_name(path.name)[0].removesuffix(".selected")
    names = (path.with_name(f"{stem}.ranking{mark}.csv") for mark in _marks())
    return next(name for name in names if not name.exists())


def _marks() -> Iterator[str]:
    return chain([""], map("-{}".format, count(2)))


def _check_files(options: SimpleNamespace) -> None:
    """Refuse what cannot be written, or would destroy something, before the work."""
    if options.report is None:
        for name in ("effort", "image_shape"):
            if getattr(options, name) is not None:
                option = f"--{name.replace('_', '-')}"
                message = f"{option} is about the report; add --report FILE.html"
                raise click.UsageError(message)
    outputs = [None if options.output == "-" else options.output]
    paths = [Path(path) for path in [*outputs, options.scores, options.report] if path]
    refuse_missing_folders(*paths)
    resolved = [path.resolve() for path in paths]
    if len(set(resolved)) < len(resolved):
        raise click.UsageError("-o, --scores and --report need different files")
    if options.file != "-" and Path(options.file).resolve() in resolved:
        message = f"{options.file} would be replaced; choose another output"
        raise click.UsageError(message)


@contextmanager
def _saying_what_is_complete(written: dict[str, str]) -> Iterator[None]:
    """Add to an interruption or an error which files are there all the same."""

    def complete() -> str:
        names = " and ".join(written.values())
        return f"{names} {'is' if len(written) == 1 else 'are'} complete"

    try:
        yield
    except KeyboardInterrupt:
        if not written:
            raise
        message = f"interrupted; {complete()}, nothing else was written"
        raise KeyboardInterrupt(message) from None
    except ValueError as error:
        if not written:
            raise
        raise ValueError(f"{str(error).rstrip('.')}; {complete()}") from error


def _read(options: SimpleNamespace, progress: Progress) -> "Table":
    progress.now(f"reading {options.name or options.file}")
    table = read(options)
    notes = list(table.notes)
    if not options.verbose and options.progress == "text" and len(notes) > MAX_NOTES:
        more = f"{len(notes) - MAX_NOTES + 1} more notes: see them with -v."
        notes = [*notes[: MAX_NOTES - 1], more]
    progress.note(*notes)
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


def _fitted(
    table: "Table", named: Any, options: SimpleNamespace, progress: Progress
) -> tuple["AutoSelect", list[str]]:
    """Return a fitted selector, and what it warned of."""
    from ufselect import AutoSelect
    from ufselect._sklearn_compat import listening

    limit = options.max_correlation
    selector: AutoSelect = checked(
        AutoSelect(
            named,
            n_features_to_select=options.features or "auto",
            n_clusters=options.clusters or "auto",
            max_correlation="auto" if limit is None else limit,
            n_jobs=options.jobs,
            random_state=options.seed,
        )
    )
    n_samples, n_features = table.shape
    progress.now(f"ranking {n_features} features of {n_samples} samples")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        with listening(progress.iteration):
            selector.fit(table.values)
    said = dict.fromkeys(
        str(each.message) for each in caught if issubclass(each.category, UserWarning)
    )
    # What the text will give as a reason is not said twice.
    reasons = "" if options.json else " ".join(selector.reasons_)
    progress.note(*(sentence for sentence in said if sentence not in reasons))
    return selector, list(said)


def _write(
    table: "Table",
    selector: "AutoSelect",
    options: SimpleNamespace,
    written: dict[str, str],
) -> None:
    """Write table and ranking as soon as they are known: a report may take longer."""
    from ufselect.data import write_table
    from ufselect.report.downloads import csv_text
    from ufselect.report.selection_text import ranking_frame

    chosen = selector.get_support()
    escape = not options.keep_formulas
    if options.output is not None and chosen.any():
        write_table(
            table,
            chosen,
            options.output,
            scores=selector.scores_,
            escape_formulas=escape,
        )
        to_stdout = options.output == "-"
        written["table"] = "standard output" if to_stdout else options.output
    elif options.output is not None and options.output != "-":
        # Nothing was chosen: the ranking takes the place of the table.
        options.scores = options.scores or _free_ranking_name(options.output)
    if options.scores is not None:
        frame = ranking_frame(table.names(), selector)
        write_whole(options.scores, csv_text(frame, None, escape_formulas=escape))
        written["scores"] = str(options.scores)


def _report(
    table: "Table",
    selector: "AutoSelect",
    options: SimpleNamespace,
    start: float,
    progress: Progress,
) -> "SelectionReport":
    from ufselect._sklearn_compat import listening
    from ufselect.report import Effort, selection_report
    from ufselect.report.selection_subject import who_chose

    effort: Any = Effort(0, 0, N_RANDOM)
    if options.report is not None:
        effort = options.effort or "quick"
    left = None
    if options.time_budget is not None:
        left = max(0.0, start + options.time_budget - time.monotonic())
    samples = table.sample_names
    with listening(progress.iteration):
        report = selection_report(
            table.values,
            selector,
            feature_names=table.names().tolist(),
            labels=table.labels,
            sample_names=None if samples is None else samples.tolist(),
            image_shape=options.image_shape,
            image_order=options.image_order,
            title=f"{table.origin.name}: {selector.n_selected_} features",
            command=_command_line(options),
            effort=effort,
            time_budget=left,
            n_jobs=options.jobs,
            random_state=options.seed,
            progress=progress.step,
        )
    if selector.selector_ is not None:
        report = replace(report, method=who_chose(selector.selector_))
    return report


def _command_line(options: SimpleNamespace) -> str:
    """Return the command to repeat; a table with a name of its own is called by it.

    Such a name comes from a program, whose own options are of no use to people.
    """
    words = list(click.get_current_context().obj.arguments)
    if options.name is not None:
        programs = {f"--name={options.name}", "--json", "--progress=json"}
        words = [word for word in words if word not in programs]
        # A name that looks like an option would be taken for one.
        name = f"./{options.name}" if options.name.startswith("-") else options.name
        words[words.index(options.file)] = name
    return shlex.join(["ufselect", *words])


def _print(
    table: "Table",
    selector: "AutoSelect",
    report: "SelectionReport",
    options: SimpleNamespace,
    warned: list[str],
    written: dict[str, str],
) -> None:
    from ufselect.report.selection_text import selection_data, selection_text

    found = selection_data(report, selector, table.label_column)
    name = table.origin.name
    if options.json:
        source = {"file": name, "format": table.format, "reading": list(table.notes)}
        result = {"warnings": warned, "seed": options.seed, "written": written}
        print_json(source | found | result)
        return
    # Standard output may be taken by the table.
    stderr = options.output == "-"
    if stderr and options.quiet:
        return
    if options.verbose:
        text = selection_text(report, selector, name, table.label_column)
        print_plain(text, stderr=stderr)
    else:
        _print_answer(name, found, stderr=stderr)
    if written:
        files = ", ".join(f"{what} in {path}" for what, path in written.items())
        print_text(f"\nWritten: {printable(files)}.", stderr=stderr)


def _print_answer(name: str, found: dict[str, Any], *, stderr: bool) -> None:
    """Print the verdict, what was chosen, and how the labels compare."""
    from ufselect.report.selection_words import NO_STRUCTURE

    reasons = found["reasons"]
    if found["structure"]["found"]:
        verdict, style, evidence = _verdict(found)
        # The first reason is the evidence of structure.
        reasons = reasons[1:]
    else:
        verdict, style, evidence = NO_STRUCTURE, "bold red", ""
    print_text(verdict, style, stderr=stderr)
    if evidence:
        print_text(evidence, stderr=stderr)
    decision = (
        f"{name}: {found['chosen_by']} chose {found['n_selected']} of "
        f"{found['n_features']} features of {found['n_samples']} samples, without "
        "looking at any label."
    )
    print_text("\n" + printable(" ".join([decision, *reasons])), stderr=stderr)
    labels = _label_sentence(found)
    if found["features"]:
        print_text("", stderr=stderr)
        most = MAX_LISTED - 3 if labels else MAX_LISTED
        _print_features(found["features"], most, stderr=stderr)
    if labels:
        print_text("\n" + printable(labels), stderr=stderr)


def _verdict(found: dict[str, Any]) -> tuple[str, str, str]:
    """Return what to do with a selection, in which colour, and what speaks against it.

    The table has structure, of which the selection may still be a bad part.
    """
    care, yellow = "Use it with care: ", "bold yellow"
    if found["against_random"] is None:
        reason = found["left_out"].get("against_random", "it was not asked for")
        sentence = f"there is no comparison with random features: {reason}."
        return care + printable(sentence), yellow, ""
    p_values = {each["criterion"]: each["p_value"] for each in found["against_random"]}
    tested = {name: p for name, p in p_values.items() if p is not None}
    if not tested:
        sentence = found["against_random"][0]["sentence"]
        return care + printable(sentence), yellow, ""
    better = [name for name, p in tested.items() if p < SIGNIFICANT]
    worse = [name for name, p in tested.items() if p > 1 - SIGNIFICANT]
    against = f"Worse by {_listed(worse)}; -v explains." if worse else ""
    if better:
        verdict = f"Use it: better than random features by {_listed(better)}."
        return verdict, "bold green", against
    verdict = f"{care}by no criterion clearly better than random features."
    return verdict, yellow, against


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _print_features(
    features: Sequence[dict[str, Any]], most: int, *, stderr: bool
) -> None:
    header = ["feature", "score", "call", "explained", "stands for"]
    rows = [
        [
            _shortened(row["feature"]),
            "-" if row["score"] is None else f"{row['score']:.4g}",
            row["call"],
            "-" if row["explained"] is None else f"{row['explained']:.0%}",
            _stand_ins(row.get("stands_for", ())),
        ]
        for row in features[:most]
    ]
    if all(row[-1] == "-" for row in rows):
        header, rows = header[:-1], [row[:-1] for row in rows]
    print_table(header, rows, words=["call", "stands for"], stderr=stderr)
    if len(features) > most:
        print_text(f"and {len(features) - most} more.", stderr=stderr)


def _stand_ins(names: Sequence[str]) -> str:
    if not names:
        return "-"
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return _shortened(names[0]) + more


def _shortened(name: str) -> str:
    text = printable(name)
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 3]}..."


def _label_sentence(found: dict[str, Any]) -> str:
    """Return how well k-means finds the labels, if there are any."""
    labels = found["labels"]
    if labels is None:
        reason = found["left_out"].get("labels")
        return f"There is no comparison with the labels: {reason}." if reason else ""
    scores = [
        f"{row['columns']} {100 * row['accuracy']:.1f} / "
        f"{100 * row['normalised_mutual_information']:.1f}"
        for row in labels["scores"]
    ]
    return (
        f"Labels {labels['column']!r}, not used to select, as k-means finds them (ACC "
        f"/ NMI in %): {', '.join(scores)}."
    )
