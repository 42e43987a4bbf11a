"""``ufselect select``: from a file to the columns that matter."""

import os
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain, count
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ufselect.cli.inputs import (
    check_source,
    checked,
    command_line,
    loading,
    named_selector,
    read,
)
from ufselect.cli.options import (
    CLUSTERS,
    PATH,
    POSITIVE,
    PRINTING,
    TABLE,
    TEXT_PATH,
    MethodName,
    Option,
    command,
    image_shape,
    number_of_features,
    parameter,
    seconds,
    section,
)
from ufselect.cli.output import (
    Progress,
    check_outputs,
    print_json,
    print_plain,
    print_written,
    progress_for,
    write_whole,
)
from ufselect.data.replacing import save_unused
from ufselect.report.second_process import begin, load_fits, second_process

if TYPE_CHECKING:
    from ufselect import AutoSelect
    from ufselect.data import Table
    from ufselect.matrix import DataMatrix
    from ufselect.report import Effort, SelectionReport

# In bytes: fits to smaller tables take less time than the start of a second process.
LARGE_FILE = 10_000_000
# Largest number of values of a table that the second process gets a copy of: 800 MB.
MAX_COPIED_VALUES = 100_000_000
# Random sets of features to compare with if no report is asked for.
N_RANDOM = 99
STYLES = {"use": "bold green", "care": "bold yellow", "stop": "bold red"}

SELECTING = section(
    "Selecting",
    Option(
        "-k, --features N",
        "how many to keep, or which fraction (default: automatic)",
        type=number_of_features,
    ),
    Option(
        "--method NAME",
        "method that ranks: see ufselect methods (default: AutoSelect)",
        type=MethodName(),
    ),
    Option(
        "--param NAME=VALUE",
        "a parameter of the method (repeat for more)",
        type=parameter,
        multiple=True,
    ),
    CLUSTERS,
    Option(
        "--max-correlation R",
        "skip features that correlate more than this with a better one (default: 0.8, "
        "no limit for a method that you name)",
        type=click.FloatRange(0, 1),
    ),
    Option(
        "--time-budget SECONDS",
        "start no further fit or test after this time; a running one finishes",
        type=seconds,
    ),
    Option("--jobs N", "parallel jobs (default: 1, or 2 if large)", type=POSITIVE),
)
WRITING = section(
    "Writing",
    Option(
        "-o, --output OUT",
        "write the table with the chosen features, in the format of this name or else "
        "of FILE; - is standard output",
        type=TEXT_PATH,
    ),
    Option(
        "--no-files",
        "write no file; the default with --json and with standard input, unless you "
        "name files",
    ),
    Option("--scores CSV", "write the ranking of all features", type=PATH),
    Option("--save-clusters CSV", "write the cluster of each sample", type=PATH),
    Option("--only-features", "leave the other columns of FILE out of the table"),
    Option(
        "--write-filled", "write the values that --fill put in place of missing ones"
    ),
    Option("--no-subset", "AnnData: keep all features, and mark the chosen ones"),
    Option(
        "--keep-formulas",
        "text: write names unchanged, even if a spreadsheet would run them as formulas "
        "(default: with an apostrophe, which reading removes)",
    ),
    Option("--report HTML", "write a report with figures", type=PATH),
    Option(
        "--effort",
        "what the report may cost: about 2, 10 or 50 fits (default: quick)",
        type=click.Choice(["quick", "default", "thorough"]),
    ),
    Option(
        "--image-shape HxW",
        "features are pixels: draw the chosen ones in the report",
        type=image_shape,
    ),
    Option(
        "--image-order",
        "pixels follow each other along rows, or along columns as in MATLAB (default: "
        "rows)",
        type=click.Choice(["rows", "columns"]),
        default="rows",
    ),
)


