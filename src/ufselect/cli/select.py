"""``ufselect select``: from a file to the columns that matter."""

import os
import time
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

from ufselect.cli.inputs import (
    check_source,
    checked,
    command_line,
    in_options,
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
    command,
    complete_methods,
    image_shape,
    number_of_features,
    option,
    option_group,
    parameter,
    seconds,
)
from ufselect.cli.output import (
    Progress,
    check_outputs,
    print_json,
    print_plain,
    print_written,
    progress_for,
)
from ufselect.cli.result_files import ResultFiles, uses_default_names

if TYPE_CHECKING:
    from ufselect import AutoSelect, UnsupervisedSelector
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

SELECTING = option_group(
    "Selecting",
    option(
        "-k, --features N",
        "how many to keep, or which fraction (default: automatic)",
        type=number_of_features,
    ),
    option(
        "--method NAME",
        "method that ranks: see ufselect methods (default: AutoSelect)",
        shell_complete=complete_methods,
    ),
    option(
        "--param NAME=VALUE",
        "a parameter of the method (repeat for more)",
        type=parameter,
        multiple=True,
    ),
    CLUSTERS,
    option(
        "--max-correlation R",
        "skip features that correlate more than this with a better one (default: 0.8, "
        "no limit for a method that you name)",
        type=click.FloatRange(0, 1),
    ),
    option(
        "--time-budget SECONDS",
        "start no further fit or test after this time; a running one finishes",
        type=seconds,
    ),
    option("--jobs N", "parallel jobs (default: 1, or 2 if large)", type=POSITIVE),
)
WRITING = option_group(
    "Writing",
    option(
        "-o, --output OUT",
        "write the table with the chosen features, in the format of this name or else "
        "of FILE; - is standard output",
        type=TEXT_PATH,
    ),
    option(
        "--no-files",
        "write no file; the default with --json and with standard input, unless you "
        "name files",
    ),
    option("--scores CSV", "write the ranking of all features", type=PATH),
    option("--save-clusters CSV", "write the cluster of each sample", type=PATH),
    option("--only-features", "leave the other columns of FILE out of the table"),
    option(
        "--write-filled", "write the values that --fill put in place of missing ones"
    ),
    option("--no-subset", "AnnData: keep all features, and mark the chosen ones"),
    option(
        "--keep-formulas",
        "text: write names unchanged, even if a spreadsheet would run them as formulas "
        "(default: with an apostrophe, which reading removes)",
    ),
    option("--report HTML", "write a report with figures", type=PATH),
    option(
        "--effort",
        "what the report may cost: about 2, 10 or 50 fits (default: quick)",
        type=click.Choice(["quick", "default", "thorough"]),
    ),
    option(
        "--image-shape HxW",
        "features are pixels: draw the chosen ones in the report",
        type=image_shape,
    ),
    option(
        "--image-order",
        "pixels follow each other along rows, or along columns as in MATLAB (default: "
        "rows)",
        type=click.Choice(["rows", "columns"]),
        default="rows",
    ),
)


@command(*TABLE, SELECTING, WRITING, *PRINTING)
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
    options = SimpleNamespace(**given, started=time.monotonic())
    _check_usage(options)
    files = ResultFiles(options)
    with loading():
        import numpy as np

        import ufselect.data.tables.reading
    named = _named_selector(options)
    large = options.file != "-" and Path(options.file).stat().st_size >= LARGE_FILE
    in_background: AbstractContextManager[None] = nullcontext()
    if large:
        from ufselect.report.second_process import load_fits, second_process

        # It loads scikit-learn while this one reads.
        in_background = second_process(load_fits)
    with files.named_in_errors(), progress_for(options) as progress, in_background:
        table = read(options, progress)
        if options.save_clusters is not None and isinstance(table.values, np.memmap):
            # Of a memory-mapped table only some samples would get a cluster.
            table = replace(table, values=np.array(table.values))
        _check_image_shape(options, table)
        with loading():
            import ufselect.report.selection  # noqa: F401
            from ufselect.matrix.checks import checked_matrix
            from ufselect.plotting.axes import load_matplotlib

            if files.report_wanted:
                load_matplotlib()
        data = checked_matrix(table.values, owner="AutoSelect")
        selector = _selector(named, options)
        halves = _begin_halves(data, selector, options, table.groups) if large else None
        warned = _fit(selector, data, options, progress)
        files.write_table(table, selector)
        files.write_clusters(table, selector, progress)
        report = _report(table, data, selector, halves, options, progress)
        if files.report_wanted:
            progress.now("drawing")
            files.write_report(report.html())
    _print(table, report, options, warned, files.written)
    return 0


