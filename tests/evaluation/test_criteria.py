"""Criteria of sets of columns: naive transcriptions and independent libraries."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

from ufselect.evaluation import (
    clustering_agreement,
    criteria,
    neighbourhood_agreement,
    redundancy,
)
from ufselect.evaluation.criteria import CRITERIA, RIDGE
from ufselect.matrix import SparseMatrix

SETS = [[0, 1], [2, 5, 7], [0, 1, 4, 6, 8, 9]]
CONTINUOUS = ["kernel alignment", "explained variance"]


def normal(n_samples=14, n_features=10, seed=0):
    random = np.random.RandomState(seed)
    mixing = random.standard_normal((n_features, n_features))
    table = random.standard_normal((n_samples, n_features)) @ mixing
    return np.where(random.uniform(size=table.shape) < 0.2, 0.0, table)


def naive_centred(distances, unbiased):
    """Return distances minus means of rows and columns, as printed in the papers."""
    n = len(distances)
    rows, every = (n - 2, (n - 1) * (n - 2)) if unbiased else (n, n**2)
    result = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i != j or not unbiased:
                means = distances[i].sum() / rows + distances[:, j].sum() / rows
                result[i, j] = distances[i, j] - means + distances.sum() / every
    return result


def naive_distance_correlation(one, other):
    n = len(one)
    tables = [np.abs(x[:, np.newaxis] - x) for x in (one, other)]
    fair = [naive_centred(table, unbiased=True) for table in tables]
    plain = [naive_centred(table, unbiased=False) for table in tables]
    covariance = np.sum(fair[0] * fair[1]) / (n * (n - 3))
    variances = [np.sum(table**2) / n**2 for table in plain]
    return covariance / np.sqrt(variances[0] * variances[1])


def naive_structure(table, columns):
    pairs = [
        naive_distance_correlation(table[:, i], table[:, j])
        for i in columns
        for j in columns
        if i < j
    ]
    return np.mean(pairs)


def naive_reconstruction(table, columns):
    """Leave each sample out, with scikit-learn."""
    chosen = table[:, columns]
    lengths = np.sum((chosen - chosen.mean(axis=0)) ** 2)
    left = total = 0.0
    for out in range(len(table)):
        others = np.arange(len(table)) != out
        model = Ridge(alpha=RIDGE * lengths / len(table), solver="cholesky")
        model.fit(chosen[others], table[others])
        left += np.sum((table[out] - model.predict(chosen[[out]])) ** 2)
        total += np.sum((table[out] - table[others].mean(axis=0)) ** 2)
    return 1 - left / total


def naive_redundancy(columns):
    correlations = np.abs(np.corrcoef(columns, rowvar=False))
    return correlations[np.triu_indices(len(correlations), 1)].mean()


def naive_neighbours(table, selected, k=5):
    def neighbours(points):
        distances = np.linalg.norm(points[:, np.newaxis] - points, axis=2)
        np.fill_diagonal(distances, np.inf)
        return [set(row[:k]) for row in np.argsort(distances, axis=1)]

    pairs = zip(neighbours(table), neighbours(table[:, selected]), strict=True)
    return np.mean([len(a & b) / len(a | b) for a, b in pairs])


NAIVE = {
    "kernel alignment": naive_structure,
    "explained variance": naive_reconstruction,
    "neighbourhood preservation": neighbourhood_agreement,
    "low redundancy": lambda table, columns: 1 - naive_redundancy(table[:, columns]),
}


@pytest.mark.parametrize("shape", [(14, 10), (30, 10), (14, 60)])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("name", CRITERIA)
def test_a_criterion_equals_its_naive_version(name, convert, shape):
    table = normal(*shape)
    if name == "neighbourhood preservation":
        # Which of two equally near neighbours counts is not said: let none be.
        table[:, 9] += np.linspace(0, 1e-3, len(table))
    judge = CRITERIA[name](convert(table))

    for columns in SETS:
        columns = (
            np.append(columns, 9) if name == "neighbourhood preservation" else columns
        )
        columns = np.unique(columns)
        assert judge(columns) == pytest.approx(NAIVE[name](table, columns))


@pytest.mark.parametrize("count", [13, 14, 40])
def test_a_set_of_more_columns_than_samples_is_judged_alike(count):
    table, columns = normal(14, 60), np.arange(count)
    table[:, 3] = table[:, 5]
    found = CRITERIA["explained variance"](table)(columns)

    assert found == pytest.approx(naive_reconstruction(table, columns))


@pytest.mark.parametrize("name", CRITERIA)
def test_orders_a_common_unit_and_an_offset_do_not_matter(name):
    table, columns = normal(30), np.array([0, 3, 4])
    random = np.random.RandomState(1)
    rows, order = random.permutation(30), random.permutation(10)
    moved = np.flatnonzero(np.isin(order, columns))
    judged = [
        CRITERIA[name](table[rows])(columns),
        CRITERIA[name](table[:, order])(moved),
        *(CRITERIA[name](f * (table + 1e3))(columns) for f in (1e-200, 1.0, 1e150)),
    ]

    assert judged == pytest.approx([CRITERIA[name](table)(columns)] * 5)


def test_structure_is_dependence_of_any_kind_in_any_unit():
    random, angles = np.random.RandomState(0), np.linspace(0, 2 * np.pi, 201)[:-1]
    column, table = random.standard_normal((200, 1)), normal(30)
    circles = np.column_stack([np.cos(angles), np.cos(2 * angles)])
    noise = random.standard_normal((200, 30))
    judge = CRITERIA["kernel alignment"](
        np.hstack([column, -3 * column, circles, noise])
    )
    single_out = CRITERIA["kernel alignment"](
        np.column_stack([np.eye(12), normal(12, 2)])
    )
    units = np.logspace(-6, 6, 10) * np.tile([1, -1], 5)
    in_units, plain = (
        CRITERIA["kernel alignment"](each) for each in (table * units, table)
    )

    assert judge(np.array([0, 1])) == pytest.approx(1.0, abs=0.02)
    assert np.corrcoef(circles, rowvar=False)[0, 1] == pytest.approx(0.0)
    assert judge(np.array([2, 3])) > 0.1
    assert abs(judge(np.arange(4, 34))) < 0.002
    for columns in (np.arange(12), np.array([0, 12])):
        assert single_out(columns) == pytest.approx(0.0, abs=1e-12)
    columns = np.array([0, 3, 4])
    assert in_units(columns) == pytest.approx(plain(columns))


@pytest.mark.parametrize("name", CONTINUOUS)
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_constant_columns_add_nothing(name, convert):
    table = normal(20, 6)
    padded = np.column_stack([table, np.full(20, 0.1), np.zeros(20)])
    judge = CRITERIA[name](convert(padded))
    # Pairs with a constant column count, as pairs that do not agree.
    share = 1 / 6 if name == "kernel alignment" else 1.0

    assert judge(np.array([1, 2, 6, 7])) == pytest.approx(
        share * CRITERIA[name](table)(np.array([1, 2]))
    )
    assert judge(np.array([6, 7])) == pytest.approx(0.0)


@pytest.mark.parametrize("name", CRITERIA)
def test_of_sparse_data_no_more_than_the_set_is_made_dense(name, monkeypatch):
    widths = []
    affine = SparseMatrix._affine

    def recorded(self, piece, rows, columns):
        widths.append(piece.shape[1])
        return affine(self, piece, rows, columns)

    monkeypatch.setattr(SparseMatrix, "_affine", recorded)
    table = sp.random(20, 500, density=0.3, format="csr", random_state=0)
    value = CRITERIA[name](table)(np.array([0, 1, 7]))

    assert np.isfinite(value)
    assert max(widths, default=0) <= 3


def test_columns_whose_squares_vanish_predict_nothing():
    X = np.random.default_rng(0).normal(size=(12, 4))
    X[:, 2:] *= 1e-200

    share = CRITERIA["explained variance"](X)(np.array([2, 3]))

    assert share == pytest.approx(0.0, abs=1e-9)


# Numbers about a selection


def gaussian(n_samples=30, n_features=6, seed=0):
    return np.random.RandomState(seed).standard_normal((n_samples, n_features))


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("shape", [(30, 6), (5, 20)])
def test_redundancy_is_the_mean_absolute_correlation(convert, shape, monkeypatch):
    columns = gaussian(*shape)
    padded = np.column_stack([columns, np.full(shape[0], 0.1), np.zeros(shape[0])])
    expected = pytest.approx(naive_redundancy(columns))

    assert redundancy(convert(columns)) == expected
    assert redundancy(convert(padded)) == expected
    monkeypatch.setattr(criteria, "VALUES_AT_ONCE", 30)
    assert redundancy(convert(columns)) == expected


def test_copies_up_to_sign_scale_and_shift_are_fully_redundant():
    columns = gaussian(20, 1) * [1.0, -3.0, 1e-6] + [0.0, 1e6, 5.0]

    assert redundancy(columns) == pytest.approx(1.0)
    assert redundancy([[1, 1], [1, -1], [-1, 1], [-1, -1]]) == pytest.approx(0.0)
    assert redundancy(gaussian(10, 1)) == 0.0
    assert redundancy(np.ones((10, 3))) == 0.0


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_neighbourhood_agreement_equals_the_naive_one(convert):
    table = gaussian(40, 8)
    found = neighbourhood_agreement(convert(table), [0, 3, 5], n_neighbors=4)

    far = neighbourhood_agreement(convert(table + 1e7), [0, 3, 5], n_neighbors=4)

    assert found == far == pytest.approx(naive_neighbours(table, [0, 3, 5], 4))


@settings(deadline=None)
@given(st.integers(0, 100))
def test_all_columns_keep_all_neighbours_and_all_clusters(seed):
    table = gaussian(12, 3, seed)
    everything = np.ones(3, dtype=bool)

    assert neighbourhood_agreement(table, everything) == 1.0
    assert clustering_agreement(table, everything, 3, seeds=[seed], n_init=1) == (1, 1)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_columns_that_carry_the_clusters_agree_and_noise_does_not(planted, convert):
    X, _, informative = planted(90, 30, distance=5.0)
    noise = np.setdiff1d(np.arange(30), informative)[:10]
    table = convert(X)
    kept = clustering_agreement(table, informative, 3, seeds=[0, 1], n_init=3)
    lost = clustering_agreement(table, noise, 3, seeds=[0, 1], n_init=3)

    assert kept == pytest.approx((1.0, 1.0))
    assert lost.adjusted_rand < 0.2
    assert lost.mutual_information < 0.2


@pytest.mark.parametrize(
    ("selected", "message"),
    [
        ([], "selection is empty"),
        ([0, 6], "Column 6 is selected but the table has 6 columns"),
        ([-1], "Column -1 is selected"),
        ([2, 2], "Column 2 is selected 2 times"),
        ([True, False], "mask has 2 values but the table has 6 columns"),
        ([0.5], "values of type float64"),
        ([[0, 1]], "2 dimension"),
    ],
)
def test_a_bad_selection_is_refused(selected, message):
    with pytest.raises(ValueError, match=message):
        neighbourhood_agreement(gaussian(), selected)


def test_bad_tables_and_numbers_are_refused():
    table = gaussian(10, 3)
    broken = np.where(table == table[4, 1], np.nan, table)

    with pytest.raises(ValueError, match="Input columns contains NaN"):
        redundancy(broken)
    with pytest.raises(ValueError, match="Expected 2D array, got 1D"):
        redundancy(table[0])
    with pytest.raises(ValueError, match="All 2 columns of the table are constant"):
        neighbourhood_agreement(np.ones((9, 2)), [0])
    with pytest.raises(ValueError, match="n_neighbors=10 but the table has 10"):
        neighbourhood_agreement(table, [0], 10)
    with pytest.raises(ValueError, match="n_clusters=11 but the table has 10"):
        clustering_agreement(table, [0], 11)
    with pytest.raises(ValueError, match="seeds is empty"):
        clustering_agreement(table, [0], 2, seeds=[])
    for convert in (np.asarray, sp.csr_array):
        with pytest.raises(ValueError, match=r"of columns is of size 1.5e\+308, where"):
            redundancy(convert([[1.5e308, 1.0], [-1.5e308, 2.0]]))
    with pytest.raises(ValueError, match="infinity"):
        redundancy([[np.inf, 1.0], [-np.inf, 2.0]])
