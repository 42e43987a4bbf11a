"""Entry point of ``ufselect``: finds the command and turns errors into sentences."""

import errno
import json as json_format
import os
import re
import sys
from collections.abc import Callable, Sequence
from contextvars import copy_context
from itertools import pairwise
from typing import Any

import click
import cloup
from click.shell_completion import shell_complete

from ufselect._version import __version__
from ufselect.cli.inputs import Invocation
from ufselect.cli.options import EXIT_CODES
from ufselect.cli.output import say

NO_SPACE = "the disk is full; free some space, or write to another place"
COMPLETE_VARIABLE = "_UFSELECT_COMPLETE"

# In the order of the help.
SECTIONS = {
    "Start here": ("select", "look", "compare", "serve"),
    "Experiments": ("run", "report", "reproduce"),
    "More": ("methods", "datasets", "demo"),
}
SHORT_HELP = """\
ufselect finds the features that matter in a table, without labels.

  ufselect select genes.csv    select features; write the table and a report
  ufselect look genes.csv      see what is in a table, and what select would do
  ufselect serve               do it in your browser

Without a table of your own, make one: ufselect demo --write genes.csv

ufselect --help lists all commands, ufselect select --help the options of one."""


class Program(cloup.Group):
    """All commands, each imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the help."""
        return [name for names in SECTIONS.values() for name in names]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command and nothing of the others."""
        found: click.Command
        match cmd_name:
            case "select":
                from ufselect.cli.select import select_command as found
            case "look":
                from ufselect.cli.look import look_command as found
            case "compare":
                from ufselect.cli.compare import compare_command as found
            case "serve":
                from ufselect.cli.serve import serve_command as found
            case "run":
                from ufselect.cli.experiments import run_command as found
            case "report":
                from ufselect.cli.experiments import report_command as found
            case "reproduce":
                from ufselect.cli.experiments import reproduce_command as found
            case "methods":
                from ufselect.cli.listings import methods_command as found
            case "datasets":
                from ufselect.cli.listings import datasets_command as found
            case "demo":
                from ufselect.cli.demo import demo_command as found
            case _:
                return None
        return found

    def list_sections(
        self, ctx: click.Context, include_default_section: bool = True
    ) -> list[cloup.Section]:
        """Return the commands under their headings."""
        return [
            cloup.Section(
                title,
                {name: each for name in names if (each := self.get_command(ctx, name))},
            )
            for title, names in SECTIONS.items()
        ]

    def handle_bad_command_name(
        self, bad_name: str, valid_names: list[str], error: click.UsageError
    ) -> click.UsageError:
        """Guess what a misspelt command could be."""
        names = self.list_commands(click.Context(self))
        return super().handle_bad_command_name(bad_name, names, error)


@cloup.group(
    cls=Program,
    invoke_without_command=True,
    options_metavar="[--version]",
    subcommand_metavar="COMMAND ...",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Unsupervised feature selection: the columns that matter, without labels.",
    epilog=f"Example: ufselect select genes.csv\n\n{EXIT_CODES}",
)
@click.version_option(__version__, message="%(version)s")
@click.pass_context
def program(context: click.Context) -> int | None:
    """Print a short help, if no command is given."""
    if context.invoked_subcommand is None:
        click.echo(SHORT_HELP, err=True)
        context.exit(2)
    return None


def main(
    arguments: Sequence[str] | None = None, loaded: Callable[[], None] = lambda: None
) -> int:
    """Run a command; return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default the command line of this process.
    loaded : callable, optional
        Called as soon as the libraries of the command are loaded.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    if instruction := os.environ.get(COMPLETE_VARIABLE):
        return shell_complete(program, {}, "ufselect", COMPLETE_VARIABLE, instruction)
    try:
        # What one command reads is no input of the next one in this process.
        code = copy_context().run(_run, Invocation(given, loaded))
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader, such as head, closed the pipe: nothing more can be printed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except click.UsageError as error:
        return _complain(_sentence(error, given), given, 2)
    except (ImportError, ValueError, OSError) as error:
        full = getattr(error, "errno", None) == errno.ENOSPC
        remedies = getattr(error, "remedies", ())
        return _complain(NO_SPACE if full else str(error), given, 1, remedies)
    except MemoryError as error:
        message = f"not enough memory ({error}); use a smaller table"
        return _complain(message, given, 1)
    except KeyboardInterrupt as interruption:
        message = str(interruption) or "interrupted; nothing was written"
        return _complain(message, given, 130)


def _complain(
    message: str, given: Sequence[str], code: int, remedies: Sequence[Any] = ()
) -> int:
    """Print what is wrong, also as JSON if asked for; return the exit code."""
    say(message, error=True)
    if "--progress=json" in given or ("--progress", "json") in pairwise(given):
        content = {
            "error": " ".join(message.split()),
            "remedies": [
                {"label": each.label, "options": list(each.options)}
                for each in remedies
            ],
        }
        print(json_format.dumps(content), file=sys.stderr, flush=True)
    return code


def _run(invocation: Invocation) -> int:
    # Not program.main, whose messages and exit codes differ from ours.
    try:
        with program.make_context(
            "ufselect", list(invocation.arguments), obj=invocation
        ) as context:
            return int(program.invoke(context) or 0)
    except click.exceptions.Exit as done:
        return done.exit_code


def _sentence(error: click.UsageError, given: Sequence[str]) -> str:
    """Return what is wrong with the arguments, and how to get help."""
    match error:
        case click.NoSuchCommand(command_name=name):
            message = f"there is no command {name!r}"
        case click.NoSuchOption(option_name=name):
            message = f"there is no option {name}"
        case click.MissingParameter(param=click.Parameter() as param):
            message = f"{param.human_readable_name} is missing"
        case click.BadParameter(param=click.Option() as option):
            message = f"{'/'.join(option.opts)}: {error.message}"
        case _:
            # Messages of click begin with a capital letter, ours do not.
            message = re.sub("^(Got|Option)", lambda m: m[0].lower(), error.message)
    if near := getattr(error, "possibilities", None):
        message += f"; did you mean {near[0]}?"
    known = program.list_commands(click.Context(program))
    command = given[0] if given and given[0] in known else ""
    see = " ".join(filter(None, ["ufselect", command, "--help"]))
    return f"{message.rstrip('.')} (see {see})"
