"""The real command on every format, judged by the libraries the formats belong to."""

import io
import json

import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.io
from matlab_files import save_73
from real_command import run, run_forked
from small_tables import CHOSEN, NAMES, small_frame, write_frame

FAST = ["--method", "MaxVariance", "-k", "3", "--json", "--quiet"]
PLACES = [NAMES.index(name) for name in CHOSEN]
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
# Read by an interpreter that has just been started, as CSV and Parquet are by other
# tests; the rest by one whose imports are done, which is the same command and takes a
# fraction of the time.
FRESH = {"version-7.3.mat"}


def write(path):
    """Write the small table by a library that is not ours."""
    if path.name == "version-7.3.mat":
        save_73(path, X=small_frame()[NAMES].to_numpy())
        return path
    return write_frame(path, small_frame())


def select(folder, name):
    """Run the command; return what it printed and where it wrote."""
    file, output = write(folder / name), folder / f"out-{name}"
    arguments = ["select", file, *FAST, "-o", output]
    done = run(arguments) if name in FRESH else run_forked(arguments, folder)
    code, said, complaint = done

    assert (code, complaint) == (0, "")
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


@pytest.mark.parametrize("name", FRAMES)
def test_a_table_with_names_keeps_them(tmp_path, name):
    data, output = select(tmp_path, name)
    frame = small_frame()

    check_choice(data, NAMES)
    pd.testing.assert_frame_equal(FRAMES[name](output), frame[["id", *CHOSEN]])


@pytest.mark.parametrize("name", ARRAYS)
def test_a_table_without_names_is_numbered(tmp_path, name):
    data, output = select(tmp_path, name)
    numbers = small_frame()[CHOSEN].to_numpy()

    check_choice(data, [f"x{place + 1}" for place in range(len(NAMES))])
    np.testing.assert_array_equal(ARRAYS[name](output), numbers)


def test_anndata_keeps_all_and_says_what_was_chosen(tmp_path):
    data, output = select(tmp_path, "a.h5ad")
    spreads = small_frame()[NAMES].std(ddof=0)

    check_choice(data, NAMES)
    with h5py.File(output) as file:
        assert file["X"].shape == (24, 12)
        assert np.flatnonzero(file["var/ufselect"]).tolist() == PLACES
        np.testing.assert_allclose(file["var/ufselect_score"], spreads)
        np.testing.assert_array_equal(
            file["var/ufselect_rank"], spreads.rank(ascending=False)
        )
        assert list(file["var"].attrs["column-order"]) == [
            *("ufselect", "ufselect_rank", "ufselect_score"),
        ]


def test_standard_input_of_any_format_becomes_standard_output(tmp_path):
    file = write(tmp_path / "a.npz")
    arguments = ["select", "-", "--method", "MaxVariance", "-k", "3", "-o", "-"]
    code, said, _ = run_forked(arguments, tmp_path, stdin=file.read_bytes())
    found = np.load(io.BytesIO(said), allow_pickle=False)["X"]

    assert code == 0
    np.testing.assert_array_equal(found, small_frame()[CHOSEN].to_numpy())
