"""``ufselect run``, ``report`` and ``reproduce``: plans of experiments."""

import os
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

from ufselect.cli.inputs import loading
from ufselect.cli.options import (
    JSON,
    MARKDOWN,
    PATH,
    POSITIVE,
    QUIET,
    argument,
    command,
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
    from ufselect.experiments.cells import Located
    from ufselect.experiments.plan import Plan
    from ufselect.experiments.report import Document


def size_in_bytes(text: str) -> int:
    """Return the bytes of a size such as 2GB."""
    from ufselect.experiments.limits import bytes_of

    try:
        return bytes_of(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


N_CORES = os.cpu_count() or 1
HTML = option("--html FILE", "write a report with tables and figures", type=PATH)
PRINTING = [MARKDOWN, JSON, QUIET]
# What every command that computes cells takes.
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
        "--cell-timeout SECONDS",
        "give up a cell that takes longer (default: what the plan says, or never)",
        type=seconds,
    ),
    option(
        "--cell-memory SIZE",
        "give up a cell whose process takes more, such as 2GB (default: what the "
        "plan says, or no limit)",
        type=size_in_bytes,
    ),
    option(
        "--recover",
        "if the store is damaged, go on with what can be read of it; the damaged file "
        "is kept",
    ),
    option("--retry", "try cells again that were given up, or whose process died"),
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
    HTML,
    *COMPUTING,
    *PRINTING,
)
def run_command(**given: Any) -> int:
    """Run a plan of experiments, or go on with it.

    Runs every cell of a plan (data set x method x setting) that the store does not
    have yet, then prints the tables. Stop it at any moment; the same command goes
    on.

    For example:

        ufselect run quick --data DIR --jobs 2
    """
    options = SimpleNamespace(**given)
    _check_outputs(options, options.plan)
    from ufselect.experiments.plan import find_plan, read_plan
    from ufselect.experiments.report import experiment_report
    from ufselect.experiments.stored import read_experiment

    plan = read_plan(find_plan(options.plan))
    store = options.store or Path(f"{plan.name}.sqlite")
    located = _locate_sets(plan, options)
    check_outputs(store, options.html, options.markdown)
    failed = _compute(plan, store, located, options)
    experiment = read_experiment(store, plan)
    _give(experiment_report(experiment), options.html, options)
    return 1 if failed == experiment.count().cells else 0


@command(
    argument("STORE", "an SQLite file", type=PATH),
    option(
        "--plan PLAN",
        "which plan, where the store holds several or does not say (default: the one "
        "that was run last)",
        type=PATH,
    ),
    HTML,
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
    _check_outputs(options, options.store)
    from ufselect.experiments.plan import find_plan, read_plan
    from ufselect.experiments.report import experiment_report
    from ufselect.experiments.stored import read_experiment

    plan = read_plan(find_plan(options.plan)) if options.plan else None
    _give(
        experiment_report(read_experiment(options.store, plan)), options.html, options
    )
    return 0


@command(
    argument("NAME", "the paper: scfs-2020"),
    option("--quick", "a small part of it, in a few minutes"),
    option(
        "--output FILE",
        "the report (default: NAME.html here; the store lies beside it)",
        type=PATH,
    ),
    option(
        "--fit-curves SECONDS",
        "search for the setting behind each published convergence curve, for so long a "
        "set (default: no search)",
        type=seconds,
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
    from ufselect.experiments.convergence_curves import fit_curves
    from ufselect.experiments.plan import plan_path, read_plan
    from ufselect.experiments.published import published
    from ufselect.experiments.reproduction import read_comparison

    paper = published(options.name)
    name = f"{options.name}-quick" if options.quick else options.name
    plan = read_plan(plan_path(name))
    page = options.output or Path(f"{name}.html")
    store = page.with_suffix(".sqlite")
    located = _locate_sets(plan, options)
    check_outputs(store, page, options.markdown)
    _compute(plan, store, located, options)
    fits = {}
    if options.fit_curves is not None:
        if not options.quiet:
            say(f"searching for settings, {options.fit_curves:g} s for each curve")
        fits = fit_curves(paper, located, options.fit_curves)
    _give(read_comparison(plan, paper, store, located, fits), page, options)
    if not options.json:
        print_text(printable(f"The scores are in {store}."))
    return 0


def _check_outputs(options: SimpleNamespace, source: Path) -> None:
    """Refuse what cannot be written before hours of work; load libraries."""
    protect(source)
    check_outputs(options.html, options.markdown)
    with loading():
        from ufselect.plotting.axes import load_matplotlib

        if options.html is not None:
            load_matplotlib()


def _give(report: "Document", page: Path | None, options: SimpleNamespace) -> None:
    """Write and print a report as the options ask."""
    if page is not None:
        write_whole(page, report.page())
    if options.markdown is not None:
        write_whole(options.markdown, report.markdown())
    if options.json:
        print(report.as_json())
        return
    print_plain(report.text())
    if page is not None:
        print_text("\n" + printable(f"The report is {page}."))


def _locate_sets(plan: "Plan", options: SimpleNamespace) -> "Located":
    """Find the data of a plan and say on standard error what is not there."""
    from ufselect.experiments.cells import locate

    located = locate(plan.sets, options.data)
    protect(*located.paths.values())
    for name, reason in located.absent.items():
        say(f"without {name}: {reason}")
    if not located.paths:
        raise ValueError("none of the data sets of the plan is available")
    return located


def _compute(
    plan: "Plan", store: Path, located: "Located", options: SimpleNamespace
) -> int:
    """Run the cells that are missing, with progress; return how many failed."""
    from ufselect.experiments.limits import Limits
    from ufselect.experiments.runner import run_plan

    if options.recover:
        _recover(plan, store, located)
    with (
        Progress(quiet=options.quiet) as progress,
        _termination_is_an_interruption(),
    ):
        finished = run_plan(
            plan,
            store,
            located,
            n_jobs=options.jobs,
            dask=options.dask,
            limits=Limits(options.cell_timeout, options.cell_memory),
            retry=options.retry,
            report=lambda state: progress.step(
                state.finished,
                state.total,
                f"{state.finished} of {state.total} cells",
            ),
        )
    return finished.failed


def _recover(plan: "Plan", store: Path, located: "Located") -> None:
    """Go on with what can be read of a damaged store; say what that is."""
    from ufselect.experiments.recovery import recover
    from ufselect.experiments.runner import missing_cells

    recovered = recover(store)
    if recovered is None:
        say(f"{store} is not damaged")
        return
    say(
        f"recovered {recovered.rankings} cells, {recovered.judgements} of them with "
        f"scores; the damaged store is kept as {recovered.damaged}"
    )
    missing = missing_cells(plan, store, located)
    names = Counter(f"{cell.selector} on {cell.set_name}" for cell in missing)
    listed = ", ".join(f"{name} ({number})" for name, number in names.items())
    if listed:
        say(f"lost or never finished, computed now: {listed}")


@contextmanager
def _termination_is_an_interruption() -> Iterator[None]:
    """Say what was kept also when the time of a batch job is over."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
