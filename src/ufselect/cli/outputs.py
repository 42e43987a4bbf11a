"""Files that commands write: found wanting before the work, written after it."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ufselect.report.experiment import ExperimentReport


def add_page_option(parser: Any) -> None:
    """Add where the page is written."""
    parser.add_argument(
        "--html", type=Path, metavar="FILE", help="write a page with tables and figures"
    )


def add_table_options(parser: Any) -> None:
    """Add how the tables are given."""
    parser.add_argument(
        "--markdown", type=Path, metavar="FILE", help="write the tables as Markdown"
    )
    parser.add_argument("--json", action="store_true", help="print JSON for scripts")


def check_outputs(options: argparse.Namespace) -> None:
    """Refuse a file that cannot be written, before anything is computed."""
    for path in (options.html, options.markdown):
        if path is not None and not path.parent.is_dir():
            raise ValueError(
                f"cannot write {path}: the folder {path.parent} does not exist; create "
                "it or choose another file"
            )
    if options.html is not None:
        from ufselect.report.drawing import drawing

        with drawing():
            pass  # Raises if there is nothing to draw with.


def give(report: "ExperimentReport", options: argparse.Namespace) -> None:
    """Write and print a report as the options ask."""
    if options.html is not None:
        options.html.write_text(report.page(), encoding="utf-8")
    if options.markdown is not None:
        options.markdown.write_text(report.markdown(), encoding="utf-8")
    print(report.as_json() if options.json else report.text(), end="")
    if options.json:
        print()
    elif options.html is not None:
        print(f"\nThe page is {options.html}.")
