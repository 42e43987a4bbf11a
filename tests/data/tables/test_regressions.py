"""Files that once gave numbers nobody had written, or ended in a traceback."""

import sys
import zipfile

import h5py
import numpy as np
import openpyxl
import pyarrow as arrow
import pytest
import scipy.io
from pyarrow import parquet
from small_tables import write_anndata

from ufselect.data import TableError, read_labelled, read_table
from ufselect.data.checkpoints import Checkpoint
from ufselect.data.tables import frames as arrow_files
from ufselect.data.tables.table import as_names

VALUES = np.arange(12.0).reshape(4, 3)


@pytest.mark.parametrize("first", ["id", "a"])
def test_rows_that_a_file_says_it_has_and_has_not_are_no_numbers(
    tmp_path, monkeypatch, first
):
    columns = {first: ["p", "q", "r"] if first == "id" else [1.0, 2.0, 3.0]}
    path = tmp_path / "a.parquet"
    parquet.write_table(arrow.table({**columns, "b": [4.0, 5.0, 6.0]}), path)
    whole = arrow_files._Frame
    monkeypatch.setattr(
        arrow_files, "_Frame", lambda schema, rows, batches: whole(schema, 9, batches)
    )
    with pytest.raises(TableError, match="it has 3 rows, but says 9"):
        read_table(path)


def test_names_of_characters_that_there_are_not_are_damage(tmp_path):
    names = np.array(["a", "b", "c"])
    names.view(np.uint32)[1] = sys.maxunicode + 1
    np.savez(tmp_path / "a.npz", X=VALUES, names=names)
    with pytest.raises(TableError, match="characters that there are not"):
        read_table(tmp_path / "a.npz")


def test_halves_of_characters_become_question_marks():
    assert as_names(["a\ud800"]).tolist() == ["a?"]


def test_a_sentence_does_not_show_all_the_bytes_of_a_file(tmp_path):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.npy", "x")
    content = path.read_bytes().replace(b"\5\0\0\0X.npy", b"\5\0\xff\1X.npy", 1)
    path.write_bytes(content + bytes(2000))
    with pytest.raises(TableError) as caught:
        read_table(path)

    assert len(str(caught.value)) < 700


def outside(path, make):
    secret = path.with_name("secret.h5")
    with h5py.File(secret, "w") as file:
        file["X"] = np.full((24, 12), 7.0)
    write_anndata(path, np.zeros((24, 12)))
    with h5py.File(path, "r+") as file:
        del file["X"]
        make(file, secret)


def linked(file, secret):
    file["X"] = h5py.ExternalLink(str(secret), "X")


def stored_outside(file, secret):
    stored = [(str(secret), 0, h5py.h5f.UNLIMITED)]
    file.create_dataset("X", (24, 12), "f8", external=stored)


def made_up(file, secret):
    layout = h5py.VirtualLayout((24, 12), "f8")
    layout[:] = h5py.VirtualSource(str(secret), "X", (24, 12))
    file.create_virtual_dataset("X", layout)


@pytest.mark.parametrize("make", [linked, stored_outside, made_up])
@pytest.mark.parametrize("ending", ["h5ad", "bin"])
def test_hdf5_may_not_lead_to_other_files(tmp_path, make, ending):
    outside(tmp_path / "a.h5ad", make)
    (tmp_path / "a.h5ad").rename(tmp_path / f"a.{ending}")
    with pytest.raises(TableError, match="refers to another file for"):
        read_table(tmp_path / f"a.{ending}")


def test_names_that_are_declared_and_never_written_take_no_memory(tmp_path):
    write_anndata(tmp_path / "a.h5ad", np.zeros((24, 12)))
    with h5py.File(tmp_path / "a.h5ad", "r+") as file:
        del file["obs/_index"]
        file.create_dataset("obs/_index", (10**12,), "i1", chunks=(1000,))
    with pytest.raises(TableError, match="more than the file holds"):
        read_table(tmp_path / "a.h5ad")


def test_a_cell_far_away_does_not_fill_memory(tmp_path):
    book = openpyxl.Workbook()
    for row in VALUES.tolist():
        book.active.append(row)
    book.active["XFD9000"] = 1
    book.save(tmp_path / "a.xlsx")
    with pytest.raises(TableError, match="delete what is far from the table"):
        read_table(tmp_path / "a.xlsx")


def test_names_beside_a_matrix_that_are_no_text_are_damage(tmp_path):
    scipy.io.mmwrite(tmp_path / "a.mtx", VALUES)
    (tmp_path / "a_features.tsv").write_text("x" * 200_000)
    with pytest.raises(TableError, match="field larger than field limit"):
        read_table(tmp_path / "a.mtx")


@pytest.mark.parametrize("labels", [np.array([["a", 1]], dtype=object), 1j])
def test_labels_of_objects_are_one_sentence(tmp_path, labels):
    scipy.io.savemat(tmp_path / "a.mat", {"X": VALUES, "Y": labels})
    with pytest.raises(ValueError, match="neither numbers nor text"):
        read_labelled(tmp_path / "a.mat")


def test_a_type_that_ends_scipy_is_refused_in_labelled_data_too(tmp_path):
    path = tmp_path / "a.mat"
    scipy.io.savemat(path, {"X": VALUES, "Y": np.arange(4)})
    content = bytearray(path.read_bytes())
    content[128 + 8] = 99  # type of the first element in the first matrix
    path.write_bytes(content)
    with pytest.raises(ValueError, match="element of type 99"):
        read_labelled(path)


def test_a_checkpoint_whose_stream_is_broken_is_one_sentence(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", W=np.zeros(1000))
    content = bytearray((tmp_path / "a.npz").read_bytes())
    content[60:75] = b"\xff" * 15
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(ValueError, match=r"cannot be read .*delete it to start anew"):
        Checkpoint(tmp_path / "a.npz", []).read()
