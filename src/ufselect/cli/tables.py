"""The user's file: what commands that read one take, and how they read it."""

import argparse
import shlex
from typing import TYPE_CHECKING, Any

from ufselect.cli.progress_json import add_progress_option
from ufselect.cli.usage import add_quiet_option, seed

if TYPE_CHECKING:
    from ufselect.data import Table

# Columns that a message names.
MOST_NAMES = 3


def add_table_arguments(parser: Any) -> None:
    """Add the file and how it is to be read."""
    parser.add_argument(
        "file",
        metavar="FILE",
        help="a table: text, Parquet, Feather, Excel, NumPy, MATLAB, Matrix Market, "
        "AnnData; - is standard input",
    )
    reading = parser.add_argument_group("reading")
    reading.add_argument(
        "--labels",
        metavar="COLUMN",
        help="classes of the samples, to compare with at the end; they take no part in "
        "the selection",
    )
    reading.add_argument("--id", metavar="COLUMN", help="names of the samples")
    reading.add_argument(
        "--drop",
        metavar="COLUMN",
        action="append",
        default=[],
        help="leave this column out (may be given several times)",
    )
    reading.add_argument(
        "--fill",
        choices=("mean", "median", "zero"),
        help="what to put in place of missing values: the mean or the median of their "
        "column, or 0 (default: they are refused)",
    )
    reading.add_argument(
        "--na",
        metavar="TEXT",
        action="append",
        default=[],
        help="text that means a missing value, beside NA and the like (may be given "
        "several times)",
    )
    reading.add_argument(
        "--drop-incomplete",
        choices=("rows",),
        help="leave out samples with missing values",
    )
    reading.add_argument(
        "--skip-rows",
        type=int,
        default=0,
        metavar="N",
        help="lines of the file before the table",
    )
    reading.add_argument(
        "--transpose",
        action=argparse.BooleanOptionalAction,
        help="whether the rows of the file are features (default: decided)",
    )
    reading.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        help="whether the first row names the columns (default: decided)",
    )
    reading.add_argument(
        "--variable",
        metavar="NAME",
        help="which variable of a MATLAB or NumPy file, or layer of AnnData",
    )
    reading.add_argument("--sheet", metavar="NAME", help="which sheet of a workbook")
    reading.add_argument(
        "--name",
        metavar="NAME",
        help="what the table is called in messages, on the page, and in the command to "
        "repeat it (default: FILE)",
    )


def add_common_options(parser: Any) -> None:
    """Add what every command that selects takes."""
    parser.add_argument(
        "--seed",
        type=seed,
        default=0,
        metavar="N",
        help="seed of all that is random (default: 0)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON for scripts")
    add_progress_option(parser)
    add_quiet_option(parser)


def read(options: argparse.Namespace) -> "Table":
    """Read the file as the options say."""
    from ufselect.data import read_table
    from ufselect.data.tables.isolation import within_memory
    from ufselect.data.tables.table import filled, without_incomplete

    with within_memory():
        table = read_table(
            options.file,
            labels=options.labels,
            id_column=options.id,
            drop=options.drop,
            transpose=options.transpose,
            variable=options.variable,
            sheet=options.sheet,
            header=options.header,
            na_values=options.na,
            skip_rows=options.skip_rows,
            name=options.name,
            isolate=True,
        )
        if options.drop_incomplete:
            table = without_incomplete(table)
        return table if options.fill is None else filled(table, options.fill)


def refuse_incomplete(table: "Table") -> None:
    """Refuse missing and infinite values by the names of their columns."""
    names = table.incomplete().tolist()
    if not names:
        return
    first = ", ".join(repr(name) for name in names[:MOST_NAMES])
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    plural = "s" if len(names) > 1 else ""
    drop = " ".join(map(_drop_option, names[:MOST_NAMES])) + (" ..." if more else "")
    raise ValueError(
        f"{table.origin.name} has missing or infinite values in column{plural} {first}"
        f"{more}; fill them in (--fill median), leave the rows out (--drop-incomplete "
        f"rows), or leave the column{plural} out ({drop})"
    )


def _drop_option(name: str) -> str:
    # What begins like an option would be taken for one.
    return f"--drop{'=' if name.startswith('-') else ' '}{shlex.quote(name)}"


def refuse_too_many(options: argparse.Namespace, table: "Table") -> None:
    """Refuse to select more features than there are, and more clusters than samples."""
    n_samples, n_features = table.shape
    clusters = options.clusters or 1
    asked = {
        "-k": (options.features or 1, n_features, "features"),
        "--clusters": (
            clusters,
            n_samples,
            "samples",
        ),
    }
    for option, (number, most, things) in asked.items():
        if number > most:
            raise ValueError(
                f"{option} {number} is more than the {most} {things} of "
                f"{table.origin.name}; ask for at most {most}"
            )
