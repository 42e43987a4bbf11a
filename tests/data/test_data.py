"""Planted tables, and research data from files."""

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from ufselect.data import (
    GEOMETRIES,
    data_folder,
    planted,
    read_labelled,
)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float64])
def test_files_become_floats_and_numbered_classes(tmp_path, dtype):
    X = np.array([[1, 200], [3, 4], [5, 6]], dtype=dtype)
    scipy.io.savemat(tmp_path / "set.mat", {"X": X, "Y": [[7], [7], [9]]})
    data = read_labelled(tmp_path / "set.mat")

    assert data.table.dtype == np.float64
    assert np.array_equal(data.table, X)
    assert data.classes.tolist() == [0, 0, 1]
    assert data.name == "set"
    scipy.io.savemat(tmp_path / "set.mat", {"X": sp.csc_array(X), "Y": [2, 10, 3]})
    sparse = read_labelled(tmp_path / "set.mat")
    assert sparse.table.format == "csr"
    assert np.array_equal(sparse.table.toarray(), X)
    assert sparse.classes.tolist() == [0, 2, 1]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"Y": [1]}, "has no variable"),
        ({"X": [[1.0]]}, "has no variable"),
        ({"X": np.eye(3), "Y": [1, 2]}, "2 values in 'Y' for 3 samples"),
        (b"no matrix here" * 20, "is not a MATLAB file: it begins like text"),
        (None, "UFSELECT_DATA"),
    ],
    ids=["no X", "no Y", "a short Y", "text", "nothing"],
)
def test_what_cannot_be_read_is_refused_in_one_sentence(tmp_path, content, message):
    path = tmp_path / "set.mat"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        scipy.io.savemat(path, content)
    with pytest.raises(ValueError, match=message):
        read_labelled(path)


def test_an_unknown_geometry_is_refused():
    with pytest.raises(ValueError, match="geometry='spiral' is not known; use one of"):
        planted("spiral")


def test_folder_is_taken_from_the_environment_and_must_exist(monkeypatch, tmp_path):
    monkeypatch.setenv("UFSELECT_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    monkeypatch.setenv("UFSELECT_DATA", str(tmp_path / "absent"))
    with pytest.raises(ValueError, match="absent is not a folder"):
        data_folder()


@pytest.mark.parametrize("unequal", [False, True])
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_useful_columns_are_related_and_noise_is_not(geometry, unequal):
    data = planted(
        geometry, n_samples=3000, n_useful=6, n_noise=4, unequal_scales=unequal
    )
    # Depth relates all counts to one another.
    depth = data.table[:, ~data.informative].sum(axis=1, keepdims=True)
    table = data.table / (depth + 1 if geometry == "counts" else 1)
    related = np.abs(np.corrcoef(table.T) - np.eye(10)).max(axis=0)

    assert related[data.informative].min() > 0.2
    if geometry != "counts":
        assert related[~data.informative].max() < 0.1


def test_unequal_columns_have_variances_that_say_nothing_of_use():
    data = planted(n_useful=200, n_noise=200, unequal_scales=True)
    deviations = data.table.std(axis=0)

    assert deviations.min() < 0.15
    assert deviations.max() > 7
    useful, noise = deviations[data.informative], deviations[~data.informative]
    assert np.log(np.median(useful) / np.median(noise)) == pytest.approx(0, abs=0.5)
