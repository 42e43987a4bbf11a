"""NumPy arrays and archives: mapped, checked, never unpickled."""

import io
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from ufselect.data import TableError, read_table, write_table

X = np.arange(12.0).reshape(4, 3)


class Bomb:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_array_of_floats_stays_on_disk(tmp_path, dtype):
    np.save(tmp_path / "a.npy", X.astype(dtype))
    table = read_table(tmp_path / "a.npy")

    assert isinstance(table.values, np.memmap)
    assert table.values.dtype == dtype
    assert table.values.tolist() == X.tolist()
    assert table.feature_names is None
    assert table.names().tolist() == ["x1", "x2", "x3"]


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, bool, ">f8", np.float16])
def test_other_numbers_become_float64(tmp_path, dtype):
    np.save(tmp_path / "a.npy", X.astype(dtype))
    table = read_table(tmp_path / "a.npy")

    assert table.values.dtype == np.float64
    assert table.values.tolist() == X.astype(dtype).astype(float).tolist()


def test_array_is_turned_and_rid_of_columns(tmp_path):
    np.save(tmp_path / "a.npy", X)

    assert (
        read_table(tmp_path / "a.npy", transpose=True).values.tolist() == X.T.tolist()
    )
    table = read_table(tmp_path / "a.npy", labels="3", drop=["1"])
    assert table.values.tolist() == X[:, [1]].tolist()
    assert table.labels.tolist() == ["2", "5", "8", "11"]


@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
def test_shape_beyond_the_file_is_refused_before_room_is_made(tmp_path, version):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, X, version=version)
    huge = stream.getvalue().replace(b"(4, 3), }" + b" " * 9, b"(4000000000, 3), }")
    assert len(huge) == len(stream.getvalue())
    (tmp_path / "a.npy").write_bytes(huge)

    with pytest.raises(
        TableError, match=r"declares an array of shape \(4000000000, 3\)"
    ):
        read_table(tmp_path / "a.npy")


@pytest.mark.parametrize("kept", [7, 40, 200])
def test_array_that_is_cut_off_is_refused(tmp_path, kept):
    np.save(tmp_path / "a.npy", X)
    content = (tmp_path / "a.npy").read_bytes()
    (tmp_path / "a.npy").write_bytes(content[:kept])

    with pytest.raises(TableError, match="cut off or damaged"):
        read_table(tmp_path / "a.npy")


@pytest.mark.parametrize("ending", ["npy", "npz"])
def test_objects_are_refused_and_not_loaded(tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    objects = np.array([[Bomb(), 1]], dtype=object)
    if ending == "npy":
        np.save(path, objects)
    else:
        np.savez(path, X=objects)

    with pytest.raises(TableError, match=r"Python objects .* are not read; save the"):
        read_table(path)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.arange(3.0), r"shape \(3,\), which is no table"),
        (np.zeros((2, 2, 2)), r"shape \(2, 2, 2\), which is no table"),
        (np.zeros((2, 2), dtype=complex), "type complex128, which are no plain"),
        (np.array([["a", "b"]]), "which are no plain numbers"),
    ],
)
def test_other_arrays_are_refused(tmp_path, values, words):
    np.save(tmp_path / "a.npy", values)

    with pytest.raises(TableError, match=words):
        read_table(tmp_path / "a.npy")


def test_archive_with_names_and_labels(tmp_path):
    np.savez(
        tmp_path / "a.npz", M=X, Y=[1, 1, 2, 2], feature_names=["p", "q", "r"], N=3
    )
    table = read_table(tmp_path / "a.npz", labels="Y", drop=["q"])

    assert table.values.tolist() == X[:, [0, 2]].tolist()
    assert table.feature_names.tolist() == ["p", "r"]
    assert table.labels.tolist() == ["1", "1", "2", "2"]


def test_archive_with_several_matrices_needs_a_choice(tmp_path):
    np.savez(tmp_path / "a.npz", first=X, second=X + 1)

    with pytest.raises(TableError, match="several matrices, 'first' and 'second'"):
        read_table(tmp_path / "a.npz")
    table = read_table(tmp_path / "a.npz", variable="second")
    assert table.values.tolist() == (X + 1).tolist()
    with pytest.raises(TableError, match=r"no variable 'secnd'; did you mean 'second'"):
        read_table(tmp_path / "a.npz", variable="secnd")


def test_labels_must_be_as_many_as_samples(tmp_path):
    np.savez(tmp_path / "a.npz", X=X, Y=[1, 2])

    with pytest.raises(TableError, match="2 values in 'Y' for 4 samples"):
        read_table(tmp_path / "a.npz", labels="Y")


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_array, sp.coo_matrix])
def test_sparse_matrix_of_scipy_stays_sparse(tmp_path, kind):
    sp.save_npz(tmp_path / "a.npz", kind(X))
    table = read_table(tmp_path / "a.npz")

    assert table.values.format == "csr"
    assert table.values.toarray().tolist() == X.tolist()


def test_member_of_an_archive_cannot_promise_more_than_it_holds(tmp_path):
    stream = io.BytesIO()
    np.save(stream, X)
    content = stream.getvalue().replace(b"(4, 3), }" + b" " * 9, b"(4000000000, 3), }")
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("X.npy", content)

    with pytest.raises(TableError, match="more than it holds"):
        read_table(tmp_path / "a.npz")


def test_archive_and_array_are_written_back(tmp_path):
    np.save(tmp_path / "a.npy", X)
    np.savez(tmp_path / "a.npz", M=X, Y=[1, 1, 2, 2], names=["p", "q", "r"])
    sp.save_npz(tmp_path / "s.npz", sp.csr_array(X))
    write_table(read_table(tmp_path / "a.npy"), [2, 0], tmp_path / "b.npy")
    write_table(read_table(tmp_path / "a.npz", labels="Y"), [2], tmp_path / "b.npz")
    write_table(read_table(tmp_path / "s.npz"), [1, 2], tmp_path / "t.npz")

    assert np.load(tmp_path / "b.npy").tolist() == X[:, [0, 2]].tolist()
    with np.load(tmp_path / "b.npz") as written:
        assert {name: written[name].tolist() for name in written} == {
            "M": X[:, [2]].tolist(),
            "Y": [1, 1, 2, 2],
            "names": ["r"],
        }
    assert sp.load_npz(tmp_path / "t.npz").toarray().tolist() == X[:, 1:].tolist()


@pytest.mark.parametrize(
    ("part", "values"),
    [("indices", [0, 9, 2]), ("indices", [0, -1, 2]), ("indptr", [0, 3, 0, 0, 0])],
)
def test_sparse_matrix_with_false_indices_is_refused(tmp_path, part, values):
    sp.save_npz(tmp_path / "a.npz", sp.csr_array(np.eye(4, 3)))
    with np.load(tmp_path / "a.npz") as arrays:
        content = dict(arrays)
    content[part] = np.array(values, dtype=np.int32)
    np.savez(tmp_path / "a.npz", **content)

    with pytest.raises(TableError, match="damaged"):
        read_table(tmp_path / "a.npz")
