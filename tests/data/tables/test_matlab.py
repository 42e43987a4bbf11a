"""MATLAB files: version 5 from SciPy, version 7.3 as MATLAB lays it out in HDF5."""

import h5py
import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from matlab_files import add_header, save_73

from ufselect.data import TableError, read_table, write_table

X = np.arange(12.0).reshape(4, 3)


def cells(names):
    return np.array(names, dtype=object)


@pytest.mark.parametrize("compressed", [True, False])
def test_version_5(tmp_path, compressed):
    content = {"X": X, "Y": [[1], [1], [2], [2]], "names": cells(["p", "qq", "r"])}
    scipy.io.savemat(tmp_path / "a.mat", content, do_compression=compressed)
    table = read_table(tmp_path / "a.mat", labels="Y")

    assert table.values.tolist() == X.tolist()
    assert table.values.flags.c_contiguous
    assert table.feature_names.tolist() == ["p", "qq", "r"]
    assert table.labels.tolist() == ["1", "1", "2", "2"]
    assert "Variable 'X' is the table." in table.notes


def test_version_4(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"X": X}, format="4")

    assert read_table(tmp_path / "a.mat").values.tolist() == X.tolist()


def test_version_7_3(tmp_path):
    save_73(tmp_path / "a.mat", X=X, genes=["p", "qq", "r"])
    save_73(tmp_path / "b.mat", X=X, Y=np.array([[1.0], [1], [2], [2]]))
    names = read_table(tmp_path / "a.mat")
    labels = read_table(tmp_path / "b.mat", labels="Y")

    assert names.values.tolist() == labels.values.tolist() == X.tolist()
    assert names.feature_names.tolist() == ["p", "qq", "r"]
    assert labels.labels.tolist() == ["1", "1", "2", "2"]


@pytest.mark.parametrize("version", [5, 7.3])
def test_sparse_matrix_stays_sparse(tmp_path, version):
    if version == 5:
        scipy.io.savemat(tmp_path / "a.mat", {"fea": sp.csc_array(X)})
    else:
        save_73(tmp_path / "a.mat", fea=sp.csc_array(X))
    table = read_table(tmp_path / "a.mat")

    assert table.values.format == "csr"
    assert table.values.toarray().tolist() == X.tolist()


def test_integers_and_labels_of_text(tmp_path):
    content = {"data": X.astype(np.uint8), "kind": cells(["u", "v", "u", "v"])}
    scipy.io.savemat(tmp_path / "a.mat", content)
    table = read_table(tmp_path / "a.mat", labels="kind")

    assert table.values.dtype == np.float64
    assert table.labels.tolist() == ["u", "v", "u", "v"]


def test_matrix_is_turned_on_request(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"X": X})

    assert (
        read_table(tmp_path / "a.mat", transpose=True).values.tolist() == X.T.tolist()
    )


def test_choice_of_a_variable(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"one": X, "two": X + 1, "y": [1, 2, 3]})

    with pytest.raises(TableError, match="'one' and 'two'; say which one with"):
        read_table(tmp_path / "a.mat")
    table = read_table(tmp_path / "a.mat", variable="two")
    assert table.values.tolist() == (X + 1).tolist()


def test_file_without_a_matrix_is_refused(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"names": cells(["a", "b"])})

    with pytest.raises(TableError, match="has no matrix of numbers"):
        read_table(tmp_path / "a.mat")


@pytest.mark.parametrize("version", [5, 7.3])
@pytest.mark.parametrize("kept", [0.4, 0.8, 0.95])
def test_file_that_is_cut_off_is_refused(tmp_path, version, kept):
    path = tmp_path / "a.mat"
    values = np.random.default_rng(0).standard_normal((50, 40))
    if version == 5:
        scipy.io.savemat(path, {"X": values}, do_compression=True)
    else:
        save_73(path, X=values)
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content))])

    with pytest.raises(TableError, match="cut off or damaged"):
        read_table(path)


def test_shape_beyond_the_file_is_refused_before_room_is_made(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"X": X})
    content = (tmp_path / "a.mat").read_bytes()
    shape = np.array([4, 3], dtype="<i4").tobytes()
    assert content.count(shape) == 1
    huge = np.array([2**30, 2**10], dtype="<i4").tobytes()
    (tmp_path / "a.mat").write_bytes(content.replace(shape, huge))
    with h5py.File(tmp_path / "b.mat", "w", userblock_size=512) as file:
        file.create_dataset("X", shape=(2**30, 2**10), dtype="f8")
    add_header(tmp_path / "b.mat")

    for name in ("a.mat", "b.mat"):
        with pytest.raises(TableError, match="more than the file holds"):
            read_table(tmp_path / name)


@pytest.mark.parametrize("version", [5, 7.3])
def test_file_is_written_back_with_its_variables(tmp_path, version):
    content = {"fea": X, "gnd": np.array([[1.0], [1], [2], [2]])}
    if version == 5:
        content["names"] = cells(["p", "qq", "r"])
        scipy.io.savemat(tmp_path / "a.mat", content)
    else:
        save_73(tmp_path / "a.mat", **content, names=["p", "qq", "r"])
    table = read_table(tmp_path / "a.mat", labels="gnd")
    write_table(table, [True, False, True], tmp_path / "b.mat")
    written = scipy.io.loadmat(tmp_path / "b.mat")

    assert written["fea"].tolist() == X[:, [0, 2]].tolist()
    assert written["gnd"].tolist() == [[1], [1], [2], [2]]
    assert [str(cell[0]) for cell in written["names"].ravel()] == ["p", "r"]
