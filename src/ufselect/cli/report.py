"""``ufselect report``: tables and figures of an experiment, from its store alone."""

import argparse
from pathlib import Path
from typing import Any

from ufselect.cli.outputs import add_page_option, add_table_options, check_outputs, give
from ufselect.cli.usage import add_quiet_option


def add_parser(commands: Any) -> None:
    """Add this command to the parser."""
    parser = commands.add_parser(
        "report",
        help="show the results of an experiment that its store holds",
        description="Reads the store that ufselect run or ufselect reproduce has made, "
        "finished or not, and prints its tables. Nothing is computed and no data is "
        "needed.",
        epilog="example: ufselect report quick.sqlite --html quick.html",
    )
    parser.add_argument("store", type=Path, metavar="STORE", help="an SQLite file")
    parser.add_argument(
        "--plan",
        type=Path,
        metavar="PLAN",
        help="which plan, where the store holds several or does not say (default: the "
        "one that was run last)",
    )
    add_page_option(parser)
    add_table_options(parser)
    add_quiet_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the tables and write what was asked for."""
    from ufselect.experiments.plan import find_plan, read_plan
    from ufselect.experiments.stored import read_experiment
    from ufselect.report.experiment import experiment_report

    check_outputs(options)
    plan = read_plan(find_plan(options.plan)) if options.plan else None
    give(experiment_report(read_experiment(options.store, plan)), options)
    return 0
