"""Matrices: NumPy arrays and archives, MATLAB up to version 7, Matrix Market."""

import gzip
import io
import struct
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from table_reading import check, cut, noted, refused

from ufselect.data import read_labelled, read_table, write_table
from ufselect.data.tables import matrices
from ufselect.data.tables.matrices import check_matlab_elements

X = np.arange(12.0).reshape(4, 3)
SPARSE = np.array([[0.0, 1.5, 0.0], [2.0, 0.0, 0.1], [0.0, 0.0, 3.0], [4.0, 0.0, 0.0]])
OF_SCIPY = Path(scipy.io.__file__).parent / "matlab" / "tests" / "data"
TYPE_OF_NUMBERS = 176  # its place in a file of one matrix X


class Bomb:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


def cells(names):
    return np.array(names, dtype=object)


# NumPy.


@pytest.mark.parametrize(
    "dtype", [np.float64, np.float32, np.uint8, np.int64, bool, ">f8", np.float16]
)
def test_large_array_of_floats_stays_on_disk_and_others_become_floats(
    tmp_path, dtype, monkeypatch
):
    np.save(tmp_path / "a.npy", X.astype(dtype))
    small = read_table(tmp_path / "a.npy")
    monkeypatch.setattr(matrices, "MAX_BYTES_AT_ONCE", 0)
    table = read_table(tmp_path / "a.npy")
    mapped = dtype in (np.float64, np.float32)

    assert not isinstance(small.values, np.memmap)
    assert isinstance(table.values, np.memmap) == mapped
    assert table.values.dtype == (dtype if mapped else np.float64)
    for each in (small, table):
        check(each, X.astype(dtype).astype(float), feature_names=None)
    assert table.names().tolist() == ["x1", "x2", "x3"]


@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
def test_shape_beyond_the_file_is_refused_before_room_is_made(tmp_path, version):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, X, version=version)
    huge = stream.getvalue().replace(b"(4, 3), }" + b" " * 9, b"(4000000000, 3), }")
    assert len(huge) == len(stream.getvalue())
    (tmp_path / "a.npy").write_bytes(huge)
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("X.npy", huge)

    for name in ("a.npy", "a.npz"):
        refused(r"shape \(4000000000, 3\), which is more", tmp_path / name)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.arange(3.0), r"shape \(3,\), which is not a table"),
        (np.zeros((2, 2, 2)), r"shape \(2, 2, 2\), which is not a table"),
        (np.zeros((2, 2), dtype=complex), "type complex128, which are not numbers"),
        (np.array([["a", "b"]]), "which are not numbers"),
        (np.array([[Bomb(), 1]], dtype=object), "Python objects .*; save the"),
    ],
)
def test_other_arrays_and_parts_of_one_are_refused(tmp_path, values, words):
    np.save(tmp_path / "a.npy", values)
    refused(words, tmp_path / "a.npy")
    if values.dtype == object:
        np.savez(tmp_path / "a.npz", X=values)
        refused(words, tmp_path / "a.npz")
    np.save(tmp_path / "a.npy", X)
    cut(tmp_path / "a.npy", 7, 40, 200)


def test_archive_with_names_and_labels(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, M=X, Y=[1, 1, 2, 2], feature_names=["p", "q", "r"], N=3, z=[1, 2])
    table = read_table(path, labels="Y", drop=["q"])

    check(table, X[:, [0, 2]], feature_names=["p", "r"], labels=list("1122"))
    refused("2 values in 'z' for 4 samples", path, labels="z")
    names = np.array(["a", "b", "c"])
    names.view(np.uint32)[1] = sys.maxunicode + 1
    np.savez(path, X=X, names=names)
    refused("text of invalid characters", path)


@pytest.mark.parametrize("save", [np.savez, scipy.io.savemat])
def test_several_matrices_need_a_choice(tmp_path, save):
    path = tmp_path / ("a.npz" if save is np.savez else "a.mat")
    matrices = {"one": X, "two": X + 1, "y": [1, 2, 3]}
    save(path, **matrices) if save is np.savez else save(path, matrices)

    refused("several matrices, 'one' and 'two'; say", path)
    check(read_table(path, variable="two"), X + 1)
    refused(r"no variable 'towo'; did you mean 'two'", path, variable="towo")


