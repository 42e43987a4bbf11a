"""The options of ``ufselect select``, and which of them go together."""

import argparse
from pathlib import Path
from typing import Any

from ufselect.cli.outputs import check_drawing
from ufselect.cli.tables import add_common_options, add_table_arguments
from ufselect.cli.usage import (
    UsageError,
    correlation,
    image_shape,
    number_of_features,
    parameter,
    positive,
    refuse_folders_that_are_missing,
    seconds,
)

EFFORTS = ("quick", "default", "thorough")

EXAMPLES = """examples:
  ufselect select genes.csv
  ufselect select genes.csv -k 50 -o selected.csv --report selected.html
  ufselect select cells.h5ad --method LaplacianScore --labels cell_type
  ufselect select faces.mat --variable X --image-shape 32x32 --report faces.html
  zcat big.tsv.gz | ufselect select - --json > selection.json
"""


def add_options(commands: Any) -> argparse.ArgumentParser:
    """Add the command with its options; return its parser."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "select",
        help="select the features of a file",
        description="Reads a table, ranks its features without labels, decides how "
        "many to keep (unless -k says so), and says why and how far to believe it. "
        "Of genes.csv it writes genes.selected.csv and the page genes.report.html to "
        "the current folder, unless -o, --scores or --report name files; what is there "
        "stays, and names get a number.",
        epilog=EXAMPLES,
    )
    add_table_arguments(parser)
    _add_selecting(parser.add_argument_group("selecting"))
    _add_writing(parser.add_argument_group("writing"))
    add_common_options(parser)
    return parser


def _add_selecting(group: Any) -> None:
    group.add_argument(
        "-k",
        "--features",
        type=number_of_features,
        metavar="N",
        help="how many to keep, or which fraction (default: decided)",
    )
    group.add_argument(
        "--method",
        metavar="NAME",
        help="method that ranks: see ufselect methods (default: AutoSelect)",
    )
    group.add_argument(
        "--param",
        type=parameter,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the method (may be given several times)",
    )
    group.add_argument(
        "--clusters",
        type=positive,
        metavar="N",
        help="number of clusters of methods that need one (default: decided)",
    )
    group.add_argument(
        "--max-correlation",
        type=correlation,
        metavar="R",
        help="skip features that correlate more than this with a better one (default: "
        "0.8, no limit for a method that you name)",
    )
    group.add_argument(
        "--time-budget",
        type=seconds,
        metavar="SECONDS",
        help="start no further fit or test after this time; one that runs goes on",
    )
    group.add_argument(
        "--jobs", type=positive, metavar="N", help="fits at once (default: 1)"
    )


def _add_writing(group: Any) -> None:
    group.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="write the table with the chosen features, in the format of its name or "
        "else of FILE; - is standard output",
    )
    group.add_argument(
        "--no-files",
        action="store_true",
        help="write no file; so it is with --json and with standard input, unless "
        "files are named",
    )
    group.add_argument(
        "--scores", type=Path, metavar="CSV", help="write the ranking of all features"
    )
    group.add_argument(
        "--keep-formulas",
        action="store_true",
        help="in text, write names as they are, even if a spreadsheet would run them; "
        "otherwise they get an apostrophe, which reading takes off again",
    )
    group.add_argument(
        "--report", type=Path, metavar="HTML", help="write a page with figures"
    )
    group.add_argument(
        "--effort",
        choices=EFFORTS,
        help="what the page may cost: about 2, 10 or 50 fits (default: quick)",
    )
    group.add_argument(
        "--image-shape",
        type=image_shape,
        metavar="HxW",
        help="features are pixels: draw the chosen ones on the page",
    )
    group.add_argument(
        "--image-order",
        choices=("rows", "columns"),
        default="rows",
        help="pixels follow each other along rows, or along columns as in MATLAB "
        "(default: rows)",
    )


def check_writing(options: argparse.Namespace) -> None:
    """Refuse what cannot be written, or would destroy something, before the work."""
    if options.report is None:
        for name in ("effort", "image_shape"):
            if getattr(options, name) is not None:
                option = f"--{name.replace('_', '-')}"
                raise UsageError(f"{option} is about the page; add --report FILE.html")
    to_stdout = options.output == "-"
    if to_stdout and options.json:
        raise UsageError(
            "-o - and --json both print to standard output; give one a file"
        )
    table = None if to_stdout or options.output is None else Path(options.output)
    paths = [path for path in (table, options.scores, options.report) if path]
    refuse_folders_that_are_missing(*paths)
    resolved = [path.resolve() for path in paths]
    if len(set(resolved)) < len(resolved):
        raise UsageError("-o, --scores and --report need different files")
    if options.file != "-" and Path(options.file).resolve() in resolved:
        raise UsageError(f"{options.file} would be replaced; choose another output")
    if options.report is not None:
        check_drawing()
