"""``ufselect report`` on the store of a small experiment."""

import json
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from small_experiments import change, planted_sets

from ufselect.cli import main
from ufselect.experiments.stored import read_experiment
from ufselect.report.experiment import experiment_report

SETS = ("one", "two", "three", "four", "five")
HOSTILE = "<script>alert(1)</script>"
PLAN = f"""
name = "tiny"
description = "Planted sets."
sets = {list(SETS)}
features = [3, 6]
clusters = "classes"

[judge]
repetitions = 2
restarts = 2
metrics = ["accuracy", "redundancy"]

[[methods]]
selector = "SCFS"
grid = {{ alpha = [1.0, 10.0], beta = [0.01, 1e9] }}

[[methods]]
selector = "LaplacianScore"
label = "{HOSTILE}"
grid = {{ n_neighbors = [3, 5] }}
"""


@pytest.fixture(scope="module")
def computed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("computed")
    planted_sets(folder, SETS)
    (folder / "tiny.toml").write_text(PLAN)
    assert run_in(folder) == 0
    return folder


def run_in(folder, *more):
    files = ["--data", str(folder), "--store", str(folder / "tiny.sqlite")]
    command = ["run", str(folder / "tiny.toml"), "--jobs", "1", "--quiet", *files]
    return main([*command, *more])


