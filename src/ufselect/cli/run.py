"""``ufselect run``: the experiments of a plan, stopped and gone on with at will."""

import argparse
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from ufselect.cli.outputs import add_page_option, add_table_options, check_outputs, give
from ufselect.cli.progress import ProgressLine
from ufselect.cli.usage import add_quiet_option, positive, seconds, size

if TYPE_CHECKING:
    from ufselect.experiments.plan import Plan
    from ufselect.experiments.records import Located


def add_parser(commands: Any) -> None:
    """Add this command to the parser."""
    parser = commands.add_parser(
        "run",
        help="run a plan of experiments, or go on with it",
        description="Runs every cell of a plan (data set x method x setting) that the "
        "store does not have yet, then prints the tables. Stop it at any moment; the "
        "same command goes on.",
        epilog="example: ufselect run quick --data DIR --jobs 2",
    )
    parser.add_argument(
        "plan",
        type=Path,
        metavar="PLAN",
        help="a plan in TOML, or one that comes with ufselect, such as quick",
    )
    parser.add_argument(
        "--store",
        type=Path,
        metavar="FILE",
        help="SQLite file of the results (default: NAME-OF-PLAN.sqlite here)",
    )
    add_page_option(parser)
    add_run_options(parser)
    parser.set_defaults(run=run)


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Add what every command that computes cells takes."""
    parser.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        help="folder of the data sets (default: UFSELECT_DATA, else the cache)",
    )
    parser.add_argument(
        "--jobs",
        type=positive,
        default=os.cpu_count() or 1,
        metavar="N",
        help="processes, one thread each (default: one per core, %(default)s here)",
    )
    parser.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="compute on the workers of this Dask scheduler instead",
    )
    add_limit_options(parser)
    add_quiet_option(parser)
    add_table_options(parser)


def add_limit_options(parser: argparse.ArgumentParser) -> None:
    """Add what a cell may take, and what becomes of those that took more."""
    parser.add_argument(
        "--cell-timeout",
        type=seconds,
        metavar="SECONDS",
        help="give up a cell that takes longer (default: what the plan says, or never)",
    )
    parser.add_argument(
        "--cell-memory",
        type=size,
        metavar="SIZE",
        help="give up a cell whose process takes more, such as 2GB (default: likewise)",
    )
    parser.add_argument(
        "--recover",
        action="store_true",
        help="if the store is damaged, go on with what can be read of it; the damaged "
        "file is kept",
    )
    parser.add_argument(
        "--retry",
        action="store_true",
        help="try cells again that were given up, or whose process died",
    )


def run(options: argparse.Namespace) -> int:
    """Run the plan and print its tables."""
    from ufselect.experiments.plan import find_plan, read_plan
    from ufselect.experiments.stored import read_experiment
    from ufselect.report.experiment import experiment_report

    check_outputs(options)
    plan = read_plan(find_plan(options.plan))
    store = options.store or Path(f"{plan.name}.sqlite")
    located = locate_sets(plan, options)
    failed = compute(plan, store, located, options)
    experiment = read_experiment(store, plan)
    give(experiment_report(experiment), options)
    return 1 if failed == experiment.count().cells else 0


def locate_sets(plan: "Plan", options: argparse.Namespace) -> "Located":
    """Find the data of a plan and say on standard error what is not there."""
    from ufselect.experiments.records import locate

    located = locate(plan.sets, options.data)
    for name, reason in located.absent.items():
        print(f"ufselect: without {name}: {reason}", file=sys.stderr)
    if not located.paths:
        raise ValueError("none of the data sets of the plan is available")
    return located


def compute(
    plan: "Plan", store: Path, located: "Located", options: argparse.Namespace
) -> int:
    """Run the cells that are missing, with progress; return how many failed."""
    from ufselect.experiments.limits import Limits
    from ufselect.experiments.runner import run_plan

    if options.recover:
        _recover(plan, store, located)
    line = ProgressLine("cells", quiet=options.quiet)
    try:
        with _termination_is_an_interruption():
            progress = run_plan(
                plan,
                store,
                located,
                n_jobs=options.jobs,
                dask=options.dask,
                limits=Limits(options.cell_timeout, options.cell_memory),
                retry=options.retry,
                report=lambda state: line.show(
                    state.finished, state.total, state.seconds_left()
                ),
            )
    finally:
        line.close()
    return progress.failed


def _recover(plan: "Plan", store: Path, located: "Located") -> None:
    """Go on with what can be read of a damaged store; say what that is."""
    from ufselect.experiments.recovery import recover
    from ufselect.experiments.runner import missing_cells

    recovered = recover(store)
    if recovered is None:
        print(f"ufselect: {store} is not damaged", file=sys.stderr)
        return
    print(
        f"ufselect: recovered {recovered.rankings} cells, {recovered.judgements} of "
        f"them with scores; the damaged store is kept as {recovered.damaged}",
        file=sys.stderr,
    )
    missing = missing_cells(plan, store, located)
    names = Counter(f"{cell.selector} on {cell.set_name}" for cell in missing)
    listed = ", ".join(f"{name} ({number})" for name, number in names.items())
    if listed:
        print(
            f"ufselect: lost or never finished, computed now: {listed}", file=sys.stderr
        )


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
