"""Data that are not in memory mean what they would mean there."""

import types

import numpy as np
import pytest
import scipy.sparse as sp
from elsewhere import ELSEWHERE, backed, in_hdf5, in_memory, in_zarr, on_dask
from elsewhere import one_thread as in_one_thread

from ufselect.matrix import (
    DenseMatrix,
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
SHIFT, SCALE = np.arange(N_FEATURES) / 7, np.linspace(0.5, 2, N_FEATURES)


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


def views(matrix):
    """Return the matrix as it is, and with all that a preparation may ask for."""
    return [matrix, matrix.with_unit_rows(3.0).affine(SHIFT, SCALE)]


def doubled(block, rows, factor):
    """Return two arrays beside the samples, and two sums."""
    product = block.dot(factor)
    product += rows[0]
    return (product, 2 * rows[0]), (block.transpose_dot(rows[0]), product.sum(axis=0))


def halved(block, rows):
    return (rows[1] / 2,), ()


def answers(matrix):
    """Ask a matrix everything that solvers ask."""
    random = np.random.default_rng(1)
    n_samples, n_features = matrix.shape
    right, left = (
        random.normal(size=(n_features, 3)),
        random.normal(size=(n_samples, 3)),
    )
    some, others = np.array([0, 4, 5, 22]), np.array([11, 2, 3])
    beside, sums = matrix.over_rows(doubled, matrix.beside(left), right)
    gathered = matrix.gather(beside).copy()
    last, nothing = matrix.over_rows(halved, beside)
    summary = matrix.summary()
    taken = matrix.take(others)
    return {
        "dot": matrix.dot(right),
        "transpose_dot": matrix.transpose_dot(left),
        "normal_dot": matrix.normal_dot(right),
        "feature_gram": matrix.feature_gram(),
        "sample_gram": matrix.sample_gram(),
        "rows": matrix.rows(some),
        "rows in any order": matrix.rows(others),
        "no rows": matrix.rows(others[:0]),
        "slice of rows": matrix.rows(slice(3, 17)),
        "columns": matrix.columns(others),
        "no columns": matrix.columns(others[:0]),
        "slice of columns": matrix.columns(slice(2, 9)),
        "take": taken.columns(slice(None)),
        "dot of take": taken.dot(right[:3]),
        "gram of take": taken.feature_gram(),
        "take of take": taken.take(np.array([2, 0])).rows(slice(None)),
        "minimum": summary.minimum,
        "maximum": summary.maximum,
        "mean": summary.mean,
        "deviation": summary.deviation,
        "constant": summary.constant.astype(float),
        "repetition": matrix.repetition(),
        "row_norms": matrix.row_norms(),
        "some_rows": matrix.some_rows().astype(float),
        "first sum": sums[0],
        "second sum": sums[1],
        "gather": gathered,
        "gather again": matrix.gather(last),
        "as_array": in_memory(matrix.as_array(last)),
        "pick": matrix.pick(matrix.beside(left), some),
        "no sums": np.array(nothing),
    }


def assert_same_answers(found, expected, tol):
    assert found.keys() == expected.keys()
    for question, answer in expected.items():
        assert found[question].dtype == np.float64, question
        np.testing.assert_allclose(
            found[question], answer, rtol=0, atol=tol, err_msg=question
        )


def test_every_answer_is_that_of_the_same_numbers_in_memory(elsewhere):
    single = elsewhere.dtype == np.float32
    here = DenseMatrix(in_memory(elsewhere).astype(np.float64))

    for found, expected in zip(views(matrix_of(elsewhere)), views(here), strict=True):
        assert_same_answers(
            answers(found), answers(expected), 2e-5 if single else 1e-11
        )


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
        lambda block, rows: ((block.raw,), ()), matrix.beside(given)
    )
    matrix.over_rows(lambda block, rows: ((2 * rows[0],), ()), matrix.beside(given))

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
