"""Files that ``ufselect select`` writes without being told: which, where, and when."""

import os

import pandas as pd
import pytest
from real_command import run
from small_tables import CHOSEN, small_frame, write_frame

from ufselect.cli import main
from ufselect.cli.default_files import free_names

FAST = ["--method", "MaxVariance", "-k", "3"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Work in an empty folder; the table is in another."""
    folder = tmp_path / "here"
    folder.mkdir()
    (tmp_path / "there").mkdir()
    write_frame(tmp_path / "there" / "genes.csv", small_frame())
    monkeypatch.chdir(folder)
    return folder


def select(*arguments):
    return main(["select", "../there/genes.csv", *FAST, *arguments])


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_plain_command_writes_table_and_page_into_the_current_folder(tmp_path):
    pytest.importorskip("matplotlib")
    write_frame(tmp_path / "genes.csv", small_frame())
    code, said, _ = run(["select", "genes.csv"], folder=tmp_path)
    table = pd.read_csv(tmp_path / "genes.selected.csv")
    page = (tmp_path / "genes.report.html").read_text(encoding="utf-8")

    assert code == 0
    assert (
        said.decode()
        .rstrip()
        .endswith("Written: table in genes.selected.csv, report in genes.report.html.")
    )
    assert set(CHOSEN) < set(table.columns)
    assert page.startswith("<!DOCTYPE html>")
    assert "<svg" in page
    assert names_in(tmp_path) == [
        *("genes.csv", "genes.report.html", "genes.selected.csv"),
    ]


def test_nothing_is_written_beside_a_table_that_is_elsewhere(here):
    pytest.importorskip("matplotlib")
    select()

    assert names_in(here) == ["genes.report.html", "genes.selected.csv"]
    assert names_in(here.parent / "there") == ["genes.csv"]


def test_what_is_there_stays_and_the_pair_gets_one_number(here, capsys):
    pytest.importorskip("matplotlib")
    (here / "genes.selected.csv").write_text("mine")
    (here / "genes.report-2.html").write_text("mine")
    select()

    assert names_in(here) == [
        *("genes.report-2.html", "genes.report-3.html"),
        *("genes.selected-3.csv", "genes.selected.csv"),
    ]
    assert (here / "genes.selected.csv").read_text() == "mine"
    assert "table in genes.selected-3.csv" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [["--no-files"], ["--json"], ["--no-files", "--json"]],
)
def test_nothing_is_written_if_nothing_is_wanted(here, capsys, arguments):
    code = select(*arguments)

    assert code == 0
    assert "Written" not in capsys.readouterr().out
    assert names_in(here) == []


def test_who_names_a_file_gets_that_one_only(here):
    select("--scores", "ranking.csv")

    assert names_in(here) == ["ranking.csv"]


def test_standard_input_has_no_name_to_begin_with(tmp_path):
    content = small_frame().to_csv(index=False).encode()
    code, said, _ = run(["select", "-", *FAST], folder=tmp_path, stdin=content)

    assert code == 0
    assert b"MaxVariance chose 3" in said
    assert names_in(tmp_path) == []


def test_a_folder_that_cannot_be_written_is_found_before_the_work(
    here, capsys, monkeypatch
):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    code = select()
    complaint = capsys.readouterr().err

    assert code == 1
    assert "cannot write into the current folder" in complaint
    assert "-o and --report, or write none with --no-files" in complaint
    assert complaint.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "table", "page"),
    [
        ("genes.TSV.gz", "genes.selected.TSV.gz", "genes.report.html"),
        ("a.b.parquet", "a.b.selected.parquet", "a.b.report.html"),
        ("counts", "counts.selected", "counts.report.html"),
        ("counts.2024", "counts.2024.selected", "counts.2024.report.html"),
        ("counts.gz", "counts.selected.gz", "counts.report.html"),
    ],
)
def test_names_keep_the_endings_that_say_the_format(tmp_path, name, table, page):
    found = free_names(tmp_path, name)

    assert [path.name for path in found] == [table, page]
