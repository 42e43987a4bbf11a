"""``ufselect select`` on files of every format, and on files that are bad."""

import errno
import gzip
import json
import os
import re
import shlex
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.io
from small_tables import CHOSEN, NAMES, small_frame, write_frame

from ufselect.cli import main

PLACES = [NAMES.index(name) for name in CHOSEN]
READERS = {
    ".csv": pd.read_csv,
    ".tsv": lambda path: pd.read_csv(path, sep="\t"),
    ".gz": pd.read_csv,
    ".parquet": pd.read_parquet,
    ".feather": pd.read_feather,
    ".xlsx": pd.read_excel,
    ".npy": np.load,
    ".npz": lambda path: np.load(path)["X"],
    ".mat": lambda path: scipy.io.loadmat(path)["X"],
    ".mtx": lambda path: scipy.io.mmread(path).toarray(),
}


@pytest.mark.parametrize(
    "name",
    [
        *("a.csv", "a.tsv", "a.csv.gz", "a.parquet", "a.feather", "a.xlsx"),
        *("a.npy", "a.npz", "a.mat", "a.mtx"),
    ],
)
def test_every_format_is_read_and_written_back(tmp_path, name):
    frame = small_frame()
    file = write_frame(tmp_path / name, frame)
    output = tmp_path / f"out-{name}"
    arguments = ["--method", "MaxVariance", "-k", "3", "-o", str(output), "--quiet"]
    code = main(["select", str(file), *arguments])
    found = READERS[file.suffix](output)
    if isinstance(found, pd.DataFrame):
        found = found[CHOSEN].to_numpy()

    assert code == 0
    np.testing.assert_allclose(found, frame[CHOSEN].to_numpy())


def test_anndata_gets_columns_and_keeps_its_features(tmp_path):
    file = write_frame(tmp_path / "a.h5ad", small_frame())
    output = tmp_path / "o.h5ad"
    arguments = ["--method", "MaxVariance", "-k", "3", "-o", str(output)]
    code = main(["select", str(file), *arguments])

    assert code == 0
    with h5py.File(output) as result:
        selected = result["var/ufselect"][()]
        assert np.flatnonzero(selected).tolist() == PLACES
        assert sorted(result["var/ufselect_rank"][()]) == list(range(1, 13))


def test_the_name_of_the_output_decides_its_format(tmp_path):
    file = write_frame(tmp_path / "a.csv", small_frame())
    output = tmp_path / "o.parquet"
    main(["select", str(file), "-k", "3", "-o", str(output), "--quiet"])

    assert pd.read_parquet(output).columns.tolist() == ["id", *CHOSEN]


def missing(folder):
    return folder / "absent.csv"


def empty(folder):
    (folder / "a.csv").touch()
    return folder / "a.csv"


def header_only(folder):
    return write_frame(folder / "a.csv", small_frame().iloc[:0])


def one_row(folder):
    return write_frame(folder / "a.csv", small_frame().iloc[:1])


def text_in_numbers(folder):
    frame = small_frame().astype({"g4": object})
    frame.loc[5, "g4"] = "tall"
    return write_frame(folder / "a.csv", frame)


def gaps(folder):
    frame = small_frame()
    frame.loc[5, "g4"] = np.nan
    return write_frame(folder / "a.csv", frame)


def constants(folder):
    frame = small_frame()
    frame[NAMES] = 1.5
    return write_frame(folder / "a.csv", frame)


