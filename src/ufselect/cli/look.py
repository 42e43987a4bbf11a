"""``ufselect look``: what is in a file, and what ``select`` would do with it."""

import shlex
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

from ufselect.cli.inputs import check_source, few_notes, loading, reading_options
from ufselect.cli.options import PRINTING, SEED, TABLE, command
from ufselect.cli.output import (
    print_json,
    print_table,
    print_text,
    printable,
    progress_for,
    shortened,
)

if TYPE_CHECKING:
    from ufselect.data import ColumnPreview, Preview

# So that it fits a screen of 24 lines and 80 columns.
MAX_COLUMNS = 7
MAX_NO_FEATURES = 5
MAX_NOTES_BESIDE_A_PROBLEM = 2
MAX_CELL_LENGTH = 20
HEADER = ["column", "type", "is", "missing", "distinct", "values", "why"]


@command(*TABLE, *(each for each in PRINTING if each is not SEED))
def look_command(**given: Any) -> int:
    """See what is in a file, and what select would do with it.

    Reads a table and shows its size, its columns with their types, missing values
    and roles, its scale, and the command to run. Nothing is computed and nothing is
    written.

    For example:

        ufselect look genes.csv
        ufselect look genes.csv -v
        ufselect look study.xlsx --sheet Measurements --json
    """
    options = SimpleNamespace(**given)
    check_source(options.file)
    with loading():
        from ufselect.data import preview

    with progress_for(options) as progress:
        progress.now(f"reading {options.name or options.file}")
        found = preview(options.file, **reading_options(options))
    found = _without_gaps(found, options)
    advised = _command(found, options)
    if options.json:
        print_json(found.to_dict() | {"command": advised})
    else:
        _print(found, advised, verbose=options.verbose)
    return 0


def _without_gaps(found: "Preview", options: SimpleNamespace) -> "Preview":
    """Return the preview after the options for missing values."""
    asked = {"--fill": options.fill, "--drop-incomplete": options.drop_incomplete}
    dealt_with = [f"{name}={value}" for name, value in asked.items() if value]
    if not dealt_with:
        return found
    rest, problem, remedies = found.options, found.problem, found.remedies
    if any(each.startswith("--fill") for one in remedies for each in one.options):
        rest = [each for each in rest if each not in remedies[0].options]
        problem, remedies = None, []
    options_now = [*rest, *dealt_with]
    return replace(found, problem=problem, remedies=remedies, options=options_now)


def _command(found: "Preview", options: SimpleNamespace) -> str:
    """Return the command to run, with the options it needs."""
    needed = list(found.options)
    gaps = any(each.role == "feature" and each.n_missing for each in found.columns)
    if gaps and not any(each.startswith(("--fill", "--drop-inc")) for each in needed):
        needed.append("--fill=median")
    name = options.name or options.file
    # A name that looks like an option would be taken for one.
    name = f"./{name}" if name.startswith("-") and name != "-" else name
    return shlex.join(["ufselect", "select", name, *needed])


def _print(found: "Preview", advised: str, *, verbose: bool) -> None:
    transposed = "; features are in its rows" if found.transposed else ""
    print_text(
        printable(
            f"{found.file}: {found.format}, {found.n_rows} rows, {found.n_columns} "
            f"columns{transposed}."
        )
    )
    if found.problem is None:
        print_text(
            f"{found.n_features} features of {found.n_samples} samples to select from.",
            "bold green",
        )
    else:
        print_text(printable(f"Not yet: {found.problem}."), "bold red")
    print_text(printable(found.scale))
    most = MAX_NOTES_BESIDE_A_PROBLEM if found.problem else None
    for note in found.notes if verbose else few_notes(found.notes, most):
        print_text(printable(note))
    print_text("")
    _print_columns(found, verbose=verbose)
    print_text("\nTo select, type")
    # In one piece, to be copied.
    click.secho(f"  {printable(advised)}", bold=True)


def _print_columns(found: "Preview", *, verbose: bool) -> None:
    """Print the columns; if some are cut, the unusual ones come first."""
    columns = list(found.columns)
    if not verbose:
        others = [each for each in columns if each.role != "feature"]
        others = sorted(others, key=lambda each: each.role == "left out")
        features = [each for each in columns if each.role == "feature"]
        features.sort(key=lambda each: -each.n_missing)
        columns = [*others[:MAX_NO_FEATURES], *features][:MAX_COLUMNS]
    rows = [_row(each) for each in columns]
    if not verbose or not any(row[-1] for row in rows):
        rows = [row[:-1] for row in rows]
    header = HEADER[: len(rows[0])] if rows else HEADER
    print_table(header, rows, words=["type", "is", "values", "why"])
    n_all = found.n_features if found.transposed else found.n_columns
    if n_all > len(rows):
        more = "" if verbose else "; -v shows all"
        print_text(f"and {n_all - len(rows)} more{more}.")


def _row(column: "ColumnPreview") -> list[str]:
    values = ", ".join(map(str, column.examples))
    if column.type == "number" and column.minimum is not None:
        values = f"{column.minimum:.4g} to {column.maximum:.4g}"
    return [
        shortened(column.name, MAX_CELL_LENGTH),
        column.type,
        column.role,
        str(column.n_missing or "-"),
        str(column.n_distinct),
        shortened(values, MAX_CELL_LENGTH),
        column.why,
    ]
