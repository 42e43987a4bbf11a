"""``ufselect select`` on files of every format, good and bad."""

import io
import json

import bad_files as bad
import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.io
from matlab_files import save_73
from real_command import run
from small_tables import CHOSEN, NAMES, small_frame, write_frame

from ufselect.cli import main

FAST = ["--method", "MaxVariance", "-k", "3", "--quiet"]
PLACES = [NAMES.index(name) for name in CHOSEN]
AGAIN = "save it again"
FRAMES = {
    "a.csv": pd.read_csv,
    "a.tsv": lambda path: pd.read_csv(path, sep="\t"),
    "a.csv.gz": lambda path: pd.read_csv(path, compression="gzip"),
    "a.csv.bz2": lambda path: pd.read_csv(path, compression="bz2"),
    "a.csv.xz": lambda path: pd.read_csv(path, compression="xz"),
    "a.parquet": pd.read_parquet,
    "a.feather": pd.read_feather,
    "a.xlsx": pd.read_excel,
}
ARRAYS = {
    "a.npy": lambda path: np.load(path, allow_pickle=False),
    "a.npz": lambda path: np.load(path, allow_pickle=False)["X"],
    "version-5.mat": lambda path: scipy.io.loadmat(path)["X"],
    "version-7.3.mat": lambda path: scipy.io.loadmat(path)["X"],
    "a.mtx": lambda path: scipy.io.mmread(path).toarray(),
}


def write(path):
    """Write the small table by a library that is not ours."""
    if path.name == "version-7.3.mat":
        save_73(path, X=small_frame()[NAMES].to_numpy())
        return path
    return write_frame(path, small_frame())


def selected(folder, name, capsys):
    """Select from a table; return what was printed and where it was written."""
    file, output = write(folder / name), folder / f"out-{name}"
    assert main(["select", str(file), *FAST, "--json", "-o", str(output)]) == 0
    said, complaint = capsys.readouterr()
    assert complaint == ""
    return json.loads(said), output


def check_choice(data, names):
    """The best columns are those that were planted, scored by their spread."""
    spreads = small_frame()[NAMES].std(ddof=0)
    expected = spreads.sort_values(ascending=False)[:3]
    named = dict(zip(NAMES, names, strict=True))

    assert [each["feature"] for each in data["features"]] == [
        named[name] for name in expected.index
    ]
    assert [each["score"] for each in data["features"]] == pytest.approx(
        expected.tolist()
    )


@pytest.mark.parametrize("name", [*FRAMES, *ARRAYS])
def test_a_table_keeps_its_names_and_columns_without_are_numbered(
    tmp_path, name, capsys
):
    data, output = selected(tmp_path, name, capsys)
    frame = small_frame()[["id", *CHOSEN, "kind"]]
    if name in FRAMES:
        check_choice(data, NAMES)
        pd.testing.assert_frame_equal(FRAMES[name](output), frame)
    else:
        check_choice(data, [f"x{place + 1}" for place in range(len(NAMES))])
        np.testing.assert_array_equal(ARRAYS[name](output), frame[CHOSEN].to_numpy())


def test_anndata_is_subset_and_says_ranks_and_scores(tmp_path, capsys):
    data, output = selected(tmp_path, "a.h5ad", capsys)
    spreads = small_frame()[NAMES].std(ddof=0)

    check_choice(data, NAMES)
    with h5py.File(output) as file:
        assert file["X"].shape == (24, 3)
        assert file["var/ufselect"][()].all()
        np.testing.assert_allclose(file["var/ufselect_score"], spreads.iloc[PLACES])
        np.testing.assert_array_equal(
            file["var/ufselect_rank"], spreads.rank(ascending=False).iloc[PLACES]
        )
        assert list(file["var"].attrs["column-order"]) == [
            *("ufselect", "ufselect_rank", "ufselect_score"),
        ]


def test_the_name_of_the_output_decides_its_format(tmp_path):
    file = write(tmp_path / "a.csv")
    output = tmp_path / "o.parquet"
    main(["select", str(file), *FAST, "-o", str(output)])

    assert pd.read_parquet(output).columns.tolist() == ["id", *CHOSEN, "kind"]


def test_standard_input_of_any_format_becomes_standard_output(tmp_path):
    file = write(tmp_path / "a.npz")
    code, said, _ = run(["select", "-", *FAST, "-o", "-"], stdin=file.read_bytes())
    found = np.load(io.BytesIO(said), allow_pickle=False)["X"]

    assert code == 0
    np.testing.assert_array_equal(found, small_frame()[CHOSEN].to_numpy())


