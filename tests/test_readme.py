"""The code in the README runs."""

import re
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[1] / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.S)


@pytest.mark.parametrize("code", BLOCKS)
def test_code_block_runs(code, capsys):
    exec(compile(code, str(README), "exec"), {})

    assert capsys.readouterr().out


def test_there_is_code_to_run():
    assert BLOCKS
