"""``ufselect run``, ``report`` and ``reproduce``: plans of experiments."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from ufselect.cli.inputs import loading
from ufselect.cli.options import (
    JSON,
    MARKDOWN,
    PATH,
    POSITIVE,
    QUIET,
    argument,
    command,
    gigabytes,
    option,
    seconds,
)
from ufselect.cli.output import (
    Progress,
    check_outputs,
    print_plain,
    print_text,
    printable,
    say,
    write_whole,
)
from ufselect.data.replacing import protect

if TYPE_CHECKING:
    from ufselect.experiments.plan import Plan
    from ufselect.experiments.report import Report
    from ufselect.experiments.results import Experiment
    from ufselect.experiments.runs import Located


N_CORES = os.cpu_count() or 1
TABLES = [
    option("--html FILE", "write a report with tables and figures", type=PATH),
    option("--latex FILE", "write the tables of scores for LaTeX", type=PATH),
    option(
        "--csv FILE",
        "write the scores as CSV, one row for each metric, reading, method and data "
        "set",
        type=PATH,
    ),
]
PRINTING = [MARKDOWN, JSON, QUIET]
# What every command that computes runs takes.
COMPUTING = [
    option(
        "--data DIR",
        "folder of the data sets (default: UFSELECT_DATA, else the cache)",
        type=PATH,
    ),
    option(
        "--jobs N",
        f"processes, one thread each (default: one per core, {N_CORES} here)",
        type=POSITIVE,
        default=N_CORES,
    ),
    option("--dask ADDRESS", "compute on the workers of this Dask scheduler instead"),
    option(
        "--run-timeout SECONDS",
        "give up a run that takes longer (default: what the plan says, or never)",
        type=seconds,
    ),
    option(
        "--run-memory GB",
        "give up a run whose process takes more gigabytes (default: what the plan "
        "says, or no limit)",
        type=gigabytes,
    ),
    option("--retry", "try runs again that failed"),
]


@command(
    argument(
        "PLAN",
        "a plan in TOML, or one that comes with ufselect, such as quick",
        type=PATH,
    ),
    option(
        "--store FILE",
        "SQLite file of the results (default: NAME-OF-PLAN.sqlite here)",
        type=PATH,
    ),
    *TABLES,
    *COMPUTING,
    *PRINTING,
)
def run_command(**given: Any) -> int:
    """Run a plan of experiments, or go on with it.

    Computes every run of a plan (data set x method x setting) that the store does not
    have yet, then prints the tables. Stop it at any moment; the same command goes
    on.

    For example:

        ufselect run quick --data DIR --jobs 2
    """
    options = SimpleNamespace(**given)
    _check_files(options, options.plan)
    from ufselect.experiments.plan import find_plan, read_plan

    plan = read_plan(find_plan(options.plan))
    store = options.store or Path(f"{plan.name}.sqlite")
    located = _locate_sets(plan, options)
    check_outputs(store, *_files(options))
    experiment = _compute(plan, store, located, options)
    _give(experiment, options)
    counts = experiment.count()
    return 1 if counts.failed == counts.runs else 0


@command(
    argument("STORE", "an SQLite file", type=PATH),
    option(
        "--plan NAME",
        "which plan, where the store holds several (default: the one that was run "
        "last)",
    ),
    *TABLES,
    *PRINTING,
)
def report_command(**given: Any) -> int:
    """Show the results of an experiment that its store holds.

    Reads the store that ufselect run or ufselect reproduce has made, finished or
    not, and prints its tables. Nothing is computed and no data is needed.

    For example:

        ufselect report quick.sqlite --html quick.html
    """
    options = SimpleNamespace(**given)
    _check_files(options, options.store)
    from ufselect.experiments.results import read_experiment

    _give(read_experiment(options.store, options.plan), options)
    return 0


@command(
    argument("NAME", "the paper: scfs-2020"),
    option("--quick", "a small part of it, in a few minutes"),
    option(
        "--output FILE",
        "the report (default: NAME.html here; the store lies beside it)",
        type=PATH,
    ),
    *COMPUTING,
    *PRINTING,
)
def reproduce_command(**given: Any) -> int:
    """Repeat the experiments of a paper and compare cell by cell.

    Runs the plan of a paper (or goes on with it) and writes a report with every
    published cell, ours, the difference and a verdict, and the figures. Data sets
    that cannot be had are named.

    For example:

        ufselect reproduce scfs-2020 --quick --data DIR
    """
    options = SimpleNamespace(**given)
    check_outputs(options.output, options.markdown)
    with loading():
        from ufselect.plotting.axes import load_matplotlib

        load_matplotlib()
    from ufselect.experiments import scfs_2020
    from ufselect.experiments.plan import plan_path, read_plan

    if options.name != scfs_2020.NAME:
        raise ValueError(
            f"no paper is called {options.name!r}; there is: {scfs_2020.NAME}"
        )
    name = f"{options.name}-quick" if options.quick else options.name
    plan = read_plan(plan_path(name))
    page = options.output or Path(f"{name}.html")
    store = page.with_suffix(".sqlite")
    located = _locate_sets(plan, options)
    check_outputs(store, page, options.markdown)
    experiment = _compute(plan, store, located, options)
    paper = scfs_2020.published()
    report = scfs_2020.PaperComparison(experiment, located, paper).report()
    _print(report, {page: report.html, options.markdown: report.markdown}, options)
    if not options.json:
        print_text("\n" + printable(f"The report is {page}."))
        print_text(printable(f"The scores are in {store}."))
    return 0


def _files(options: SimpleNamespace) -> list[Path | None]:
    return [options.html, options.markdown, options.latex, options.csv]


def _check_files(options: SimpleNamespace, source: Path) -> None:
    """Refuse what cannot be written before hours of work; load libraries."""
    protect(source)
    check_outputs(*_files(options))
    with loading():
        from ufselect.plotting.axes import load_matplotlib

        if options.html is not None:
            load_matplotlib()


def _give(experiment: "Experiment", options: SimpleNamespace) -> None:
    """Write and print the tables of an experiment as the options ask."""
    from ufselect.experiments.report import experiment_report, latex

    report = experiment_report(experiment)
    files = {
        options.html: report.html,
        options.markdown: report.markdown,
        options.latex: lambda: latex(experiment),
        options.csv: lambda: experiment.frame().to_csv(index=False),
    }
    _print(report, files, options)
    if options.html is not None and not options.json:
        print_text("\n" + printable(f"The report is {options.html}."))


def _print(report: "Report", files: dict[Any, Any], options: SimpleNamespace) -> None:
    """Write the files that have a path, and print the report."""
    for path, text in files.items():
        if path is not None:
            write_whole(path, text())
    if options.json:
        print(report.json())
    else:
        print_plain(report.text())


def _locate_sets(plan: "Plan", options: SimpleNamespace) -> "Located":
    """Find the data of a plan and say on standard error what is not there."""
    from ufselect.experiments.runs import locate

    located = locate(plan.sets, options.data)
    protect(*located.paths.values())
    for name, reason in located.absent.items():
        say(f"without {name}: {reason}")
    if not located.paths:
        raise ValueError("none of the data sets of the plan is available")
    return located


def _compute(
    plan: "Plan", store: Path, located: "Located", options: SimpleNamespace
) -> "Experiment":
    """Compute the runs that are missing, with progress; return what the store has."""
    from ufselect.experiments.results import read_experiment
    from ufselect.experiments.run import RunProgress, run_plan
    from ufselect.experiments.store import set_aside_if_damaged

    damaged = set_aside_if_damaged(store)
    if damaged is not None:
        say(f"{store} is damaged: it is kept as {damaged}, and all is computed anew")
    if options.run_timeout is not None:
        plan = replace(plan, timeout=options.run_timeout)
    if options.run_memory is not None:
        plan = replace(plan, memory=options.run_memory)
    with Progress(quiet=options.quiet) as progress, _termination_is_an_interruption():

        def show(state: RunProgress) -> None:
            left = state.total - state.known
            done = state.computed + state.failed
            progress.step(done, left, f"{state.finished} of {state.total} runs")

        run_plan(
            plan,
            store,
            located,
            n_jobs=options.jobs,
            dask=options.dask,
            retry=options.retry,
            callback=show,
        )
    return read_experiment(store, plan.name)


@contextmanager
def _termination_is_an_interruption() -> Iterator[None]:
    """Say what was kept also when the time of a batch job is over."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set a handler
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
