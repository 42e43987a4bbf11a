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
from ufselect.matrix.row_blocks import RowSource

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


def test_scaled_samples_are_scaled_where_they_are(elsewhere):
    factors = np.linspace(0.5, 2, N_SAMPLES)
    expected = factors[:, np.newaxis] * in_memory(elsewhere)

    found = matrix_of(elsewhere).scale_samples(factors).rows(slice(None))

    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_all_of_them_are_elsewhere(elsewhere):
    assert is_out_of_core(elsewhere)
    assert matrix_of(elsewhere).out_of_core


def test_only_dask_is_scattered(elsewhere):
    assert matrix_of(elsewhere).scattered == (storage_of(elsewhere) == "dask")


class TestRowBlocks:
    @pytest.mark.parametrize(("chunk", "step"), [(1, 5), (2, 4), (3, 3), (5, 5)])
    def test_are_whole_chunks_of_the_file(self, chunk, step, tmp_path):
        matrix = matrix_of(in_zarr(values(), tmp_path, (chunk, N_FEATURES)))

        starts = [block.start for block in matrix.row_slices()]

        assert starts == list(range(0, N_SAMPLES, step))

    def test_are_one_chunk_where_chunks_are_larger(self, tmp_path):
        matrix = matrix_of(in_hdf5(values(), tmp_path, (9, 2)))

        assert [block.start for block in matrix.row_slices()] == [0, 9, 18]

    def test_of_stored_values_count_these(self, tmp_path):
        sparse = sp.random(200, 100, density=0.01, format="csr", random_state=0)
        matrix = as_matrix(RowSource(backed(sparse, tmp_path)), block_bytes=1600)

        assert [block.stop for block in matrix.row_slices()] == [100, 200]

    def test_reuse_the_arrays_beside_the_rows_only_where_they_fit(self, tmp_path):
        matrix = matrix_of(in_hdf5(values(), tmp_path))
        narrow = matrix.beside(np.zeros((N_SAMPLES, 2)))

        wide, _ = matrix.over_rows(lambda block, rows: ((block.raw,), ()), narrow)

        np.testing.assert_array_equal(wide[0], values())

    def test_given_arrays_are_left_alone(self, tmp_path):
        matrix, given = matrix_of(in_hdf5(values(), tmp_path)), np.ones((N_SAMPLES, 2))

        matrix.over_rows(lambda block, rows: ((2 * rows[0],), ()), matrix.beside(given))

        assert np.array_equal(given, np.ones((N_SAMPLES, 2)))

    def test_of_sparse_files_are_sparse(self, tmp_path):
        matrix = matrix_of(backed(sp.csr_matrix(values()), tmp_path))

        assert all(sp.issparse(piece.raw) for _, piece in matrix.pieces())


class TestWhatIsElsewhere:
    @pytest.mark.parametrize("container", [np.asarray, sp.csr_matrix])
    def test_a_part_of_an_anndata_in_memory_is_not(self, container):
        anndata = pytest.importorskip("anndata")
        part = anndata.AnnData(container(values()))[:, :4].X

        assert type(part).__module__.startswith("anndata")
        assert not is_out_of_core(part)

    def test_an_array_that_only_might_hold_dask_is_not(self):
        in_memory = types.SimpleNamespace(__dask_graph__=lambda: None)

        assert not is_out_of_core(in_memory)

    @pytest.mark.parametrize(
        "data", [np.eye(2), [[1.0]], sp.eye_array(2), "text", None]
    )
    def test_what_is_here_is_not(self, data):
        assert not is_out_of_core(data)

    def test_a_file_is_read_by_blocks(self, tmp_path):
        assert type(matrix_of(in_hdf5(values(), tmp_path))) is RowBlockMatrix


def test_some_rows_are_those_of_the_numbers(elsewhere):
    index = np.array([0, 3, 4, 17, 22])
    rows = out_of_core_rows(elsewhere, index)

    np.testing.assert_array_equal(in_memory(rows), in_memory(elsewhere)[index])


class TestRefusals:
    def test_columns_of_a_file_in_csc(self, tmp_path):
        data = backed(sp.csc_matrix(values()), tmp_path)

        with pytest.raises(ValueError, match=r"stored by columns .*; write it in CSR"):
            as_row_source(data)

    @pytest.mark.parametrize("shape", [(6,), (2, 3, 1)])
    def test_other_than_two_dimensions(self, shape, tmp_path):
        array = np.ones(shape)
        for data in (on_dask(array, -1), in_hdf5(array, tmp_path)):
            with pytest.raises(ValueError, match=f"got {len(shape)}D array instead"):
                as_row_source(data)

    def test_complex_numbers(self, tmp_path):
        array = np.ones((3, 2), complex)
        for data in (on_dask(array, -1), in_hdf5(array, tmp_path)):
            with pytest.raises(ValueError, match=r"^Complex data not supported"):
                as_row_source(data)

    @pytest.mark.parametrize("dtype", [object, "U3", "M8[s]", "m8[s]"])
    def test_what_are_not_numbers(self, dtype):
        data = on_dask(np.zeros((3, 2), dtype), -1)

        with pytest.raises(ValueError, match=r"which are not numbers; convert or drop"):
            as_row_source(data)

    def test_text_in_a_file(self, tmp_path):
        data = in_hdf5(np.array([["a", "b"]], object), tmp_path)

        with pytest.raises(ValueError, match=r"which are not numbers; convert or drop"):
            as_row_source(data)

    def test_what_is_no_table(self):
        delayed = pytest.importorskip("dask.delayed").delayed

        with pytest.raises(TypeError, match=r"X is a Dask \w+, which is not a table"):
            as_row_source(delayed(values()))
