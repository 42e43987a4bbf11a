"""``ufselect reproduce``: a published experiment again, cell by cell."""

import argparse
from pathlib import Path
from typing import Any

from ufselect.cli.outputs import write_whole
from ufselect.cli.run import add_run_options, compute, locate_sets
from ufselect.cli.usage import refuse_folders_that_are_missing


def add_parser(commands: Any) -> None:
    """Add this command to the parser."""
    parser = commands.add_parser(
        "reproduce",
        help="repeat the experiments of a paper and compare cell by cell",
        description="Runs the plan of a paper (or goes on with it) and writes a page "
        "with every published cell, ours, the difference and a verdict, and the "
        "figures. Data sets that cannot be had are named.",
        epilog="example: ufselect reproduce scfs-2020 --quick --data DIR",
    )
    parser.add_argument("name", metavar="NAME", help="the paper: scfs-2020")
    parser.add_argument(
        "--quick", action="store_true", help="a small part of it, in a few minutes"
    )
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="the page (default: NAME.html here; the store lies beside it)",
    )
    add_run_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the plan, write the page and print the tables."""
    from ufselect.experiments.plan import plan_path, read_plan
    from ufselect.experiments.published import published
    from ufselect.report.comparison import read_comparison
    from ufselect.report.page import html_page
    from ufselect.report.reproduction import (
        comparison_as_json,
        comparison_as_text,
        reproduction_sections,
    )
    from ufselect.report.tables import markdown_table

    paper = published(options.name)
    name = f"{options.name}-quick" if options.quick else options.name
    plan = read_plan(plan_path(name))
    page = options.output or Path(f"{name}.html")
    refuse_folders_that_are_missing(page, options.markdown)
    located = locate_sets(plan, options)
    store = page.with_suffix(".sqlite")
    compute(plan, store, located, options)
    comparison = read_comparison(plan, paper, store, located)
    title = f"{paper.title}: reproduction"
    write_whole(page, html_page(title, reproduction_sections(comparison)))
    if options.markdown:
        text = comparison_as_text(comparison, markdown_table)
        write_whole(options.markdown, f"# {title}\n\n{text}")
    if options.json:
        print(comparison_as_json(comparison))
    else:
        print(comparison_as_text(comparison))
        print(f"The page is {page}, the scores are in {store}.")
    return 0
