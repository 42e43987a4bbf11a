"""Numbers about a selection without labels: known values and naive versions."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from ufselect.evaluation import (
    clustering_agreement,
    criteria,
    neighbourhood_agreement,
    redundancy,
)


def normal(n_samples=30, n_features=6, seed=0):
    return np.random.RandomState(seed).standard_normal((n_samples, n_features))


def naive_redundancy(columns):
    correlations = np.abs(np.corrcoef(columns, rowvar=False))
    return correlations[np.triu_indices(len(correlations), 1)].mean()


def naive_agreement(table, selected, k):
    def neighbours(points):
        distances = np.linalg.norm(points[:, np.newaxis] - points, axis=2)
        np.fill_diagonal(distances, np.inf)
        return [set(row[:k]) for row in np.argsort(distances, axis=1)]

    pairs = zip(neighbours(table), neighbours(table[:, selected]), strict=True)
    return np.mean([len(a & b) / len(a | b) for a, b in pairs])


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("shape", [(30, 6), (5, 20)])
def test_redundancy_is_the_mean_absolute_correlation(convert, shape, monkeypatch):
    columns = normal(*shape)
    expected = pytest.approx(naive_redundancy(columns))

    assert redundancy(convert(columns)) == expected
    monkeypatch.setattr(criteria, "PAIRS_AT_ONCE", 30)
    assert redundancy(convert(columns)) == expected


def test_copies_up_to_sign_scale_and_shift_are_fully_redundant():
    columns = normal(20, 1) * [1.0, -3.0, 1e-6] + [0.0, 1e6, 5.0]

    assert redundancy(columns) == pytest.approx(1.0)
    assert redundancy([[1, 1], [1, -1], [-1, 1], [-1, -1]]) == pytest.approx(0.0)
    assert redundancy(normal(10, 1)) == 0.0
    assert redundancy(np.ones((10, 3))) == 0.0


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_constant_columns_do_not_change_redundancy(convert):
    columns = normal(20, 4)
    padded = np.column_stack([columns, np.full(20, 0.1), np.zeros(20)])

    assert redundancy(convert(padded)) == pytest.approx(redundancy(columns))


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_neighbourhood_agreement_equals_the_naive_one(convert):
    table = normal(40, 8)
    found = neighbourhood_agreement(convert(table), [0, 3, 5], n_neighbors=4)

    far = neighbourhood_agreement(convert(table + 1e7), [0, 3, 5], n_neighbors=4)

    assert found == far == pytest.approx(naive_agreement(table, [0, 3, 5], 4))


@settings(deadline=None)
@given(st.integers(0, 100))
def test_all_columns_keep_all_neighbours_and_all_clusters(seed):
    table = normal(12, 3, seed)
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
        neighbourhood_agreement(normal(), selected)


def test_bad_tables_and_numbers_are_refused():
    table = normal(10, 3)
    broken = np.where(table == table[4, 1], np.nan, table)

    with pytest.raises(ValueError, match="Input columns contains NaN"):
        redundancy(broken)
    with pytest.raises(ValueError, match="columns has 1 dimension"):
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
