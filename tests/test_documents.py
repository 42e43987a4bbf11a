"""The code in the README and in the documents runs."""

import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = [
    pytest.param(code, id=f"{page.name}-{number}")
    for page in PAGES
    for number, code in enumerate(
        re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
    )
]


@pytest.fixture
def users_folder(tmp_path, monkeypatch):
    """Work in a folder with the file of which documents speak."""
    random = np.random.default_rng(0)
    sick = np.arange(30) % 2
    lines = ["sample,diagnosis," + ",".join(f"gene_{index}" for index in range(20))]
    for row, value in enumerate(sick):
        genes = random.normal(size=20)
        genes[:8] += 4 * value
        cells = ",".join(f"{number:.4f}" for number in genes)
        lines.append(f"s{row},{'sick' if value else 'well'},{cells}")
    (tmp_path / "genes.csv").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("code", BLOCKS)
def test_code_block_runs(code, users_folder, capsys):
    exec(compile(code, "a document", "exec"), {})

    assert capsys.readouterr().out


def test_there_is_code_to_run():
    assert len(BLOCKS) > 2
