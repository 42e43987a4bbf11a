"""Entry point of ``ufselect``: finds the command and turns errors into sentences."""

import argparse
import errno
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

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
from ufselect.cli.outputs import check_drawing
from ufselect.cli.usage import HelpFormatter, UsageError

EXIT_CODES = "exit codes: 0 success, 1 the work failed, 2 wrong usage, 130 interrupted"
NO_SPACE = "there is no space left to write to; make some, or choose another place"
# A shell that starts need not wait.
LIGHT = ("completion",)
# Options that ask for figures.
PAGES = ("html", "report")


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
    return carry_out(parse(arguments))


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return what was asked for, by default on the command line of this process."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    options = build_parser().parse_args(given)
    options.arguments = given
    return options


def load(options: argparse.Namespace) -> None:
    """Import what the command will need, while there is nothing to lose yet.

    What is missing is said when it is needed.
    """
    if options.command in LIGHT:
        return
    with suppress(ImportError):
        import ufselect.report  # noqa: F401 - to have it loaded

        if any(getattr(options, name, None) for name in PAGES):
            check_drawing()


def carry_out(options: argparse.Namespace) -> int:
    """Run the command that was asked for; return its exit code."""
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
        full = getattr(error, "errno", None) == errno.ENOSPC
        _complain(NO_SPACE if full else error)
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