def refused(file, capsys, *arguments):
    """Run the command, which must fail; return its only sentence."""
    output = file.parent / "out.csv"
    options = [*arguments, "--method", "MaxVariance", "--quiet", "-o", str(output)]
    code = main(["select", str(file), *options])
    said, complaint = capsys.readouterr()

    assert code == 1
    assert said == ""
    assert complaint.startswith("ufselect: ")
    assert complaint.count("\n") == 1
    assert complaint.endswith("\n")
    assert not output.exists()
    return complaint


@pytest.mark.parametrize("name", bad.FORMATS)
def test_what_can_be_wrong_in_every_format_is_one_sentence(tmp_path, name, capsys):
    path = tmp_path / name
    if name not in ("a.csv", "a.tsv", "a.mtx"):
        bad.cut_off(path)
        assert AGAIN in refused(path, capsys)
    # Checked by the format: what is changed in the middle of the others is a number.
    if name in [*bad.COMPRESSED, "a.npz", "a.xlsx", "a.parquet"]:
        bad.damaged_inside(path)
        assert AGAIN in refused(path, capsys)
    if name in [*bad.WITHOUT_NAMES, *bad.WITH_NAMES[2:]]:
        bad.text_of_a_letter(path)
        assert "begins like text; rename it as .csv" in refused(path, capsys)
    path.unlink(missing_ok=True)
    bad.empty(path)
    assert "is empty; export the table again" in refused(path, capsys)
    bad.with_a_gap(path)
    named = name in [*bad.WITH_NAMES, *bad.COMPRESSED, "a.h5ad"]
    column = "g4" if named else "x5"
    complaint = refused(path, capsys)
    assert f"has missing or infinite values in column '{column}'" in complaint
    assert f"leave the column out (--drop {column})" in complaint
    bad.with_one_row(path)
    complaint = refused(path, capsys)
    assert "has 1 row of data, but selection needs two samples" in complaint
    assert "--transpose" in complaint
    bad.whole(path)
    complaint = refused(path, capsys, "-k", "13")
    assert "-k 13 is more than the 12 features of" in complaint
    assert "ask for at most 12" in complaint


def header_only(path):
    return write_frame(path, small_frame().iloc[:0])


def constant(path):
    frame = small_frame()
    frame[NAMES] = 1.5
    return write_frame(path, frame)


def a_folder(path):
    path.mkdir()


@pytest.mark.parametrize(
    ("name", "make", "reason"),
    [
        ("absent.csv", lambda path: None, "there is no file"),
        ("folder.csv", a_folder, "is a folder"),
        ("a.csv", header_only, "a header and no data"),
        ("a.csv", constant, "All 12 columns of X are constant"),
        ("a.csv", bad.with_text_in_numbers, "'tall'"),
        ("a.tsv", bad.with_text_in_numbers, "'tall'"),
        ("a.xlsx", bad.with_text_in_numbers, "'tall'"),
        ("a.csv", bad.with_text_only, "no numeric column"),
        ("a.parquet", bad.with_text_only, "no numeric column"),
        ("a.csv", bad.with_a_short_row, "line 25"),
        ("a.csv", bad.text_of_a_letter, "correct that line"),
        ("a.mtx", bad.cut_off, "a.mtx"),
        ("a.npz", bad.of_objects, "pickle"),
        ("a.npy", bad.of_three_dimensions, "(4, 3, 2), which is not a table"),
        ("a.pkl", bad.pickled, "can run any program; save it as .npy or CSV"),
        ("a.mat", bad.of_cells_only, "matri"),
        ("a.h5ad", bad.without_x, "X"),
        ("a.xls", bad.beginning(b"\xd0\xcf\x11\xe0"), "save it as .xlsx or CSV"),
        ("a.zip", bad.beginning(b"PK\x03\x04"), AGAIN),
        ("a.bin", bad.beginning(b"\0\1\2"), "has an unknown format; give one of .csv"),
    ],
)
def test_what_only_some_formats_can_have_wrong(tmp_path, name, make, reason, capsys):
    make(tmp_path / name)

    assert reason in refused(tmp_path / name, capsys)


def test_odd_tables_are_read_with_a_note(tmp_path, capsys):
    output = tmp_path / "out.csv"
    fast = ["--method", "MaxVariance", "-k", "3", "-o", str(output)]
    frame = small_frame().rename(columns={"g5": "g2"})
    frame.to_csv(tmp_path / "a.csv", index=False)
    assert main(["select", str(tmp_path / "a.csv"), *fast]) == 0
    assert "'g2'" in capsys.readouterr().err
    assert len(set(pd.read_csv(output).columns)) == len(["id", *CHOSEN, "kind"])

    bad.whole(tmp_path / "a.parquet").rename(tmp_path / "a.csv")
    assert main(["select", str(tmp_path / "a.csv"), *fast]) == 0
    noted = capsys.readouterr().err
    assert "is a Parquet file despite its name" in noted
    assert pd.read_csv(output).columns.tolist() == ["id", *CHOSEN, "kind"]
