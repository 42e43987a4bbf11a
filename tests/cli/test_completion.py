"""``ufselect completion``: scripts that shells run, made from the parser itself."""

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


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (["ufselect", "sel"], ["select"]),
        (["ufselect", "select", "--max"], ["--max-correlation"]),
        (["ufselect", "select", "--effort", "t"], ["thorough"]),
        (["ufselect", "select", "--method", "La"], ["LaplacianScore"]),
        (["ufselect", "completion", "z"], ["zsh"]),
        (["ufselect", "select", "genes"], []),
    ],
)
def test_bash_completes(capsys, line, expected):
    words = " ".join(line)
    code = (
        f"{script('bash', capsys)}\nCOMP_WORDS=({words}); COMP_CWORD={len(line) - 1}\n"
        '_ufselect; echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True)

    assert done.stderr == ""
    assert done.stdout.split() == expected


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
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
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
