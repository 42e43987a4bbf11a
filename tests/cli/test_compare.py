"""``ufselect compare``: methods side by side, beside chance and all features."""

import json
import re

import numpy as np
import pytest
from one_sentence import refused
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale
from small_tables import CHOSEN, NAMES, small_frame, write_frame

from ufselect import LaplacianScore, MaxVariance
from ufselect.cli import main
from ufselect.evaluation import neighbourhood_agreement, redundancy

DECIDED = ["-k", "3", "--clusters", "2"]


@pytest.fixture
def file(tmp_path):
    return write_frame(tmp_path / "small.csv", small_frame())


def compared(file, capsys, *arguments):
    code = main(["compare", str(file), "--json", "--quiet", *arguments])
    assert code == 0
    return json.loads(capsys.readouterr().out)


def test_rows_are_the_methods_variance_chance_and_all_features(file, capsys):
    data = compared(file, capsys, "--methods", "LaplacianScore", "-k", "3")
    rows = {row["method"]: row for row in data["rows"]}
    numbers = scale(small_frame()[NAMES].to_numpy())
    places = [NAMES.index(name) for name in CHOSEN]

    assert list(rows) == ["LaplacianScore", "MaxVariance", "random", "all features"]
    assert rows["MaxVariance"]["redundancy"] == pytest.approx(
        redundancy(numbers[:, places])
    )
    assert rows["MaxVariance"]["low_redundancy"] == pytest.approx(
        1 - redundancy(numbers[:, places])
    )
    assert data["standardize"] == "features"
    assert rows["MaxVariance"]["neighbourhood_preservation"] == pytest.approx(
        neighbourhood_agreement(numbers, places)
    )
    assert rows["all features"]["neighbourhood_preservation"] == 1.0
    assert (
        rows["random"]["explained_variance"]
        < rows["all features"]["explained_variance"]
    )


@pytest.fixture(scope="module")
def wine(tmp_path_factory):
    path = tmp_path_factory.mktemp("wine") / "wine.csv"
    load_wine(as_frame=True).frame.to_csv(path, index=False)
    return path


def test_methods_are_judged_in_the_units_in_which_they_select(wine, capsys):
    data = compared(wine, capsys, "--labels", "target")
    raw = compared(wine, capsys, "--labels", "target", "--standardize", "none")
    found, alike = (
        {row["method"]: row["mutual_information"] for row in each["rows"]}
        for each in (data, raw)
    )

    assert data["standardize"] == "features"
    assert "with features scaled to unit variance" in data["conclusion"]
    assert len({round(value, 6) for value in found.values()}) > 3
    assert found["SCFS"] > found["MaxVariance"] > 0.6
    assert raw["standardize"] == "none"
    assert max(alike.values()) < 0.45