def _check_usage(options: SimpleNamespace) -> None:
    """Refuse options that contradict each other, and files that cannot be written."""
    files = (options.output, options.scores, options.save_clusters, options.report)
    auto = (options.method or "").lower() == "autoselect"
    no_report = options.report is None and not uses_default_names(options)
    wrong = {
        "--no-files writes nothing; leave it out, or leave out the names of files": (
            options.no_files and any(files)
        ),
        "AutoSelect takes no --param; name another method, or leave --param out": (
            auto and options.param
        ),
        "-o - and --json both print to standard output; give one a file": (
            options.output == "-" and options.json
        ),
        "--write-filled needs --fill; add --fill median": (
            options.write_filled and options.fill is None
        ),
        "--effort needs a report; add --report FILE.html": (
            no_report and options.effort is not None
        ),
        "--image-shape needs a report; add --report FILE.html": (
            no_report and options.image_shape is not None
        ),
    }
    for message, applies in wrong.items():
        if applies:
            raise click.UsageError(message)
    check_source(options.file)
    check_outputs(*(Path(file) for file in files if file and file != "-"))
    if uses_default_names(options) and not os.access(".", os.W_OK):
        raise ValueError(
            f"cannot write into the current folder {Path().resolve()}; name files "
            "elsewhere with -o and --report, or write none with --no-files"
        )


def _check_image_shape(options: SimpleNamespace, table: "Table") -> None:
    """Refuse images of another size than the samples."""
    rows, columns = options.image_shape or (1, table.shape[1])
    if rows * columns != table.shape[1]:
        raise ValueError(
            f"--image-shape {rows}x{columns} has {rows * columns} pixels, but "
            f"{table.origin.name} has {table.shape[1]} features; give the shape of one "
            "image"
        )


def _named_selector(options: SimpleNamespace) -> "UnsupervisedSelector | None":
    """Return the method whose ranking is asked for, by its name or its parameters.

    What is wrong with them is said before the table is read.
    """
    auto = (options.method or "autoselect").lower() == "autoselect"
    if auto and not options.param:
        return None
    return named_selector("SCFS" if auto else options.method, options.param)


def _selector(
    named: "UnsupervisedSelector | None", options: SimpleNamespace
) -> "AutoSelect":
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
) -> "Future[Any] | None":
    """Begin fits to halves of the samples in the second process, for the report.

    They need not wait for the fit to all samples, because AutoSelect ranks alike for
    every number of features, unless a method or a limit on correlations is given. Many
    halves are fitted later in this process, by several threads.
    """
    import numpy as np
    from sklearn.base import clone

    from ufselect.report.halves import fit_halves
    from ufselect.report.second_process import begin

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
            time_budget=_time_left(options),
        )
    )


def _time_left(options: SimpleNamespace) -> float | None:
    """Return the seconds that are left of the time budget, or None without one."""
    if options.time_budget is None:
        return None
    return max(0.0, options.started + options.time_budget - time.monotonic())


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
    progress.note(*(in_options(each) for each in said if each not in reasons))
    return said


def _effort(options: SimpleNamespace) -> "Effort":
    """Return the effort of the report, or of the verdict alone."""
    from ufselect.report.parts import EFFORTS, Effort

    if options.report is None and not uses_default_names(options):
        return Effort(0, 0, N_RANDOM)
    return EFFORTS[options.effort or "quick"]


def _report(
    table: "Table",
    data: "DataMatrix",
    selector: "AutoSelect",
    halves: "Future[Any] | None",
    options: SimpleNamespace,
    progress: Progress,
) -> "SelectionReport":
    """Measure the selection."""
    from ufselect.report import selection_report
    from ufselect.report.parts import who_chose
    from ufselect.solvers.iterations import showing_progress
    from ufselect.tuning.fits import parallel_jobs

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
            time_budget=_time_left(options),
            n_jobs=options.jobs or parallel_jobs(data),
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
    """Print the answer, as text or as JSON."""
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
    print_plain(in_options(text), STYLES[report.decision.level], stderr=stderr)
    print_written(written, stderr=stderr)
