"""The code in the README and in the documents runs."""

import re
from pathlib import Path

import numpy as np
import pytest
from small_experiments import planted_sets, small_plan

from ufselect.experiments.runner import run_plan

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
CODE = {
    page.name: re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.S)
    for page in PAGES
}


@pytest.fixture
def users_folder(tmp_path, monkeypatch):
    """Work in a folder with the files of which documents speak."""
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


@pytest.mark.parametrize("page", [page for page, blocks in CODE.items() if blocks])
def test_the_code_of_a_page_runs_from_top_to_bottom(page, users_folder, capsys):
    if any("quick.sqlite" in code for code in CODE[page]):
        folder = Path.cwd()
        run_plan(small_plan(), folder / "quick.sqlite", planted_sets(folder))
    namespace = {}
    for code in CODE[page]:
        exec(compile(code, page, "exec"), namespace)

    assert capsys.readouterr().out


def test_there_is_code_to_run():
    assert CODE["README.md"]
    assert CODE["auto.md"]