@pytest.mark.parametrize(
    ("form", "part", "values"),
    [
        *((form, "indices", [0, 9, 2]) for form in ("csr", "csc", "bsr")),
        *((form, "indices", [0, -1, 2]) for form in ("csr", "csc", "bsr")),
        *((form, "indptr", [0, 3, 0, 3]) for form in ("csr", "csc", "bsr")),
        *((form, "indptr", [0, 1, 2, 999999]) for form in ("csr", "csc", "bsr")),
        *(("coo", "row", [0, 1, 9]), ("coo", "col", [0, -1, 2])),
        ("dia", "offsets", [0, 0]),
    ],
)
def test_sparse_matrix_stays_sparse_and_false_indices_are_refused(
    tmp_path, form, part, values
):
    path = tmp_path / "a.npz"
    sp.save_npz(path, sp.csr_array(np.eye(3)).asformat(form))
    table = read_table(path)
    assert table.values.format == "csr"
    check(table, np.eye(3))
    with np.load(path) as arrays:
        content = dict(arrays)
    content[part] = np.array(values, dtype=content[part].dtype)
    np.savez(path, **content)

    for isolate in (True, False):
        assert str(path) in str(refused("damaged", path, isolate=isolate))


def test_archive_and_array_are_read_in_part_and_written_back(tmp_path):
    np.save(tmp_path / "a.npy", X)
    np.savez(tmp_path / "a.npz", M=X, Y=[1, 1, 2, 2], names=["p", "q", "r"])
    sp.save_npz(tmp_path / "s.npz", sp.csr_array(X))
    write_table(read_table(tmp_path / "a.npy"), [2, 0], tmp_path / "b.npy")
    write_table(read_table(tmp_path / "a.npz", labels="Y"), [2], tmp_path / "b.npz")
    write_table(read_table(tmp_path / "s.npz"), [1, 2], tmp_path / "t.npz")

    check(read_table(tmp_path / "a.npy", transpose=True), X.T)
    part = read_table(tmp_path / "a.npy", labels="3", drop=["1"])
    check(part, X[:, [1]], labels=["2", "5", "8", "11"])
    assert np.load(tmp_path / "b.npy").tolist() == X[:, [0, 2]].tolist()
    with np.load(tmp_path / "b.npz") as written:
        found = {name: written[name].tolist() for name in written}
    assert found == {"M": X[:, [2]].tolist(), "Y": [1, 1, 2, 2], "names": ["r"]}
    assert sp.load_npz(tmp_path / "t.npz").toarray().tolist() == X[:, 1:].tolist()


# MATLAB up to version 7.


@pytest.mark.parametrize("compressed", [True, False])
def test_matlab_file_is_read_and_written_back(tmp_path, compressed):
    content = {"fea": X, "gnd": [[1], [1], [2], [2]], "names": cells(["p", "qq", "r"])}
    scipy.io.savemat(tmp_path / "a.mat", content, do_compression=compressed)
    table = read_table(tmp_path / "a.mat", labels="gnd")
    write_table(table, [True, False, True], tmp_path / "b.mat")
    written = scipy.io.loadmat(tmp_path / "b.mat")

    check(table, X, feature_names=["p", "qq", "r"], labels=list("1122"))
    assert table.values.flags.c_contiguous
    assert noted(table, "Variable 'fea' is the table.")
    assert written["fea"].tolist() == X[:, [0, 2]].tolist()
    assert written["gnd"].tolist() == [[1], [1], [2], [2]]
    assert [str(cell[0]) for cell in written["names"].ravel()] == ["p", "r"]