@command(
    *TABLE,
    *SELECTING,
    *WRITING,
    *PRINTING,
)
def select_command(**given: Any) -> int:
    """Select the features of a file.

    Reads a table, ranks its features without labels, decides how many to keep
    (unless -k says so), and says how far to trust the result. From genes.csv it
    writes genes.selected.csv and the report genes.report.html to the current
    folder, unless options name files; if they exist, new names get a number.

    For example:

        ufselect select genes.csv
        ufselect select genes.csv -k 50 -o selected.csv --report selected.html
        ufselect select cells.h5ad --method LaplacianScore --labels cell_type
        ufselect select faces.mat --image-shape 32x32 --report faces.html
        zcat big.tsv.gz | ufselect select - --json > selection.json
    """
    options = SimpleNamespace(**given)
    start = time.monotonic()
    _check_usage(options)
    with loading():
        import ufselect.data.tables.reading
        from ufselect.plotting.axes import load_matplotlib
    options.default_names = _uses_default_names(options)
    if options.default_names:
        # Which numbers they get is decided when the files are complete.
        names = next(free_names(Path(options.file).name))
        options.output, options.report = str(names.table), names.report
    # If you name a method or its parameters, you get the ranking of that method. What
    # is wrong with them is said before the table is read.
    named = None
    auto = (options.method or "autoselect").lower() == "autoselect"
    if options.param or not auto:
        named = named_selector("SCFS" if auto else options.method, options.param)
    written: dict[str, str] = {}
    with (
        _naming_complete_files(written),
        progress_for(options) as progress,
        ExitStack() as in_background,
    ):
        large = _is_large(options)
        if large:
            # It loads scikit-learn while this one reads.
            in_background.enter_context(second_process(load_fits))
        table = read(options, progress)
        if options.save_clusters is not None:
            # Of a memory-mapped table only some samples would get a cluster.
            table = replace(table, values=_in_memory(table.values))
        _check_image_shape(options, table)
        with loading():
            import ufselect.report.selection  # noqa: F401

            if options.report:
                load_matplotlib()
        from ufselect.matrix.checks import checked_matrix

        data = checked_matrix(table.values, owner="AutoSelect")
        selector, halves = _selector(named, options), None
        if large:
            halves = _begin_halves(data, selector, options, table.groups, start)
        if options.jobs is None:
            from ufselect.tuning.fits import parallel_jobs

            options.jobs = parallel_jobs(data)
        warned = _fit(selector, data, options, progress)
        _write(table, selector, options, progress, written)
        report = _report(table, data, selector, halves, options, start, progress)
        if options.report is not None:
            progress.now("drawing")
            _write_report(report.html(), options)
            written["report"] = str(options.report)
    _print(table, report, options, warned, written)
    return 0


def _check_usage(options: SimpleNamespace) -> None:
    """Refuse options that contradict each other, and files that cannot be written."""
    files = (options.output, options.scores, options.save_clusters, options.report)
    auto = (options.method or "").lower() == "autoselect"
    about_report = {"effort": options.effort, "image-shape": options.image_shape}
    report = options.report is not None or _uses_default_names(options)
    wrong = {
        "--no-files writes nothing; leave it out, or leave out the names of files": (
            options.no_files and any(files)
        ),
        "AutoSelect takes no --param; name another method, or leave --param out": auto
        and options.param,
        "-o - and --json both print to standard output; give one a file": (
            options.output == "-" and options.json
        ),
        "--write-filled needs --fill; add --fill median": (
            options.write_filled and options.fill is None
        ),
        **{
            f"--{name} needs a report; add --report FILE.html": (
                not report and value is not None
            )
            for name, value in about_report.items()
        },
    }
    for message, applies in wrong.items():
        if applies:
            raise click.UsageError(message)
    check_source(options.file)
    check_outputs(*(Path(file) for file in files if file and file != "-"))
    if _uses_default_names(options) and not os.access(".", os.W_OK):
        raise ValueError(
            f"cannot write into the current folder {Path().resolve()}; name files "
            "elsewhere with -o and --report, or write none with --no-files"
        )


def _uses_default_names(options: SimpleNamespace) -> bool:
    """Return whether table and report get default names, in the current folder."""
    named = any([options.output, options.scores, options.report])
    return not (options.no_files or named or options.json or options.file == "-")


class Names(NamedTuple):
    """Where to write the table, the report, and the ranking if nothing is chosen."""

    table: Path
    report: Path
    ranking: Path


