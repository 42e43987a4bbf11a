"""Every command of the README and of the documents is run, or is named here.

Commands are given to the functions behind them, in a folder with what documents speak
of: a small table, and small sets under the names of the research data. What takes
minutes is cut short: a plan to two sets and the first point of each grid.
"""

import re
import sqlite3
import tomllib
from contextlib import closing
from pathlib import Path

import pytest
from document_blocks import COMMANDS, ROOT
from documented_method import documented_method
from small_experiments import planted_sets
from small_tables import genes_table

import ufselect.registry
from ufselect.cli import main
from ufselect.experiments import plan

FIRST = ("ufselect", "select", "genes.csv")
SETS = (
    *("arcene", "colon", "lung_small", "lymphoma"),
    *("ORL", "Isolet", "Prostate-GE", "COIL20"),
)

# Commands that are not run here: why, and where they are run instead.
ELSEWHERE = {
    "./scripts/test": "runs this test; .ci/run starts it",
    ".ci/run": "runs scripts/test, which runs this test",
    "./scripts/demo": ".ci/run runs it; tests/cli/test_main.py tests what it starts",
    "./scripts/package": ".ci/run runs it; tests/test_packaging.py",
    "./scripts/docs": ".ci/run runs it; tests/test_site.py, tests/test_examples.py",
    "./scripts/audit": "needs the network; scripts/test runs the half that does not",
    "./scripts/nightly": "takes hours, and runs all tests several times",
    "./scripts/versions": "installs old packages, and runs the quick tests with them",
    "ufselect serve": "waits for a browser; tests/cli/test_serve.py, tests/serving",
    "dask scheduler": "never ends; test_documents.py starts such a cluster",
    "python -m benchmarks.page": "minutes; tests/test_benchmarks.py writes a page",
    "python -m studies label_free": (
        "half a minute for any tables; tests/studies/test_label_free.py has smaller"
    ),
    "UFSELECT_FUZZ=50 pytest": "an hour; tests/test_fuzzing.py does less in every run",
    "python scripts/fuzz.py": "needs atheris; tests/data/test_damaged_files.py",
}
# Commands that change the machine; what can be asked of them here is asked.
INSTALLING = ("pip", "git", "cd")


def elsewhere(words):
    """Return why a command is not run here, if it is not."""
    line = " ".join(words).removeprefix(".venv/bin/")
    return next((ELSEWHERE[key] for key in ELSEWHERE if line.startswith(key)), None)


def shortened(plan):
    """Return the text of a plan with less of everything, but all of its methods."""
    plan = re.sub(r"^sets = \[.*?\]", 'sets = ["lymphoma"]', plan, flags=re.M | re.S)
    plan = re.sub(r"^features = .*", "features = [3, 6]", plan, flags=re.M)
    plan = re.sub(r"^(repetitions|restarts|seeds) = .*", r"\1 = 1", plan, flags=re.M)
    plan = re.sub(r"(max_iter|n_features_to_select) = \d+", r"\1 = 3", plan)
    return re.sub(
        r"^grid = .*",
        lambda found: re.sub(r"\[([^],]*),[^]]*\]", r"[\1]", found[0]),
        plan,
        flags=re.M,
    )


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """Work where the files are of which documents speak, and nothing takes long."""
    (tmp_path / "genes.csv").write_text(genes_table(), encoding="utf-8")
    (tmp_path / "DIR").mkdir()
    planted_sets(tmp_path / "DIR", SETS, n_columns=110, n_useful=6)
    for path in (ROOT / "plans").glob("*.toml"):
        text = shortened(path.read_text("utf-8"))
        (tmp_path / path.name).write_text(text, encoding="utf-8")
    (tmp_path / "PLAN").write_text((tmp_path / "quick.toml").read_text())
    monkeypatch.setattr(plan, "FOLDERS", (tmp_path,))
    monkeypatch.setenv("UFSELECT_DATA", str(tmp_path / "DIR"))
    method = {"Company": documented_method()}
    monkeypatch.setattr(ufselect.registry, "installed_selectors", lambda: method)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(words):
    """Run a command by the function behind it; return its exit code."""
    program, *arguments = words
    return PROGRAMS[program.removeprefix(".venv/bin/")](arguments)


def run_ufselect(arguments):
    """Run the command line; the sample table is there, and is written anew."""
    if arguments[:2] == ["demo", "--write"]:
        Path(arguments[2]).unlink()
    return main([word.replace("FILE", "quick.sqlite") for word in arguments])


def run_sqlite(arguments):
    """Ask a store what the command asks it."""
    path, question = arguments
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as store:
        return 0 if store.execute(question).fetchall() else 1


def check_installing(arguments):
    """Look whether the extras are there; nothing is installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = re.findall(r"\[([\w,]+)\]", " ".join(arguments))
    extras = {extra for group in named for extra in group.split(",")}
    return 0 if extras <= set(project["optional-dependencies"]) else 1


PROGRAMS = {
    "ufselect": run_ufselect,
    "sqlite3": run_sqlite,
    **dict.fromkeys(INSTALLING, check_installing),
}


def last_shown():
    """Return the commands to run here by page; one on several pages is on the last."""
    last = {tuple(words): page for page in COMMANDS for words in COMMANDS[page]}
    return {
        page: [words for words in last if last[words] == page and not elsewhere(words)]
        for page in COMMANDS
    }


@pytest.mark.parametrize(
    "page", [page for page, found in last_shown().items() if found]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_commands_of_a_page_work_from_top_to_bottom(page, desk, capsys):
    pytest.importorskip("matplotlib")
    codes = {words: run(words) for words in last_shown()[page]}

    assert {words: code for words, code in codes.items() if code != 0} == {}
    if FIRST in codes:
        assert (desk / "genes.selected.csv").exists()
        assert (desk / "genes.report.html").exists()


def test_the_first_command_of_a_newcomer_is_the_same_everywhere():
    for page in ("README.md", "start.md", "command-line.md"):
        used = [tuple(words) for words in COMMANDS[page] if words[0] == "ufselect"]
        selecting = [words for words in used if words[1] == "select"]
        assert selecting[0][:3] == FIRST
    assert any(FIRST in found for found in last_shown().values())


def test_what_pages_show_of_the_sample_table_is_what_is_printed(desk, capsys):
    main(["look", "genes.csv"])
    main(["select", "genes.csv", "--labels", "diagnosis"])
    printed = capsys.readouterr().out.splitlines()

    for page in ("start.md", "command-line.md"):
        text = (ROOT / "docs" / page).read_text("utf-8")
        shown = re.findall(r"^```text\n(.*?)^```", text, re.M | re.S)
        assert shown
        lines = [line for block in shown for line in block.splitlines()]
        assert set(lines) <= set(printed)


def test_commands_that_are_run_elsewhere_are_shown_and_run_there():
    shown = [
        " ".join(words).removeprefix(".venv/bin/")
        for found in COMMANDS.values()
        for words in found
    ]
    places = {
        place
        for reason in ELSEWHERE.values()
        for place in re.findall(r"[\w./]*/[\w/]+(?:\.(?:py|yml))?", reason)
    }

    assert len(shown) > 40
    assert all(any(line.startswith(key) for line in shown) for key in ELSEWHERE)
    assert places
    assert all((ROOT / place).exists() for place in places)
