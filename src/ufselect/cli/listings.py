"""``ufselect methods`` and ``ufselect datasets``: lists of both."""

import inspect
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from ufselect.cli.inputs import loading
from ufselect.cli.options import JSON, PATH, QUIET, argument, command, option
from ufselect.cli.output import (
    UNLIMITED_WIDTH,
    Progress,
    print_json,
    print_table,
    say,
    shortened,
    width_of,
)


@command(JSON, QUIET)
def methods_command(json: bool, quiet: bool) -> int:
    """List the methods.

    Lists every method with one line each. docs/methods.md has a page for each.

    For example:

        ufselect methods
        ufselect methods --json
    """
    with loading():
        from ufselect import AutoSelect, all_selectors

        methods = {"AutoSelect": AutoSelect, **all_selectors()}
    summaries = {
        name: (inspect.getdoc(method) or "").partition("\n")[0]
        for name, method in methods.items()
    }
    if json:
        print_json(summaries)
    else:
        longest = max(map(len, summaries))
        # A line each also on a terminal, where twenty of them fit.
        width = width_of(sys.stdout) if sys.stdout.isatty() else UNLIMITED_WIDTH
        for name, summary in summaries.items():
            print(shortened(f"{name:{longest}}  {summary}", width))
    return 0


@command(
    argument("[NAME]...", "data sets (default: all)", nargs=-1, required=False),
    option(
        "--fetch",
        "download the named sets, unless they are on this machine, and print where "
        "they are",
    ),
    option("--data DIR", "folder of local copies (default: UFSELECT_DATA)", type=PATH),
    JSON,
    QUIET,
)
def datasets_command(
    name: Sequence[str], fetch: bool, data: Path | None, json: bool, quiet: bool
) -> int:
    """List public data sets, or download some.

    Lists the data sets of the catalogue and of the local folder: their shape, and
    whether they are on this machine.

    For example:

        ufselect datasets
        ufselect datasets --fetch lymphoma ORL
    """
    if fetch and not name:
        raise click.UsageError(
            "--fetch needs names of data sets; ufselect datasets lists them"
        )
    with loading():
        from ufselect.data import DataUnavailableError, catalogued_sets
        from ufselect.data import fetch as download
        from ufselect.data.download import local_names, location_of

    names = list(name) or list(dict.fromkeys([*catalogued_sets(), *local_names(data)]))
    # A name that is not known is refused before anything is downloaded.
    for each in names:
        location_of(each, data)
    failed = []
    with Progress(quiet=quiet) as progress:
        for each in names if fetch else ():

            def show(received: int, total: int | None, name: str = each) -> None:
                progress.step(received, total or 0, f"downloading {name}")

            try:
                download(each, data, progress=show)
            except DataUnavailableError as error:
                say(error)
                failed.append(each)
    rows = [_row(each, data) for each in names if each not in failed]
    if json:
        print_json(rows)
    elif fetch:
        for row in rows:
            print(row["path"])
    else:
        numbers = ("n_samples", "n_features", "n_classes")
        cells = [
            [
                row["name"],
                *("-" if row[key] is None else str(row[key]) for key in numbers),
                "no public address"
                if row["place"] == "absent" and not row["addresses"]
                else row["place"],
                row["domain"],
            ]
            for row in rows
        ]
        header = ["name", "samples", "features", "classes", "where", "what"]
        print_table(header, cells, words=["where", "what"])
    return int(bool(failed))


def _row(name: str, folder: Path | None) -> dict[str, Any]:
    from ufselect.data import catalogued_sets
    from ufselect.data.download import location_of

    known = catalogued_sets().get(name)
    place, path = location_of(name, folder)
    return {
        "name": name,
        "n_samples": known and known.n_samples,
        "n_features": known and known.n_features,
        "n_classes": known and known.n_classes,
        "domain": known.domain if known else "not in the catalogue",
        "place": place,
        "path": path and str(path),
        "source": known and known.source,
        "addresses": list(known.addresses) if known else [],
    }
