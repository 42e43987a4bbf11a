"""Variance left open by the selected columns, against scikit-learn's regression."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold

from ufselect.evaluation import (
    held_out_reconstruction_error,
    preservation,
    reconstruction_error,
)


def correlated(n_samples=40, n_features=12, seed=0):
    random = np.random.RandomState(seed)
    factors = random.standard_normal((n_samples, 3))
    table = factors @ random.standard_normal((3, n_features))
    table += 0.3 * random.standard_normal(table.shape)
    return table * random.uniform(0.5, 3.0, n_features) + random.uniform(0, 5)


def share_left(table, selected):
    columns = table[:, selected]
    left = table - LinearRegression().fit(columns, table).predict(columns)
    return np.sum(left**2) / np.sum((table - table.mean(axis=0)) ** 2)


def share_left_out(table, selected, n_splits, seed):
    left = total = 0.0
    for train, test in KFold(n_splits, shuffle=True, random_state=seed).split(table):
        model = LinearRegression().fit(table[train][:, selected], table[train])
        left += np.sum((table[test] - model.predict(table[test][:, selected])) ** 2)
        total += np.sum((table[test] - table[train].mean(axis=0)) ** 2)
    return left / total


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("shape", [(40, 12), (10, 30)])
@pytest.mark.parametrize("values_at_once", [12, 1_000_000])
def test_errors_are_what_a_regression_leaves(
    convert, shape, values_at_once, monkeypatch
):
    monkeypatch.setattr(preservation, "VALUES_AT_ONCE", values_at_once)
    table = correlated(*shape)
    equal = (table - table.mean(axis=0)) / table.std(axis=0)
    given, before = convert(table), table.copy()
    found = reconstruction_error(given, [1, 4, 5])
    scaled = reconstruction_error(given, [1, 4], standardize=True)
    held_out = held_out_reconstruction_error(given, [1, 4, 5], n_splits=4, seed=3)

    assert found == pytest.approx(share_left(table, [1, 4, 5]))
    assert scaled == pytest.approx(share_left(equal, [1, 4]))
    assert held_out == pytest.approx(share_left_out(table, [1, 4, 5], 4, 3))
    np.testing.assert_array_equal(table, before)


@settings(deadline=None)
@given(st.integers(0, 100), st.integers(1, 11))
def test_more_columns_never_leave_more(seed, count):
    table = correlated(8, 12, seed)
    order = np.random.RandomState(seed).permutation(12)
    fewer = reconstruction_error(table, order[:count])
    more = reconstruction_error(table, order[: count + 1])

    assert 0.0 <= more <= fewer + 1e-12
    assert fewer <= 1.0


def test_as_many_columns_as_samples_leave_nothing_but_in_new_samples():
    table = np.random.RandomState(0).standard_normal((10, 40))
    selected = np.arange(15)

    assert reconstruction_error(table, selected) == pytest.approx(0.0, abs=1e-12)
    assert held_out_reconstruction_error(table, selected) > 0.5


@settings(deadline=None)
@given(st.integers(0, 100), st.floats(-6, 4))
def test_units_of_the_selected_do_not_matter_to_the_others(seed, exponent):
    # So small that their own variance hardly counts, whatever the exponent.
    table = correlated(15, 5, seed)
    others = np.column_stack([table[:, 2:], table[:, :2] * 10.0**-9])
    rescaled = others * [1.0, 1.0, 1.0, 10.0**exponent, 1.0]

    assert reconstruction_error(rescaled, [3, 4]) == pytest.approx(
        reconstruction_error(others, [3, 4]), rel=1e-6
    )


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_columns_constant_but_for_one_sample_explain_nothing(convert):
    table = np.column_stack([correlated(), np.full(40, 0.1), np.full(40, 1e9)])
    constant, rare = convert(table), table.copy()
    rare[7, 12] = 0.2

    assert reconstruction_error(constant, [12, 13]) == 1.0
    assert held_out_reconstruction_error(constant, [12, 13]) == pytest.approx(1.0)
    assert reconstruction_error(constant, [1, 4, 12, 13]) == pytest.approx(
        reconstruction_error(constant, [1, 4])
    )
    for n_splits in (3, 5, 7):
        found = held_out_reconstruction_error(convert(rare), [12], n_splits=n_splits)
        assert found == pytest.approx(1.0, abs=0.05)


def test_units_offsets_single_precision_and_dependent_columns_lose_no_digits():
    table = correlated()
    tiny, dependent = table.copy(), table.copy()
    tiny[:, 0] *= 1e-13
    dependent[:, 2] = table[:, 0] + table[:, 1]
    both = reconstruction_error(dependent, [0, 1])
    columns, others = table[:, [0, 3]], table[:, 1:]
    left = others - LinearRegression().fit(columns, others).predict(columns)
    expected = np.sum(left**2) / np.sum((others - others.mean(axis=0)) ** 2)
    found = [reconstruction_error(table + far, [1, 4]) for far in (0, 1e8)]
    single = reconstruction_error(table.astype(np.float32), [1, 4])

    assert reconstruction_error(tiny, [0, 3]) == pytest.approx(expected)
    assert reconstruction_error(dependent, [0, 1, 2]) == pytest.approx(both, rel=1e-9)
    assert found[1] == pytest.approx(found[0])
    assert single == pytest.approx(found[0], rel=1e-4)
    # Squares that vanish.
    table = np.random.RandomState(0).standard_normal((12, 3)) * [1.0, 1.0, 1e-200]
    assert np.isfinite(reconstruction_error(table, [2]))
    assert np.isfinite(held_out_reconstruction_error(table, [2]))


def test_memory_mapped_tables_and_frames_are_tables_too(tmp_path):
    table = correlated()
    np.save(tmp_path / "table.npy", table)
    mapped = np.load(tmp_path / "table.npy", mmap_mode="r")

    for error in (reconstruction_error, held_out_reconstruction_error):
        expected = pytest.approx(error(table, [1, 4]))
        for other in (mapped, pd.DataFrame(table), table.tolist()):
            assert error(other, [1, 4]) == expected


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="All 3 columns of the table are constant"):
        reconstruction_error(np.ones((5, 3)), [0])
    with pytest.raises(ValueError, match="selection is empty"):
        held_out_reconstruction_error(correlated(), np.zeros(12, dtype=bool))
    with pytest.raises(ValueError, match="n_splits=5 but the table has 3 samples"):
        held_out_reconstruction_error(np.eye(3), [0])