def test_other_matrices_of_matlab(tmp_path):
    scipy.io.savemat(tmp_path / "4.mat", {"X": X}, format="4")
    scipy.io.savemat(tmp_path / "s.mat", {"fea": sp.csc_array(X)})
    content = {"data": X.astype(np.uint8), "kind": cells(["u", "v", "u", "v"])}
    scipy.io.savemat(tmp_path / "i.mat", content)
    sparse, integers = (read_table(tmp_path / f"{name}.mat") for name in "si")

    check(read_table(tmp_path / "4.mat"), X)
    check(read_table(tmp_path / "4.mat", transpose=True), X.T)
    assert sparse.values.format == "csr"
    check(sparse, X)
    assert integers.values.dtype == np.float64
    check(read_table(tmp_path / "i.mat", labels="kind"), labels=["u", "v", "u", "v"])


def test_matlab_file_that_is_cut_off_or_holds_no_matrix_is_refused(tmp_path):
    path = tmp_path / "a.mat"
    scipy.io.savemat(path, {"study": {"X": X}, "names": cells(["a", "b"])})
    refused(r"'study \(struct\)' and 'names \(cell\)'", path)
    scipy.io.savemat(path, {"X": X})
    shape, huge = (np.array(s, "<i4").tobytes() for s in ([4, 3], [2**30, 2**10]))
    path.write_bytes(path.read_bytes().replace(shape, huge))
    refused("more than the file holds", path)
    values = np.random.default_rng(0).standard_normal((50, 40))
    scipy.io.savemat(path, {"X": values}, do_compression=True)
    cut(path, 0.4, 0.8, 0.95)
    for labels in (np.array([["a", 1]], dtype=object), 1j):
        scipy.io.savemat(path, {"X": X, "Y": labels})
        with pytest.raises(ValueError, match=r"values? in 'Y' for"):
            read_labelled(path)


def test_types_of_elements_that_there_are_are_let_through(tmp_path):
    contents = [
        {"X": X, "z": X + 1j},
        {"X": X, "s": {"a": X, "b": {"c": "text"}, "d": np.zeros((0, 3))}},
        {"X": np.eye(3, dtype=np.uint8), "flags": np.array([[True, False]])},
    ]
    for content in contents:
        for compressed in (True, False):
            scipy.io.savemat(tmp_path / "a.mat", content, do_compression=compressed)
            check(read_table(tmp_path / "a.mat", variable="X"), content["X"])
    for path in OF_SCIPY.glob("*.mat"):
        if "malformed" not in path.name:
            check_matlab_elements(path, path.name)


def test_types_of_elements_that_would_end_scipy_are_refused(tmp_path):
    path, text = tmp_path / "a.mat", b"a long name"
    scipy.io.savemat(path, {"X": X, "Y": np.arange(4)})
    whole = path.read_bytes()
    assert whole[TYPE_OF_NUMBERS] == 9
    for kind in (0, 8, 10, 11, 15, 19, 163, 255):
        content = bytearray(whole)
        content[TYPE_OF_NUMBERS] = kind
        path.write_bytes(content)
        sentence = f"byte 176 .* an element of the unknown type {kind}"
        refused(sentence, path)
        with pytest.raises(ValueError, match=sentence):
            read_labelled(path)
    # Cells are looked into.
    scipy.io.savemat(path, {"X": X, "names": cells(["p", text.decode()])})
    content = bytearray(path.read_bytes())
    tag = content.index(text) - 8
    assert struct.unpack_from("<II", content, tag) == (16, len(text))
    struct.pack_into("<I", content, tag, 175)
    path.write_bytes(content)
    refused("an element of the unknown type 175", path)


def test_the_other_byte_order_is_understood(tmp_path):
    path = tmp_path / "a.mat"
    for kind in (9, 99):
        matrix = struct.pack(">IIII", 6, 8, 6, 0) + struct.pack(">IIii", 5, 8, 2, 1)
        matrix += struct.pack(">HH4s", 1, 1, b"X\0\0\0")
        matrix += struct.pack(">II2d", kind, 16, 1.5, 2.5)
        header = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack(">H", 0x0100) + b"MI"
        path.write_bytes(header + struct.pack(">II", 14, len(matrix)) + matrix)
        if kind == 9:
            check(read_table(path), [[1.5], [2.5]])
    refused("an element of the unknown type 99", path)


