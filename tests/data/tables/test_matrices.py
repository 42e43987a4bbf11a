"""Matrices: NumPy arrays and archives, MATLAB up to version 7, Matrix Market."""

import gzip
import io
import sys
import zipfile

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from table_reading import check, cut, noted, refused

from ufselect.data import read_labelled, read_table, write_table
from ufselect.data.tables import matrices

X = np.arange(12.0).reshape(4, 3)
SPARSE = np.array([[0.0, 1.5, 0.0], [2.0, 0.0, 0.1], [0.0, 0.0, 3.0], [4.0, 0.0, 0.0]])
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="it needs a subprocess")


class Bomb:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


def cells(names):
    return np.array(names, dtype=object)


def save(path, variables):
    """Write an archive of NumPy or a MATLAB file, by the name."""
    if path.suffix == ".npz":
        np.savez(path, **variables)
    else:
        scipy.io.savemat(path, variables)


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


@pytest.mark.parametrize("ending", ["npy", "npz"])
@pytest.mark.parametrize(
    ("values", "words"),
    [
        pytest.param(np.arange(3.0), r"\(3,\), which is not a table", id="vector"),
        pytest.param(np.zeros((2, 2, 2)), "which is not a table", id="cube"),
        pytest.param(np.zeros((2, 2), complex), "are not numbers", id="complex"),
        pytest.param(np.array([["a", "b"]]), "are not numbers", id="text"),
        pytest.param(np.array([[Bomb(), 1]]), "Python objects .*; save", id="pickle"),
    ],
)
def test_other_arrays_are_refused(tmp_path, ending, values, words):
    path = tmp_path / f"a.{ending}"
    np.save(path, values) if ending == "npy" else np.savez(path, X=values)
    refused(words, path, variable="X")


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(lambda path: np.save(path, X), id="a.npy"),
        pytest.param(lambda path: np.savez_compressed(path, X=X), id="a.npz"),
        pytest.param(lambda path: scipy.io.savemat(path, {"X": X}), id="a.mat"),
        pytest.param(
            lambda path: scipy.io.savemat(path, {"X": X}, do_compression=True),
            id="b.mat",
        ),
        pytest.param(lambda path: scipy.io.mmwrite(path, X), id="dense.mtx"),
        pytest.param(
            lambda path: scipy.io.mmwrite(path, sp.coo_array(SPARSE)), id="sparse.mtx"
        ),
    ],
)
def test_a_file_that_is_cut_off_is_refused(tmp_path, write, request):
    path = tmp_path / request.node.callspec.id
    write(path)
    cut(path, 0.4, 0.8)


def test_archive_with_names_and_labels(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, M=X, Y=[1, 1, 2, 2], feature_names=["p", "q", "r"], N=3, z=[1, 2])
    table = read_table(path, labels="Y", drop=["q"])

    check(table, X[:, [0, 2]], feature_names=["p", "r"], labels=list("1122"))
    refused("2 values in 'z' for 4 samples", path, labels="z")


@pytest.mark.parametrize("name", ["a.npz", "a.mat"])
@pytest.mark.parametrize(
    ("variables", "alike"),
    [
        ({"one": X, "two": X + 1, "y": [1, 2, 3]}, "'one' and 'two'"),
        ({"X": X, "Z": X + 1}, "'X' and 'Z'"),
        ({"fea": X, "data": X + 1, "small": X[:2]}, "'fea' and 'data'"),
    ],
    ids=["without a usual name", "one usual name", "two usual names"],
)
def test_matrices_alike_need_a_choice(tmp_path, name, variables, alike):
    path = tmp_path / name
    save(path, variables)
    first, second = alike.replace("'", "").split(" and ")

    error = refused(f"several matrices, {alike}; say .* --variable {first}", path)
    assert [each.options for each in error.remedies] == [
        (f"--variable={first}",),
        (f"--variable={second}",),
    ]
    check(read_table(path, variable=second), X + 1)
    misspelt = f"{second}{second}"
    refused(f"no variable '{misspelt}'", path, variable=misspelt)


@pytest.mark.parametrize("name", ["a.npz", "a.mat"])
def test_a_usual_name_is_chosen_among_others_with_a_note(tmp_path, name):
    save(tmp_path / name, {"W": X[:2], "X": X, "x": [[1.0], [2]]})
    table = read_table(tmp_path / name)

    check(table, X)
    assert noted(table, "Variable 'X' is the table; --variable reads 'W'.")


