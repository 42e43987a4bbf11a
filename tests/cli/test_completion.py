"""``ufselect completion``: click's scripts, and the words that they complete."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import get_completion_class

from ufselect.cli import main
from ufselect.cli.main import COMPLETE_VARIABLE, SHELLS, program

# What is typed before the tabulator, and what it becomes; files are left to the shell.
LINES = {
    "ufselect sel": "select",
    "ufselect select --max": "--max-correlation",
    "ufselect select --effort t": "thorough",
    "ufselect select --method La": "LaplacianScore",
    "ufselect compare genes.csv --methods La": "LaplacianScore",
    "ufselect compare genes.csv --methods SCFS,La": "SCFS,LaplacianScore",
    "ufselect completion z": "zsh",
    "ufselect select gen": None,
    "ufselect select -o gen": None,
}


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_gets_a_script_and_the_words(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert main(["completion", shell, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"shell": shell, "script": script}
    assert COMPLETE_VARIABLE in script

    complete = get_completion_class(shell)(program, {}, "ufselect", COMPLETE_VARIABLE)
    for line, word in LINES.items():
        *words, incomplete = line.split()[1:]
        found = complete.get_completions(words, incomplete)
        assert [(each.type, each.value) for each in found] == [
            ("file", incomplete) if word is None else ("plain", word)
        ]


def test_bash_completes(capsys, tmp_path):
    place = str(Path(sys.executable).parent)
    if shutil.which("bash") is None or shutil.which("ufselect", path=place) is None:
        pytest.skip("bash, or the command beside this interpreter, is missing")
    assert main(["completion", "bash"]) == 0
    (tmp_path / "script").write_text(capsys.readouterr().out, encoding="utf-8")
    code = (
        "source ./script; COMP_WORDS=(ufselect select --max); COMP_CWORD=2\n"
        "_ufselect_completion ufselect; echo ${COMPREPLY[@]}"
    )
    done = subprocess.run(
        ["bash", "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PATH": os.pathsep.join([place, os.environ["PATH"]])},
    )

    assert (done.stdout, done.stderr) == ("--max-correlation\n", "")
