"""Files on HDF5: AnnData, 10x Genomics, MATLAB 7.3."""

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from matlab_files import add_header, save_73
from small_tables import write_anndata
from table_reading import check, cut, dense, noted, refused

from ufselect.data import TableError, read_table, write_table
from ufselect.data.tables.missing import filled, without_incomplete

h5py = pytest.importorskip("h5py")
anndata = pytest.importorskip("anndata")
FOLDER = Path(__file__).with_name("written_by_anndata")
X = np.arange(12, dtype=np.float32).reshape(4, 3)


@pytest.mark.parametrize("name", ["dense", "sparse"])
@pytest.mark.parametrize("isolate", [True, False])
def test_matrix_and_names_are_read(name, isolate):
    table = read_table(FOLDER / f"{name}.h5ad", isolate=isolate)

    check(table, X, feature_names=["g1", "g2", "g3"], sample_names=list("abcd"))
    assert table.values.dtype == np.float32
    assert sp.issparse(table.values) == (name == "sparse")
    with (FOLDER / f"{name}.h5ad").open("rb") as stream:
        assert read_table(stream, isolate=isolate).format == "h5ad"


@pytest.mark.parametrize(
    ("column", "labels"),
    [
        ("kind", ["u", "v", "", "v"]),
        ("count", ["1", "", "3", "4"]),
        ("batch", ["one", "two", "one", "two"]),
    ],
)
def test_columns_of_obs_are_labels(column, labels):
    table = read_table(FOLDER / "dense.h5ad", labels=column)

    assert table.labels.tolist() == labels
    assert column not in [other.name for other in table.others]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"variable": "cuonts"}, r"no layer 'cuonts'; did you mean 'counts'"),
        ({"labels": "knd"}, r"no column of obs 'knd'; did you mean"),
        ({"transpose": True}, "always has samples in rows"),
    ],
    ids=["layer", "labels", "transpose"],
)
def test_what_the_file_does_not_have_is_refused(options, words):
    refused(words, FOLDER / "dense.h5ad", **options)


def test_a_layer_is_read():
    check(read_table(FOLDER / "dense.h5ad", variable="counts"), X + 1)


@pytest.mark.parametrize("name", ["dense", "sparse"])
@pytest.mark.parametrize("subset", [True, False])
def test_selected_features_are_written_and_the_rest_is_kept(tmp_path, name, subset):
    source, target = FOLDER / f"{name}.h5ad", tmp_path / "b.h5ad"
    options = {"scores": [5.0, 7.0, 6.0], "subset": subset}
    write_table(read_table(source), [2, 0], target, **options)
    kept = [0, 2] if subset else [0, 1, 2]
    written, before = anndata.read_h5ad(target), anndata.read_h5ad(source)

    assert written.var_names.tolist() == [f"g{place + 1}" for place in kept]
    added = ["ufselect", "ufselect_rank", "ufselect_score"]
    assert written.var.columns.tolist() == ["mean", *added]
    selected = np.array([[1, 3, 5], [0, 1, 7], [1, 2, 6]])[kept]
    assert written.var[added].to_numpy(float).tolist() == selected.tolist()
    again = read_table(target, labels="kind", groups="batch")
    check(again, X[:, kept], labels=["u", "v", "", "v"])
    check(again, groups=["one", "two", "one", "two"])
    for layer in before.layers:
        assert dense(written.layers[layer]).tolist() == (X + 1)[:, kept].tolist()


def test_features_left_out_get_no_score(tmp_path):
    table = read_table(FOLDER / "dense.h5ad", drop=["g1"])
    write_table(table, [1], tmp_path / "b.h5ad", scores=[1.0, 2.0], subset=False)
    var = anndata.read_h5ad(tmp_path / "b.h5ad").var

    assert var["ufselect"].tolist() == [False, False, True]
    np.testing.assert_array_equal(var["ufselect_score"], [np.nan, 1, 2])
    assert var["ufselect_rank"].tolist() == [0, 2, 1]


