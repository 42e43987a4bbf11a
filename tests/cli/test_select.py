"""``ufselect select``: what it chooses, says, writes and never looks at."""

import errno
import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from one_sentence import refused
from real_command import run
from small_tables import CHOSEN, NAMES, small_frame, write_frame

import ufselect.cli.inputs
import ufselect.cli.select
import ufselect.report
from ufselect import AutoSelect
from ufselect.cli import main

FAST = ["--method", "MaxVariance", "-k", "3"]


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Work in a folder with a table."""
    monkeypatch.chdir(tmp_path)
    return write_frame(tmp_path / "small.csv", small_frame())


def select(file, *arguments):
    return main(["select", str(file), *map(str, arguments)])


def selected(file, capsys, *arguments):
    """Return what ``--json`` prints."""
    assert select(file, "--json", *arguments) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [["--groups", "kind"], ["--max-correlation", "0.5"], FAST], ids=str
)
def test_large_files_take_a_second_process_and_give_the_same_answer(
    options, file, monkeypatch, capsys
):
    here = selected(file, capsys, *options)
    monkeypatch.setattr(ufselect.cli.select, "LARGE_FILE", 1)

    assert selected(file, capsys, *options) == here


def chosen(data):
    return [feature["feature"] for feature in data["features"]]


def notes_in(text):
    """Return the notes on standard error; slow machines say more of the progress."""
    return [line for line in text.splitlines() if line.startswith("ufselect: ")]


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_plain_command_answers_on_one_screen_and_writes_table_and_report(tmp_path):
    write_frame(tmp_path / "genes.csv", small_frame())
    code, said, noted = run(
        ["select", "genes.csv", "--labels", "kind"], folder=tmp_path
    )
    lines = said.decode().splitlines()
    page = (tmp_path / "genes.report.html").read_text(encoding="utf-8")

    assert code == 0
    assert lines[0].startswith("Use this selection")
    assert lines[-1] == (
        "Written: table in genes.selected.csv, report in genes.report.html."
    )
    rows = [line for line in lines if "confirmed  " in line]
    assert sorted(row.split()[0] for row in rows) == CHOSEN
    assert len(lines) + len(notes_in(noted)) <= 23
    assert max(map(len, lines)) <= 80
    table = pd.read_csv(tmp_path / "genes.selected.csv")
    frame = small_frame()[["id", *CHOSEN, "kind"]]
    pd.testing.assert_frame_equal(table, frame, check_dtype=False)
    assert page.startswith("<!DOCTYPE html>")
    assert "<svg" in page
    assert names_in(tmp_path) == [
        *("genes.csv", "genes.report.html", "genes.selected.csv"),
    ]


def test_verbose_says_what_was_read_decided_and_how_far_to_believe_it(file, capsys):
    select(file, "--labels", "kind", "--no-files", "-v")
    said, noted = capsys.readouterr()
    words = " ".join(said.split())

    assert "beside 99 random sets of as many, judged on 12 samples that the" in words
    for row in ("kernel alignment", "explained variance", "low redundancy", *CHOSEN):
        assert f"\n{row} " in said
    for columns in ("chosen features", "random features (mean of 5)", "all features"):
        assert f" {columns} " in words
    assert "ufselect: Column 'id' holds sample names.\n" in noted


def test_json_has_all_and_the_decision_is_that_of_auto_select(file, capsys):
    data = selected(file, capsys, "--labels", "kind")
    expected = AutoSelect(random_state=0).fit(small_frame()[NAMES].to_numpy())
    order = expected.order_[: expected.n_selected_]

    assert data["reasons"][:2] == expected.reasons_
    assert chosen(data) == [NAMES[column] for column in order]
    assert [each["explained"] for each in data["features"]] == pytest.approx(
        expected.explained_[order]
    )
    assert (data["n_samples"], data["n_features"], data["n_selected"]) == (24, 12, 3)
    assert (data["format"], data["method"], data["n_clusters"]) == (
        *("text", "AutoSelect", 2),
    )
    assert len(data["against_random"]) == 4
    assert data["labels"]["used_for"] == "evaluation only"
    assert data["labels"]["scores"][0]["accuracy"] == 1.0
    assert 0 <= data["redundancy"] <= 1
    assert data["written"] == {}
    assert data["command"] == f"ufselect select {file} --json --labels kind"
    assert set(data) == {
        *("file", "format", "reading", "n_samples", "n_features", "chosen_by"),
        *("method", "decision", "structure", "n_clusters", "n_selected"),
        *("reasons", "features"),
        *("against_random", "redundancy", "labels", "stability", "left_out", "notes"),
        *("parameters", "versions", "command", "warnings", "seed", "written"),
    }


@pytest.mark.parametrize(
    ("options", "who"),
    [
        (["--method", "autoselect"], "AutoSelect"),
        (["--param", "n_init=2"], "SCFS"),
        (["--method", "mcfs", "--clusters", "2"], "MCFS"),
    ],
)
def test_text_report_and_json_agree_on_who_chose(file, capsys, options, who):
    select(file, "-k", 3, *options, "--report", "page.html")
    words = " ".join(capsys.readouterr().out.split())
    data = selected(file, capsys, "-k", 3, *options)

    assert f"{file}: {who} chose 3 of 12 features of 24 samples" in words
    assert f">{who} chose 3 of 12 features" in Path("page.html").read_text("utf-8")
    assert (data["chosen_by"], data["method"]) == (who, who)


def test_labels_take_no_part_in_the_selection(file, tmp_path, capsys):
    frame = small_frame()
    frame["kind"] = frame["kind"].to_numpy()[::-1]
    frame.loc[3, "kind"] = "other"
    other = write_frame(tmp_path / "other.csv", frame)
    first, second = (
        selected(path, capsys, "--labels", "kind", "-k", 4) for path in (file, other)
    )

    assert first["labels"] != second["labels"]
    assert first["features"] == second["features"]
    assert first["against_random"] == second["against_random"]


def test_scores_are_the_whole_ranking_and_run_no_formula_unless_asked(tmp_path):
    frame = small_frame().rename(columns={"g2": "=1+1"})
    file = write_frame(tmp_path / "small.csv", frame)
    scores, output = tmp_path / "scores.csv", tmp_path / "out.csv"
    named = [*FAST, "--labels", "kind", "--scores", scores, "-o", output]
    select(file, *named)
    ranking = pd.read_csv(scores)
    variances = small_frame()[NAMES].var().rename({"g2": "'=1+1"})
    select(file, *named, "--keep-formulas")

    assert ranking.columns.tolist() == [
        *("rank", "feature", "score", "selected", "call", "explained", "q_value"),
    ]
    assert ranking["rank"].tolist() == list(range(1, 13))
    assert ranking["feature"].tolist()[:3] == (
        variances.sort_values(ascending=False).index[:3].tolist()
    )
    assert ranking["selected"].tolist() == ["yes"] * 3 + ["no"] * 9
    assert ranking["score"].is_monotonic_decreasing
    assert "=1+1" in set(pd.read_csv(scores)["feature"])
    assert "=1+1" in set(pd.read_csv(output).columns)


def test_method_parameters_seed_and_fraction_reach_the_selector(file, capsys):
    method = ["--method", "laplacianscore", "-k", 0.25]
    data = selected(file, capsys, *method, "--param", "n_neighbors=3")
    random = ["--method", "RandomSelection", "-k", 3, "--seed"]
    first, again, other = (
        chosen(selected(file, capsys, *random, seed)) for seed in (1, 1, 2)
    )

    assert (data["method"], data["n_selected"]) == ("LaplacianScore", 3)
    assert data["parameters"]["LaplacianScore.n_neighbors"] == "3"
    assert np.isfinite([each["score"] for each in data["features"]]).all()
    assert sorted(first) != CHOSEN
    assert first == again != other


def test_what_there_is_no_time_for_and_too_few_samples_is_said(file, capsys):
    data = selected(file, capsys, *FAST, "--time-budget", "1e-6")
    few = write_frame(file.with_name("few.csv"), small_frame(8))
    select(few, *FAST, "--no-files")
    words = " ".join(capsys.readouterr().out.split())

    assert sorted(chosen(data)) == CHOSEN
    assert data["left_out"]["against_random"] == "the time budget was used up"
    assert "MaxVariance chose 3 of 12 features of 8 samples" in words
    assert "no comparison with random features: X has" in words


def test_warnings_are_notes_and_quiet_has_none(file, capsys):
    all_of_them = ["--method", "MaxVariance", "-k", 12, "--no-files"]
    select(file, *all_of_them, "--max-correlation", 0.5)
    said, noted = capsys.readouterr()
    assert "a better one above --max-correlation 0.5.\n" in noted + said
    assert "Warning" not in noted

    select(file, *all_of_them, "--max-correlation", 0.5, "--quiet")
    said, noted = capsys.readouterr()
    assert said
    assert noted == ""


def test_many_notes_are_cut_short_unless_all_are_asked_for(file, capsys, monkeypatch):
    monkeypatch.setattr(ufselect.cli.inputs, "MAX_NOTES", 2)
    file.write_text(file.read_text().replace("g0,", "g1,", 1))
    noted = {}
    for option in ("", "-v", "--progress=json"):
        select(file, *FAST, "--no-files", *filter(None, [option]))
        noted[option] = capsys.readouterr().err
    first, last = notes_in(noted[""])

    assert last == "ufselect: 3 more notes: see them with -v."
    assert "more notes" not in noted["-v"] + noted["--progress=json"]
    assert len(notes_in(noted["-v"])) == 4
    # What is so with any table is worth less.
    assert first in notes_in(noted["-v"])
    assert "numbered: 'g1'" in first


def test_a_report_that_cannot_be_written_does_not_hide_the_table(
    file, capsys, monkeypatch
):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    asked = [*FAST, "--quiet", "-o", "o.csv", "--report", "p.html"]

    assert refused(capsys, "select", file, *asked) == (
        "ufselect: p.html cannot be written (No space left on device); choose another "
        "place; o.csv is complete\n"
    )
    assert pd.read_csv("o.csv").columns.tolist() == ["id", *CHOSEN, "kind"]


def test_a_program_names_the_table_and_is_told_the_progress(file, tmp_path, capsys):
    page = tmp_path / "page.html"
    called = ["--name=-my genes.csv", "--progress=json"]
    assert (
        select(file, "--json", *FAST, *called, "--image-shape=3x4", "--report", page)
        == 0
    )
    said, noted = capsys.readouterr()
    data, lines = json.loads(said), [*map(json.loads, noted.splitlines())]
    command = (
        "ufselect select './-my genes.csv' --method MaxVariance -k 3 --image-shape=3x4 "
        f"--report {page}"
    )

    assert data["file"] == "-my genes.csv"
    assert data["command"] == command
    assert "<title>-my genes.csv: 3 features</title>" in page.read_text("utf-8")
    assert str(file) not in page.read_text("utf-8")
    assert "--image-shape=3x4" in page.read_text("utf-8")
    assert "hosen pixels" in page.read_text("utf-8")
    assert [line["doing"] for line in lines if "doing" in line][:2] == [
        *("reading -my genes.csv", "ranking 12 features of 24 samples"),
    ]
    assert any("total" in line for line in lines)
    assert any(line.get("note", "").startswith("Text with commas") for line in lines)

    (tmp_path / "gap.csv").write_text("a,b\n1,NA\n2,3\n")
    (tmp_path / "empty.csv").touch()
    assert select("gap.csv", "--name", "genes.csv") == 1
    assert "ufselect: genes.csv has missing" in capsys.readouterr().err
    assert select("empty.csv", "--name", "none.csv") == 1
    assert capsys.readouterr().err.startswith("ufselect: none.csv is empty")


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Work in an empty folder; return the table in another."""
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return write_frame(tmp_path / "there" / "genes.csv", small_frame())


