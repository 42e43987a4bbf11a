"""REFS: the greedy choice against brute force, and the map against its problem."""

import numpy as np
import pytest
from scipy.optimize import minimize

import ufselect.selectors.refs as greedy
from ufselect import REFS
from ufselect.selectors.refs import Reconstruction, choose
from ufselect.solvers.graphs import laplacian, neighbour_graph

SHAPES = [(8, 14), (14, 8)]


@pytest.fixture(params=SHAPES)
def features(request):
    X = np.random.RandomState(0).standard_normal(request.param)
    X -= X.mean(axis=0)
    return X / np.linalg.norm(X, axis=0)


def ridge_of(features, alpha, beta):
    L = laplacian(neighbour_graph(features.T, 3)).toarray()
    return alpha * np.eye(len(features)) + beta * features @ L @ features.T


def naive_error(features, ridge, chosen):
    """Return ``|X - Theta'X|^2`` with Theta from its normal equations."""
    selected = features[:, chosen]
    scatter = selected @ selected.T
    theta = np.linalg.solve(scatter + ridge, scatter)
    return np.sum((features - theta.T @ features) ** 2)


def naive_order(features, ridge, count):
    chosen, errors = [], []
    for _ in range(count):
        left = [j for j in range(features.shape[1]) if j not in chosen]
        tried = [naive_error(features, ridge, [*chosen, j]) for j in left]
        chosen.append(left[int(np.argmin(tried))])
        errors.append(min(tried))
    return chosen, errors


@pytest.mark.parametrize("alpha", [1e-2, 1.0, 10.0])
@pytest.mark.parametrize("beta", [0.0, 0.1, 5.0])
@pytest.mark.parametrize("refresh", [2, 100])
def test_each_choice_is_that_of_brute_force(
    features, alpha, beta, refresh, monkeypatch
):
    monkeypatch.setattr(greedy, "REFRESH", refresh)
    ridge = ridge_of(features, alpha, beta)
    expected, errors = naive_order(features, ridge, features.shape[1])
    choice = choose(Reconstruction(features, ridge), features.shape[1])

    np.testing.assert_array_equal(choice.chosen, expected)
    np.testing.assert_allclose(choice.errors, errors, rtol=1e-8)


def test_gains_of_features_left_are_the_changes_of_the_error(features):
    ridge = ridge_of(features, 0.3, 0.2)
    choice = choose(Reconstruction(features, ridge), 3)
    chosen = list(choice.chosen)
    before = naive_error(features, ridge, chosen)
    for j in np.setdiff1d(np.arange(features.shape[1]), chosen):
        after = naive_error(features, ridge, [*chosen, j])

        assert choice.gains[j] == pytest.approx(before - after, rel=1e-8, abs=1e-12)


def test_the_map_minimises_its_objective(features):
    alpha, beta, chosen = 0.3, 0.2, [0, 3, 5]
    n = len(features)
    L = laplacian(neighbour_graph(features.T, 3)).toarray()
    smooth = features @ L @ features.T
    selected = features[:, chosen]

    def objective(flat):
        theta = flat.reshape(n, n)
        fit = np.sum((selected - theta.T @ selected) ** 2)
        return fit + alpha * np.sum(theta**2) + beta * np.sum(theta * (smooth @ theta))

    found = minimize(objective, np.zeros(n * n), tol=1e-12).x.reshape(n, n)
    error = np.sum((features - found.T @ features) ** 2)

    expected = naive_error(features, alpha * np.eye(n) + beta * smooth, chosen)
    assert error == pytest.approx(expected, rel=1e-4)


def test_a_fit_is_that_of_brute_force_with_matrices_of_samples(features):
    selector = REFS(6, alpha=0.5, beta=0.3, n_neighbors=3, sigma=1.5).fit(features)
    graph = neighbour_graph(features.T, 3, weights="heat", bandwidth=1.5)
    smooth = features @ laplacian(graph).toarray() @ features.T
    ridge = 0.5 * np.eye(len(features)) + 0.3 * smooth
    expected, errors = naive_order(features, ridge, 6)

    np.testing.assert_array_equal(selector.order_[:6], expected)
    np.testing.assert_allclose(selector.errors_, errors, rtol=1e-8)
