"""``ufselect select``: what it chooses, says, writes and never looks at."""

import io
import json
import sys

import numpy as np
import pandas as pd
import pytest
from small_tables import CHOSEN, NAMES, small_frame, write_frame

import ufselect.report
from ufselect import AutoSelect
from ufselect.cli import main

FAST = ["--method", "MaxVariance", "-k", "3"]


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write_frame(tmp_path / "small.csv", small_frame())


def select(file, *arguments):
    return main(["select", str(file), *map(str, arguments)])


def selected(file, capsys, *arguments):
    """Return what ``--json`` prints."""
    assert select(file, "--json", *arguments) == 0
    return json.loads(capsys.readouterr().out)


def chosen(data):
    return [feature["feature"] for feature in data["features"]]


def test_the_columns_that_matter_are_written_with_ids_and_labels(file, tmp_path):
    output = tmp_path / "selected.csv"
    code = select(file, "-k", 3, "--labels", "kind", "-o", output)
    frame = small_frame()

    assert code == 0
    pd.testing.assert_frame_equal(
        pd.read_csv(output), frame[["id", *CHOSEN, "kind"]], check_dtype=False
    )


def test_text_says_what_was_read_decided_and_how_far_to_believe_it(file, capsys):
    select(file, "--labels", "kind", "--no-files")
    said, noted = capsys.readouterr()
    words = " ".join(said.split())

    assert "AutoSelect chose 3 of 12 features of 24 samples, without" in words
    assert "3 of 12 features are confirmed at a false discovery rate of 5 %." in words
    assert "evaluation only and took no part in the selection" in words
    assert "beside 99 random sets of as many, judged on 12 samples that the" in words
    assert "did not see, in the units of the table:" in words
    for row in ("structure", "reconstruction", "neighbours", "distinctness"):
        assert f"\n{row} " in said
    for row in ("chosen features", "random features (mean of 5)", "all features"):
        assert f"\n{row} " in said
    assert "copies of one feature do well by structure" in words
    assert all(f"\n{name} " in said for name in CHOSEN)
    assert "ufselect: Column 'id' names the rows and is no feature.\n" in noted


def test_without_k_the_decision_is_that_of_auto_select(file, capsys):
    data = selected(file, capsys, "--labels", "kind")
    frame = small_frame()
    expected = AutoSelect(random_state=0).fit(frame[NAMES].to_numpy())
    order = expected.order_[: expected.n_selected_]

    assert data["reasons"][:2] == expected.reasons_
    assert chosen(data) == [NAMES[column] for column in order]
    assert [each["explained"] for each in data["features"]] == pytest.approx(
        expected.explained_[order]
    )


def test_json_has_all_that_the_text_says(file, capsys):
    data = selected(file, capsys, "-k", 3, "--labels", "kind", "--clusters", 2)
    criteria = {each["criterion"] for each in data["against_random"]}

    assert sorted(chosen(data)) == CHOSEN
    assert (data["n_samples"], data["n_features"], data["n_selected"]) == (24, 12, 3)
    assert (data["format"], data["method"], data["n_clusters"]) == (
        "text",
        "AutoSelect",
        2,
    )
    assert criteria == {"structure", "reconstruction", "neighbours", "distinctness"}
    assert data["labels"]["used_for"] == "evaluation only"
    assert data["labels"]["scores"][0]["accuracy"] == 1.0
    assert 0 <= data["redundancy"] <= 1
    assert data["written"] == {}
    assert data["command"].startswith(f"ufselect select {file} ")
    assert "--labels kind" in data["command"]


@pytest.mark.parametrize(
    ("options", "who", "method"),
    [
        ([], "AutoSelect", "AutoSelect"),
        (["--param", "n_init=2"], "SCFS", "SCFS"),
        (["--method", "mcfs", "--clusters", "2"], "MCFS", "MCFS"),
        (["--method", "MaxVariance"], "MaxVariance", "MaxVariance"),
    ],
)
def test_text_page_and_json_agree_on_who_chose(
    file, tmp_path, capsys, options, who, method
):
    page = tmp_path / "page.html"
    select(file, "-k", 3, *options, "--report", page)
    words = " ".join(capsys.readouterr().out.split())
    data = selected(file, capsys, "-k", 3, *options)

    assert f"{file}: {who} chose 3 of 12 features of 24 samples" in words
    assert f">{who} chose 3 of 12 features of 24 samples" in page.read_text("utf-8")
    assert (data["chosen_by"], data["method"]) == (who, method)


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


