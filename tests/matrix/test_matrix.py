"""One meaning of a matrix, however its numbers are kept."""

from copy import copy

import numpy as np
import pytest
import scipy.sparse as sp
from elsewhere import ELSEWHERE, in_memory, one_thread
from memory import traced_memory

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
    "mapped": lambda folder: mapped(values(), folder),
    "mapped float32": lambda folder: mapped(values(np.float32), folder),
    "mapped Fortran": lambda folder: mapped(np.asfortranarray(values()), folder),
    "view of mapped": lambda folder: np.asarray(mapped(values(), folder))[2:, 1:],
}
for container in (sp.csr_array, sp.csc_array, sp.csr_matrix, sp.csc_matrix):
    for change in (with_explicit_zeros, with_unsorted_indices, with_duplicates, copy):
        for dtype in (np.float32, np.float64):
            FORMS[f"{container.__name__} {change.__name__} {dtype.__name__}"] = (
                lambda folder, kind=container, change=change, dtype=dtype: change(
                    kind(values(dtype))
                )
            )

VIEWS = ["raw", "shifted", "scaled samples", "everything", "unit rows"]
# Out of core it takes time to begin.
CASES = [
    *((form, view) for form in FORMS for view in VIEWS),
    *((place, view) for place in ELSEWHERE for view in ("raw", *VIEWS[-2:])),
]


# Blocks of five rows or so: nothing is done in one piece.
FEW_BYTES = 8 * N_FEATURES * 5


class Case:
    """A matrix, the same numbers written out, and a fair tolerance."""

    def __init__(self, raw, view):
        random = np.random.default_rng(1)
        X = in_memory(raw).astype(np.float64)
        raw = as_row_source(raw) if is_out_of_core(raw) else raw
        n_samples, n_features = X.shape
        factors = random.uniform(0.5, 2, (n_samples, 1))
        shift = random.normal(size=n_features)
        scale = random.uniform(0.5, 2, n_features)
        matrix = as_matrix(raw, block_bytes=FEW_BYTES)
        if view in ("scaled samples", "everything"):
            matrix, X = matrix.scale_samples(factors.ravel()), factors * X
        if view == "unit rows":
            lengths = np.linalg.norm(X, axis=1, keepdims=True)
            matrix, X = matrix.with_unit_rows(3.0), X / np.where(lengths, lengths, 1.0)
        if view in ("shifted", "everything", "unit rows"):
            matrix, X = matrix.affine(shift, scale), (X - shift) * scale
        self.raw, self.matrix, self.explicit = raw, matrix, X
        self.tol = 2e-6 if raw.dtype == np.float32 else 1e-12


@pytest.fixture(params=CASES, ids="-".join)
def case(request, tmp_path, monkeypatch):
    form, view = request.param
    monkeypatch.setattr("ufselect.matrix.base.BLOCK_BYTES", FEW_BYTES)
    with one_thread():
        if form in FORMS:
            yield Case(FORMS[form](tmp_path), view)
        else:
            yield Case(ELSEWHERE[form](values(), tmp_path), view)


def factor(n_rows, n_columns=3):
    return np.random.default_rng(2).normal(size=(n_rows, n_columns))


SOME_ROWS, OTHERS = np.array([0, 4, 5, 17]), np.array([11, 2, 3])
INDICES = [SOME_ROWS[:3], OTHERS, OTHERS[:0], slice(2, 9), slice(None)]


def doubled(block, rows, right):
    """Return two arrays beside the samples, and two sums."""
    product = block.dot(right)
    product += rows[0]
    return (product, 2 * rows[0]), (block.transpose_dot(rows[0]), product.sum(axis=0))


def halved(block, rows):
    return (rows[1] / 2,), ()


def answers(matrix, right, left, weights):
    """Ask a matrix everything that solvers ask."""
    beside, sums = matrix.over_rows(doubled, matrix.aligned(left), right)
    gathered = matrix.gather(beside).copy()
    last, nothing = matrix.over_rows(halved, beside)
    summary, taken = matrix.summary(), matrix.take(OTHERS)
    again = matrix.take(np.arange(12)[::-1]).take(np.array([5, 1]))
    return {
        "dot": matrix.dot(right),
        "transpose_dot": matrix.transpose_dot(left),
        "normal_dot": matrix.normal_dot(right),
        "feature_gram": matrix.feature_gram(),
        "sample_gram": matrix.sample_gram(),
        "weighted_gram": matrix.weighted_gram(weights),
        **{f"rows {index}": matrix.rows(index) for index in INDICES},
        **{f"columns {index}": matrix.columns(index) for index in INDICES},
        "by_columns": matrix.by_columns().columns(slice(None)),
        "part by_columns": matrix.by_columns().columns(slice(2, 9)),
        "take": taken.columns(slice(None)),
        "dot of take": taken.dot(right[:3]),
        "gram of take": taken.feature_gram(),
        "take of take": again.columns(slice(None)),
        "rows of take of take": again.rows(slice(None)),
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
        "pick": matrix.pick(matrix.aligned(left), SOME_ROWS),
        "no sums": np.array(nothing),
    }


