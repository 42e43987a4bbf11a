"""``ufselect completion``: a script that lets a shell complete commands and options."""

import argparse
import ast
import json
from pkgutil import get_data
from typing import Any, NamedTuple

from ufselect.cli.completion_scripts import SCRIPTS
from ufselect.cli.usage import add_quiet_option

EPILOG = """examples:
  echo 'source <(ufselect completion bash)' >> ~/.bashrc
  echo 'source <(ufselect completion zsh)' >> ~/.zshrc    (after compinit)
  ufselect completion fish > ~/.config/fish/completions/ufselect.fish"""


# Not a method, but what all of them are.
BASE = "ufselect.selectors.base"


class Option(NamedTuple):
    """An option of a command: its names, what may follow, and what it is for."""

    names: list[str]
    words: list[str]
    takes_value: bool
    help: str


class Command(NamedTuple):
    """A command: what it is for, its options, and words that may stand alone."""

    name: str
    help: str
    options: list[Option]
    words: list[str]


def add_parser(commands: Any) -> None:
    """Add this command to the parser."""
    parser = commands.add_parser(
        "completion",
        help="print a script for the completion of a shell",
        description="Prints a script that lets a shell complete commands, options and "
        "names of methods.",
        epilog=EPILOG,
    )
    parser.add_argument("shell", choices=list(SCRIPTS), help="which shell")
    parser.add_argument("--json", action="store_true", help="print JSON for scripts")
    add_quiet_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the script."""
    from ufselect.cli.main import build_parser

    methods = method_names()
    known = {"--method": methods, "--methods": methods}
    script = SCRIPTS[options.shell](described(build_parser(), known))
    if options.json:
        print(json.dumps({"shell": options.shell, "script": script}))
    else:
        print(script, end="")
    return 0


def method_names() -> list[str]:
    """Return the names of all methods without loading them, which takes seconds.

    A shell may ask whenever it starts.

    Examples
    --------
    >>> "SCFS" in method_names()
    True
    """
    source = get_data("ufselect", "selectors/__init__.py")
    return sorted(
        name.name
        for line in ast.parse(source or b"").body
        if isinstance(line, ast.ImportFrom) and line.module != BASE
        for name in line.names
        # Functions are no methods.
        if name.name[0].isupper()
    )


def described(
    parser: argparse.ArgumentParser, known: dict[str, list[str]]
) -> list[Command]:
    """Return all commands of a parser.

    Parameters
    ----------
    parser : ArgumentParser
        With sub-commands.
    known : mapping of str to list of str
        Words that may follow an option, where the parser does not know them.

    Examples
    --------
    >>> parser = argparse.ArgumentParser()
    >>> commands = parser.add_subparsers()
    >>> _ = commands.add_parser("go", help="away").add_argument("--far")
    >>> [(each.name, each.help) for each in described(parser, {})]
    [('go', 'away')]
    """
    found = []
    for group in parser._actions:
        if isinstance(group, argparse._SubParsersAction):
            helps = {each.dest: each.help or "" for each in group._choices_actions}
            for name, command in group.choices.items():
                actions = command._actions
                options = [_option(each, known) for each in actions]
                words = [
                    str(word)
                    for each in actions
                    if not each.option_strings
                    for word in each.choices or ()
                ]
                named = [each for each in options if each.names]
                found.append(Command(name, helps.get(name, ""), named, words))
    return found


def _option(action: argparse.Action, known: dict[str, list[str]]) -> Option:
    names = list(action.option_strings)
    words = [str(word) for word in action.choices or ()]
    for name in names:
        words = known.get(name, words)
    text = (action.help or "").replace("%(default)s", str(action.default))
    return Option(names, words, action.nargs != 0, text)