def cut_off(folder):
    whole = gzip.compress(small_frame().to_csv(index=False).encode())
    (folder / "a.csv.gz").write_bytes(whole[: len(whole) // 2])
    return folder / "a.csv.gz"


def a_folder(folder):
    return folder


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (missing, "there is no file"),
        (empty, "is empty"),
        (header_only, "a header and no data"),
        (one_row, "selection needs two samples"),
        (text_in_numbers, "'tall'"),
        (gaps, "missing or infinite values in column 'g4'"),
        (constants, "All 12 columns of X are constant"),
        (cut_off, "gz"),
        (a_folder, "is a folder"),
    ],
)
def test_a_bad_file_is_refused_in_one_sentence(tmp_path, capsys, make, reason):
    output = tmp_path / "out.csv"
    file = make(tmp_path)
    code = main(["select", str(file), "--quiet", "-o", str(output)])
    said, complaint = capsys.readouterr()

    assert code == 1
    assert said == ""
    assert complaint.startswith("ufselect: ")
    assert complaint.count("\n") == 1
    assert reason in complaint
    assert not output.exists()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["-k", "13"], "-k 13 is more than the 12 features of"),
        (["-o", "absent/out.csv"], "folder absent does not exist"),
        (["--labels", "knid"], "'kind'"),
        (["--drop", "g99"], "'g99'"),
        (["--report", "p.html", "--image-shape", "5x5"], "25 pixels"),
        (["--clusters", "30"], "--clusters 30 is more than the 24 samples of"),
    ],
)
def test_what_does_not_fit_the_file_is_refused_in_one_sentence(
    tmp_path, capsys, monkeypatch, arguments, reason
):
    monkeypatch.chdir(tmp_path)
    write_frame(tmp_path / "a.csv", small_frame())
    code = main(["select", "a.csv", "--quiet", *arguments])
    complaint = capsys.readouterr().err

    assert code == 1
    assert complaint.startswith("ufselect: ")
    assert complaint.count("\n") == 1
    assert reason in complaint


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--method", "SCSF"], "it could be SCFS"),
        (["--param", "alhpa=1"], "it could be alpha"),
        (["--param", "alpha=-1"], "'alpha' parameter of SCFS must be"),
        (["--param", "n_clusters=3"], "use --clusters"),
        (["-o", "a.csv"], "a.csv would be replaced"),
        (["-o", "-", "--json"], "both print to standard output"),
        (["-o", "b", "--scores", "b"], "need different files"),
        (["--effort", "quick", "--no-files"], "add --report"),
        (["--image-shape", "3x4", "-o", "b.csv"], "add --report"),
        (["--no-files", "-o", "b.csv"], "--no-files writes nothing"),
    ],
)
def test_wrong_usage_is_refused_before_the_file_is_read(
    tmp_path, capsys, monkeypatch, arguments, reason
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("this is no table")
    code = main(["select", "a.csv", *arguments])
    complaint = capsys.readouterr().err

    assert code == 2
    assert complaint.count("\n") == 1
    assert reason in complaint


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["-k", "0"], "neither a whole number"),
        (["-k", "inf"], "neither a whole number"),
        (["-k", "some"], "not a number of features"),
        (["--param", "alpha"], "not of the form name=value"),
        (["--image-shape", "32"], "write it like 32x32"),
        (["--clusters", "0"], "0 is less than 1"),
        (["--seed", "-1"], "not between"),
        (["--time-budget", "0"], "seconds above 0"),
        (["--max-correlation", "2"], "not between 0 and 1"),
    ],
)
def test_values_that_mean_nothing_are_wrong_usage(capsys, arguments, reason):
    with pytest.raises(SystemExit) as exit_info:
        main(["select", "a.csv", *arguments])

    assert exit_info.value.code == 2
    assert reason in capsys.readouterr().err


def test_complaints_leave_json_alone(tmp_path, capsys):
    file = gaps(tmp_path)
    code = main(["select", str(file), "--json", "--drop", "g4", "-k", "2"])

    assert code == 0
    assert json.loads(capsys.readouterr().out)["n_features"] == 11


def test_the_remedy_for_missing_values_can_be_typed_as_it_is(tmp_path, capsys):
    odd = ["it's 1", "-x"]
    frame = small_frame().rename(columns=dict(zip(["g4", "g5"], odd, strict=True)))
    frame.loc[2, odd] = np.nan
    file = write_frame(tmp_path / "a.csv", frame)
    select = ["select", str(file), "--no-files", "--method", "MaxVariance", "-k", "3"]
    refused = main(select)
    (remedy,) = re.findall(r"out \((.*)\)$", capsys.readouterr().err.strip())

    assert refused == 1
    assert main([*select, *shlex.split(remedy)]) == 0


def test_a_page_that_cannot_be_written_does_not_hide_the_table(
    tmp_path, capsys, monkeypatch
):
    pytest.importorskip("matplotlib")

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    file = write_frame(tmp_path / "a.csv", small_frame())
    table, page = tmp_path / "o.csv", tmp_path / "page.html"
    fast = ["--method", "MaxVariance", "-k", "3", "--quiet"]
    monkeypatch.setattr(Path, "write_text", full)
    code = main(["select", str(file), *fast, "-o", str(table), "--report", str(page)])

    assert code == 1
    assert capsys.readouterr().err == (
        f"ufselect: {page} cannot be written (No space left on device); choose another "
        f"place; {table} is complete\n"
    )
    assert pd.read_csv(table).columns.tolist() == ["id", *CHOSEN]