def free_names(name: str, folder: Path = Path()) -> Iterator[Names]:
    """Yield names of outputs that are not in use; later ones have a number.

    Examples
    --------
    >>> from pathlib import Path
    >>> names = free_names("genes.csv.gz", Path("no-such-folder"))
    >>> [path.name for path in next(names)]
    ['genes.selected.csv.gz', 'genes.report.html', 'genes.ranking.csv']
    >>> next(names).report.name
    'genes.report-2.html'
    """
    from ufselect.data.tables.detection import split_name

    stem, ending = split_name(name)
    for mark in chain([""], map("-{}".format, count(2))):
        names = Names(
            folder / f"{stem}.selected{mark}{ending}",
            folder / f"{stem}.report{mark}.html",
            folder / f"{stem}.ranking{mark}.csv",
        )
        if not any(map(os.path.lexists, names)):
            yield names


@contextmanager
def _naming_complete_files(written: dict[str, str]) -> Iterator[None]:
    """Add to an interruption or an error which files are complete."""

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


def _check_image_shape(options: SimpleNamespace, table: "Table") -> None:
    """Refuse images of another size than the samples."""
    rows, columns = options.image_shape or (1, table.shape[1])
    if rows * columns != table.shape[1]:
        raise ValueError(
            f"--image-shape {rows}x{columns} has {rows * columns} pixels, but "
            f"{table.origin.name} has {table.shape[1]} features; give the shape of one "
            "image"
        )


def _in_memory(values: Any) -> Any:
    import numpy as np

    return np.array(values) if isinstance(values, np.memmap) else values


def _is_large(options: SimpleNamespace) -> bool:
    """Return whether fits will take longer than the start of a second process."""
    return options.file != "-" and Path(options.file).stat().st_size >= LARGE_FILE


def _selector(named: Any, options: SimpleNamespace) -> "AutoSelect":
    """Return the selector of these options."""
    from ufselect import AutoSelect

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
    return selector


def _begin_halves(
    data: "DataMatrix",
    selector: "AutoSelect",
    options: SimpleNamespace,
    groups: Any,
    start: float,
) -> "Future[Any] | None":
    """Begin fits to halves of the samples in the second process, for the report.

    They need not wait for the fit to all samples, because AutoSelect ranks alike for
    every number of features, unless a method or a limit on correlations is given. Many
    halves are fitted later in this process, by several threads.
    """
    import numpy as np
    from sklearn.base import clone

    from ufselect.report.halves import fit_halves

    in_memory = isinstance(data.raw, np.ndarray) and not data.out_of_core
    default = options.max_correlation is None and selector.selector is None
    few = options.effort in (None, "quick") and options.jobs is None
    if not (default and few and in_memory and data.raw.size <= MAX_COPIED_VALUES):
        return None
    # A copy, because the selector itself is fitted meanwhile.
    given = (data, clone(selector), max(_effort(options).n_subsamples, 1))
    return begin(
        partial(
            fit_halves,
            *given,
            options.seed,
            groups=groups,
            n_jobs=1,
            time_budget=_time_left(options, start),
        )
    )


def _time_left(options: SimpleNamespace, start: float) -> float | None:
    """Return the seconds that are left of the time budget, or None without one."""
    if options.time_budget is None:
        return None
    return max(0.0, start + options.time_budget - time.monotonic())


def _fit(
    selector: "AutoSelect",
    data: "DataMatrix",
    options: SimpleNamespace,
    progress: Progress,
) -> list[str]:
    """Fit the selector, and return what it warned of."""
    from ufselect.solvers.iterations import showing_progress
    from ufselect.tuning.fits import user_warnings

    n_samples, n_features = data.shape
    progress.now(f"ranking {n_features} features of {n_samples} samples")
    with user_warnings() as said, showing_progress(progress.iteration):
        selector.fit(data)
    # The text gives its reasons; they are not printed twice.
    reasons = "" if options.json else " ".join(selector.reasons_)
    progress.note(*(sentence for sentence in said if sentence not in reasons))
    return said


