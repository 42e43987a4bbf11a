"""Criteria of sets of columns: naive transcriptions and independent libraries."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import Ridge

from ufselect.evaluation import neighbourhood_agreement
from ufselect.evaluation.criteria import CRITERIA, RIDGE
from ufselect.matrix import SparseMatrix

SETS = [[0, 1], [2, 5, 7], [0, 1, 4, 6, 8, 9]]
CONTINUOUS = ["structure", "reconstruction"]


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


def naive_distinctness(table, columns):
    correlations = np.corrcoef(table[:, columns], rowvar=False)
    pairs = np.triu_indices(len(columns), k=1)
    return 1 - np.mean(np.abs(correlations[pairs]))


NAIVE = {
    "structure": naive_structure,
    "reconstruction": naive_reconstruction,
    "neighbours": neighbourhood_agreement,
    "distinctness": naive_distinctness,
}


@pytest.mark.parametrize("shape", [(14, 10), (30, 10), (14, 60)])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("name", CRITERIA)
def test_a_criterion_equals_its_naive_version(name, convert, shape):
    table = normal(*shape)
    if name == "neighbours":
        # Which of two equally near neighbours counts is not said: let none be.
        table[:, 9] += np.linspace(0, 1e-3, len(table))
    judge = CRITERIA[name](convert(table))

    for columns in SETS:
        columns = np.append(columns, 9) if name == "neighbours" else columns
        columns = np.unique(columns)
        assert judge(columns) == pytest.approx(NAIVE[name](table, columns))


@pytest.mark.parametrize("count", [13, 14, 40])
def test_a_set_of_more_columns_than_samples_is_judged_alike(count):
    table, columns = normal(14, 60), np.arange(count)
    table[:, 3] = table[:, 5]
    found = CRITERIA["reconstruction"](table)(columns)

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


def test_structure_does_not_depend_on_the_unit_of_any_column():
    table, columns = normal(30), np.array([0, 3, 4])
    units = np.logspace(-6, 6, 10) * np.tile([1, -1], 5)

    judged = CRITERIA["structure"](table * units)(columns)

    assert judged == pytest.approx(CRITERIA["structure"](table)(columns))


def test_copies_agree_and_independent_columns_do_not():
    random = np.random.RandomState(0)
    column = random.standard_normal((200, 1))
    table = np.hstack([column, -3 * column, random.standard_normal((200, 30))])
    judge = CRITERIA["structure"](table)

    assert judge(np.array([0, 1])) == pytest.approx(1.0, abs=0.02)
    assert abs(judge(np.arange(2, 32))) < 0.002


def test_structure_sees_dependence_without_correlation():
    angles = np.linspace(0, 2 * np.pi, 100, endpoint=False)
    noise = np.random.RandomState(0).standard_normal((100, 2))
    table = np.column_stack([np.cos(angles), np.cos(2 * angles), noise])
    judge = CRITERIA["structure"](table)

    assert np.corrcoef(table[:, :2], rowvar=False)[0, 1] == pytest.approx(0.0)
    assert judge(np.array([0, 1])) > 0.1 > judge(np.array([2, 3]))


@pytest.mark.parametrize("name", CONTINUOUS)
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_constant_columns_add_nothing(name, convert):
    table = normal(20, 6)
    padded = np.column_stack([table, np.full(20, 0.1), np.zeros(20)])
    judge = CRITERIA[name](convert(padded))
    # Pairs with a constant column count, as pairs that do not agree.
    share = 1 / 6 if name == "structure" else 1.0

    assert judge(np.array([1, 2, 6, 7])) == pytest.approx(
        share * CRITERIA[name](table)(np.array([1, 2]))
    )
    assert judge(np.array([6, 7])) == pytest.approx(0.0)


def test_columns_that_single_out_a_sample_have_no_structure():
    table = np.column_stack([np.eye(12), normal(12, 2)])
    judge = CRITERIA["structure"](table)

    assert judge(np.arange(12)) == pytest.approx(0.0, abs=1e-12)
    assert judge(np.array([0, 12])) == pytest.approx(0.0, abs=1e-12)


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

    share = CRITERIA["reconstruction"](X)(np.array([2, 3]))

    assert share == pytest.approx(0.0, abs=1e-9)
