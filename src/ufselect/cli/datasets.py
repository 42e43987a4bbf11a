"""``ufselect datasets``: the catalogue of public data, and its downloads."""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ufselect.cli.usage import add_quiet_option


def add_parser(commands: Any) -> None:
    """Add this command to the parser."""
    parser = commands.add_parser(
        "datasets",
        help="list public data sets, or download some",
        description="Lists the data sets of the catalogue and of the local folder: "
        "their shape, and whether they are on this machine.",
        epilog="example: ufselect datasets --fetch lymphoma ORL",
    )
    parser.add_argument(
        "--fetch",
        nargs="+",
        metavar="NAME",
        help="download these sets, unless they are on this machine, and print where "
        "they are",
    )
    parser.add_argument(
        "--data",
        type=Path,
        metavar="DIR",
        help="folder of local copies (default: that named by UFSELECT_DATA)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON for scripts")
    add_quiet_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the list, or what was fetched."""
    from ufselect.data import catalogued_sets
    from ufselect.data.download import local_names

    failed = False
    names = list(dict.fromkeys([*catalogued_sets(), *local_names(options.data)]))
    if options.fetch:
        names, failed = _fetch_all(options.fetch, options.data, options.quiet)
    rows = [_row(name, options.data) for name in names]
    if options.json:
        print(json.dumps(rows, indent=2))
    elif options.fetch:
        for row in rows:
            print(row["path"])
    else:
        print(_table(rows))
    return int(failed)


def _fetch_all(
    names: list[str], folder: Path | None, quiet: bool
) -> tuple[list[str], bool]:
    """Fetch every set that can be had; return their names, and whether any failed."""
    from ufselect.data import DataUnavailableError, fetch
    from ufselect.data.download import whereabouts

    # A name that is not known is refused before anything is downloaded.
    for name in names:
        whereabouts(name, folder)
    fetched = []
    for name in names:
        try:
            fetch(name, folder, progress=None if quiet else _progress_line(name))
            fetched.append(name)
        except DataUnavailableError as error:
            print(f"ufselect: {error}", file=sys.stderr)
    return fetched, len(fetched) < len(names)


def _progress_line(name: str) -> Callable[[int, int | None], None]:
    """Return a callback that keeps one line of a terminal up to date."""

    def show(received: int, total: int | None) -> None:
        done = received == total
        if done or sys.stderr.isatty():
            whole = f" of {total / 1e6:.1f}" if total else ""
            line = f"{name}: {received / 1e6:.1f}{whole} MB"
            print(line, end="\n" if done else "\r", file=sys.stderr, flush=True)

    return show


def _row(name: str, folder: Path | None) -> dict[str, Any]:
    from ufselect.data import catalogued_sets
    from ufselect.data.download import whereabouts

    known = catalogued_sets().get(name)
    place, path = whereabouts(name, folder)
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


def _table(rows: list[dict[str, Any]]) -> str:
    from ufselect.report import text_table

    numbers = ("n_samples", "n_features", "n_classes")
    # Of one length, so that the table does not align the words to the right.
    width = max(len(row["domain"]) for row in rows)
    cells = [
        [
            row["name"],
            *("-" if row[key] is None else str(row[key]) for key in numbers),
            _place_in_words(row),
            row["domain"].ljust(width),
        ]
        for row in rows
    ]
    header = ["name", "samples", "features", "classes", "where", "what".ljust(width)]
    lines = text_table(header, cells).splitlines()
    return "\n".join(line.rstrip() for line in lines)


def _place_in_words(row: dict[str, Any]) -> str:
    if row["place"] == "absent" and not row["addresses"]:
        return "no public address"
    return str(row["place"])
