"""``ufselect serve``: a local page to select with, instead of options."""

import argparse
import json
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ufselect.cli.usage import UsageError, add_quiet_option, port, positive, size

if TYPE_CHECKING:
    from ufselect.serving import Settings

EXAMPLES = """examples:
  ufselect serve
  ufselect serve genes.csv
  ufselect serve --port 8000 --no-browser --max-upload 500MB
"""


def add_parser(commands: Any) -> None:
    """Add this command to the parser."""
    parser = commands.add_parser(
        "serve",
        help="select with a page in the browser",
        description="Opens a page in the browser: choose a table, and a method and a "
        "number of features or leave them to be decided; watch the progress, read the "
        "report, save the selected table. Only this machine can reach it, and only "
        "with the address that is printed; nothing is sent to any other. Ctrl-C ends "
        "it and deletes what was uploaded.",
        epilog=EXAMPLES,
    )
    parser.add_argument(
        "file",
        nargs="?",
        type=Path,
        metavar="FILE",
        help="a table to offer at once; it is read where it is",
    )
    parser.add_argument(
        "--port",
        type=port,
        default=0,
        metavar="N",
        help="where to listen (default: 0, any that is free)",
    )
    parser.add_argument(
        "--no-browser", action="store_true", help="print the address and open nothing"
    )
    parser.add_argument(
        "--max-upload",
        type=size,
        default="2GB",
        metavar="SIZE",
        help="largest table that is taken (default: %(default)s)",
    )
    parser.add_argument(
        "--jobs",
        type=positive,
        default=2,
        metavar="N",
        help="runs at once; others wait (default: %(default)s)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON for scripts")
    add_quiet_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the address, open it, and serve until Ctrl-C."""
    from ufselect.serving.server import serve

    _check_file(options.file)
    ending = serve(_settings(options), lambda address: _announce(address, options))
    if not options.quiet and not options.json:
        runs = {0: "", 1: " one run was cut short;"}
        said = runs.get(ending.n_runs, f" {ending.n_runs} runs were cut short;")
        print(f"\nEnded;{said} uploads and results were deleted.")
    return 0


def _settings(options: argparse.Namespace) -> "Settings":
    from ufselect.serving import Settings

    return Settings(
        file=options.file,
        port=options.port,
        max_upload=options.max_upload,
        n_jobs=options.jobs,
    )


def _check_file(path: Path | None) -> None:
    """Refuse a table that cannot be read, before a page is opened for it."""
    from ufselect.data.tables.detection import located

    if path == Path("-"):
        raise UsageError("the page reads files, not standard input; save the table")
    if path is not None:
        located(path)


def _announce(address: str, options: argparse.Namespace) -> None:
    if options.json:
        print(json.dumps({"address": address}), flush=True)
    elif options.quiet:
        print(address, flush=True)
    else:
        print(f"The page is {address}", flush=True)
        print("Only this machine can open it. Ctrl-C ends it.", flush=True)
    if not options.no_browser:
        webbrowser.open(address)