@pytest.mark.parametrize(
    ("form", "part", "values"),
    [
        *((form, "indices", [0, 9, 2]) for form in ("csr", "csc", "bsr")),
        ("csr", "indices", [0, -1, 2]),
        ("csr", "indptr", [0, 3, 0, 3]),
        ("csr", "indptr", [0, 1, 2, 999999]),
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


def test_array_may_be_transposed_and_its_columns_have_places(tmp_path):
    np.save(tmp_path / "a.npy", X)

    check(read_table(tmp_path / "a.npy", transpose=True), X.T)
    part = read_table(tmp_path / "a.npy", labels="3", drop=["1"])
    check(part, X[:, [1]], labels=["2", "5", "8", "11"])


# MATLAB up to version 7.


@pytest.mark.parametrize(
    ("options", "values"),
    [
        ({"format": "4"}, X),
        ({}, X.astype(np.uint8)),
        ({"do_compression": True}, X),
        ({}, sp.csc_array(X)),
    ],
    ids=["version 4", "integers", "compressed", "sparse"],
)
def test_matrices_of_matlab_become_floats(tmp_path, options, values):
    scipy.io.savemat(tmp_path / "a.mat", {"fea": values}, **options)
    table = read_table(tmp_path / "a.mat")

    check(table, X)
    check(read_table(tmp_path / "a.mat", transpose=True), X.T)
    assert table.values.dtype == np.float64
    if sp.issparse(values):
        assert table.values.format == "csr"
    else:
        assert table.values.flags.c_contiguous


def test_cells_are_names_and_labels(tmp_path):
    path = tmp_path / "a.mat"
    content = {"fea": X, "gnd": [[1], [1], [2], [2]], "names": cells(["p", "qq", "r"])}
    scipy.io.savemat(path, content | {"kind": cells(["u", "v", "u", ""])})

    table = read_table(path, labels="gnd", groups="kind")
    check(table, feature_names=["p", "qq", "r"], labels=list("1122"))
    check(table, groups=["u", "v", "u", ""])


def test_matlab_file_that_holds_no_matrix_or_too_much_is_refused(tmp_path):
    path = tmp_path / "a.mat"
    scipy.io.savemat(path, {"study": {"X": X}, "names": cells(["a", "b"])})
    refused(r"'study \(struct\)' and 'names \(cell\)'", path)
    scipy.io.savemat(path, {"X": X})
    shape, huge = (np.array(s, "<i4").tobytes() for s in ([4, 3], [2**30, 2**10]))
    path.write_bytes(path.read_bytes().replace(shape, huge))
    refused("is more than it holds", path)
    for labels in (np.array([["a", 1]], dtype=object), 1j):
        scipy.io.savemat(path, {"X": X, "Y": labels})
        with pytest.raises(ValueError, match=r"values? in 'Y' for"):
            read_labelled(path)


@on_linux
@pytest.mark.parametrize("kind", [0, 8, 19, 255])
def test_an_element_of_an_unknown_type_ends_a_subprocess_only(tmp_path, kind):
    path = tmp_path / "a.mat"
    scipy.io.savemat(path, {"X": X, "Y": np.arange(4)})
    content = bytearray(path.read_bytes())
    assert content[176] == 9  # the type of the numbers of X
    content[176] = kind
    path.write_bytes(content)

    refused(r"a\.mat is cut off or damaged", path, isolate=True)
    with pytest.raises(ValueError, match=r"a\.mat is cut off or damaged"):
        read_labelled(path)


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
        assert noted(table, "A file of names beside the matrix does not fit")


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


@pytest.mark.parametrize(
    "size", ["array real general\n{0}", "coordinate real general\n{0} 999999999999"]
)
def test_matrix_market_file_that_declares_too_much_is_refused(tmp_path, size):
    text = f"%%MatrixMarket matrix {size.format('99999999 99999999')}\n1 1 3.5\n"
    (tmp_path / "a.mtx").write_text(text)
    refused("more than it holds", tmp_path / "a.mtx", isolate=True)


@pytest.mark.parametrize("junk", [b"\0", b"\x7f", b"-"])
def test_matrix_market_file_that_would_end_scipy_is_refused(tmp_path, junk):
    path = tmp_path / "a.mtx"
    scipy.io.mmwrite(path, sp.coo_array(SPARSE))
    path.write_bytes(path.read_bytes()[:-1] + junk)
    refused("cut off or damaged", path)