def test_a_lead_within_noise_makes_no_winner_and_is_reported(
    wine, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    arguments = ["--labels", "target", "--report", "page.html"]
    data = compared(wine, capsys, *arguments)
    main(["compare", str(wine), "--quiet", *arguments])
    said = capsys.readouterr().out
    words = " ".join(said.split())
    page = (tmp_path / "page.html").read_text(encoding="utf-8")

    assert data["names"][:2] == ["AutoSelect", "SCFS"]
    assert data["winner"] is None
    assert "which is not more than noise: 20 random sets differ by up to" in words
    assert data["conclusion"] in words
    assert words.endswith("Written: report in page.html.")
    assert data["conclusion"] in page
    assert "No method leads by more than noise." in page
    assert f"ufselect compare {wine} --quiet --labels target" in page
    assert len(data["selected"]["SCFS"]) == data["n_features"]
    assert data["selected"]["SCFS"][0] in page
    assert set(data) == {
        *("file", "n_samples", "reading", "seed", "labels", "n_features", "rows"),
        *("names", "overlap", "rank_agreement", "standardize", "winner", "conclusion"),
        *("selected", "written"),
    }


def test_methods_agree_with_each_other_and_not_with_chance(file, capsys):
    data = compared(file, capsys, "--methods", "LaplacianScore,SCFS", "-k", "3")
    overlap = np.array(data["overlap"])
    rows = {row["method"]: row for row in data["rows"]}
    first = data["names"].index("SCFS")
    others = [data["names"].index(name) for name in ("LaplacianScore", "MaxVariance")]

    assert np.diag(overlap)[:3].tolist() == [1.0, 1.0, 1.0]
    assert rows["SCFS"]["overlap"] == pytest.approx(overlap[first, others].mean())
    assert rows["random"]["overlap"] < rows["SCFS"]["overlap"]


def test_labels_are_compared_with_and_change_nothing_else(file, capsys):
    arguments = ["--methods", "LaplacianScore", "-k", "3", "--labels", "kind"]
    with_labels = compared(file, capsys, *arguments)
    without = compared(file, capsys, *arguments[:-2], "--drop", "kind")
    first, second = (data["rows"][0] for data in (with_labels, without))

    assert first["accuracy"] == first["mutual_information"] == 1.0
    assert "accuracy" not in second
    assert {
        key: first[key] for key in ("overlap", "redundancy", "explained_variance")
    } == {key: second[key] for key in ("overlap", "redundancy", "explained_variance")}


def test_text_and_markdown_have_the_same_rows(file, tmp_path, capsys):
    page = tmp_path / "table.md"
    main(["compare", str(file), "--methods", "mcfs", "--markdown", str(page)])
    said, noted = capsys.readouterr()
    main(["compare", str(file), "--methods", "mcfs", "--labels", "kind", "--quiet"])
    narrow = capsys.readouterr().out
    main(["compare", str(file), "--methods", "mcfs", "--labels", "kind", "-v"])
    verbose, reasons = capsys.readouterr()

    lines = re.sub(r"\S*/(small.csv|table.md)", "", said + narrow).splitlines()
    assert max(map(len, lines)) <= 80
    assert " NMI %\n" in narrow
    assert " seconds\n" not in narrow
    hidden = "-v also shows overlap, seconds and rank agreement."
    assert hidden in " ".join(narrow.split())
    assert "overlap: features in common" in said
    assert "overlap:" not in narrow
    assert re.search(r"\nmethod .* rank agreement .* NMI %  seconds\n", verbose)
    assert "R2 on held-out samples of all features" in " ".join(verbose.split())
    assert "This table shows structure" in reasons
    assert "This table shows structure" not in noted
    for name in ("MCFS", "MaxVariance", "random", "all features"):
        assert f"\n{name} " in said
        assert f"\n| {name} |" in page.read_text(encoding="utf-8")
    assert "3 features of" in said
    assert "3 of 12 features are confirmed" in noted


def test_a_method_that_fails_leaves_the_others_unless_all_do(file, capsys, monkeypatch):
    def fail(self, data):
        raise ValueError("no graph")

    monkeypatch.setattr(LaplacianScore, "_score_features", fail)
    code = main(["compare", str(file), "--methods", "LaplacianScore", *DECIDED])
    said, noted = capsys.readouterr()
    (row,) = (line for line in said.splitlines() if line.startswith("LaplacianScore "))

    assert code == 0
    assert set(row.split()[1:]) == {"-"}
    assert "\nMaxVariance " in said
    assert "ufselect: LaplacianScore: no graph\n" in noted
    monkeypatch.setattr(MaxVariance, "_score_features", fail)
    assert main(["compare", str(file), "--methods", "LaplacianScore", *DECIDED]) == 1
    assert "no graph" in capsys.readouterr().err


def test_what_cannot_be_compared_is_one_sentence(file, capsys):
    for arguments, code, reason in [
        (["--methods", "SCSF"], 2, "it could be SCFS"),
        (["-k", "13"], 1, "-k 13 is more than the 12 features"),
        (["--clusters", "25"], 1, "--clusters 25 is more than the 24 samples"),
        (["--markdown", "absent/a.md"], 1, "absent does not exist"),
        (["--report", "absent/a.html"], 1, "absent does not exist"),
    ]:
        arguments = ["compare", file, "--quiet", *arguments]
        assert reason in refused(capsys, *arguments, code=code)
