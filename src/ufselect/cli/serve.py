"""``ufselect serve``: a local web page to select with, instead of options."""

import json as json_format
import webbrowser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click

from ufselect.cli.inputs import check_source, loading
from ufselect.cli.options import (
    JSON,
    PATH,
    POSITIVE,
    QUIET,
    argument,
    command,
    gigabytes,
    option,
)


@command(
    argument(
        "[FILE]",
        "a table to open at once, without a copy",
        type=PATH,
        required=False,
    ),
    option(
        "--port N",
        "port to listen on (default: 0, any free one)",
        type=click.IntRange(0, 2**16 - 1),
        default=0,
    ),
    option("--no-browser", "print the address, and open no browser"),
    option(
        "--max-upload GB",
        "size of all uploads together, in gigabytes (default: 2)",
        type=gigabytes,
        default=2.0,
    ),
    option(
        "--jobs N", "parallel runs; others wait (default: 2)", type=POSITIVE, default=2
    ),
    JSON,
    QUIET,
)
def serve_command(**given: Any) -> int:
    """Select with a web page in your browser.

    Opens a web page in your browser: choose a table, see how it is read, say which
    columns are features, select features or compare methods, read the report, save
    the selected table. Only this machine can open it, and only with the printed
    address; no data leaves the machine. Ctrl-C ends it and deletes all uploads.

    For example:

        ufselect serve
        ufselect serve genes.csv
        ufselect serve --port 8000 --no-browser --max-upload 0.5
    """
    options = SimpleNamespace(**given)
    if options.file == Path("-"):
        raise click.UsageError(
            "the web page reads files, not standard input; save the table to a file"
        )
    if options.file is not None:
        check_source(str(options.file))
        if options.file.stat().st_size == 0:
            raise ValueError(f"{options.file} is empty; export the table again")
    with loading():
        from ufselect.serving import Settings, server
        from ufselect.serving.server import GIGABYTE

    settings = Settings(
        file=options.file,
        port=options.port,
        max_upload=round(options.max_upload * GIGABYTE),
        n_jobs=options.jobs,
    )

    def announce(address: str) -> None:
        if options.json:
            print(json_format.dumps({"address": address}), flush=True)
        elif options.quiet:
            print(address, flush=True)
        else:
            print(f"The web page is {address}", flush=True)
            print("Only this machine can open it. Ctrl-C ends it.", flush=True)
        if not options.no_browser:
            webbrowser.open(address)

    n_runs = server.serve(settings, announce)
    if not options.quiet and not options.json:
        runs = {0: "", 1: " one run was cut short;"}
        said = runs.get(n_runs, f" {n_runs} runs were cut short;")
        print(f"\nEnded;{said} uploads and results were deleted.")
    return 0