def test_names_are_written_as_they_are_if_that_is_wanted(tmp_path):
    frame = small_frame().rename(columns={"g2": "=1+1"})
    file = write_frame(tmp_path / "small.csv", frame)
    scores, output = tmp_path / "scores.csv", tmp_path / "out.csv"
    named = ["--labels", "kind", "--scores", scores, "-o", output]
    select(file, *FAST, *named, "--keep-formulas")

    assert "=1+1" in set(pd.read_csv(scores)["feature"])
    assert "=1+1" in set(pd.read_csv(output).columns)


def test_scores_are_the_whole_ranking_and_run_no_formula(tmp_path):
    frame = small_frame().rename(columns={"g2": "=1+1"})
    file = write_frame(tmp_path / "small.csv", frame)
    scores = tmp_path / "scores.csv"
    select(file, *FAST, "--labels", "kind", "--scores", scores)
    ranking = pd.read_csv(scores)
    variances = small_frame()[NAMES].var().rename({"g2": "'=1+1"})

    assert ranking.columns.tolist() == [
        *("rank", "feature", "score", "selected", "call", "explained", "q_value"),
    ]
    assert ranking["rank"].tolist() == list(range(1, 13))
    assert ranking["feature"].tolist()[:3] == (
        variances.sort_values(ascending=False).index[:3].tolist()
    )
    assert ranking["selected"].tolist() == ["yes"] * 3 + ["no"] * 9
    assert ranking["score"].is_monotonic_decreasing
    assert "'=1+1" in set(ranking["feature"])


def test_a_method_that_is_named_ranks_alone(file, capsys):
    random = ["--method", "RandomSelection", "-k", 3, "--seed"]
    data = selected(file, capsys, *random, 1)

    assert sorted(chosen(data)) != CHOSEN
    assert data["method"] == "RandomSelection"


def test_parameters_reach_the_method(file, capsys):
    method = ["--method", "laplacianscore", "-k", 3]
    data = selected(file, capsys, *method, "--param", "n_neighbors=3")

    assert data["method"] == "LaplacianScore"
    assert data["parameters"]["LaplacianScore.n_neighbors"] == "3"


def test_page_holds_the_command_and_the_pixels(file, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    page = tmp_path / "page.html"
    code = select(file, *FAST, "--report", page, "--image-shape", "3x4")
    text = page.read_text(encoding="utf-8")

    assert code == 0
    assert f"Written: report in {page}." in capsys.readouterr().out
    assert text.startswith("<!DOCTYPE html>")
    assert "--image-shape 3x4" in text
    assert "Chosen pixels" in text


def test_time_that_is_up_is_said(file, capsys):
    data = selected(file, capsys, *FAST, "--time-budget", "1e-6")

    assert sorted(chosen(data)) == CHOSEN
    assert data["left_out"]["against_random"] == "there was no time left for it"


def test_warnings_are_sentences_of_their_own(file, capsys):
    all_of_them = ["--method", "MaxVariance", "-k", 12, "--no-files"]
    select(file, *all_of_them, "--max-correlation", 0.5)
    said, noted = capsys.readouterr()

    assert "of 12 features are left" not in said
    assert "max_correlation=0.5; these are selected.\n" in noted
    assert "Warning" not in noted


def test_quiet_leaves_standard_error_empty(file, capsys):
    select(file, *FAST, "--quiet", "--no-files")
    said, noted = capsys.readouterr()

    assert said
    assert noted == ""


def test_table_on_standard_output_stands_alone(file, capfdbinary, monkeypatch):
    stream = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(stream, write_through=True))
    code = select(file, *FAST, "-o", "-")
    frame = pd.read_csv(io.BytesIO(stream.getvalue()))

    assert code == 0
    assert frame.columns.tolist() == ["id", *CHOSEN]
    assert b"MaxVariance chose 3" in b" ".join(capfdbinary.readouterr().err.split())


