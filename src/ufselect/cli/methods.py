"""``ufselect methods``: the list of methods."""

import argparse
import json
from typing import Any

from ufselect.cli.usage import add_quiet_option


def add_parser(commands: Any) -> None:
    """Add this command to the parser."""
    parser = commands.add_parser(
        "methods",
        help="list the methods",
        description="Lists every method with one line each.",
        epilog="example: ufselect methods --json",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON for scripts")
    form.add_argument(
        "--markdown", action="store_true", help="print the page of method cards"
    )
    add_quiet_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the list."""
    from ufselect import all_selectors
    from ufselect.report.method_cards import method_page, summary_line

    selectors = all_selectors()
    summaries = {name: summary_line(value) for name, value in selectors.items()}
    if options.json:
        print(json.dumps(summaries, indent=2))
    elif options.markdown:
        print(method_page(selectors), end="")
    else:
        width = max(len(name) for name in summaries)
        for name, summary in summaries.items():
            print(f"{name:{width}}  {summary}")
    return 0
