"""Projection on the probability simplex."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from solvers.naive import project_by_enumeration, project_to_simplex

from ufselect.solvers.ridge import project_rows_to_simplex

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


@pytest.mark.parametrize("n_columns", [1, 2, 7, 40])
def test_rows_equal_those_of_a_plain_loop(n_columns):
    points = random_points(n_columns=n_columns)

    expected = np.array([project_to_simplex(row) for row in points])

    np.testing.assert_allclose(project_rows_to_simplex(points), expected, atol=1e-14)


@settings(deadline=None)
@given(POINTS)
def test_rows_are_memberships(points):
    projected = project_rows_to_simplex(points)

    assert projected.min() >= 0
    np.testing.assert_allclose(projected.sum(axis=1), 1, atol=1e-12)


@settings(deadline=None)
@given(POINTS)
def test_projecting_twice_changes_nothing(points):
    once = project_rows_to_simplex(points)

    np.testing.assert_allclose(project_rows_to_simplex(once), once, atol=1e-14)


@settings(deadline=None)
@given(POINTS)
def test_no_vertex_lies_in_the_direction_of_the_residual(points):
    projected = project_rows_to_simplex(points)
    residual = points - projected

    towards = residual - np.sum(residual * projected, axis=1, keepdims=True)

    assert towards.max() <= 1e-10


@settings(deadline=None)
@given(POINTS, st.floats(-1e3, 1e3))
def test_adding_a_constant_changes_nothing(points, constant):
    shifted = project_rows_to_simplex(points + constant)

    np.testing.assert_allclose(shifted, project_rows_to_simplex(points), atol=1e-11)


@pytest.mark.parametrize("size", [1e8, 1e12, 1e17, 1e200])
def test_large_points_are_projected_too(size):
    points = size * np.array([[1.0, 0.0, -1.0], [-3.0, -2.0, -1.0], [0.0, 0.0, -1.0]])

    expected = [[1, 0, 0], [0, 0, 1], [0.5, 0.5, 0]]

    np.testing.assert_allclose(project_rows_to_simplex(points), expected, atol=1e-12)


@pytest.mark.parametrize("offset", [1e6, 1e10, -1e10])
def test_rows_far_from_zero_still_sum_to_one(offset):
    projected = project_rows_to_simplex(offset + random_points())

    np.testing.assert_allclose(projected.sum(axis=1), 1, atol=1e-12)


def test_points_of_the_simplex_stay_and_the_input_is_kept():
    points = np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]])
    points.flags.writeable = False

    np.testing.assert_allclose(project_rows_to_simplex(points), points, atol=1e-15)
