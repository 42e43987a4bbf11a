"""Files on HDF5: AnnData that anndata wrote, 10x Genomics, MATLAB 7.3."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from matlab_files import add_header, save_73
from small_tables import write_anndata
from table_reading import check, cut, dense, refused

from ufselect.data import TableError, read_table, write_table
from ufselect.data.tables.table import filled, without_incomplete

h5py = pytest.importorskip("h5py")
FOLDER = Path(__file__).with_name("written_by_anndata")
X = np.arange(12, dtype=np.float32).reshape(4, 3)


@pytest.mark.parametrize("name", ["dense", "sparse"])
@pytest.mark.parametrize("isolate", [True, False])
def test_matrix_and_names_are_read(name, isolate):
    table = read_table(FOLDER / f"{name}.h5ad", isolate=isolate)

    assert dense(table.values).tolist() == X.tolist()
    assert table.values.dtype == np.float32
    assert sp.issparse(table.values) == (name == "sparse")
    check(table, feature_names=["g1", "g2", "g3"], sample_names=["a", "b", "c", "d"])
    with (FOLDER / f"{name}.h5ad").open("rb") as stream:
        assert read_table(stream, isolate=isolate).format == "h5ad"


def test_labels_and_layers_of_any_encoding():
    path = FOLDER / "dense.h5ad"
    labels = {
        "kind": ["u", "v", "", "v"],
        "count": ["1", "", "3", "4"],
        "batch": ["one", "two", "one", "two"],
    }
    for column, values in labels.items():
        assert read_table(path, labels=column).labels.tolist() == values
    layer = read_table(path, variable="counts")
    assert dense(layer.values).tolist() == (X + 1).tolist()
    refused(r"no layer 'cuonts'; did you mean 'counts'", path, variable="cuonts")
    refused(r"no column of obs 'knd'; did you mean", path, labels="knd")
    refused("always has samples in rows", path, transpose=True)


@pytest.mark.parametrize("name", ["dense", "sparse"])
@pytest.mark.parametrize("subset", [True, False])
def test_selected_features_are_written_and_the_rest_is_kept(tmp_path, name, subset):
    anndata = pytest.importorskip("anndata")
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
    assert dense(again.values).tolist() == X[:, kept].tolist()
    check(again, labels=["u", "v", "", "v"], groups=["one", "two", "one", "two"])
    for layer in before.layers:
        assert dense(written.layers[layer]).tolist() == (X + 1)[:, kept].tolist()


def test_features_left_out_get_no_score(tmp_path):
    table = read_table(FOLDER / "dense.h5ad", drop=["g1"])
    write_table(table, [1], tmp_path / "b.h5ad", scores=[1.0, 2.0], subset=False)

    with h5py.File(tmp_path / "b.h5ad") as file:
        var = file["var"]
        assert var["ufselect"][()].tolist() == [False, False, True]
        np.testing.assert_array_equal(var["ufselect_score"][()], [np.nan, 1, 2])
        assert var["ufselect_rank"][()].tolist() == [0, 2, 1]


@pytest.mark.parametrize("kind", [np.array, sp.csr_matrix, sp.csc_matrix])
def test_filled_cells_of_anndata_are_missing_again_unless_asked(tmp_path, kind):
    anndata = pytest.importorskip("anndata")
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

    with h5py.File(path) as file:
        assert file["var/ufselect"][()].tolist() == [False, True, False]
        assert list(file["var"].attrs["column-order"]) == ["mean", "ufselect"]


def test_categories_of_files_from_before_version_0_7_are_read(tmp_path):
    anndata = pytest.importorskip("anndata")
    path = tmp_path / "old.h5ad"
    rows = [(b"s1", 1, 0.5), (b"s2", 0, 0.5), (b"s3", -1, 1.0), (b"s4", 1, 2.0)]
    with h5py.File(path, "w") as file:
        file["X"] = X
        obs = [("index", "S2"), ("kind", "i1"), ("depth", "f8")]
        file["obs"] = np.array(rows, dtype=obs)
        file["var"] = np.array([(b"g1",), (b"g2",), (b"g3",)], dtype=[("index", "S2")])
        file["uns/kind_categories"] = np.array([b"u", b"v"])

    check(read_table(path, labels="kind"), labels=["v", "u", "", "v"])
    check(read_table(path, labels="depth"), labels=["0.5", "0.5", "1", "2"])
    with pytest.warns(anndata.OldFormatWarning):
        theirs = anndata.read_h5ad(path).obs["kind"]
    assert theirs.tolist()[:2] == ["v", "u"]


def test_damaged_and_other_files_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "a.h5ad"
    shutil.copy(FOLDER / "dense.h5ad", path)
    cut(path, 0.3, 0.9)
    with h5py.File(path, "w") as file:
        file["X"] = X
    refused("has no 'obs', so it is not an AnnData file", path)
    write_anndata(path, np.zeros((24, 12)))
    with h5py.File(path, "r+") as file:
        del file["X"]
    refused("has no matrix X and no layer; export it again", path)
    write_anndata(path, np.zeros((24, 12)))
    with h5py.File(path, "r+") as file:
        del file["obs/_index"]
        file.create_dataset("obs/_index", (10**12,), "i1", chunks=(1000,))
    refused("more than the file holds", path)
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(ImportError, match=r"h5py; install it with pip install"):
        read_table(FOLDER / "dense.h5ad")


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
    path, secret = tmp_path / f"a.{ending}", tmp_path / "secret.h5"
    with h5py.File(secret, "w") as file:
        file["X"] = np.full((24, 12), 7.0)
    write_anndata(path, np.zeros((24, 12)))
    with h5py.File(path, "r+") as file:
        del file["X"]
        make(file, secret)
    refused("refers to another file for", path)


# 10x Genomics.


def save_10x(path, version):
    """Write what Cell Ranger does: a column per cell, compressed by columns."""
    counts = sp.csc_array(X.T.astype(np.int32))
    names = np.array([b"G1", b"G2", b"G3"])
    with h5py.File(path, "w") as file:
        group = file.create_group("matrix" if version == 3 else "GRCh38")
        for part in ("data", "indices", "indptr"):
            group[part] = getattr(counts, part)
        group["shape"] = np.array(counts.shape)
        group["barcodes"] = np.array([b"AA-1", b"CC-1", b"GG-1", b"TT-1"])
        if version == 3:
            group["features/id"] = np.array([b"E1", b"E2", b"E3"])
            group["features/name"] = names
        else:
            group["gene_names"] = names
    return path


@pytest.mark.parametrize("version", [2, 3])
def test_counts_of_cell_ranger_are_read(tmp_path, version):
    path = save_10x(tmp_path / "filtered.h5", version)
    table = read_table(path, isolate=True)
    write_table(table, [0, 2], tmp_path / "out.mtx")
    write_table(table, [0, 2], tmp_path / "out")
    again = read_table(tmp_path / "out.mtx")

    assert table.format == "10x"
    assert table.values.format == "csr"
    check(table, X, feature_names=["G1", "G2", "G3"])
    check(table, sample_names=["AA-1", "CC-1", "GG-1", "TT-1"])
    check(again, X[:, [0, 2]], feature_names=["G1", "G3"])
    assert scipy.io.mmread(tmp_path / "out").toarray().tolist() == X[:, [0, 2]].tolist()
    refused("which has no labels; leave --labels out", path, labels="kind")
    with h5py.File(path, "r+") as file:
        next(iter(file.values()))["indices"][0] = 99
    refused("is a damaged sparse matrix", path)


# MATLAB 7.3.


def test_matlab_7_3_is_read_and_written_as_version_5(tmp_path):
    labels = np.array([[1.0], [1], [2], [2]])
    save_73(tmp_path / "a.mat", fea=X, gnd=labels, names=["p", "qq", "r"])
    save_73(tmp_path / "s.mat", fea=sp.csc_array(X))
    table = read_table(tmp_path / "a.mat", labels="gnd")
    write_table(table, [True, False, True], tmp_path / "b.mat")
    written = scipy.io.loadmat(tmp_path / "b.mat")

    check(table, X, feature_names=["p", "qq", "r"], labels=["1", "1", "2", "2"])
    assert written["fea"].tolist() == X[:, [0, 2]].tolist()
    assert written["gnd"].tolist() == [[1], [1], [2], [2]]
    assert [str(cell[0]) for cell in written["names"].ravel()] == ["p", "r"]
    sparse = read_table(tmp_path / "s.mat")
    assert sparse.values.format == "csr"
    check(sparse, X)
    path = tmp_path / "damaged.mat"
    save_73(path, X=np.random.default_rng(0).standard_normal((50, 40)))
    cut(path, 0.4, 0.8, 0.95)
    with h5py.File(path, "w", userblock_size=512) as file:
        file.create_dataset("X", shape=(2**30, 2**10), dtype="f8")
    add_header(path)
    refused("more than the file holds", path)
