"""The commands of docs/command-line.md work."""

import re
import shlex
from pathlib import Path

import pytest
from small_tables import small_frame, write_frame

from ufselect.cli import main

PAGE = Path(__file__).resolve().parents[2] / "docs" / "command-line.md"
COMMANDS = [
    line
    for block in re.findall(r"```sh\n(.*?)```", PAGE.read_text("utf-8"), re.S)
    for line in block.splitlines()
]


@pytest.mark.parametrize("line", COMMANDS)
def test_the_command_works(line, tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    write_frame(tmp_path / "genes.csv", small_frame())
    renamed = (tmp_path / "genes.csv").read_text().replace("kind", "diagnosis", 1)
    (tmp_path / "genes.csv").write_text(renamed)
    monkeypatch.chdir(tmp_path)
    program, *arguments = shlex.split(line)
    code = main(arguments)

    assert (program, code) == ("ufselect", 0)
    assert capsys.readouterr().out


def test_there_are_commands():
    assert len(COMMANDS) >= 3