def test_files_go_to_the_current_folder_and_what_is_there_stays(elsewhere, capsys):
    Path("genes.selected.csv").write_text("mine")
    Path("genes.report-2.html").write_text("mine")
    select(elsewhere, *FAST)

    assert names_in(elsewhere.parent) == ["genes.csv"]
    assert names_in(Path()) == [
        *("genes.report-2.html", "genes.report-3.html"),
        *("genes.selected-3.csv", "genes.selected.csv"),
    ]
    assert Path("genes.selected.csv").read_text() == "mine"
    assert "table in genes.selected-3.csv" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "table", "page"),
    [
        ("genes.TSV.gz", "genes.selected.TSV.gz", "genes.report.html"),
        ("a.b.parquet", "a.b.selected.parquet", "a.b.report.html"),
        ("counts.2024.csv", "counts.2024.selected.csv", "counts.2024.report.html"),
    ],
)
def test_default_names_keep_the_endings_that_say_the_format(
    name, table, page, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    source = write_frame(tmp_path / name.lower(), small_frame())
    source.rename(name)
    assert select(name, *FAST) == 0

    assert names_in(tmp_path) == sorted([name, table, page])


def test_files_that_are_not_wanted_are_not_written(elsewhere, capsys):
    for arguments in (["--no-files"], ["--json"], ["--no-files", "--json"]):
        assert select(elsewhere, *FAST, *arguments) == 0
        assert "Written" not in capsys.readouterr().out
        assert names_in(Path()) == []
    select(elsewhere, *FAST, "--scores", "ranking.csv")
    assert names_in(Path()) == ["ranking.csv"]


def test_a_table_without_groups_gets_a_ranking_instead_of_a_selection(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    np.savetxt("noise.csv", random.normal(size=(40, 30)), delimiter=",")
    (tmp_path / "noise.ranking.csv").write_text("mine")
    code = select("noise.csv", "-v")
    said, noted = capsys.readouterr()
    words = " ".join((said + noted).split())

    assert code == 0
    assert said.startswith("This table shows no groups; do not use this selection.\n")
    # The terminal speaks of options, not of parameters.
    assert "set -k to select some nevertheless" in words
    assert "n_features_to_select" not in words
    assert names_in(tmp_path) == [
        *("noise.csv", "noise.ranking-2.csv", "noise.ranking.csv"),
        "noise.report-2.html",
    ]


def test_a_folder_that_cannot_be_written_is_found_before_the_work(
    file, capsys, monkeypatch
):
    readable = os.R_OK
    monkeypatch.setattr(os, "access", lambda path, mode: mode == readable)
    complaint = refused(capsys, "select", file, *FAST)

    assert "cannot write into the current folder" in complaint
    assert "-o and --report, or write none with --no-files" in complaint


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("-k 13", "-k 13 is more than the 12 features of"),
        ("-o absent/out.csv", "folder absent does not exist"),
        ("--labels knid", "'kind'"),
        ("--drop g99", "'g99'"),
        ("--report p.html --image-shape 5x5", "25 pixels"),
        ("--clusters 30", "--clusters 30 is more than the 24 samples of"),
    ],
    ids=lambda text: text[:20].replace("/", ":"),
)
def test_what_does_not_fit_the_file_is_refused(arguments, reason, file, capsys):
    complaint = refused(capsys, "select", file, "--quiet", *arguments.split())

    assert reason in complaint


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("--method SCSF", "it could be SCFS"),
        ("--param alhpa=1", "it could be alpha"),
        ("--param alpha=-1", "'alpha' parameter of SCFS must be"),
        ("--param n_clusters=3", "use --clusters"),
        ("--effort quick --no-files", "add --report"),
        ("--image-shape 3x4 -o b.csv", "add --report"),
        ("--no-files -o b.csv", "--no-files writes nothing"),
        ("--method AutoSelect --param a=1", "AutoSelect takes no --param"),
        ("--write-filled", "add --fill median"),
    ],
    ids=lambda text: text[:20],
)
def test_wrong_usage_is_refused_before_the_file_is_read(
    arguments, reason, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("this is no table")

    assert reason in refused(capsys, "select", "a.csv", *arguments.split(), code=2)
