"""``ufselect completion``: click's scripts, in the shells that run them."""

import json
import os
import select
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ufselect.cli import main

# What is typed before the tabulator, and what it becomes.
LINES = {
    "ufselect sel": "select",
    "ufselect select --max": "--max-correlation",
    "ufselect select --effort t": "thorough",
    "ufselect select --method La": "LaplacianScore",
    "ufselect compare genes.csv --methods La": "LaplacianScore",
    "ufselect compare genes.csv --methods SCFS,La": "SCFS,LaplacianScore",
    "ufselect completion z": "zsh",
    "ufselect select gen": "genes.csv",
    "ufselect select -o gen": "genes.csv",
}
# Writes the line to a file, where no prompt and no colour is in the way.
ZSHRC = """\
autoload -U compinit && compinit -u -D
source script
show() { print -rn -- "$BUFFER" > shown }
zle -N show && bindkey '^X' show
print > ready
"""
# The function asks bash to complete names of files, which it can only in a terminal.
BASH = """\
compopt() { files=yes; }
for line in "${TYPED[@]}"; do
    files=no; COMP_WORDS=($line); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=()
    _ufselect_completion ufselect
    echo "$files ${COMPREPLY[@]}"
done
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in a folder with a table, where ``ufselect`` is on the path."""
    (tmp_path / "genes.csv").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(
        "PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def write_script(shell, folder, capsys):
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    if shutil.which("ufselect") is None:
        pytest.skip("the command is not installed beside this interpreter")
    assert main(["completion", shell]) == 0
    (folder / "script").write_text(capsys.readouterr().out, encoding="utf-8")


def ran(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_bash_completes(capsys, folder):
    write_script("bash", folder, capsys)
    lines = "TYPED=(" + " ".join(f"'{line}'" for line in LINES) + ")"
    found = ran("bash", "-c", f"source ./script\n{lines}\n{BASH}")
    expected = [
        "yes " if word == "genes.csv" else f"no {word}" for word in LINES.values()
    ]

    assert found == expected


def test_fish_completes(capsys, folder):
    write_script("fish", folder, capsys)
    for line, word in LINES.items():
        if "," in line:
            continue  # click's script for fish takes what follows for a description
        code = f"source script; complete -C '{line}'"
        found = [each.split("\t")[0] for each in ran("fish", "--no-config", "-c", code)]
        assert found == [word]


def test_zsh_completes(capsys, folder):
    write_script("zsh", folder, capsys)
    (folder / ".zshrc").write_text(ZSHRC, encoding="utf-8")
    for line, word in LINES.items():
        shown = typed_into_zsh(folder, f"{line}\t\x18")
        assert shown.rstrip() == f"{line.rpartition(' ')[0]} {word}"


def typed_into_zsh(folder, keys):
    """Return the line that is left after typing into a real terminal."""
    import pty

    for name in ("ready", "shown"):
        (folder / name).unlink(missing_ok=True)
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


def test_the_script_is_there_as_json(capsys):
    for shell in ("bash", "zsh", "fish"):
        assert main(["completion", shell]) == 0
        plain = capsys.readouterr().out
        assert main(["completion", shell, "--json"]) == 0
        data = json.loads(capsys.readouterr().out)

        assert data == {"shell": shell, "script": plain}
        assert "_UFSELECT_COMPLETE" in plain
