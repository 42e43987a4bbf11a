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
from click.shell_completion import get_completion_class, shell_complete

from ufselect._names import similar
from ufselect._version import __version__
from ufselect.cli.inputs import Invocation
from ufselect.cli.options import EXIT_CODES, JSON, QUIET, Argument, command
from ufselect.cli.output import print_json, say

NO_SPACE = "the disk is full; free some space, or write to another place"
# In the order of the help.
SECTIONS = {
    "Start here": ("select", "look", "compare", "serve"),
    "Experiments": ("run", "report", "reproduce"),
    "More": ("methods", "datasets", "demo", "completion"),
}
COMMANDS = [name for names in SECTIONS.values() for name in names]
COMPLETE_VARIABLE = "_UFSELECT_COMPLETE"
SHELLS = ("bash", "zsh", "fish")

SHORT_HELP = """\
ufselect finds the features that matter in a table, without labels.

  ufselect select genes.csv    select features; write the table and a report
  ufselect look genes.csv      see what is in a table, and what select would do
  ufselect serve               do it in your browser

Without a table of your own, make one: ufselect demo --write genes.csv

ufselect --help lists all commands, ufselect select --help the options of one."""


class Program(click.Group):
    """All commands, each imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the help."""
        return COMMANDS

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
            case "completion":
                found = completion_command
            case _:
                return None
        return found

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find the command; guess what a misspelt one could be."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            near = similar(args[0], COMMANDS)
            guess = f"; did you mean {near[0]}?" if near else ""
            raise click.UsageError(f"there is no command {args[0]!r}{guess}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the commands under their headings."""
        for title, names in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [
                        (name, found.get_short_help_str(formatter.width))
                        for name in names
                        if (found := self.get_command(ctx, name))
                    ],
                    col_max=12,
                )

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write an example and the exit codes."""
        formatter.write(f"\nExample: ufselect select genes.csv\n\n{EXIT_CODES}\n")


@click.group(
    cls=Program,
    invoke_without_command=True,
    options_metavar="[--version]",
    subcommand_metavar="COMMAND ...",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Unsupervised feature selection: the columns that matter, without labels.",
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
        case click.NoSuchOption(option_name=name):
            near = [each for each in error.possibilities or () if each != name]
            guess = f"; did you mean {near[0]}?" if near else ""
            message = f"there is no option {name}{guess}"
        case click.MissingParameter(param=click.Parameter() as param):
            message = f"{param.human_readable_name} is missing"
            if choices := getattr(param.type, "choices", ()):
                message += f"; give one of {', '.join(choices)}"
        case click.BadParameter(param=click.Option() as option):
            message = f"{'/'.join(option.opts)}: {error.message}"
        case _:
            # Messages of click begin with a capital letter, ours do not.
            message = re.sub("^(Got|Option)", lambda m: m[0].lower(), error.message)
    command = " ".join(["ufselect", *(word for word in given[:1] if word in COMMANDS)])
    return f"{message.rstrip('.')} (see {command} --help)"


@command(
    Argument("SHELL", "bash, zsh or fish", type=click.Choice(SHELLS)),
    JSON,
    QUIET,
)
def completion_command(shell: str, json: bool, quiet: bool) -> int:
    """Print a script for the completion of a shell.

    Prints a script that lets a shell complete commands, options, names of methods
    and files.

    For example:

        echo 'source <(ufselect completion bash)' >> ~/.bashrc
        echo 'source <(ufselect completion zsh)' >> ~/.zshrc    (after compinit)
        ufselect completion fish > ~/.config/fish/completions/ufselect.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(program, {}, "ufselect", COMPLETE_VARIABLE).source()
    if json:
        print_json({"shell": shell, "script": script})
    else:
        print(script, end="")
    return 0