@pytest.mark.parametrize("kind", [np.array, sp.csr_matrix, sp.csc_matrix])
def test_filled_cells_of_anndata_are_missing_again_unless_asked(tmp_path, kind):
    gaps = X.copy()
    gaps[1, 2], gaps[3, 0] = np.nan, np.nan
    anndata.AnnData(kind(gaps)).write_h5ad(tmp_path / "a.h5ad")
    table = filled(read_table(tmp_path / "a.h5ad"), "zero")
    found = {}
    for write_filled in (True, False):
        write_table(table, [1, 2], tmp_path / "b.h5ad", write_filled=write_filled)
        found[write_filled] = dense(anndata.read_h5ad(tmp_path / "b.h5ad").X)
    rest = without_incomplete(read_table(tmp_path / "a.h5ad"))
    write_table(rest, [0], tmp_path / "b.h5ad")

    np.testing.assert_array_equal(found[False], gaps[:, 1:])
    np.testing.assert_array_equal(found[True], np.nan_to_num(gaps[:, 1:]))
    assert anndata.read_h5ad(tmp_path / "b.h5ad").obs_names.tolist() == ["0", "2"]


def test_file_may_be_written_over_itself_twice_and_no_other_as_one(tmp_path):
    np.save(tmp_path / "a.npy", X)
    with pytest.raises(TableError, match="is not an AnnData file"):
        write_table(read_table(tmp_path / "a.npy"), [0], tmp_path / "b.h5ad")
    assert [path.name for path in tmp_path.iterdir()] == ["a.npy"]
    path = tmp_path / "a.h5ad"
    shutil.copy(FOLDER / "sparse.h5ad", path)
    write_table(read_table(path), [0], path, scores=[3.0, 1.0, 2.0], subset=False)
    write_table(read_table(path), [1], path, subset=False)
    var = anndata.read_h5ad(path).var

    assert var["ufselect"].tolist() == [False, True, False]
    assert var.columns.tolist() == ["mean", "ufselect"]


def without(part):
    def change(path):
        with h5py.File(path, "r+") as file:
            del file[part]

    return change


def of_before_0_7(path):
    with h5py.File(path, "w") as file:
        file["X"] = X
        file["obs"] = np.array([(b"s1", 1), (b"s2", 0)], [("index", "S2"), ("n", "i1")])
        file["var"] = np.array([(b"g1",), (b"g2",), (b"g3",)], dtype=[("index", "S2")])


def of_endless_names(path):
    with h5py.File(path, "r+") as file:
        del file["obs/_index"]
        file.create_dataset("obs/_index", (10**12,), "i1", chunks=(1000,))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (without("obs"), "has no 'obs', so it is not an AnnData file"),
        (without("X"), "has no matrix X and no layer; export it again"),
        (of_before_0_7, "before 0.7; read it with anndata's read_h5ad and write it"),
        (of_endless_names, r"'/obs/_index' in .* which is more than it holds"),
    ],
    ids=["no obs", "no X", "an old version", "a bomb"],
)
def test_files_that_are_not_anndata_are_refused(tmp_path, change, words):
    write_anndata(tmp_path / "a.h5ad", np.zeros((24, 12)))
    change(tmp_path / "a.h5ad")
    refused(words, tmp_path / "a.h5ad")


def test_the_package_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "anndata.io", None)
    with pytest.raises(ImportError, match=r'pip install "ufselect\[single-cell\]"'):
        read_table(FOLDER / "dense.h5ad")


@pytest.mark.parametrize("name", ["a.h5ad", "a.mat"])
def test_files_that_are_cut_off_are_refused(tmp_path, name):
    if name == "a.mat":
        save_73(tmp_path / name, X=np.random.default_rng(0).standard_normal((50, 40)))
    else:
        shutil.copy(FOLDER / "dense.h5ad", tmp_path / name)
    cut(tmp_path / name, 0.4, 0.8)


def linked(file, secret):
    file["X"] = h5py.ExternalLink(str(secret), "X")


def stored_outside(file, secret):
    stored = [(str(secret), 0, h5py.h5f.UNLIMITED)]
    file.create_dataset("X", (24, 12), "f8", external=stored)