def answers_of_numpy(X, right, left, weights):
    product, again = X @ right + left, X[:, [6, 10]]
    middle = [np.sort(column)[len(column) // 2] for column in X.T]
    return {
        "dot": X @ right,
        "transpose_dot": X.T @ left,
        "normal_dot": X.T @ (X @ right),
        "feature_gram": X.T @ X,
        "sample_gram": X @ X.T,
        "weighted_gram": X @ np.diag(weights) @ X.T,
        **{f"rows {index}": X[index] for index in INDICES},
        **{f"columns {index}": X[:, index] for index in INDICES},
        "by_columns": X,
        "part by_columns": X[:, 2:9],
        "take": X[:, OTHERS],
        "dot of take": X[:, OTHERS] @ right[:3],
        "gram of take": X[:, OTHERS].T @ X[:, OTHERS],
        "take of take": again,
        "rows of take of take": again,
        "minimum": X.min(axis=0),
        "maximum": X.max(axis=0),
        "mean": X.mean(axis=0),
        "deviation": X.std(axis=0),
        "constant": np.ptp(X, axis=0) < 1e-9,
        "repetition": (np.count_nonzero(middle == X, axis=0) - 1) / (len(X) - 1),
        "row_norms": np.linalg.norm(X, axis=1),
        "some_rows": np.arange(len(X)),
        "first sum": X.T @ left,
        "second sum": product.sum(axis=0),
        "gather": product,
        "gather again": left,
        "as_array": left,
        "pick": left[SOME_ROWS],
        "no sums": np.array(()),
    }


def parts_of(raw):
    if sp.issparse(raw):
        return [raw.data, raw.indices, raw.indptr]
    return [in_memory(raw)]


def test_every_answer_is_that_of_numpy_and_raw_data_is_left_alone(case):
    n_samples, n_features = case.explicit.shape
    weights = np.random.default_rng(3).uniform(0, 2, n_features)
    weights[3] = 0.0
    given = factor(n_features), factor(n_samples), weights
    kept = [np.array(part) for part in parts_of(case.raw)]

    found = answers(case.matrix, *given)
    expected = answers_of_numpy(case.explicit, *given)

    assert found.keys() == expected.keys()
    for question, answer in expected.items():
        assert found[question].dtype == np.float64, question
        atol = case.tol * max(np.abs(answer).max(initial=0.0), 1.0)
        np.testing.assert_allclose(
            found[question], answer, rtol=0, atol=atol, err_msg=question
        )
    for piece in (case.matrix.columns(slice(None)), case.matrix.rows(slice(None))):
        piece += 1.0  # a copy
    for before, now in zip(kept, parts_of(case.raw), strict=True):
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

        with traced_memory() as memory:
            matrix.dot(right)
            matrix.transpose_dot(left)
            matrix.summary()
            matrix.repetition()
            matrix.row_norms()
            matrix.scale_samples(np.ones(n_samples))
            matrix.take(np.arange(1000))

        assert memory.peak < 0.02 * 8 * n_samples * n_features


def test_a_mapped_matrix_is_read_in_blocks(tmp_path):
    raw = mapped(np.ones((200_000, 20)), tmp_path)
    matrix = as_matrix(raw)

    with traced_memory() as memory:
        matrix.dot(factor(20, 1))
        matrix.transpose_dot(factor(200_000, 1))
        matrix.feature_gram()
        matrix.summary()

    assert memory.peak < 0.8 * raw.nbytes


CONTAINERS = {"dense": np.asarray, "CSR": sp.csr_array, "CSC": sp.csc_array}


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
def test_a_permuted_copy_has_the_values_and_statistics_of_each_column(container):
    X = np.random.default_rng(0).poisson(1.0, size=(40, 6)).astype(float)
    X[:, 2] = 3.0
    matrix = as_matrix(container(X))
    permuted = matrix.permuted(np.random.default_rng(1))
    values = permuted.columns(slice(None))

    np.testing.assert_array_equal(np.sort(values, axis=0), np.sort(X, axis=0))
    assert (values != X).any(axis=0).tolist() == [place != 2 for place in range(6)]
    fresh = as_matrix(container(values)).summary()
    np.testing.assert_allclose(permuted.summary(), fresh, atol=1e-14)
    # Columns that are taken keep what is known of them.
    np.testing.assert_array_equal(
        matrix.take(np.array([4, 1])).summary(), matrix.summary().take([4, 1])
    )


def test_all_rows_in_order_are_no_copy():
    matrix = as_matrix(np.eye(4))

    assert matrix.take_rows(np.arange(4)) is matrix
    assert matrix.take_rows(np.arange(4)[::-1]).raw[0].tolist() == [0, 0, 0, 1]


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
