"""``ufselect select`` on files of every format, good and bad."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.io
from matlab_files import save_73
from one_sentence import refused
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


def write(path, frame=None):
    """Write the small table, or another, by a library that is not ours."""
    frame = small_frame() if frame is None else frame
    if path.name == "version-7.3.mat":
        save_73(path, X=frame[NAMES].to_numpy())
        return path
    return write_frame(path, frame)


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
    h5py = pytest.importorskip("h5py")
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


@pytest.mark.parametrize("name", [*FRAMES, *ARRAYS, "a.h5ad"])
def test_what_can_be_wrong_in_every_format_is_one_sentence(tmp_path, name, capsys):
    path, output = tmp_path / name, tmp_path / "out.csv"
    asked = ["select", path, "--method", "MaxVariance", "--quiet", "-o", output]
    whole = write(path).read_bytes()
    middle = len(whole) // 2
    if name not in ("a.csv", "a.tsv", "a.mtx"):
        path.write_bytes(whole[:middle])
        assert AGAIN in refused(capsys, *asked)
    # Checked by the format: what is changed in the middle of the others is a number.
    if name in ("a.csv.gz", "a.csv.bz2", "a.csv.xz", "a.npz", "a.xlsx", "a.parquet"):
        path.write_bytes(whole[:middle] + b"\xa5" * 40 + whole[middle + 40 :])
        assert AGAIN in refused(capsys, *asked)
    if "csv" not in name and name != "a.tsv":
        path.write_text("Dear colleague,\nthe table is attached.\nYours\n")
        assert "begins like text; rename it as .csv" in refused(capsys, *asked)
    path.write_bytes(b"")
    assert "is empty; export the table again" in refused(capsys, *asked)
    frame = small_frame()
    frame.loc[5, "g4"] = np.nan
    write(path, frame)
    column = "x5" if name in ARRAYS else "g4"
    complaint = refused(capsys, *asked)
    assert f"has missing or infinite values in column '{column}'" in complaint
    assert f"leave the column out (--drop {column})" in complaint
    write(path, small_frame().iloc[:1])
    complaint = refused(capsys, *asked)
    assert "has 1 row of data, but selection needs two samples" in complaint
    assert "--transpose" in complaint
    write(path)
    complaint = refused(capsys, *asked, "-k", "13")
    assert "-k 13 is more than the 12 features of" in complaint
    assert "ask for at most 12" in complaint
    assert not output.exists()
