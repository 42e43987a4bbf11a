"""``ufselect report`` on the store of a small experiment."""

import json
import re
import shutil
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pandas as pd
import pytest
from one_sentence import refused
from small_experiments import change, planted_sets

from ufselect.cli import main

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
    store, plan = str(folder / "tiny.sqlite"), str(folder / "tiny.toml")
    options = ["--data", str(folder), "--store", store, "--jobs", "1", "--quiet"]
    assert main(["run", plan, *options]) == 0
    return folder


@pytest.fixture
def folder(computed, tmp_path, monkeypatch):
    """Return a folder with the store alone."""
    shutil.copy(computed / "tiny.sqlite", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def page_of(*more):
    assert main(["report", "tiny.sqlite", "--html", "page.html", *more]) == 0
    return Path("page.html").read_text(encoding="utf-8")


def test_the_tables_of_a_store_are_printed_and_nothing_is_written(folder, capsys):
    assert main(["report", "tiny.sqlite"]) == 0
    out, err = capsys.readouterr()

    assert err == ""
    assert out.startswith("tiny: comparison of methods\n")
    assert "100 runs: 90 ranked and judged, 10 failed, none missing." in out
    assert "5 sets. Friedman's test" in out
    assert re.search(r"method +fits +failed +median seconds", out)
    assert "SCFS, 10 runs (one 2, two 2, three 2, four 2, five 2): " in out
    assert "redundancy in percent, fixed" in out
    assert "standard deviation over repetitions: each seed of the method." in out
    assert list(folder.iterdir()) == [folder / "tiny.sqlite"]


def test_the_page_has_every_section_and_its_figures(folder):
    page = page_of()
    figures = ["<svg" + part.split("</svg>")[0] for part in page.split("<svg")[1:]]

    assert re.findall(r"<h2.*?>(.*?)</h2>", page) == [
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
    assert len(figures) == 5
    for figure in figures:
        ElementTree.fromstring(f"{figure}</svg>")
    assert "Not drawn, since not two parameters vary" in page
    assert HOSTILE not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_json_and_markdown_have_tables_ranks_costs_and_versions(folder, capsys):
    assert main(["report", "tiny.sqlite", "--json", "--markdown", "tiny.md"]) == 0
    content = json.loads(capsys.readouterr().out)
    scores = pd.DataFrame(content["scores"]).set_index(
        ["metric", "reading", "method", "data set"]
    )
    ranks = content["ranks"]["accuracy"]
    text = (folder / "tiny.md").read_text(encoding="utf-8")

    assert content["runs"] == {"runs": 100, "done": 90, "failed": 10, "missing": 0}
    assert scores["mean"].between(0, 1).all()
    assert scores.loc[("accuracy", "fixed", "SCFS", "one"), "labels"] == (
        "number of classes"
    )
    assert scores.loc[("accuracy", "oracle", HOSTILE, "one"), "labels"] == "setting"
    assert set(ranks["average"]) == {"SCFS", HOSTILE, "random", "variance"}
    assert sum(ranks["average"].values()) == pytest.approx(1 + 2 + 3 + 4)
    assert ranks["critical_difference"] == pytest.approx(2.098, abs=1e-3)
    assert content["costs"]["SCFS"]["fits"] == 15
    assert content["costs"]["SCFS"]["failed"] == 10
    assert content["versions"][0].keys() >= {"ufselect", "numpy", "scikit-learn"}
    assert text.startswith("# tiny: comparison of methods\n\n## What was run\n")
    assert "| method | labels told | one | two | three | four | five | mean |" in text
    assert "alpha=1, 10; beta=10⁻², 10⁹" in text


def test_what_is_missing_is_said(folder, capsys):
    gone = "set_name IN ('four', 'five') AND selector != 'SCFS'"
    runs = f"SELECT key FROM runs WHERE {gone}"
    change("tiny.sqlite", f"DELETE FROM scores WHERE run IN ({runs})")
    change("tiny.sqlite", f"DELETE FROM runs WHERE {gone}")
    main(["report", "tiny.sqlite"])
    out = capsys.readouterr().out

    assert "100 runs: 60 ranked and judged, 10 failed, 30 missing" in out
    assert "No statistics: 3 sets have a score of every method" in out
    assert "mean of 3" in out


def test_a_mistake_is_answered_in_one_sentence(folder, capsys):
    (folder / "tiny.toml").write_text(PLAN)
    for store, more, sentence in [
        ("none.sqlite", [], "none.sqlite does not exist; name a store"),
        ("tiny.toml", [], "the store tiny.toml cannot be used (file is not a"),
        ("tiny.sqlite", ["--plan", "absent"], "holds no plan 'absent'; it has tiny"),
        ("tiny.sqlite", ["--html", "no/page.html"], "the folder no does not exist"),
        ("tiny.sqlite", ["--markdown", "no/a.md"], "the folder no does not exist"),
    ]:
        assert sentence in refused(capsys, "report", store, *more)
