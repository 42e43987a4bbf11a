"""Matrix Market files, alone and with files of names beside them."""

import gzip

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from ufselect.data import TableError, read_table, write_table

X = np.array([[0.0, 1.5, 0.0], [2.0, 0.0, 0.1], [0.0, 0.0, 3.0], [4.0, 0.0, 0.0]])


def pack(path):
    packed = path.with_name(f"{path.name}.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    return packed


@pytest.fixture(params=["features.tsv", "genes.tsv", "features.tsv.gz"])
def triplet(request, tmp_path):
    """Write the three files of 10x Genomics: features in rows, cells in columns."""
    matrix = tmp_path / "matrix.mtx"
    scipy.io.mmwrite(matrix, sp.coo_array(X))
    (tmp_path / "barcodes.tsv").write_text("AAA-1\nCCC-1\nGGG-1\n")
    names = tmp_path / request.param.removesuffix(".gz")
    names.write_text("".join(f"ENSG{i}\tG{i}\tGene Expression\n" for i in range(4)))
    if request.param.endswith(".gz"):
        pack(names)
        pack(tmp_path / "barcodes.tsv")
        return pack(matrix)
    return matrix


def test_sparse_matrix_stays_sparse_and_is_not_turned(tmp_path):
    scipy.io.mmwrite(tmp_path / "a.mtx", sp.coo_array(X))
    table = read_table(tmp_path / "a.mtx")

    assert table.values.format == "csr"
    assert table.values.toarray().tolist() == X.tolist()
    assert table.feature_names is None


def test_dense_compressed_matrix(tmp_path):
    scipy.io.mmwrite(tmp_path / "a.mtx", X)
    table = read_table(pack(tmp_path / "a.mtx"))

    assert table.values.tolist() == X.tolist()
    assert table.format == "mtx"


def test_triplet_of_files_is_turned_and_named(triplet):
    table = read_table(triplet)

    assert table.values.toarray().tolist() == X.T.tolist()
    assert table.feature_names.tolist() == ["G0", "G1", "G2", "G3"]
    assert table.sample_names.tolist() == ["AAA-1", "CCC-1", "GGG-1"]
    assert "The table was transposed: its columns are samples." in table.notes


def test_triplet_is_left_on_request(triplet):
    table = read_table(triplet, transpose=False)

    assert table.values.toarray().tolist() == X.tolist()
    assert table.feature_names is None


def test_files_with_a_common_beginning_belong_together(tmp_path):
    for start, names in (("GSM1_", "abcd"), ("GSM2_", "efgh")):
        scipy.io.mmwrite(tmp_path / f"{start}matrix.mtx", sp.coo_array(X))
        (tmp_path / f"{start}genes.tsv").write_text("\n".join(names))
        (tmp_path / f"{start}barcodes.tsv").write_text("x\ny\nz\n")

    table = read_table(tmp_path / "GSM2_matrix.mtx")

    assert table.feature_names.tolist() == ["e", "f", "g", "h"]


def test_names_of_another_matrix_are_not_taken(tmp_path):
    scipy.io.mmwrite(tmp_path / "a.mtx", sp.coo_array(X))
    (tmp_path / "features.tsv").write_text("a\nb\n")

    assert read_table(tmp_path / "a.mtx").feature_names is None


@pytest.mark.parametrize("name", ["b.mtx", "b.mtx.gz", "GSM3_matrix.mtx"])
def test_matrix_is_written_back_with_names_beside_it(triplet, name):
    folder = triplet.parent / "new"
    folder.mkdir()
    write_table(read_table(triplet), [3, 1], folder / name)
    again = read_table(folder / name)

    assert again.values.toarray().tolist() == X.T[:, [1, 3]].tolist()
    assert again.feature_names.tolist() == ["G1", "G3"]
    assert again.sample_names.tolist() == ["AAA-1", "CCC-1", "GGG-1"]
    assert scipy.io.mminfo(folder / name)[:2] == (2, 3)


@pytest.mark.parametrize("layout", ["array", "coordinate"])
def test_more_entries_than_the_file_holds_are_refused(tmp_path, layout):
    size = "99999999 99999999" + (" 999999999999" if layout == "coordinate" else "")
    (tmp_path / "a.mtx").write_text(
        f"%%MatrixMarket matrix {layout} real general\n{size}\n1 1 3.5\n"
    )

    with pytest.raises(TableError, match="more than it holds"):
        read_table(tmp_path / "a.mtx")


@pytest.mark.parametrize("kept", [30, 60, 80])
def test_file_that_is_cut_off_is_refused(tmp_path, kept):
    scipy.io.mmwrite(tmp_path / "a.mtx", sp.coo_array(X))
    content = (tmp_path / "a.mtx").read_bytes()
    (tmp_path / "a.mtx").write_bytes(content[:kept])

    with pytest.raises(TableError, match="cut off or damaged"):
        read_table(tmp_path / "a.mtx")


@pytest.mark.parametrize("junk", [b"\0", b"\x7f"])
def test_bytes_that_end_the_reader_of_scipy_are_refused(tmp_path, junk):
    scipy.io.mmwrite(tmp_path / "a.mtx", sp.coo_array(X))
    content = (tmp_path / "a.mtx").read_bytes()
    (tmp_path / "a.mtx").write_bytes(content[:-1] + junk)

    with pytest.raises(TableError, match="cut off or damaged"):
        read_table(tmp_path / "a.mtx")
