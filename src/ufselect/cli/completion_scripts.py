"""Scripts for the completion of shells, made from what commands take."""

import shlex
from collections.abc import Callable, Sequence
from typing import Any

BASH = """\
_ufselect() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}"
    local previous="${{COMP_WORDS[COMP_CWORD-1]}}"
    local command="${{COMP_WORDS[1]}}" words=""
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W {commands} -- "$current"))
        return
    fi
    case "$command $previous" in
{values}
        *)
            case "$command" in
{options}
            esac
            case "$command $current" in
                *" -"*) ;;
{positionals}
                *) words="" ;;
            esac ;;
    esac
    # Without a word of ours the shell completes names of files.
    [ -z "$words" ] || COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _ufselect ufselect
"""

ZSH = """\
#compdef ufselect
_ufselect() {{
    local -a found
    if (( CURRENT == 2 )); then
        found=({commands})
        _describe command found
        return
    fi
    case "$words[2] $words[CURRENT-1]" in
{values}
    esac
    if [[ "$words[CURRENT]" != -* ]]; then
        case "$words[2]" in
{positionals}
        esac
        _files
        return
    fi
    case "$words[2]" in
{options}
    esac
    _describe option found
}}
compdef _ufselect ufselect
"""


def bash_script(commands: Sequence[Any]) -> str:
    """Return the script for bash."""
    return BASH.format(
        commands=shlex.quote(" ".join(each.name for each in commands)),
        values="\n".join(
            f"        {_keys(each.name, option.names)}) "
            f"words={shlex.quote(' '.join(option.words))} ;;"
            for each in commands
            for option in each.options
            if option.words
        ),
        options="\n".join(
            f"                {each.name}) words={shlex.quote(_names(each))} ;;"
            for each in commands
        ),
        positionals="\n".join(
            f"                {shlex.quote(each.name + ' ')}*) "
            f"words={shlex.quote(' '.join(each.words))} ;;"
            for each in commands
            if each.words
        ),
    )


def zsh_script(commands: Sequence[Any]) -> str:
    """Return the script for zsh."""
    return ZSH.format(
        commands=" ".join(_described(each.name, each.help) for each in commands),
        values="\n".join(
            f"        {_keys(each.name, option.names)}) "
            f"compadd -- {shlex.join(option.words)}; return ;;"
            for each in commands
            for option in each.options
            if option.words
        ),
        options="\n".join(
            f"        {each.name}) found=("
            + " ".join(
                _described(name, option.help)
                for option in each.options
                for name in option.names
            )
            + ") ;;"
            for each in commands
        ),
        positionals="\n".join(
            f"            {each.name}) compadd -- {shlex.join(each.words)}; return ;;"
            for each in commands
            if each.words
        ),
    )


def fish_script(commands: Sequence[Any]) -> str:
    """Return the script for fish."""
    lines = []
    for each in commands:
        first = "complete -c ufselect -n __fish_use_subcommand -f"
        lines.append(f"{first} -a {each.name} -d {_fish(each.help)}")
        condition = f"__fish_seen_subcommand_from {each.name}"
        here = f"complete -c ufselect -n '{condition}'"
        if each.words:
            lines.append(f"{here} -f -a {_fish(' '.join(each.words))}")
        lines += [f"{here} {_fish_option(option)}" for option in each.options]
    return "\n".join(lines) + "\n"


SCRIPTS: dict[str, Callable[[Sequence[Any]], str]] = {
    "bash": bash_script,
    "zsh": zsh_script,
    "fish": fish_script,
}


def _keys(command: str, names: Sequence[str]) -> str:
    return "|".join(shlex.quote(f"{command} {name}") for name in names)


def _names(command: Any) -> str:
    return " ".join(name for option in command.options for name in option.names)


def _described(name: str, text: str) -> str:
    # A colon ends the name, so that those of the text are escaped.
    return shlex.quote(f"{name}:" + text.replace(":", r"\:"))


def _fish_option(option: Any) -> str:
    parts = [
        f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
        for name in option.names
    ]
    if option.takes_value:
        parts.append("-r")
    if option.words:
        parts.append(f"-f -a {_fish(' '.join(option.words))}")
    return " ".join([*parts, f"-d {_fish(option.help)}"])


def _fish(text: str) -> str:
    """Quote for fish, in which a backslash counts between single quotes, too."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
