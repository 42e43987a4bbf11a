"""Columns that represent others: against naive versions with all correlations."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from memory import traced_memory

from ufselect.evaluation import criteria, representatives, skip_near_duplicates
from ufselect.matrix import DataMatrix

FORMS = [np.asarray, sp.csr_array, sp.csc_matrix]


def families(n_samples=40, n_families=5, size=6, seed=0):
    """Return columns in families that share a part, with many exact zeros."""
    random = np.random.RandomState(seed)
    shared = np.repeat(random.standard_normal((n_samples, n_families)), size, axis=1)
    noise = random.uniform(0.1, 1.5, shared.shape[1])
    signs = random.choice([-1.0, 1.0], shared.shape[1])
    table = signs * shared + noise * random.standard_normal(shared.shape)
    return np.where(random.uniform(size=table.shape) < 0.1, 0.0, table)


def naive_stand_ins(table, selected, threshold):
    correlations = np.corrcoef(table, rowvar=False)
    sizes = np.abs(correlations)
    others = [j for j in range(table.shape[1]) if j not in selected]
    owner = {j: max(selected, key=lambda s: sizes[s, j]) for j in others}
    for s in selected:
        own = [j for j in others if owner[j] == s and sizes[s, j] >= threshold]
        own.sort(key=lambda j: -sizes[s, j])
        nearest = max(others, key=lambda j: sizes[s, j])
        yield s, own, correlations[s, own], nearest, correlations[s, nearest]


def naive_walk(table, order, n_features, most):
    sizes = np.abs(np.corrcoef(table, rowvar=False))
    taken = []
    for column in order:
        if all(sizes[column, other] <= most for other in taken):
            taken.append(column)
    return taken[:n_features]


@pytest.mark.parametrize("values_at_once", [1, 100, 1_000_000])
@pytest.mark.parametrize("convert", FORMS)
@pytest.mark.parametrize("threshold", [0.0, 0.5, 0.8])
def test_stand_ins_and_walks_equal_the_naive_ones(
    convert, threshold, values_at_once, monkeypatch
):
    monkeypatch.setattr(criteria, "VALUES_AT_ONCE", values_at_once)
    table, selected = families(), [3, 4, 14, 29]
    found = representatives(convert(table), selected, threshold=threshold)

    for one, other in zip(
        found, naive_stand_ins(table, selected, threshold), strict=True
    ):
        column, own, correlations, nearest, correlation = other
        assert (one.column, one.alternative) == (column, nearest)
        assert one.represents.tolist() == own
        assert one.correlations == pytest.approx(correlations)
        assert one.alternative_correlation == pytest.approx(correlation)
    order = np.random.RandomState(1).permutation(30)
    for most in (0.4, 0.6, 0.9, 1.0):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            taken = skip_near_duplicates(convert(table), order, 5, most)
        assert taken.tolist() == naive_walk(table, order, 5, most)


def test_a_selected_column_may_stand_for_none():
    alone = representatives(families(30, 4, 1), [0], threshold=1.0)[0]
    every = representatives(families(20, 3, 1), [0, 1, 2])

    assert len(alone.represents) == 0
    assert alone.alternative in {1, 2, 3}
    assert [(one.alternative, len(one.represents)) for one in every] == [(None, 0)] * 3


def test_copies_up_to_sign_scale_and_shift_are_represented_at_threshold_one():
    column = np.random.RandomState(0).standard_normal((20, 1))
    table = np.hstack([column, -3 * column + 1e3, 1e-6 * column, column**2])
    found = representatives(table, [0], threshold=1.0)[0]

    assert sorted(found.represents.tolist()) == [1, 2]
    assert sorted(found.correlations) == pytest.approx([-1.0, 1.0])
    assert skip_near_duplicates(table, [2, 0, 1], 3, 1.0).tolist() == [2, 0, 1]


@pytest.mark.parametrize("convert", FORMS)
def test_a_constant_column_stands_for_nothing_and_replaces_nothing(convert):
    column = np.arange(6.0)
    table = np.column_stack([np.full(6, 0.1), column, np.zeros(6), column**2])
    constant, varying = representatives(convert(table), [0, 1], threshold=0.0)

    assert (constant.column, constant.alternative) == (0, None)
    assert len(constant.represents) == 0
    assert varying.represents.tolist() == [3]


def test_no_table_of_all_pairs_is_made(monkeypatch):
    def refuse(self):
        raise AssertionError("p x p")

    monkeypatch.setattr(DataMatrix, "feature_gram", refuse)
    table = sp.random(30, 5000, density=0.2, format="csr", random_state=0)
    found = representatives(table, np.arange(0, 5000, 500))

    assert len(found) == 10
    assert len(skip_near_duplicates(table, np.arange(5000), 20, 0.5)) == 20


def test_where_too_few_columns_differ_there_is_a_warning_and_what_remains():
    column = np.arange(6.0)[:, np.newaxis]
    table = np.hstack([column, 2 * column, -column, np.ones((6, 1))])
    with pytest.warns(UserWarning, match="Only 1 of n_features=3 columns have"):
        taken = skip_near_duplicates(table, [1, 3, 0, 2], 3, 0.5)

    assert taken.tolist() == [1]


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (representatives, [[]], "selection is empty"),
        (skip_near_duplicates, [[0, 1], 1, -0.1], "max_correlation=-0.1 is not an"),
        (skip_near_duplicates, [[0, 1], 3, 0.5], "n_features=3 but the order has 2"),
        (skip_near_duplicates, [[1, 1], 1, 0.5], "Column 1 is selected 2 times"),
        (skip_near_duplicates, [[True, False, True], 1, 0.5], "The order is a mask"),
    ],
)
def test_bad_numbers_and_orders_are_refused(function, arguments, message):
    with pytest.raises(ValueError, match=message):
        function(families(10, 3, 1), *arguments)
    with pytest.raises(ValueError, match=r"threshold=1.5 is not an absolute"):
        representatives(families(10, 3, 1), [0], threshold=1.5)


def test_stand_ins_are_found_without_a_copy_of_the_table():
    table = np.random.RandomState(0).standard_normal((12_000, 400))
    with traced_memory() as memory:
        representatives(table, np.arange(5))

    assert memory.peak < 0.9 * table.nbytes
