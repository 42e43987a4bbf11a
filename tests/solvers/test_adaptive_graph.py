"""Learned graphs: optimality of the lasso, the simplex and the regulariser."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import Lasso

from ufselect.solvers.fsasl import (
    lasso,
    neighbour_probabilities,
    neighbour_regulariser,
    self_representation,
)
from ufselect.solvers.graphs import squared_distances_of


@pytest.fixture(params=[(30, 3), (12, 20), (150, 4)], ids=str)
def points(request):
    return np.random.RandomState(0).standard_normal(request.param)


def squared_distances(points):
    return ((points[:, np.newaxis] - points) ** 2).sum(axis=2)


@pytest.mark.parametrize("fraction", [0.001, 0.05, 0.5])
def test_representations_satisfy_the_optimality_conditions(points, fraction):
    S = self_representation(points, fraction).toarray()
    for i, target in enumerate(points):
        slope = points @ (target - S[:, i] @ points)
        penalty = fraction * np.abs(np.delete(points @ target, i)).max()
        inside = S[:, i] != 0

        assert S[i, i] == 0
        assert np.abs(np.delete(slope, i)).max() <= penalty * (1 + 1e-9)
        np.testing.assert_allclose(
            slope[inside], penalty * np.sign(S[inside, i]), rtol=1e-9
        )


def test_no_more_points_represent_a_point_than_there_are_dimensions(points):
    counts = np.diff(self_representation(points, 0.01).indptr)

    assert counts.max() <= points.shape[1]


def test_lasso_is_that_of_an_independent_library(points):
    atoms, target = points[1:], points[0]
    penalty = 0.1 * np.abs(atoms @ target).max()
    model = Lasso(penalty / len(target), fit_intercept=False, tol=1e-12, max_iter=10**6)

    np.testing.assert_allclose(
        lasso(atoms, target, penalty), model.fit(atoms.T, target).coef_, atol=1e-6
    )


@pytest.mark.parametrize("unit", [1e-100, 1e-8, 1e8, 1e100])
def test_units_of_the_points_do_not_matter(points, unit):
    expected = self_representation(points, 0.05).toarray()
    found = self_representation(unit * points, 0.05).toarray()

    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_points_at_zero_represent_nobody_and_need_nobody():
    points = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, 0.0]])
    S = self_representation(points, 0.1).toarray()

    np.testing.assert_allclose(S[:, [0, 3]], 0)
    np.testing.assert_allclose(S[[0, 3]], 0)


def test_equal_points_represent_each_other():
    points = np.repeat(np.random.RandomState(0).standard_normal((5, 2)), 2, axis=0)
    S = self_representation(points, 0.01).toarray()
    error = np.linalg.norm(points - S.T @ points, axis=1)

    assert (error < 0.05 * np.linalg.norm(points, axis=1)).all()


def test_distances_follow_from_the_gram_matrix(points):
    found = squared_distances_of(points @ points.T)

    np.testing.assert_allclose(found, squared_distances(points), atol=1e-12)


def naive_row(distances, mu):
    """Return the distribution of least ``d'P + mu |P|^2`` by a general solver."""
    result = minimize(
        lambda row: distances @ row + mu * row @ row,
        np.full(len(distances), 1 / len(distances)),
        jac=lambda row: distances + 2 * mu * row,
        bounds=[(0, 1)] * len(distances),
        constraints={"type": "eq", "fun": lambda row: row.sum() - 1},
        options={"ftol": 1e-14},
    )
    return result.x


def test_probabilities_minimise_their_part_of_the_objective(points):
    distances = squared_distances(points)
    mu, P = 1.0, np.zeros_like(distances)
    for i, row in enumerate(distances):
        near = np.argsort(row)[1:5]
        P[i, near] = naive_row(row[near], mu)

    found = neighbour_probabilities(distances, 4, mu).toarray()

    np.testing.assert_allclose(found, (P + P.T) / 2, atol=1e-6)


def test_regulariser_gives_the_closed_weights_where_all_points_are_alike():
    near = np.array([1.0, 2.0, 4.0, 7.0])
    distances = np.array([np.roll([0.0, *near], i) for i in range(5)])
    closed = (near[3] - near[:3]) / (3 * near[3] - near[:3].sum())
    P = np.array([np.roll([0.0, *closed, 0.0], i) for i in range(5)])

    mu = neighbour_regulariser(distances, 3)
    found = neighbour_probabilities(distances, 3, mu).toarray()

    np.testing.assert_allclose(found, (P + P.T) / 2, atol=1e-12)


def test_regulariser_is_the_mean_over_the_points(points):
    distances = squared_distances(points)
    ordered = np.sort(distances, axis=1)[:, 1:]
    expected = np.mean([(4 * d[4] - d[:4].sum()) / 2 for d in ordered])

    assert neighbour_regulariser(distances, 4) == pytest.approx(expected)


@pytest.mark.parametrize("n_points", [2, 3, 4])
def test_a_few_points_have_fewer_neighbours(n_points):
    distances = squared_distances(np.arange(float(n_points))[:, np.newaxis])
    mu = neighbour_regulariser(distances, 5)
    graph = neighbour_probabilities(distances, 5, mu)

    assert np.isfinite(mu)
    np.testing.assert_allclose(graph.sum(), n_points)


def test_points_that_coincide_share_their_probability():
    graph = neighbour_probabilities(np.zeros((6, 6)), 2, 0.0)

    np.testing.assert_allclose(graph.sum(), 6)
