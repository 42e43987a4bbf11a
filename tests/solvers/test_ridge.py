"""Ridge regression with one weight per feature, and the projection on the simplex."""

import numpy as np
import pytest
from each_case import each
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from solvers.naive import project_by_enumeration, project_to_simplex

from ufselect.matrix import as_matrix
from ufselect.solvers.ridge import (
    ReweightedRidge,
    column_lengths,
    has_vanished,
    inverse_D_of,
    project_rows_to_simplex,
    ridge_through_features,
    ridge_through_samples,
    settled,
    smoothed_inverse_D,
    solve_identity_plus,
)

SHAPES = [(30, 8), (8, 30), (12, 12)]


def problem(shape, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=shape)
    target = random.normal(size=(shape[0], 3))
    inverse_D = random.uniform(0.01, 10, size=shape[1])
    return X, target, inverse_D


def explicit(X, target, inverse_D):
    return np.linalg.inv(X.T @ X + np.diag(1 / inverse_D)) @ X.T @ target


@pytest.mark.parametrize("shape", SHAPES)
def test_both_sides_equal_the_explicit_inverse(shape):
    X, target, inverse_D = problem(shape)
    gram = X.T @ X
    for left_out in ([], [1, 4]):  # a feature without an inverse weight has no part
        inverse_D[left_out] = 0.0
        rest = np.flatnonzero(inverse_D)
        expected = explicit(X[:, rest], target, inverse_D[rest])
        features = ridge_through_features(gram, X.T @ target, inverse_D)
        samples, residual = ridge_through_samples(as_matrix(X), target, inverse_D)

        for coef in (features, samples):
            assert not coef[left_out].any()
            np.testing.assert_allclose(coef[rest], expected, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(residual, target - X @ samples, atol=1e-12)
        np.testing.assert_array_equal(gram, X.T @ X)


@pytest.mark.parametrize("shape", SHAPES)
def test_reweighted_ridge_gives_the_explicit_solution(shape):
    X, target, inverse_D = problem(shape)
    expected = explicit(X, target, inverse_D)
    for wide in (None, False, True):
        ridge = ReweightedRidge(as_matrix(X), wide=wide)
        leftover = ridge.residual_matrix(inverse_D)
        np.testing.assert_allclose(leftover @ target, target - X @ expected, atol=1e-9)
        for coef, residual in (
            ridge.solve(target, inverse_D),
            ridge.solve_with(leftover, target, inverse_D),
        ):
            np.testing.assert_allclose(coef, expected, atol=1e-9)
            np.testing.assert_allclose(residual, target - X @ expected, atol=1e-9)


def test_inverse_D_of_very_different_size_do_no_harm():
    X, target, _ = problem((20, 20))
    inverse_D = np.logspace(-300, 4, 20)

    features = ridge_through_features(X.T @ X, X.T @ target, inverse_D)
    samples, _ = ridge_through_samples(as_matrix(X), target, inverse_D)

    np.testing.assert_allclose(features, samples, rtol=1e-6, atol=1e-9)


def test_identity_plus_zero_returns_the_right_side():
    right = np.arange(6.0).reshape(3, 2)

    np.testing.assert_array_equal(solve_identity_plus(np.zeros((3, 3)), right), right)


def test_rounding_beside_huge_entries_is_not_taken_for_a_direction():
    # Two equal features, whose Gram matrix rounding makes indefinite.
    gram = 1e20 * np.array([[1.0, 1.0 + 1e-15], [1.0 + 1e-15, 1.0]])

    coef = ridge_through_features(gram, 1e20 * np.ones((2, 1)), np.ones(2))

    np.testing.assert_allclose(coef, 0.5, rtol=1e-6)


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


@each(
    ("history", "expected"),
    [([1.0], False), ([2.0, 1.0], False), ([1.0001, 1.0], True), ([0.0, 0.0], True)],
)
def test_it_has_settled_when_the_last_change_is_small(history, expected):
    assert settled(history, 1e-3) is expected


# The projection on the probability simplex.

POINTS = arrays(
    np.float64,
    array_shapes(min_dims=2, max_dims=2, max_side=6),
    elements=st.floats(-100, 100),
)


def random_points(n_rows=200, n_columns=5, spread=2.0):
    return np.random.default_rng(0).normal(scale=spread, size=(n_rows, n_columns))


def test_every_set_of_non_zeros_was_tried_and_none_is_nearer():
    points = random_points()

    expected = np.array([project_by_enumeration(row) for row in points])

    np.testing.assert_allclose(project_rows_to_simplex(points), expected, atol=1e-14)


@each("n_columns", [1, 2, 7, 40])
def test_rows_equal_those_of_a_plain_loop(n_columns):
    points = random_points(n_columns=n_columns)
    expected = np.array([project_to_simplex(row) for row in points])

    np.testing.assert_allclose(project_rows_to_simplex(points), expected, atol=1e-14)


@settings(deadline=None)
@given(POINTS, st.floats(-1e3, 1e3))
def test_projections_are_memberships_and_nearest(points, constant):
    projected = project_rows_to_simplex(points)
    residual = points - projected
    towards = residual - np.sum(residual * projected, axis=1, keepdims=True)
    again = project_rows_to_simplex(projected)
    shifted = project_rows_to_simplex(points + constant)

    assert projected.min() >= 0
    np.testing.assert_allclose(projected.sum(axis=1), 1, atol=1e-12)
    assert towards.max() <= 1e-10  # no vertex lies in the direction of the residual
    np.testing.assert_allclose(again, projected, atol=1e-14)
    np.testing.assert_allclose(shifted, projected, atol=1e-11)


def test_large_points_and_rows_far_from_zero_are_projected_too():
    points = np.array([[1.0, 0.0, -1.0], [-3.0, -2.0, -1.0], [0.0, 0.0, -1.0]])
    expected = np.array([[1, 0, 0], [0, 0, 1], [0.5, 0.5, 0]])
    expected.flags.writeable = False
    for size in (1e8, 1e12, 1e17, 1e200):
        projected = project_rows_to_simplex(size * points)
        np.testing.assert_allclose(projected, expected, atol=1e-12)
    for offset in (1e6, 1e10, -1e10):
        projected = project_rows_to_simplex(offset + random_points())
        np.testing.assert_allclose(projected.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(project_rows_to_simplex(expected), expected, atol=1e-15)