def test_samples_in_columns_are_turned_on_request(tmp_path, capsys):
    turned = small_frame()[NAMES].T
    turned.columns = [f"s{sample}" for sample in range(24)]
    turned.to_csv(tmp_path / "turned.csv", index_label="name")
    data = selected(tmp_path / "turned.csv", capsys, *FAST, "--transpose")

    assert (data["n_samples"], data["n_features"]) == (24, 12)
    assert sorted(chosen(data)) == CHOSEN


def test_columns_are_dropped_and_rows_named_on_request(file, tmp_path, capsys):
    output = tmp_path / "o.csv"
    dropped = ["--drop", "g2", "--drop", "kind", "--id", "g11"]
    data = selected(file, capsys, *FAST, *dropped, "-o", output)

    assert data["n_features"] == 10
    assert {"g5", "g9"} <= set(chosen(data))
    assert pd.read_csv(output).columns[-1] == "g11"


def test_names_do_not_steer_the_terminal(tmp_path, capsys):
    frame = small_frame().rename(columns={"g2": "\x1b[31mred"})
    select(write_frame(tmp_path / "small.csv", frame), *FAST, "--no-files")
    said = capsys.readouterr().out

    assert "\x1b" not in said
    assert "[31mred" in said


def test_interruption_of_the_page_keeps_the_table(file, tmp_path, capsys, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(ufselect.report, "selection_report", interrupt)
    output, page = tmp_path / "o.csv", tmp_path / "page.html"
    code = select(file, *FAST, "-o", output, "--report", page)

    assert code == 130
    assert capsys.readouterr().err.endswith(
        f"ufselect: interrupted; {output} is complete, nothing else was written\n"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["o.csv", "small.csv"]


def test_few_samples_are_selected_without_a_verdict(tmp_path, capsys):
    file = write_frame(tmp_path / "few.csv", small_frame(8))
    select(file, *FAST, "--no-files")
    words = " ".join(capsys.readouterr().out.split())

    assert "MaxVariance chose 3 of 12 features of 8 samples" in words
    assert "no comparison with random features: X has 8 samples" in words


def test_the_seed_decides_all_that_is_random(file, capsys):
    random = ["--method", "RandomSelection", "-k", 3]
    first, again, other = (
        chosen(selected(file, capsys, *random, "--seed", seed)) for seed in (1, 1, 2)
    )

    assert first == again
    assert first != other


def test_a_fraction_is_a_number_of_features(file, capsys):
    data = selected(file, capsys, "--method", "MaxVariance", "-k", 0.25)

    assert data["n_selected"] == 3
    assert np.isfinite([each["score"] for each in data["features"]]).all()


def test_programs_are_told_the_progress_line_by_line(file, capsys):
    assert select(file, *FAST, "--json", "--progress", "json") == 0
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    said = [line["doing"] for line in lines if "doing" in line]

    assert said[:2] == [f"reading {file}", "ranking 12 features of 24 samples"]
    assert any("total" in line for line in lines)
    assert any(line.get("note", "").startswith("Text with commas") for line in lines)


def test_a_table_is_called_by_the_name_it_is_given(file, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    page = tmp_path / "page.html"
    called = ["--name=-my genes.csv", "--progress=json"]
    data = selected(file, capsys, *FAST, *called, "--report", page)
    command = (
        f"ufselect select './-my genes.csv' --method MaxVariance -k 3 --report {page}"
    )

    assert data["file"] == "-my genes.csv"
    assert data["command"] == command
    assert "<title>-my genes.csv: 3 features</title>" in page.read_text("utf-8")
    assert str(file) not in page.read_text("utf-8")


def test_errors_call_a_table_by_its_name(tmp_path, capsys):
    file = tmp_path / "table.csv"
    file.write_text("a,b\n1,NA\n2,3\n")
    empty = tmp_path / "empty.csv"
    empty.touch()

    assert select(file, "--name", "genes.csv") == 1
    assert "ufselect: genes.csv has missing" in capsys.readouterr().err
    assert select(empty, "--name", "none.csv") == 1
    assert capsys.readouterr().err.startswith("ufselect: none.csv is empty")