def _write(
    table: "Table",
    selector: "AutoSelect",
    options: SimpleNamespace,
    progress: Progress,
    written: dict[str, str],
) -> None:
    """Write table and ranking before the report, which may take longer."""
    from ufselect.data import write_table
    from ufselect.report.rendering import csv_text

    chosen = selector.get_support()
    escape = not options.keep_formulas

    def save_table(path: Path | str, *, overwrite: bool = True) -> None:
        write_table(
            table,
            chosen,
            path,
            scores=selector.scores_,
            escape_formulas=escape,
            only_features=options.only_features,
            write_filled=options.write_filled,
            subset=not options.no_subset,
            overwrite=overwrite,
        )

    def save_ranking(path: Path, *, overwrite: bool = True) -> None:
        frame = selector.ranking(table.names().tolist())
        text = csv_text(frame, None, escape_formulas=escape)
        write_whole(path, text, overwrite=overwrite)

    source = Path(options.file).name
    if options.output is not None and chosen.any():
        if options.default_names:
            names = save_unused(
                free_names(source), lambda each: save_table(each.table, overwrite=False)
            )
            options.output, options.report = str(names.table), names.report
        else:
            save_table(options.output)
        to_stdout = options.output == "-"
        written["table"] = "standard output" if to_stdout else options.output
    elif options.output not in (None, "-") and options.scores is None:
        # Nothing was chosen: the ranking takes the place of the table.
        path = Path(source if options.default_names else options.output)
        names = save_unused(
            free_names(path.name, path.parent),
            lambda each: save_ranking(each.ranking, overwrite=False),
        )
        if options.default_names:
            options.report = names.report
        written["scores"] = str(names.ranking)
    if options.scores is not None:
        save_ranking(options.scores)
        written["scores"] = str(options.scores)
    if options.save_clusters is not None and chosen.any():
        samples: Any = table.sample_names
        if samples is None:
            samples = range(1, table.shape[0] + 1)
        columns = {"sample": list(samples), "cluster": selector.labels_.tolist()}
        text = csv_text(columns, None, escape_formulas=escape)
        write_whole(options.save_clusters, text)
        written["clusters"] = str(options.save_clusters)
    elif options.save_clusters is not None:
        progress.note(
            f"No clusters were found; {options.save_clusters} is not written."
        )


def _write_report(text: str, options: SimpleNamespace) -> None:
    if not options.default_names:
        write_whole(options.report, text)
        return
    # That of the table, unless another process took it.
    reports = (names.report for names in free_names(Path(options.file).name))
    options.report = save_unused(
        chain([options.report], reports),
        lambda path: write_whole(path, text, overwrite=False),
    )


def _effort(options: SimpleNamespace) -> "Effort":
    """Return the effort of the report, or of the verdict alone."""
    from ufselect.report.parts import EFFORTS, Effort

    if options.report is None:
        return Effort(0, 0, N_RANDOM)
    return EFFORTS[options.effort or "quick"]


def _report(
    table: "Table",
    data: "DataMatrix",
    selector: "AutoSelect",
    halves: "Future[Any] | None",
    options: SimpleNamespace,
    start: float,
    progress: Progress,
) -> "SelectionReport":
    from ufselect.report import selection_report
    from ufselect.report.parts import who_chose
    from ufselect.solvers.iterations import showing_progress

    with showing_progress(progress.iteration):
        report = selection_report(
            data,
            selector,
            table=table,
            image_shape=options.image_shape,
            image_order=options.image_order,
            title=f"{table.origin.name}: {selector.n_selected_} features",
            command=command_line(options),
            effort=_effort(options),
            time_budget=_time_left(options, start),
            n_jobs=options.jobs,
            random_state=options.seed,
            progress=progress.step,
            halves=halves,
        )
    if selector.selector_ is not None:
        report = replace(report, method=who_chose(selector.selector_))
    return report


def _print(
    table: "Table",
    report: "SelectionReport",
    options: SimpleNamespace,
    warned: list[str],
    written: dict[str, str],
) -> None:
    name = table.origin.name
    if options.json:
        found = report.to_dict(table.label_column)
        source = {"file": name, "format": table.format, "reading": list(table.notes)}
        result = {"warnings": warned, "seed": options.seed, "written": written}
        print_json(source | found | result)
        return
    # Standard output may be taken by the table.
    stderr = options.output == "-"
    if stderr and options.quiet:
        return
    text = report.text(name, table.label_column, brief=not options.verbose)
    print_plain(text, STYLES[report.decision.level], stderr=stderr)
    print_written(written, stderr=stderr)