# Matrix Market.


def pack(path):
    packed = path.with_name(f"{path.name}.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    return packed


@pytest.fixture(params=["genes.tsv", "features.tsv", "features.tsv.gz"])
def triplet(request, tmp_path):
    """Write the three files of 10x Genomics: features in rows, cells in columns."""
    matrix = tmp_path / "matrix.mtx"
    scipy.io.mmwrite(matrix, sp.coo_array(SPARSE))
    (tmp_path / "barcodes.tsv").write_text("AAA-1\nCCC-1\nGGG-1\n")
    names = tmp_path / request.param.removesuffix(".gz")
    names.write_text("".join(f"ENSG{i}\tG{i}\tGene Expression\n" for i in range(4)))
    if request.param.endswith(".gz"):
        pack(names)
        pack(tmp_path / "barcodes.tsv")
        return pack(matrix)
    return matrix


def test_matrix_alone_is_not_transposed(tmp_path):
    scipy.io.mmwrite(tmp_path / "a.mtx", sp.coo_array(SPARSE))
    scipy.io.mmwrite(tmp_path / "b.mtx", SPARSE)
    (tmp_path / "features.tsv").write_text("of\nanother\n")
    sparse, dense = read_table(tmp_path / "a.mtx"), read_table(pack(tmp_path / "b.mtx"))

    assert sparse.values.format == "csr"
    assert dense.format == "mtx"
    for table in (sparse, dense):
        check(table, SPARSE, feature_names=None)


def test_triplet_of_files_is_transposed_named_and_written_back(triplet):
    table = read_table(triplet)
    folder, samples = triplet.parent / "new", ["AAA-1", "CCC-1", "GGG-1"]
    folder.mkdir()

    names = ["G0", "G1", "G2", "G3"]
    check(table, SPARSE.T, feature_names=names, sample_names=samples)
    assert noted(table, "The table was transposed: its columns are samples.")
    check(read_table(triplet, transpose=False), SPARSE, feature_names=None)
    for name in ("b.mtx", "b.mtx.gz", "GSM3_matrix.mtx"):
        write_table(table, [3, 1], folder / name)
        again = read_table(folder / name)
        expected = SPARSE.T[:, [1, 3]]
        check(again, expected, feature_names=["G1", "G3"], sample_names=samples)
        assert scipy.io.mminfo(folder / name)[:2] == (2, 3)


def test_files_with_a_common_beginning_belong_together(tmp_path):
    for start, names in (("GSM1_", "abcd"), ("GSM2_", "efgh")):
        scipy.io.mmwrite(tmp_path / f"{start}matrix.mtx", sp.coo_array(SPARSE))
        (tmp_path / f"{start}genes.tsv").write_text("\n".join(names))
        (tmp_path / f"{start}barcodes.tsv").write_text("x\ny\nz\n")

    check(read_table(tmp_path / "GSM2_matrix.mtx"), feature_names=list("efgh"))
    (tmp_path / "GSM1_genes.tsv").write_text("x" * 200_000)
    refused("field larger than field limit", tmp_path / "GSM1_matrix.mtx")


def test_damaged_matrix_market_files_are_refused(tmp_path):
    path = tmp_path / "a.mtx"
    scipy.io.mmwrite(path, sp.coo_array(SPARSE))
    cut(path, 30, 60, 80)
    for junk in (b"\0", b"\x7f"):  # which end the reader of SciPy
        path.write_bytes(path.read_bytes()[:-1] + junk)
        refused("cut off or damaged", path)
    for layout, entries in (("array", ""), ("coordinate", " 999999999999")):
        size = f"99999999 99999999{entries}\n1 1 3.5\n"
        path.write_text(f"%%MatrixMarket matrix {layout} real general\n{size}")
        refused("more than it holds", path)
