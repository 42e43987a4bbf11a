"""One meaning of a matrix, however its numbers are kept."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from elsewhere import ELSEWHERE, in_memory, one_thread

from ufselect.matrix import (
    DenseMatrix,
    RowBlockMatrix,
    SparseMatrix,
    as_matrix,
    as_row_source,
    is_out_of_core,
)
from ufselect.matrix.base import product_with

N_SAMPLES, N_FEATURES = 23, 13


def values(dtype=np.float64):
    """Return numbers of which about half are zero, with one full column."""
    random = np.random.default_rng(0)
    result = random.normal(size=(N_SAMPLES, N_FEATURES))
    result[random.random(result.shape) < 0.6] = 0.0
    result[:, 2] = random.normal(loc=3, size=N_SAMPLES)
    result[:, 5] = 0.0
    result[4] = 0.0
    return result.astype(dtype)


def mapped(array, folder):
    path = folder / f"data_{array.dtype}.npy"
    np.save(path, array)
    return np.load(path, mmap_mode="r")


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def strided(array):
    wide = np.full((2 * array.shape[0], 3 * array.shape[1]), 7, array.dtype)
    wide[::2, ::3] = array
    return wide[::2, ::3]


def with_explicit_zeros(matrix):
    matrix = matrix.copy()
    matrix.data[::4] = 0.0
    assert matrix.nnz > matrix.count_nonzero()
    return matrix


def with_unsorted_indices(matrix):
    """Return the same matrix with the entries of each row or column reversed."""
    order = np.concatenate(
        [
            np.arange(start, end)[::-1]
            for start, end in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
        ]
    )
    parts = (matrix.data[order], matrix.indices[order], matrix.indptr.copy())
    result = type(matrix)(parts, shape=matrix.shape)
    assert not result.has_sorted_indices
    return result


def with_duplicates(matrix):
    """Return the same matrix with each number stored as two halves."""
    parts = (
        np.repeat(matrix.data / 2, 2),
        np.repeat(matrix.indices, 2),
        2 * matrix.indptr,
    )
    return type(matrix)(parts, shape=matrix.shape)


FORMS = {
    "dense": lambda folder: values(),
    "float32": lambda folder: values(np.float32),
    "Fortran": lambda folder: np.asfortranarray(values()),
    "strided": lambda folder: strided(values()),
    "reversed": lambda folder: values()[::-1, ::-1],
    "read-only": lambda folder: read_only(values()),
    "CSR": lambda folder: sp.csr_array(values()),
    "CSC": lambda folder: sp.csc_array(values()),
    "CSR matrix": lambda folder: sp.csr_matrix(values()),
    "CSC matrix": lambda folder: sp.csc_matrix(values()),
    "CSR float32": lambda folder: sp.csr_array(values(np.float32)),
    "CSC float32": lambda folder: sp.csc_array(values(np.float32)),
    "CSR explicit zeros": lambda folder: with_explicit_zeros(sp.csr_array(values())),
    "CSC explicit zeros": lambda folder: with_explicit_zeros(sp.csc_array(values())),
    "CSR unsorted": lambda folder: with_unsorted_indices(sp.csr_array(values())),
    "CSC unsorted": lambda folder: with_unsorted_indices(sp.csc_array(values())),
    "CSR duplicates": lambda folder: with_duplicates(sp.csr_array(values())),
    "CSC duplicates": lambda folder: with_duplicates(sp.csc_array(values())),
    "mapped": lambda folder: mapped(values(), folder),
    "mapped float32": lambda folder: mapped(values(np.float32), folder),
    "mapped Fortran": lambda folder: mapped(np.asfortranarray(values()), folder),
    "view of mapped": lambda folder: np.asarray(mapped(values(), folder))[2:, 1:],
    "Dask": lambda folder: ELSEWHERE["Dask"](values(), folder),
    "Dask CSR": lambda folder: ELSEWHERE["Dask CSR"](values(), folder),
    "Zarr": lambda folder: ELSEWHERE["Zarr"](values(), folder),
    "backed CSR": lambda folder: ELSEWHERE["backed CSR"](values(), folder),
}

VIEWS = ["raw", "shifted", "scaled samples", "everything"]
# Elsewhere it takes time to begin: all places are in test_elsewhere.
CASES = [
    (form, view)
    for form in FORMS
    for view in (["everything"] if form in ELSEWHERE else VIEWS)
]


# Blocks of five rows or so: nothing is done in one piece.
FEW_BYTES = 8 * N_FEATURES * 5


def as_dense(raw):
    return in_memory(raw).astype(np.float64)


class Case:
    """A matrix, the same numbers written out, and a fair tolerance."""

    def __init__(self, raw, view):
        random = np.random.default_rng(1)
        explicit = as_dense(raw)
        raw = as_row_source(raw) if is_out_of_core(raw) else raw
        n_samples, n_features = explicit.shape
        factors = random.uniform(0.5, 2, n_samples)
        shift = random.normal(size=n_features)
        scale = random.uniform(0.5, 2, n_features)
        matrix = as_matrix(raw, block_bytes=FEW_BYTES)
        if view in ("scaled samples", "everything"):
            matrix = matrix.scale_samples(factors)
            explicit = np.diag(factors) @ explicit
        if view in ("shifted", "everything"):
            matrix = matrix.affine(shift, scale)
            ones = np.ones((n_samples, 1))
            explicit = (explicit - ones @ shift[np.newaxis]) @ np.diag(scale)
        self.raw, self.matrix, self.explicit = raw, matrix, explicit
        self.shifted = view in ("shifted", "everything")
        self.tol = 2e-6 if raw.dtype == np.float32 else 1e-12

    def assert_equal(self, found, expected):
        assert found.dtype == np.float64
        size = max(np.abs(expected).max(initial=0.0), 1.0)
        np.testing.assert_allclose(found, expected, rtol=0, atol=self.tol * size)


@pytest.fixture(params=CASES, ids="-".join)
def case(request, tmp_path, monkeypatch):
    form, view = request.param
    monkeypatch.setattr("ufselect.matrix.base.BLOCK_BYTES", FEW_BYTES)
    with one_thread():
        yield Case(FORMS[form](tmp_path), view)


def factor(n_rows, n_columns=3):
    return np.random.default_rng(2).normal(size=(n_rows, n_columns))


def test_products_are_those_of_the_explicit_matrix(case):
    X, explicit = case.matrix, case.explicit
    right, left = factor(case.raw.shape[1]), factor(case.raw.shape[0])
    weights = np.random.default_rng(3).uniform(0, 2, case.raw.shape[1])
    weights[3] = 0.0

    case.assert_equal(X.dot(right), explicit @ right)
    case.assert_equal(X.transpose_dot(left), explicit.T @ left)
    case.assert_equal(X.feature_gram(), explicit.T @ explicit)
    case.assert_equal(X.sample_gram(), explicit @ explicit.T)
    weighted = explicit @ np.diag(weights) @ explicit.T
    case.assert_equal(X.weighted_gram(weights), weighted)


def test_pieces_are_those_of_the_explicit_matrix(case):
    X, explicit = case.matrix, case.explicit
    for index in (np.array([7, 0, 2]), np.array([], dtype=np.intp), slice(2, 9)):
        case.assert_equal(X.columns(index), explicit[:, index])
        case.assert_equal(X.rows(index), explicit[index])
    turned = X.by_columns()
    case.assert_equal(turned.columns(slice(2, 9)), explicit[:, 2:9])
    case.assert_equal(turned.columns(slice(None)), explicit)
    for index in (np.array([7, 0, 2]), np.arange(12)[::-1]):
        taken, right = X.take(index), factor(len(index))
        assert taken.shape == (case.raw.shape[0], len(index))
        case.assert_equal(taken.dot(right), explicit[:, index] @ right)
        case.assert_equal(taken.columns(slice(None)), explicit[:, index])
    first, second = np.arange(12)[::-1], np.array([5, 1])
    again = X.take(first).take(second)
    case.assert_equal(again.columns(slice(None)), explicit[:, first[second]])


def test_statistics_are_those_of_the_explicit_matrix(case):
    summary, explicit = case.matrix.summary(), case.explicit
    middle = len(explicit) // 2
    repetition = [
        (np.count_nonzero(column == np.sort(column)[middle]) - 1) / (len(column) - 1)
        for column in explicit.T
    ]

    assert {part.dtype for part in summary} == {np.dtype(np.float64)}
    case.assert_equal(summary.minimum, explicit.min(axis=0))
    case.assert_equal(summary.maximum, explicit.max(axis=0))
    case.assert_equal(summary.mean, explicit.mean(axis=0))
    case.assert_equal(summary.deviation, explicit.std(axis=0))
    np.testing.assert_allclose(case.matrix.repetition(), repetition)
    case.assert_equal(case.matrix.row_norms(), np.linalg.norm(explicit, axis=1))


def parts_of(raw):
    if sp.issparse(raw):
        return [raw.data, raw.indices, raw.indptr]
    return [in_memory(raw)]


def test_raw_data_is_left_alone(case):
    raw = case.raw
    kept = [np.array(part) for part in parts_of(raw)]

    matrix = case.matrix
    matrix.dot(factor(raw.shape[1]))
    matrix.transpose_dot(factor(raw.shape[0]))
    matrix.feature_gram()
    matrix.weighted_gram(np.ones(raw.shape[1]))
    matrix.columns(np.array([1, 2]))
    matrix.rows(slice(0, 3))
    matrix.take(np.array([1, 2]))
    matrix.summary()
    matrix.repetition()
    matrix.row_norms()

    for piece in (matrix.columns(slice(None)), matrix.rows(slice(None))):
        piece += 1.0  # a copy
    for before, now in zip(kept, parts_of(raw), strict=True):
        np.testing.assert_array_equal(before, now)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_that_are_picked_are_copies_in_any_order_of_memory(order, dtype):
    raw = np.asarray(values(), dtype, order=order)
    index = np.array([2, 0, 1, 2])

    piece = DenseMatrix(raw).columns(index)

    np.testing.assert_array_equal(piece, raw[:, index])
    assert piece.dtype == np.float64
    assert not np.may_share_memory(piece, raw)


@pytest.mark.parametrize("container", [sp.csr_array, sp.csc_array])
def test_scaling_samples_keeps_zeros_implicit_and_the_first_matrix(container):
    raw = container(values())
    matrix = as_matrix(raw)
    scaled = matrix.scale_samples(np.arange(N_SAMPLES) + 1.0)

    assert scaled.raw.format == raw.format
    assert scaled.multiplications == matrix.multiplications == raw.nnz
    assert as_matrix(values()).multiplications == N_SAMPLES * N_FEATURES
    np.testing.assert_array_equal(matrix.rows(slice(None)), values())


def test_what_is_in_a_file_is_read_by_blocks_and_what_is_sparse_stays_so(tmp_path):
    on_disk = mapped(values(), tmp_path)
    sparse = as_matrix(sp.csr_array(values()))

    for raw, kind in [
        (values(), DenseMatrix),
        (values()[2:, ::2], DenseMatrix),
        (np.array(on_disk), DenseMatrix),
        (sp.csr_array(values()), SparseMatrix),
        (sp.csc_array(values()), SparseMatrix),
        (sp.csr_matrix(values()), SparseMatrix),
        (on_disk, RowBlockMatrix),
        (np.asarray(on_disk), RowBlockMatrix),
        (on_disk[3:], RowBlockMatrix),
        (np.asarray(on_disk)[:, 2:][::2], RowBlockMatrix),
    ]:
        assert type(as_matrix(raw)) is kind
    # Taken columns are dense only where they are no larger.
    assert isinstance(sparse.take(np.array([1])), DenseMatrix)
    assert isinstance(sparse.take(np.arange(N_FEATURES)), SparseMatrix)


class TestSparseStaysSparse:
    @pytest.mark.parametrize("container", [sp.csr_array, sp.csc_array])
    def test_the_whole_is_never_made_dense(self, container, monkeypatch):
        matrix = as_matrix(container(values())).affine(
            np.ones(N_FEATURES), np.full(N_FEATURES, 2.0)
        )
        whole = {(N_SAMPLES, N_FEATURES), (N_FEATURES, N_SAMPLES)}
        for kind in (sp.csr_array, sp.csc_array):
            original = kind.toarray

            def guarded(self, *args, original=original, **kwargs):
                assert self.shape not in whole
                return original(self, *args, **kwargs)

            monkeypatch.setattr(kind, "toarray", guarded)

        matrix.dot(factor(N_FEATURES))
        matrix.transpose_dot(factor(N_SAMPLES))
        matrix.feature_gram()
        matrix.sample_gram()
        matrix.summary()
        matrix.repetition()
        matrix.row_norms()
        matrix.scale_samples(np.ones(N_SAMPLES))
        matrix.take(np.arange(N_FEATURES))

        with pytest.raises(AssertionError):
            matrix.raw.toarray()

    @pytest.mark.parametrize("container", [sp.csr_array, sp.csc_array])
    def test_memory_is_that_of_the_stored_values(self, container):
        n_samples, n_features = 20_000, 5_000
        random = np.random.default_rng(0)
        rows = random.integers(n_samples, size=100_000)
        columns = random.integers(n_features, size=100_000)
        values = random.standard_normal(100_000)
        raw = container(
            sp.coo_array((values, (rows, columns)), (n_samples, n_features))
        )
        matrix = as_matrix(raw).affine(np.ones(n_features), np.full(n_features, 2.0))
        right, left = factor(n_features), factor(n_samples)

        tracemalloc.start()
        try:
            matrix.dot(right)
            matrix.transpose_dot(left)
            matrix.summary()
            matrix.repetition()
            matrix.row_norms()
            matrix.scale_samples(np.ones(n_samples))
            matrix.take(np.arange(1000))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

        assert peak < 0.02 * 8 * n_samples * n_features


def test_a_mapped_matrix_is_read_in_blocks(tmp_path):
    raw = mapped(np.ones((200_000, 20)), tmp_path)
    matrix = as_matrix(raw)

    tracemalloc.start()
    try:
        matrix.dot(factor(20, 1))
        matrix.transpose_dot(factor(200_000, 1))
        matrix.feature_gram()
        matrix.summary()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 0.8 * raw.nbytes


CONTAINERS = {"dense": np.asarray, "CSR": sp.csr_array, "CSC": sp.csc_array}


@pytest.fixture(params=CONTAINERS)
def container(request):
    return CONTAINERS[request.param]


def test_summaries_of_values_of_any_size(container):
    X = values()
    for size in (1e200, 1e-200, 1e150, 1e-150, 1.0):
        summary = as_matrix(container(size * X)).summary()
        np.testing.assert_allclose(summary.mean, size * X.mean(axis=0), rtol=1e-10)
        np.testing.assert_allclose(summary.deviation, size * X.std(axis=0), rtol=1e-10)
        assert np.flatnonzero(summary.constant).tolist() == [5]
    for size in (1e30, 1e-30):
        single = (size * X).astype(np.float32)
        deviation = as_matrix(container(single)).summary().deviation
        np.testing.assert_allclose(
            deviation, single.astype(float).std(axis=0), rtol=1e-4
        )
    offset = np.random.default_rng(0).normal(size=(500, 3))
    deviation = as_matrix(container(offset + 1e8)).summary().deviation
    np.testing.assert_allclose(deviation, offset.std(axis=0), rtol=1e-6)


def test_constant_columns_are_found_and_small_spreads_are_none(container):
    X = np.random.default_rng(0).normal(size=(1001, 3))
    for value in (0.0, 0.1, -0.1, 1 / 3, 1e200, 1e-200):
        X[:, 1] = value
        constant = as_matrix(container(X)).summary().constant
        assert constant.tolist() == [False, True, False]
    rounding = X[:100].copy()
    rounding[:, 1] = np.where(np.arange(100) % 2, 1.0, np.nextafter(1.0, 2.0))
    constant = as_matrix(container(rounding)).summary().constant
    assert constant.tolist() == [False, True, False]
    X[:, 1] = 0.1
    single = as_matrix(container(X.astype(np.float32)))
    view = as_matrix(container(X)).affine(
        np.array([0.1, 0.3, 0.7]), np.array([3.0, 7.0, 0.1])
    )
    for matrix in (single, view):
        assert matrix.summary().constant.tolist() == [False, True, False]
    X[:, 1] = 1.0 + 1e-10 * X[:, 0]
    assert not as_matrix(container(X)).summary().constant.any()
    one_sample = as_matrix(container(np.array([[1.0, 0.0, -2.0]])))
    assert one_sample.summary().constant.all()


def test_repetition_is_the_same_for_any_number_of_zeros(container):
    for n_samples, n_zeros in np.ndindex(2, 12):
        random = np.random.default_rng(n_zeros)
        X = random.integers(-2, 3, size=(10 + n_samples, 30)).astype(float)
        X[X == 0] = 3.0
        X[:n_zeros] = 0.0
        found, expected = (as_matrix(each).repetition() for each in (container(X), X))
        np.testing.assert_allclose(found, expected)
    distinct = np.arange(1.0, 21.0).reshape(10, 2)
    constant = np.column_stack([np.zeros(9), np.full(9, 0.1)])
    assert as_matrix(container(distinct)).repetition().tolist() == [0.0, 0.0]
    assert as_matrix(container(constant)).repetition().tolist() == [1.0, 1.0]


def test_points_of_sparse_and_dense_samples_have_the_same_distances():
    X = np.random.RandomState(0).standard_normal((12, 5))
    scale, factors = np.arange(1.0, 6.0), np.linspace(0.5, 2, 12)
    dense, sparse = (
        as_matrix(convert(X)).scale_samples(factors).affine(np.ones(5), scale).points()
        for convert in (np.asarray, sp.csr_array)
    )

    assert sp.issparse(sparse)
    np.testing.assert_allclose(
        dense - dense[0], sparse.toarray() - sparse.toarray()[0], atol=1e-12
    )


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_product_lies_as_the_thin_factor_does(order):
    random = np.random.default_rng(0)
    wide, thin = random.normal(size=(7, 5)), random.normal(size=(5, 3))
    product = product_with(wide, np.asarray(thin, order=order))

    np.testing.assert_allclose(product, wide @ thin)
    assert product.flags["C_CONTIGUOUS" if order == "C" else "F_CONTIGUOUS"]
