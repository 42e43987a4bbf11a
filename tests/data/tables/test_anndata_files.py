"""AnnData files that anndata wrote (see written_by_anndata), and what we add."""

import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest

from ufselect.data import TableError, read_table, write_table

FOLDER = Path(__file__).with_name("written_by_anndata")
X = np.arange(12, dtype=np.float32).reshape(4, 3)


def dense(values):
    return values.toarray() if hasattr(values, "toarray") else values


@pytest.mark.parametrize("name", ["dense", "sparse"])
def test_matrix_and_names_are_read(name):
    table = read_table(FOLDER / f"{name}.h5ad")

    assert dense(table.values).tolist() == X.tolist()
    assert table.values.dtype == np.float32
    assert getattr(table.values, "format", "dense") == (
        "csr" if name == "sparse" else name
    )
    assert table.feature_names.tolist() == ["g1", "g2", "g3"]
    assert table.sample_names.tolist() == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("column", "labels"),
    [
        ("kind", ["u", "v", "", "v"]),
        ("count", ["1", "", "3", "4"]),
        ("batch", ["one", "two", "one", "two"]),
    ],
)
def test_labels_of_any_encoding(column, labels):
    assert read_table(FOLDER / "dense.h5ad", labels=column).labels.tolist() == labels


def test_layer_is_read_on_request():
    table = read_table(FOLDER / "dense.h5ad", variable="counts")

    assert dense(table.values).tolist() == (X + 1).tolist()
    with pytest.raises(TableError, match=r"no layer 'cuonts'; did you mean 'counts'"):
        read_table(FOLDER / "dense.h5ad", variable="cuonts")


def test_unknown_column_of_obs_is_refused():
    with pytest.raises(
        TableError, match=r"no column of obs 'knd'; did you mean 'kind'"
    ):
        read_table(FOLDER / "dense.h5ad", labels="knd")


def test_turning_is_refused():
    with pytest.raises(TableError, match="always has samples in rows"):
        read_table(FOLDER / "dense.h5ad", transpose=True)


@pytest.mark.parametrize("name", ["dense", "sparse"])
def test_columns_are_added_to_var_and_the_rest_is_kept(tmp_path, name):
    source, target = FOLDER / f"{name}.h5ad", tmp_path / "b.h5ad"
    table = read_table(source)
    write_table(table, [2, 0], target, scores=[5.0, 7.0, 6.0])

    with h5py.File(target) as file:
        var = file["var"]
        assert var["ufselect"][()].tolist() == [True, False, True]
        assert var["ufselect_score"][()].tolist() == [5, 7, 6]
        assert var["ufselect_rank"][()].tolist() == [3, 1, 2]
        added = ["ufselect", "ufselect_rank", "ufselect_score"]
        assert list(var.attrs["column-order"]) == ["mean", *added]
        for column in added:
            assert var[column].attrs["encoding-type"] == "array"
            assert var[column].attrs["encoding-version"] == "0.2.0"
    again = read_table(target, labels="kind")
    assert dense(again.values).tolist() == X.tolist()
    assert again.labels.tolist() == ["u", "v", "", "v"]


def test_features_left_out_get_no_score(tmp_path):
    table = read_table(FOLDER / "dense.h5ad", drop=["g1"])
    write_table(table, [1], tmp_path / "b.h5ad", scores=[1.0, 2.0])

    with h5py.File(tmp_path / "b.h5ad") as file:
        var = file["var"]
        assert var["ufselect"][()].tolist() == [False, False, True]
        np.testing.assert_array_equal(var["ufselect_score"][()], [np.nan, 1, 2])
        assert var["ufselect_rank"][()].tolist() == [0, 2, 1]


def test_file_may_be_written_over_itself_twice(tmp_path):
    path = tmp_path / "a.h5ad"
    shutil.copy(FOLDER / "sparse.h5ad", path)
    write_table(read_table(path), [0], path, scores=[3.0, 1.0, 2.0])
    write_table(read_table(path), [1], path)

    with h5py.File(path) as file:
        assert file["var/ufselect"][()].tolist() == [False, True, False]
        assert list(file["var"].attrs["column-order"]) == ["mean", "ufselect"]


def test_other_tables_cannot_be_written_as_anndata(tmp_path):
    np.save(tmp_path / "a.npy", X)

    with pytest.raises(TableError, match="is no AnnData file"):
        write_table(read_table(tmp_path / "a.npy"), [0], tmp_path / "b.h5ad")
    assert [path.name for path in tmp_path.iterdir()] == ["a.npy"]


@pytest.mark.parametrize("kept", [0.3, 0.9])
def test_file_that_is_cut_off_is_refused(tmp_path, kept):
    content = (FOLDER / "dense.h5ad").read_bytes()
    (tmp_path / "a.h5ad").write_bytes(content[: int(kept * len(content))])

    with pytest.raises(TableError, match="cut off or damaged"):
        read_table(tmp_path / "a.h5ad")


def test_other_hdf5_files_are_refused(tmp_path):
    with h5py.File(tmp_path / "a.h5ad", "w") as file:
        file["X"] = X

    with pytest.raises(TableError, match="has no 'obs', so it is no AnnData file"):
        read_table(tmp_path / "a.h5ad")


def test_format_is_known_without_a_name():
    with (FOLDER / "dense.h5ad").open("rb") as stream:
        table = read_table(stream)

    assert table.format == "h5ad"
    assert table.shape == (4, 3)
