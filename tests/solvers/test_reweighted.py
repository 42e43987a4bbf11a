"""The reweighted ridge that several methods share."""

import numpy as np
import pytest

from ufselect.matrix import as_matrix
from ufselect.solvers.ridge import (
    ReweightedRidge,
    column_lengths,
    has_vanished,
    inverse_D_of,
    settled,
    smoothed_inverse_D,
)

SHAPE = pytest.mark.parametrize("shape", [(30, 8), (8, 30), (12, 12)])
WIDE = pytest.mark.parametrize("wide", [None, False, True])


def problem(shape, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=shape)
    return X, random.normal(size=(shape[0], 3)), random.uniform(0.01, 5, shape[1])


def explicit(X, target, inverse_D):
    return np.linalg.inv(X.T @ X + np.diag(1 / inverse_D)) @ X.T @ target


@SHAPE
@WIDE
def test_both_sides_give_the_explicit_solution(shape, wide):
    X, target, inverse_D = problem(shape)
    expected = explicit(X, target, inverse_D)

    coef, residual = ReweightedRidge(as_matrix(X), wide=wide).solve(target, inverse_D)

    np.testing.assert_allclose(coef, expected, atol=1e-9)
    np.testing.assert_allclose(residual, target - X @ expected, atol=1e-9)


@SHAPE
@WIDE
def test_the_residual_matrix_gives_the_same(shape, wide):
    X, target, inverse_D = problem(shape)
    expected = explicit(X, target, inverse_D)
    ridge = ReweightedRidge(as_matrix(X), wide=wide)

    leftover = ridge.residual_matrix(inverse_D)
    coef, residual = ridge.solve_with(leftover, target, inverse_D)

    np.testing.assert_allclose(leftover @ target, target - X @ expected, atol=1e-9)
    np.testing.assert_allclose(coef, expected, atol=1e-9)
    np.testing.assert_allclose(residual, target - X @ expected, atol=1e-9)


def test_reweighting_lowers_the_row_sparse_objective():
    X, target, inverse_D = problem((20, 30))
    ridge, values = ReweightedRidge(as_matrix(X)), []

    for _ in range(20):
        coef, residual = ridge.solve(target, inverse_D / 4.0)
        norms = np.linalg.norm(coef, axis=1)
        values.append(np.sum(residual**2) + 4.0 * norms.sum())
        inverse_D = inverse_D_of(coef)

    assert (np.diff(values) <= 1e-12 * values[0]).all()


def test_inverse_weights_are_twice_the_row_norms_and_never_zero():
    coef = np.array([[3.0, 4.0], [0.0, 0.0]])

    for inverse_D in (inverse_D_of(coef), smoothed_inverse_D(coef)):
        assert inverse_D[0] == pytest.approx(10.0)
        assert 0 < inverse_D[1] < 1e-7


def test_lengths_are_those_of_the_columns():
    X = problem((20, 5))[0] + 3.0

    np.testing.assert_allclose(
        column_lengths(as_matrix(X)), np.linalg.norm(X, axis=0), rtol=1e-12
    )


def test_a_prediction_of_rounding_size_has_vanished():
    coef = np.array([[1e-9, 0.0], [0.0, 0.0]])

    assert has_vanished(coef, np.array([1e-4, 1.0]))
    assert not has_vanished(coef, np.array([1.0, 1.0]))


@pytest.mark.parametrize(
    ("history", "expected"),
    [([1.0], False), ([2.0, 1.0], False), ([1.0001, 1.0], True), ([0.0, 0.0], True)],
)
def test_it_has_settled_when_the_last_change_is_small(history, expected):
    assert settled(history, 1e-3) is expected