@pytest.fixture
def folder(computed, tmp_path, monkeypatch):
    """Return a folder with the store and the plan, without any data."""
    for name in ("tiny.sqlite", "tiny.toml"):
        shutil.copy(computed / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def page_of(*more):
    assert main(["report", "tiny.sqlite", "--html", "page.html", *more]) == 0
    return Path("page.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_installed_command_prints_the_tables_of_a_store(computed):
    before = sorted(computed.iterdir())
    store = str(computed / "tiny.sqlite")
    command = [sys.executable, "-m", "ufselect", "report", store]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert done.stderr == ""
    assert done.stdout.startswith("tiny: comparison of methods\n")
    assert "100 cells: 90 ranked and judged, 10 without a ranking, none" in done.stdout
    assert "accuracy, oracle: labels chose the best point of the grid" in done.stdout
    assert "accuracy, fixed: one setting, fixed before any label was" in done.stdout
    assert "5 sets. Friedman's test" in done.stdout
    assert re.search(r"method +fits +without a ranking +median seconds", done.stdout)
    assert "SCFS, 10 cells (one 2, two 2, three 2, four 2, five 2): " in done.stdout
    # Nothing is written, and nothing is left beside the store.
    assert sorted(computed.iterdir()) == before


def test_run_and_report_make_the_same_page(computed, folder):
    page = page_of()
    run_in(computed, "--html", "run.html")

    assert Path("run.html").read_text(encoding="utf-8") == page


def test_the_page_has_every_section_with_its_figures(folder):
    page = page_of()
    headings = re.findall(r"<h2.*?>(.*?)</h2>", page)
    figures = [part.split("</svg>")[0] for part in page.split("<svg")[1:]]
    labels = [re.search(r'aria-label="(.*?)[ :;]', figure)[1] for figure in figures]

    assert headings == [
        "What was run",
        "accuracy",
        "redundancy",
        "Sensitivity to the parameters",
        "Convergence",
        "Time and memory",
        "What could not be computed",
        "Settings and versions",
    ]
    # A diagram of ranks for each metric, the map of SCFS, convergence, and costs.
    assert labels == ["Critical", "Critical", "Maps", "Convergence", "Ranges"]
    for figure in figures:
        ElementTree.fromstring(f"<svg{figure}</svg>")
    assert "scikit-learn" in page
    assert "Not drawn, since not two parameters vary" in page


def test_every_figure_of_the_page_is_there_in_python(folder):
    page = page_of()
    report = experiment_report(read_experiment(folder / "tiny.sqlite"))
    parts = [
        *report.ranks.values(),
        *report.sensitivity.values(),
        report.convergence,
        report.costs,
    ]
    drawn = ["<svg" + part.split("</svg>")[0] for part in page.split("<svg")[1:]]

    assert [part.plot().svg.split("</svg>")[0] for part in parts] == drawn
    assert list(report.ranks) == ["accuracy", "redundancy"]
    assert list(report.sensitivity) == ["SCFS"]


def test_frames_hold_what_the_tables_say(folder):
    report = experiment_report(read_experiment(folder / "tiny.sqlite"))
    frames = report.frames()
    scores = frames["accuracy, fixed"]
    cells = zip(scores["method"], scores["data set"], scores["mean"], strict=True)
    table = report.tables[1].table()

    assert list(frames) == [
        *("accuracy, oracle", "accuracy, fixed", "redundancy, oracle"),
        *("redundancy, fixed", "ranks, accuracy", "ranks, redundancy"),
        *("sensitivity, SCFS", "convergence", "costs"),
    ]
    assert all(len(frame) for frame in frames.values())
    assert [f"{100 * mean:.1f}" for *_, mean in cells] == [
        cell.split()[0] for row in table.rows for cell in row[1:-1]
    ]


def test_a_hostile_name_is_text(folder):
    page = page_of()

    assert HOSTILE not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_json_has_tables_ranks_costs_and_versions(folder, capsys):
    code = main(["report", "tiny.sqlite", "--json"])
    content = json.loads(capsys.readouterr().out)
    tables = {(table["metric"], table["reading"]): table for table in content["tables"]}
    fixed = tables["accuracy", "fixed"]

    assert code == 0
    assert content["cells"] == {
        "cells": 100,
        "ranked": 90,
        "failed": 10,
        "missing": 0,
    }
    assert set(fixed["average_ranks"]) == {"SCFS", HOSTILE, "random", "variance"}
    assert sum(fixed["average_ranks"].values()) == pytest.approx(1 + 2 + 3 + 4)
    assert fixed["critical_difference"] == pytest.approx(2.098, abs=1e-3)
    assert "average_ranks" not in tables["accuracy", "oracle"]
    assert content["costs"]["SCFS"]["fits"] == 15
    assert content["costs"]["SCFS"]["failed"] == 10
    assert content["versions"][0].keys() >= {"ufselect", "numpy", "scikit-learn"}


def test_markdown_is_written(folder, capsys):
    main(["report", "tiny.sqlite", "--markdown", "tiny.md"])
    text = (folder / "tiny.md").read_text(encoding="utf-8")

    assert text.startswith("# tiny: comparison of methods\n\n## What was run\n")
    assert "| method | one | two | three | four | five | mean |" in text
    assert "alpha=1, 10; beta=10⁻², 10⁹" in text


def test_a_store_without_plans_asks_for_its_plan_and_is_read_with_it(folder, capsys):
    expected = page_of()
    change("tiny.sqlite", "DELETE FROM plans")
    capsys.readouterr()
    code = main(["report", "tiny.sqlite"])
    err = capsys.readouterr().err

    assert code == 1
    assert err == (
        "ufselect: tiny.sqlite does not say which plan it is of; name the plan with "
        "--plan PLAN\n"
    )
    before_versions = slice(0, expected.index("Versions that computed"))
    assert page_of("--plan", "tiny.toml")[before_versions] == expected[before_versions]


def test_half_an_experiment_makes_a_page_that_says_what_is_missing(folder, capsys):
    gone = "SELECT key FROM rankings WHERE set_name IN ('four', 'five')"
    change(
        "tiny.sqlite",
        f"DELETE FROM scores WHERE ranking IN ({gone})",
        f"DELETE FROM judgements WHERE ranking IN ({gone})",
        f"DELETE FROM rankings WHERE key IN ({gone} AND selector != 'SCFS')",
    )
    page = page_of()
    out = capsys.readouterr().out

    assert "100 cells: 54 ranked and judged, 10 without a ranking, 36 missing" in page
    assert "No statistics: 3 sets have a score of every method" in out
    assert "mean of 3" in out


def test_an_experiment_without_grid_or_objective_says_so(folder):
    gone = "SELECT key FROM rankings WHERE selector = 'SCFS'"
    change(
        "tiny.sqlite",
        f"DELETE FROM scores WHERE ranking IN ({gone})",
        f"DELETE FROM judgements WHERE ranking IN ({gone})",
        "DELETE FROM rankings WHERE selector = 'SCFS'",
    )
    page = page_of()

    assert "No method has scores on a grid in which two parameters vary." in page
    assert "The store has no objective of any fit" in page
    assert "Without SCFS, of which there is no score." in page


def without_cells(path):
    tables = ("scores", "judgements", "rankings")
    change("tiny.sqlite", *(f"DELETE FROM {table}" for table in tables))


def of_another_program(path):
    path.unlink()
    change(path, "CREATE TABLE theirs (a)")


def test_a_mistake_is_answered_in_one_sentence(folder, capsys):
    store = folder / "tiny.sqlite"
    whole = store.read_bytes()
    for spoil, more, sentence in [
        (lambda path: path.unlink(), [], "tiny.sqlite does not exist; name a store"),
        (
            lambda path: path.write_text("a,b\n" * 1000),
            [],
            "tiny.sqlite cannot be read as a store (file is not a database)",
        ),
        (of_another_program, [], "tiny.sqlite is a database of another program"),
        (lambda path: path.write_bytes(b""), [], "tiny.sqlite is empty; fill it"),
        (without_cells, [], "tiny.sqlite holds no cell of the plan tiny; compute"),
        (lambda path: None, ["--plan", "absent.toml"], "absent.toml does not exist"),
        (lambda path: None, ["--html", "no/page.html"], "the folder no does not exist"),
        (lambda path: None, ["--markdown", "no/a.md"], "the folder no does not exist"),
    ]:
        store.write_bytes(whole)
        spoil(store)
        assert main(["report", "tiny.sqlite", *more]) == 1
        out, err = capsys.readouterr()
        assert out == ""
        assert sentence in err
        assert err.count("\n") == 1


@pytest.mark.slow
def test_in_a_browser_tables_sort_and_figures_are_there(folder, browser):
    page_of()
    browser.open(folder / "page.html")
    cells = "[...document.querySelectorAll('figure')[%d].querySelectorAll('tbody td')]"
    browser.click("figure:nth-of-type(1) thead th:nth-of-type(1) button")
    first = browser.ask(f"{cells % 0}[0].textContent")

    assert first == "five"
    assert browser.ask("document.querySelectorAll('svg[role=img]').length") == 5
    assert browser.ask("document.querySelectorAll('button.download').length") == 17
    assert browser.complaints() == []
    assert browser.requests() == []
