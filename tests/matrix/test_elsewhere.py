"""Data that are not in memory mean what they would mean there."""

import types

import numpy as np
import pytest
import scipy.sparse as sp
from elsewhere import ELSEWHERE, backed, in_hdf5, in_memory, in_zarr, on_dask
from elsewhere import one_thread as in_one_thread

from ufselect.matrix import (
    RowBlockMatrix,
    as_matrix,
    as_row_source,
    is_out_of_core,
    out_of_core_rows,
    storage_of,
)
from ufselect.matrix.arrays import RowSource

N_SAMPLES, N_FEATURES = 23, 13
# Five rows or so.
FEW_BYTES = 8 * N_FEATURES * 5


def values():
    """Return numbers of which about half are zero, as are a row and a column."""
    random = np.random.default_rng(0)
    result = random.normal(size=(N_SAMPLES, N_FEATURES))
    result[random.random(result.shape) < 0.5] = 0.0
    result[4] = result[:, 5] = 0.0
    return result


@pytest.fixture(autouse=True)
def one_thread():
    with in_one_thread():
        yield


@pytest.fixture(params=ELSEWHERE)
def elsewhere(request, tmp_path):
    return ELSEWHERE[request.param](values(), tmp_path)


def matrix_of(data):
    return as_matrix(as_row_source(data), block_bytes=FEW_BYTES)


def test_what_is_elsewhere_is_scaled_and_picked_there(elsewhere):
    factors, array = np.linspace(0.5, 2, N_SAMPLES), in_memory(elsewhere)
    index = np.array([0, 3, 4, 17, 22])
    matrix = matrix_of(elsewhere)
    scaled = matrix.scale_samples(factors).rows(slice(None))

    assert is_out_of_core(elsewhere)
    assert matrix.out_of_core
    assert matrix.scattered == (storage_of(elsewhere) == "dask")
    np.testing.assert_allclose(scaled, factors[:, np.newaxis] * array, rtol=1e-6)
    rows = out_of_core_rows(elsewhere, index)
    np.testing.assert_array_equal(in_memory(rows), array[index])


def test_blocks_of_rows_are_whole_chunks_of_the_file(tmp_path):
    for chunk, step in [(1, 5), (2, 4), (3, 3), (5, 5)]:
        matrix = matrix_of(in_zarr(values(), tmp_path, (chunk, N_FEATURES)))
        starts = [block.start for block in matrix.row_slices()]
        assert starts == list(range(0, N_SAMPLES, step))
    large = matrix_of(in_hdf5(values(), tmp_path, (9, 2)))
    few = sp.random(200, 100, density=0.01, format="csr", random_state=0)
    sparse = as_matrix(RowSource(backed(few, tmp_path)), block_bytes=1600)

    assert [block.start for block in large.row_slices()] == [0, 9, 18]
    assert [block.stop for block in sparse.row_slices()] == [100, 200]
    assert all(sp.issparse(piece.raw) for _, piece in sparse.pieces())


def test_arrays_beside_the_rows_are_reused_where_they_fit_and_never_the_given(tmp_path):
    matrix, given = matrix_of(in_hdf5(values(), tmp_path)), np.ones((N_SAMPLES, 2))

    wide, _ = matrix.over_rows(
        lambda block, rows: ((block.raw,), ()), matrix.aligned(given)
    )
    matrix.over_rows(lambda block, rows: ((2 * rows[0],), ()), matrix.aligned(given))

    assert type(matrix) is RowBlockMatrix
    np.testing.assert_array_equal(wide[0], values())
    assert np.array_equal(given, np.ones((N_SAMPLES, 2)))


def test_what_is_in_memory_is_not_elsewhere():
    anndata = pytest.importorskip("anndata")
    for container in (np.asarray, sp.csr_matrix):
        part = anndata.AnnData(container(values()))[:, :4].X
        assert type(part).__module__.startswith("anndata")
        assert not is_out_of_core(part)
    might_hold_dask = types.SimpleNamespace(__dask_graph__=lambda: None)
    for data in (might_hold_dask, np.eye(2), [[1.0]], sp.eye_array(2), "text", None):
        assert not is_out_of_core(data)


def test_what_cannot_be_read_by_rows_is_refused(tmp_path):
    delayed = pytest.importorskip("dask.delayed").delayed
    not_numbers = r"which are not numbers; convert or drop"
    refusals = [
        (backed(sp.csc_matrix(values()), tmp_path), r"in CSC format .*; write it "),
        (in_hdf5(np.array([["a", "b"]], object), tmp_path), not_numbers),
    ]
    refusals += [
        (on_dask(np.zeros((3, 2), kind), -1), not_numbers)
        for kind in (object, "U3", "M8[s]", "m8[s]")
    ]
    for array, message in [
        (np.ones(6), "got 1D array instead"),
        (np.ones((2, 3, 1)), "got 3D array instead"),
        (np.ones((3, 2), complex), r"^Complex data not supported"),
    ]:
        refusals.append((on_dask(array, -1), message))
        refusals.append((in_hdf5(array, tmp_path), message))
    for data, message in refusals:
        with pytest.raises(ValueError, match=message):
            as_row_source(data)
    with pytest.raises(TypeError, match=r"X is a Dask \w+, which is not a table"):
        as_row_source(delayed(values()))
