"""The code in the README and in the documents runs, and commands are as they say."""

import json
import re
import shlex
import tomllib
from pathlib import Path

import numpy as np
import pytest
from small_experiments import planted_sets, small_plan

from ufselect.cli import main
from ufselect.cli.main import parse
from ufselect.experiments.plan import parse_plan
from ufselect.experiments.runner import run_plan

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
CODE = {
    page.name: re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.S)
    for page in PAGES
}
FENCE = re.compile(r"^```([\w{}]*)[^\n]*\n(.*?)^```", re.S | re.M)


def commands(page):
    """Return the commands in the indented blocks of a page, in words."""
    prose = FENCE.sub("", page.read_text("utf-8")).replace("\\\n", " ")
    lines = re.findall(
        r"^ {4}((?:ufselect |[\w./]*python |\./scripts/).*)$", prose, re.M
    )
    return [shlex.split(line, comments=True) for line in lines]


COMMANDS = [(page.name, words) for page in PAGES for words in commands(page)]


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
    for code in CODE[page]:
        for package in re.findall(r"^(?:import|from) (\w+)", code, re.M):
            pytest.importorskip(package)
    if any("quick.sqlite" in code for code in CODE[page]):
        folder = Path.cwd()
        run_plan(small_plan(), folder / "quick.sqlite", planted_sets(folder))
    namespace = {}
    for code in CODE[page]:
        exec(compile(code, page, "exec"), namespace)

    assert capsys.readouterr().out


@pytest.mark.parametrize(
    ("page", "words"), COMMANDS, ids=[f"{page}: {' '.join(w)}" for page, w in COMMANDS]
)
def test_a_command_is_one_that_there_is(page, words):
    program, *arguments = words
    if program == "ufselect":
        parse(arguments)
        return
    if program.startswith("./"):
        path = program
    elif arguments[0] == "-m":
        named = [word for word in arguments[2:3] if not word.startswith("-")]
        path = "/".join([arguments[1], *(f"{name}.py" for name in named)])
    else:
        path = arguments[0]

    assert (ROOT / path).exists()


def test_the_first_command_of_a_newcomer_works(users_folder, capsys):
    pytest.importorskip("matplotlib")
    first = {
        page: next(
            words for name, words in COMMANDS if (name, words[0]) == (page, "ufselect")
        )
        for page in ("README.md", "start.md")
    }

    assert first["README.md"] == first["start.md"]
    assert main(first["start.md"][1:]) == 0
    assert Path("genes.selected.csv").exists()
    assert Path("genes.report.html").exists()


def blocks(page, wanted):
    """Return the blocks of one kind on a page."""
    text = (ROOT / "docs" / page).read_text("utf-8")
    return [block for kind, block in FENCE.findall(text) if kind == wanted]


def test_the_plan_in_the_documents_is_one_with_what_is_added_to_it_later():
    # Keys that are added belong before the tables.
    plan = tomllib.loads("\n".join(reversed(blocks("experiments.md", "toml"))))

    assert parse_plan(plan).methods


def test_the_file_in_the_documents_is_json():
    (file,) = blocks("models.md", "json")

    assert json.loads(file)["format"] == "ufselect selector"


def test_there_is_code_to_run():
    assert CODE["README.md"]
    assert CODE["auto.md"]
    assert len(COMMANDS) > 20


def test_every_block_of_code_is_of_a_kind_that_is_tested():
    # Commands in "sh" are run by the test of the command line's page.
    kinds = {
        (page.name, kind)
        for page in PAGES
        for kind, _ in FENCE.findall(page.read_text("utf-8"))
        if kind not in {"python", "text", "{include}", "{toctree}"}
    }

    assert kinds <= {
        ("command-line.md", "sh"),
        ("experiments.md", "toml"),
        ("models.md", "json"),
        ("add-a-method.md", "toml"),
    }
