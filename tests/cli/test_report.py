"""``ufselect report`` on the store of a small experiment."""

import json
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from one_sentence import refused
from small_experiments import change, planted_sets

from ufselect.cli import main
from ufselect.experiments.report import experiment_report
from ufselect.experiments.stored import read_experiment

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


def test_the_page_has_every_section_and_its_figures_are_there_in_python(
    computed, folder
):
    page = page_of()
    run_in(computed, "--html", "run.html")
    headings = re.findall(r"<h2.*?>(.*?)</h2>", page)
    figures = ["<svg" + part.split("</svg>")[0] for part in page.split("<svg")[1:]]
    report = experiment_report(read_experiment(folder / "tiny.sqlite"))
    parts = [*report.ranks.values(), *report.sensitivity.values()]
    parts += [report.convergence, report.costs]

    assert Path("run.html").read_text(encoding="utf-8") == page
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
    for figure in figures:
        ElementTree.fromstring(f"{figure}</svg>")
    assert [part.plot().svg.split("</svg>")[0] for part in parts] == figures
    # A diagram of ranks for each metric, the map of SCFS, convergence, and costs.
    assert list(report.ranks) == ["accuracy", "redundancy"]
    assert list(report.sensitivity) == ["SCFS"]
    assert "scikit-learn" in page
    assert "Not drawn, since not two parameters vary" in page
    assert HOSTILE not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_frames_hold_what_the_tables_say(folder):
    report = experiment_report(read_experiment(folder / "tiny.sqlite"))
    frames = report.frames()
    rows = report.tables[1].table().rows

    assert list(frames) == [
        *("accuracy, oracle", "accuracy, fixed", "redundancy, oracle"),
        *("redundancy, fixed", "ranks, accuracy", "ranks, redundancy"),
        *("sensitivity, SCFS", "convergence", "costs"),
    ]
    assert all(len(frame) for frame in frames.values())
    assert [f"{100 * mean:.1f}" for mean in frames["accuracy, fixed"]["mean"]] == [
        cell.split()[0] for row in rows for cell in row[1:-1]
    ]


def test_json_and_markdown_have_tables_ranks_costs_and_versions(folder, capsys):
    assert main(["report", "tiny.sqlite", "--json", "--markdown", "tiny.md"]) == 0
    content = json.loads(capsys.readouterr().out)
    tables = {(table["metric"], table["reading"]): table for table in content["tables"]}
    fixed = tables["accuracy", "fixed"]
    text = (folder / "tiny.md").read_text(encoding="utf-8")

    counts = {"cells": 100, "ranked": 90, "failed": 10, "missing": 0}
    assert content["cells"] == counts
    assert set(fixed["average_ranks"]) == {"SCFS", HOSTILE, "random", "variance"}
    assert sum(fixed["average_ranks"].values()) == pytest.approx(1 + 2 + 3 + 4)
    assert fixed["critical_difference"] == pytest.approx(2.098, abs=1e-3)
    assert "average_ranks" not in tables["accuracy", "oracle"]
    assert content["costs"]["SCFS"]["fits"] == 15
    assert content["costs"]["SCFS"]["failed"] == 10
    assert content["versions"][0].keys() >= {"ufselect", "numpy", "scikit-learn"}
    assert text.startswith("# tiny: comparison of methods\n\n## What was run\n")
    assert "| method | one | two | three | four | five | mean |" in text
    assert "alpha=1, 10; beta=10⁻², 10⁹" in text


def test_a_store_without_plans_asks_for_its_plan_and_is_read_with_it(folder, capsys):
    expected = page_of()
    change("tiny.sqlite", "DELETE FROM plans")
    capsys.readouterr()

    assert refused(capsys, "report", "tiny.sqlite") == (
        "ufselect: tiny.sqlite does not say which plan it is of; name the plan with "
        "--plan PLAN\n"
    )
    before_versions = slice(0, expected.index("Versions that computed"))
    assert page_of("--plan", "tiny.toml")[before_versions] == expected[before_versions]


def forget(where, and_rankings_where="TRUE"):
    gone = f"SELECT key FROM rankings WHERE {where}"
    change(
        "tiny.sqlite",
        f"DELETE FROM scores WHERE ranking IN ({gone})",
        f"DELETE FROM judgements WHERE ranking IN ({gone})",
        f"DELETE FROM rankings WHERE {where} AND {and_rankings_where}",
    )


def test_what_is_missing_is_said(folder, capsys):
    forget("set_name IN ('four', 'five')", "selector != 'SCFS'")
    page = page_of()
    out = capsys.readouterr().out

    assert "100 cells: 54 ranked and judged, 10 without a ranking, 36 missing" in page
    assert "No statistics: 3 sets have a score of every method" in out
    assert "mean of 3" in out

    forget("selector = 'SCFS'")
    page = page_of()

    assert "No method has scores on a grid in which two parameters vary." in page
    assert "The store has no objective of any fit" in page
    assert "Without SCFS, of which there is no score." in page


def test_a_mistake_is_answered_in_one_sentence(folder, capsys):
    for store, more, sentence in [
        ("none.sqlite", [], "none.sqlite does not exist; name a store"),
        ("tiny.toml", [], "tiny.toml cannot be read as a store (file is not a"),
        ("tiny.sqlite", ["--plan", "absent.toml"], "absent.toml does not exist"),
        ("tiny.sqlite", ["--html", "no/page.html"], "the folder no does not exist"),
        ("tiny.sqlite", ["--markdown", "no/a.md"], "the folder no does not exist"),
    ]:
        assert sentence in refused(capsys, "report", store, *more)


def test_in_a_browser_tables_sort_and_figures_are_there(folder, page):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page_of()
    page.goto((folder / "page.html").as_uri())
    page.locator("figure thead th button").first.click()

    assert page.locator("figure").first.locator("tbody td").first.inner_text() == "five"
    assert page.locator("svg[role=img]").count() == 5
    assert page.locator("button.download").count() == 17
    assert [url for url in asked if not url.startswith("file:")] == []
