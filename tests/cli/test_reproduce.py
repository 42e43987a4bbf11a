"""``ufselect reproduce`` on a plan of the paper's shape and planted data."""

import hashlib
import json
import xml.etree.ElementTree as ElementTree

import pytest
from one_sentence import refused
from small_experiments import planted_sets

from ufselect.cli import main
from ufselect.data import DataUnavailableError
from ufselect.experiments import plan, scfs_2020

PLAN = """
name = "scfs-2020-quick"
description = "Planted data under the names of the paper."
sets = ["lung", "lymphoma", "ORL"]
features = [3, 6]
clusters = "classes"

[judge]
repetitions = 2
restarts = 2
metrics = ["accuracy", "nmi_geometric", "nmi_max"]

[[methods]]
selector = "LaplacianScore"
label = "LS"

[[methods]]
selector = "SCFS"
grid = { alpha = [1.0, 10.0], beta = [0.01, 1e9] }
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    located = planted_sets(tmp_path)
    located.paths["one"].rename(tmp_path / "lymphoma.mat")
    located.paths["two"].rename(tmp_path / "ORL.mat")
    (tmp_path / "scfs-2020-quick.toml").write_text(PLAN)
    monkeypatch.setattr(plan, "FOLDERS", (tmp_path,))
    # Nothing is asked of the network: the set is said to have no address.
    monkeypatch.setattr("ufselect.experiments.runs.fetch", offline(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def offline(folder):
    def fetch(name, place=None):
        path = folder / f"{name}.mat"
        if not path.exists():
            raise DataUnavailableError(f"{name} is nowhere")
        return path

    return fetch


def reproduce(*more):
    return main(["reproduce", "scfs-2020", "--quick", "--jobs", "1", "--quiet", *more])


def test_every_cell_has_published_ours_difference_and_verdict(folder, capsys):
    code = reproduce("--json")
    content = json.loads(capsys.readouterr().out)
    rows = {(row["data set"], row["method"]): row for row in content["accuracy"]}
    cell = rows["Lymphoma", "SCFS"]
    ours = float(cell["ours (oracle)"].split()[0])

    assert code == 0
    assert cell["published"] == "64.87 ±1.59"
    assert float(cell["difference"]) == pytest.approx(ours - 64.87, abs=0.011)
    assert cell["verdict"] in {"within", "above", "below"}
    assert rows["Lymphoma", "all features"]["published"] == "58.75 ±5.19"
    assert rows["Lymphoma", "random"]["published"] == "-"
    assert rows["Lymphoma", "random"]["label-free"] != "-"
    assert all("nmi_max (oracle)" in row for row in content["nmi_geometric"])


def test_the_report_has_tables_figures_what_failed_and_what_is_missing(folder, capsys):
    reproduce("--output", "page.html", "--markdown", "page.md")
    out, err = capsys.readouterr()
    page = (folder / "page.html").read_text(encoding="utf-8")
    figures = [part.split("</svg>")[0] for part in page.split("<svg")[1:]]

    assert "ufselect: without lung: lung is nowhere" in err
    # Of each metric five rows; of the set, a sentence and its row in Table 2.
    assert out.count("data not available") == 2 * 5 + 2
    assert out.endswith("The report is page.html.\nThe scores are in page.sqlite.\n")
    # Two bar charts and one map per metric, and the curves.
    assert len(figures) == 2 * 2 + 2 + 1
    for figure in figures:
        ElementTree.fromstring(f"<svg{figure}</svg>")
    assert "How the cells were chosen" in page
    assert "The fits took 0.0 hours" in page
    assert "LS is limited to" not in page
    assert "leaves no feature in the model" in page
    assert (folder / "page.sqlite").exists()
    assert "| Lymphoma | SCFS | 64.87 ±1.59 |" in (folder / "page.md").read_text()


def test_a_reconstructed_file_is_marked_and_curves_are_drawn(
    folder, capsys, monkeypatch
):
    paper = scfs_2020.published()
    content = (folder / "lymphoma.mat").read_bytes()
    marked = paper.sets["Lymphoma"]._replace(
        reconstructed=hashlib.sha256(content).hexdigest(), reconstruction="Rebuilt."
    )
    monkeypatch.setitem(paper.sets, "Lymphoma", marked)
    reproduce("--output", "a.html", "--json")
    content = json.loads(capsys.readouterr().out)
    reproduce("--output", "a.html")
    out = capsys.readouterr().out
    curves = {row["data set"]: row for row in content["convergence"]}

    assert {row["data set"] for row in content["accuracy"]} == {
        *("Lung", "Lymphoma (reconstructed)", "ORL")
    }
    assert "Lymphoma (reconstructed): Rebuilt." in out
    assert "lymphoma, reconstructed" in out
    assert list(curves) == ["Lymphoma (reconstructed)", "ORL"]
    assert curves["ORL"]["published"] == "1,093,680,086 to 169,202,389"
    assert curves["ORL"]["verdict"] == "not met"
    assert float(curves["ORL"]["residual"].removesuffix(" %")) > 20
    # The reconstructed file is known; the repository's own is another.
    assert paper.sets["Lung"].reconstructed.startswith("d6e4cf69")


def test_limits_of_iterations_stand_beside_the_tables(folder, capsys):
    file = folder / "scfs-2020-quick.toml"
    file.write_text(PLAN + "parameters = { max_iter = 7 }\n")
    reproduce()

    assert capsys.readouterr().out.count("SCFS is limited to 7 iterations.") == 2


def test_a_mistake_is_answered_in_one_sentence(folder, capsys):
    quick = ["scfs-2020", "--quick"]
    for arguments, sentence in [
        (["scfs-1999"], "no paper is called 'scfs-1999'; there is: scfs-2020"),
        ([*quick, "--output", "no/page.html"], "the folder no does not exist"),
    ]:
        assert sentence in refused(capsys, "reproduce", *arguments)
