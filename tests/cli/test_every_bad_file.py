"""The real command on files it cannot use: one sentence, one exit code, no output."""

import sys

import bad_files as bad
import pandas as pd
import pytest
from real_command import run_forked
from small_tables import CHOSEN, small_frame

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="has no fork; other tests refuse bad files there"
)
AGAIN = "save it again"
BINARY = [name for name in bad.FORMATS if name not in ("a.csv", "a.tsv", "a.mtx")]
# Checked by the format: what is changed in the middle of the others is a number.
CHECKED = [*bad.COMPRESSED, "a.npz", "a.xlsx", "a.parquet"]


def refused(folder, *arguments):
    """Run the command, which must fail; return its only sentence."""
    output = folder / "out.csv"
    options = ["--method", "MaxVariance", "--quiet", "-o", output]
    code, said, complaint = run_forked(["select", *arguments, *options], folder)

    assert code == 1
    assert said == b""
    assert complaint.startswith("ufselect: ")
    assert complaint.count("\n") == 1
    assert complaint.endswith("\n")
    assert "Traceback" not in complaint
    assert not output.exists()
    return complaint


@pytest.mark.parametrize("name", BINARY)
def test_cut_off(tmp_path, name):
    bad.cut_off(tmp_path / name)

    assert AGAIN in refused(tmp_path, tmp_path / name)


@pytest.mark.parametrize("name", CHECKED)
def test_damaged_inside(tmp_path, name):
    bad.damaged_inside(tmp_path / name)

    assert AGAIN in refused(tmp_path, tmp_path / name)


@pytest.mark.parametrize("name", bad.FORMATS)
def test_empty(tmp_path, name):
    bad.empty(tmp_path / name)

    assert "is empty; export the table again" in refused(tmp_path, tmp_path / name)


@pytest.mark.parametrize("name", [*bad.WITHOUT_NAMES, *bad.WITH_NAMES[2:]])
def test_text_under_the_name_of_another_format(tmp_path, name):
    bad.text_of_a_letter(tmp_path / name)

    assert "begins like text; rename it as .csv" in refused(tmp_path, tmp_path / name)


@pytest.mark.parametrize("name", bad.FORMATS)
def test_missing_values(tmp_path, name):
    bad.with_a_gap(tmp_path / name)
    column = "g4" if name in [*bad.WITH_NAMES, *bad.COMPRESSED, "a.h5ad"] else "x5"
    complaint = refused(tmp_path, tmp_path / name)

    assert f"has missing or infinite values in column '{column}'" in complaint
    assert f"leave the column out (--drop {column})" in complaint


@pytest.mark.parametrize("name", bad.FORMATS)
def test_one_row(tmp_path, name):
    bad.with_one_row(tmp_path / name)
    complaint = refused(tmp_path, tmp_path / name)

    assert "has 1 row of data, but selection needs two samples" in complaint
    assert "--transpose" in complaint


@pytest.mark.parametrize("name", bad.FORMATS)
def test_more_features_asked_for_than_there_are(tmp_path, name):
    bad.whole(tmp_path / name)
    complaint = refused(tmp_path, tmp_path / name, "-k", "13")

    assert "-k 13 is more than the 12 features of" in complaint
    assert "ask for at most 12" in complaint


@pytest.mark.parametrize(
    ("name", "make", "reason"),
    [
        ("a.csv", bad.with_text_in_numbers, "'tall'"),
        ("a.tsv", bad.with_text_in_numbers, "'tall'"),
        ("a.xlsx", bad.with_text_in_numbers, "'tall'"),
        ("a.csv", bad.with_text_only, "no numeric column"),
        ("a.parquet", bad.with_text_only, "no numeric column"),
        ("a.csv", bad.with_a_short_row, "line 25"),
        ("a.csv", bad.text_of_a_letter, "correct that line"),
        ("a.mtx", bad.cut_off, "a.mtx"),
        ("a.npy", bad.of_objects, "pickle"),
        ("a.npz", bad.of_objects, "pickle"),
        ("a.npy", bad.of_three_dimensions, "(4, 3, 2), which is no table"),
        ("a.npy", bad.of_words, "number"),
        ("a.pkl", bad.pickled, "may run programs; save it as .npy or CSV"),
        ("a.mat", bad.of_cells_only, "matri"),
        ("a.h5ad", bad.without_x, "X"),
        ("a.xls", bad.beginning(b"\xd0\xcf\x11\xe0"), "save it as .xlsx or CSV"),
        ("a.pdf", bad.beginning(b"%PDF-1.7"), "export the table as CSV"),
        ("a.csv.zst", bad.beginning(b"\x28\xb5\x2f\xfd"), "zstd -d"),
        ("a.zip", bad.beginning(b"PK\x03\x04"), AGAIN),
        ("a.bin", bad.beginning(b"\0\1\2"), "is of no known format; give one of .csv"),
    ],
)
def test_what_only_some_formats_can_have_wrong(tmp_path, name, make, reason):
    make(tmp_path / name)

    assert reason in refused(tmp_path, tmp_path / name)


def test_a_file_that_is_not_there(tmp_path):
    assert "there is no file" in refused(tmp_path, tmp_path / "a.csv")


def test_a_folder(tmp_path):
    assert "is a folder" in refused(tmp_path, tmp_path)


def test_names_that_occur_twice_are_numbered(tmp_path):
    frame = small_frame().rename(columns={"g5": "g2"})
    frame.to_csv(tmp_path / "a.csv", index=False)
    output = tmp_path / "out.csv"
    fast = ["--method", "MaxVariance", "-k", "3", "-o", output]
    code, _, notes = run_forked(["select", tmp_path / "a.csv", *fast], tmp_path)

    assert code == 0
    assert "'g2'" in notes
    assert len(set(pd.read_csv(output).columns)) == len(["id", *CHOSEN])


def test_a_table_under_the_name_of_another_format_is_read_with_a_note(tmp_path):
    bad.whole(tmp_path / "a.parquet").rename(tmp_path / "a.csv")
    output = tmp_path / "out.csv"
    fast = ["--method", "MaxVariance", "-k", "3", "-o", output]
    code, _, notes = run_forked(["select", tmp_path / "a.csv", *fast], tmp_path)

    assert code == 0
    assert "is a Parquet file, whatever its name says" in notes
    assert pd.read_csv(output).columns.tolist() == ["id", *CHOSEN]
