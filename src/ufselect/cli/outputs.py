"""Files that commands write: found wanting before the work, written after it."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ufselect.cli.usage import refuse_folders_that_are_missing

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
    refuse_folders_that_are_missing(options.html, options.markdown)
    if options.html is not None:
        check_drawing()


def check_drawing() -> None:
    """Refuse to make a page with figures if there is nothing to draw with."""
    from ufselect.report.drawing import drawing

    with drawing():
        pass  # Raises if there is nothing.


def write_whole(path: Path, text: str) -> None:
    """Write a file that takes its name when it is complete."""
    from ufselect.data.replacing import replacing

    try:
        with replacing(path) as part:
            # Line ends as they are, also in CSV on Windows.
            part.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise ValueError(
            f"{path} cannot be written ({error.strerror or error}); choose another "
            "place"
        ) from error


def give(report: "ExperimentReport", options: argparse.Namespace) -> None:
    """Write and print a report as the options ask."""
    if options.html is not None:
        write_whole(options.html, report.page())
    if options.markdown is not None:
        write_whole(options.markdown, report.markdown())
    print(report.as_json() if options.json else report.text(), end="")
    if options.json:
        print()
    elif options.html is not None:
        print(f"\nThe page is {options.html}.")
