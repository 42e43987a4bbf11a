"""Entry point of ``ufselect``: finds the command and turns errors into sentences."""

import argparse
import os
import sys
from collections.abc import Sequence

from ufselect._version import __version__
from ufselect.cli import (
    compare,
    completion,
    datasets,
    demo,
    methods,
    report,
    reproduce,
    run,
    select,
    serve,
)
from ufselect.cli.usage import HelpFormatter, UsageError

EXIT_CODES = "exit codes: 0 success, 1 the work failed, 2 wrong usage, 130 interrupted"


def build_parser() -> argparse.ArgumentParser:
    """Return the parser with one sub-command per file of this room."""
    parser = argparse.ArgumentParser(
        prog="ufselect",
        description="Unsupervised feature selection: the columns that matter, "
        "without labels.",
        epilog=f"example: ufselect select genes.csv\n\n{EXIT_CODES}",
        formatter_class=HelpFormatter,
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    compare.add_parser(commands)
    completion.add_parser(commands)
    datasets.add_parser(commands)
    demo.add_parser(commands)
    methods.add_parser(commands)
    report.add_parser(commands)
    reproduce.add_parser(commands)
    run.add_parser(commands)
    select.add_parser(commands)
    serve.add_parser(commands)
    for command in commands.choices.values():
        command.epilog = f"{(command.epilog or '').rstrip()}\n\n{EXIT_CODES}"
        command.formatter_class = HelpFormatter
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    options = build_parser().parse_args(given)
    options.arguments = given
    try:
        code = int(options.run(options))
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader, such as head, has seen enough. Nothing more can be printed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except UsageError as error:
        _complain(f"{error} (see ufselect {options.command} --help)")
        return 2
    except (ImportError, ValueError, OSError) as error:
        _complain(error)
        return 1
    except MemoryError as error:
        _complain(f"there is not enough memory ({error}); use a smaller table")
        return 1
    except KeyboardInterrupt as interruption:
        said = str(interruption) or "interrupted; nothing was written"
        _complain(said)
        return 130


def _complain(problem: object) -> None:
    # Messages of libraries may have several lines.
    print("ufselect:", " ".join(str(problem).split()), file=sys.stderr)