def made_up(file, secret):
    layout = h5py.VirtualLayout((24, 12), "f8")
    layout[:] = h5py.VirtualSource(str(secret), "X", (24, 12))
    file.create_virtual_dataset("X", layout)


def linked_to_made_up(file, secret):
    made_up(file, secret)
    file.move("X", "hidden")
    file["X"] = h5py.SoftLink("/hidden")


@pytest.mark.parametrize("make", [linked, stored_outside, made_up, linked_to_made_up])
@pytest.mark.parametrize("ending", ["h5ad", "bin"])
def test_hdf5_may_not_lead_to_other_files(tmp_path, make, ending):
    path, secret = tmp_path / f"a.{ending}", tmp_path / "secret.h5"
    with h5py.File(secret, "w") as file:
        file["X"] = np.full((24, 12), 7.0)
    write_anndata(path, np.zeros((24, 12)))
    with h5py.File(path, "r+") as file:
        del file["X"]
        make(file, secret)
    refused("refers to another file for", path)


# 10x Genomics.


def save_10x(path, *genomes):
    """Write what Cell Ranger does: a column per cell, compressed by columns."""
    counts = sp.csc_array(X.T.astype(np.int32))
    names = np.array([b"G1", b"G2", b"G3"])
    with h5py.File(path, "w") as file:
        for name in genomes or ["matrix"]:
            group = file.create_group(name)
            for part in ("data", "indices", "indptr"):
                group[part] = getattr(counts, part)
            group["shape"] = np.array(counts.shape)
            group["barcodes"] = np.array([b"AA-1", b"CC-1", b"GG-1", b"TT-1"])
            group["gene_names" if genomes else "features/name"] = names
    return path


@pytest.mark.parametrize("genomes", [["GRCh38", "mm10"], []], ids=["v2", "v3"])
def test_counts_of_cell_ranger_are_read(tmp_path, genomes):
    path = save_10x(tmp_path / "filtered.h5", *genomes)
    table = read_table(path, isolate=True)

    assert table.format == "10x"
    assert table.values.format == "csr"
    check(table, X, feature_names=["G1", "G2", "G3"])
    check(table, sample_names=["AA-1", "CC-1", "GG-1", "TT-1"])
    if genomes:
        assert noted(table, "Genome 'GRCh38' was read; --variable reads 'mm10'.")
    refused("which has no labels; leave --labels out", path, labels="kind")
    with h5py.File(path, "r+") as file:
        next(iter(file.values()))["indices"][0] = 99
    refused("is a damaged sparse matrix", path)


# MATLAB 7.3.


def test_matlab_7_3_is_read_and_written_as_version_5(tmp_path):
    labels = np.array([[1.0], [1], [2], [2]])
    save_73(tmp_path / "a.mat", fea=X, gnd=labels, names=["p", "qq", "r"])
    table = read_table(tmp_path / "a.mat", labels="gnd")
    write_table(table, [True, False, True], tmp_path / "b.mat")
    written = scipy.io.loadmat(tmp_path / "b.mat")

    check(table, X, feature_names=["p", "qq", "r"], labels=["1", "1", "2", "2"])
    assert written["fea"].tolist() == X[:, [0, 2]].tolist()
    assert written["gnd"].tolist() == [[1], [1], [2], [2]]
    assert [str(cell[0]) for cell in written["names"].ravel()] == ["p", "r"]


def test_sparse_and_damaged_matlab_7_3(tmp_path):
    save_73(tmp_path / "s.mat", fea=sp.csc_array(X))
    table = read_table(tmp_path / "s.mat")
    assert table.values.format == "csr"
    check(table, X)
    save_73(tmp_path / "two.mat", X=X, Z=X)
    refused("several matrices, 'X' and 'Z'; say", tmp_path / "two.mat")
    with h5py.File(tmp_path / "bomb.mat", "w", userblock_size=512) as file:
        file.create_dataset("X", shape=(2**30, 2**10), dtype="f8")
    add_header(tmp_path / "bomb.mat")
    refused("which is more than it holds", tmp_path / "bomb.mat")
