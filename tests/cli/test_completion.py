"""``ufselect completion``: scripts that shells run, made from the parser itself."""

import json
import os
import select
import shutil
import subprocess

import pytest

from ufselect import all_selectors
from ufselect.cli import main
from ufselect.cli.completion import method_names
from ufselect.cli.main import EXIT_CODES, build_parser


def script(shell, capsys):
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


def commands():
    (action,) = (each for each in build_parser()._actions if each.dest == "command")
    return action.choices


LINES = [
    ("ufselect sel", ["select"]),
    ("ufselect select --max", ["--max-correlation"]),
    ("ufselect select --effort t", ["thorough"]),
    ("ufselect select --method La", ["LaplacianScore"]),
    ("ufselect compare genes.csv --methods La", ["LaplacianScore"]),
    ("ufselect completion z", ["zsh"]),
    ("ufselect select gen", ["genes.csv"]),
    ("ufselect select -o gen", ["genes.csv"]),
]
# Writes the line to a file, where no prompt and no colour is in the way.
ZSHRC = """\
autoload -U compinit && compinit -u -D
source script
show() { print -rn -- "$BUFFER" > shown }
zle -N show && bindkey '^X' show
print > ready
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in a folder with a table."""
    (tmp_path / "genes.csv").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def needs(shell):
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")


@pytest.mark.parametrize(("line", "expected"), LINES)
def test_bash_completes(capsys, folder, line, expected):
    needs("bash")
    # Names of files are what bash does by itself when it hears of no word.
    expected = [] if expected == ["genes.csv"] else expected
    last = len(line.split()) - 1
    code = (
        f"{script('bash', capsys)}\nCOMP_WORDS=({line}); COMP_CWORD={last}\n"
        '_ufselect; echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True)

    assert done.stderr == ""
    assert done.stdout.split() == expected


@pytest.mark.parametrize(("line", "expected"), LINES)
def test_fish_completes(capsys, folder, line, expected):
    needs("fish")
    (folder / "script").write_text(script("fish", capsys), encoding="utf-8")
    code = f"source script; complete -C '{line}'"
    environment = {**os.environ, "HOME": str(folder)}
    done = subprocess.run(
        ["fish", "--no-config", "-c", code],
        capture_output=True,
        text=True,
        env=environment,
    )

    assert done.stderr == ""
    assert [found.split("\t")[0] for found in done.stdout.splitlines()] == expected


@pytest.mark.parametrize(("line", "expected"), LINES)
def test_zsh_completes(capsys, folder, line, expected):
    needs("zsh")
    (folder / "script").write_text(script("zsh", capsys), encoding="utf-8")
    (folder / ".zshrc").write_text(ZSHRC, encoding="utf-8")
    shown = typed_into_zsh(folder, f"{line}\t\x18")
    start, _, _ = line.rpartition(" ")

    assert shown.rstrip() == f"{start} {expected[0]}"


def typed_into_zsh(folder, keys):
    """Return the line that is left after typing into a real terminal."""
    import pty

    terminal, other_end = pty.openpty()
    shell = subprocess.Popen(
        ["zsh", "-d", "-i"],
        stdin=other_end,
        stdout=other_end,
        stderr=other_end,
        start_new_session=True,
        env={**os.environ, "ZDOTDIR": str(folder), "TERM": "xterm"},
    )
    try:
        wait_for(folder / "ready", terminal)
        os.write(terminal, keys.encode())
        return wait_for(folder / "shown", terminal)
    finally:
        shell.kill()
        shell.wait()
        os.close(terminal)
        os.close(other_end)


def wait_for(path, terminal):
    """Return what a file holds once it is there; read what else the shell says."""
    for _ in range(600):
        if path.exists() and path.stat().st_size:
            return path.read_text(encoding="utf-8")
        if select.select([terminal], [], [], 0.05)[0]:
            os.read(terminal, 4096)
    raise AssertionError(f"zsh never wrote {path.name}")


def test_methods_are_known_without_loading_them():
    assert method_names() == list(all_selectors())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_option_and_method_is_there(shell, capsys):
    text = script(shell, capsys)
    options = [
        option
        for command in commands().values()
        for action in command._actions
        for option in action.option_strings
        if option.startswith("--")
    ]
    written = [f"-l {name[2:]}" for name in options] if shell == "fish" else options

    assert all(name in text for name in [*commands(), *written, *all_selectors()])


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_shell_accepts_its_script(shell, capsys, tmp_path):
    needs(shell)
    path = tmp_path / "script"
    path.write_text(script(shell, capsys), encoding="utf-8")
    done = subprocess.run([shell, "-n", str(path)], capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", list(commands()))
def test_help_has_examples_and_exit_codes(name):
    text = commands()[name].format_help()

    assert "example" in text
    assert f"ufselect {name}" in text.split("example")[1]
    assert EXIT_CODES in text


@pytest.mark.parametrize("name", [name for name in commands() if name != "completion"])
def test_every_command_has_json_and_quiet(name):
    options = {
        option
        for action in commands()[name]._actions
        for option in action.option_strings
    }

    assert {"--json", "--quiet"} <= options


def test_the_script_is_there_as_json(capsys):
    plain = script("bash", capsys)
    main(["completion", "bash", "--json"])

    assert json.loads(capsys.readouterr().out) == {"shell": "bash", "script": plain}
