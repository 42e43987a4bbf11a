"""FSASL against reference numbers, conditions of optimality and its limits."""

import numpy as np
import oracle_files
import pytest
import scipy.sparse as sp
from each_case import each
from sklearn.linear_model import Lasso

from ufselect import FSASL
from ufselect.matrix import as_matrix
from ufselect.solvers.fsasl import (
    fit_fsasl,
    lasso,
    neighbour_probabilities,
    neighbour_regulariser,
    self_representation,
    smallest_eigenvectors,
)
from ufselect.solvers.graphs import squared_distances_of
from ufselect.solvers.group_lasso import largest_penalty
from ufselect.solvers.ridge import row_norms

EXACT = [
    (letter, run)
    for letter in "AB"
    for run in oracle_files.runs("fsasl", letter)
    if run[0]["lasso"] == "exact"
]


def given_to(letter, parameters):
    """Return the data and the first graph of a run."""
    given = oracle_files.inputs(letter)
    X = given["X"]
    if parameters["X"] == "Xc":
        X = X - X.mean(axis=0)
    return X, given["S"].astype(float)


def fit(X, graph, parameters, max_iter):
    known = {name: parameters[name] for name in ["n_clusters", "alpha", "beta"]}
    return fit_fsasl(
        as_matrix(X),
        sp.csr_array(graph),
        gamma=parameters["gamma"],
        mu=parameters["mu"],
        max_iter=max_iter,
        **known,
    )


@each(("letter", "run"), EXACT)
def test_row_norms_and_objectives_are_the_reference_numbers(letter, run):
    parameters, values = run
    X, graph = given_to(letter, parameters)
    found = fit(X, graph, parameters, parameters["iterations"])
    expected = np.array(values["row_norms"])
    samples = oracle_files.inputs(letter)["X"]
    mu = neighbour_regulariser(squared_distances_of(samples @ samples.T), 5)

    assert mu == pytest.approx(oracle_files.runs("fsasl", letter)[0][0]["mu"])
    np.testing.assert_allclose(found.history, values["objective"], rtol=1e-6)
    np.testing.assert_allclose(
        row_norms(found.coef), expected, rtol=0, atol=1e-6 * expected.max()
    )


@each(("letter", "run"), [(name, run) for name, run in EXACT if run[0]["X"] == "Xc"])
def test_selector_with_the_authors_choices_is_the_reference(letter, run):
    parameters, values = run
    X, _ = given_to(letter, parameters)
    weights = {name: parameters[name] for name in ["alpha", "beta", "gamma"]}
    expected = np.array(values["row_norms"])

    selector = FSASL(
        n_clusters=parameters["n_clusters"],
        mu="samples",
        standardize=False,
        max_iter=parameters["iterations"],
        tol=0,
        **weights,
    ).fit(X)

    np.testing.assert_allclose(selector.objective_history_, values["objective"], 1e-6)
    np.testing.assert_allclose(
        selector.scores_, expected, rtol=0, atol=1e-6 * expected.max()
    )


def test_authors_regulariser_makes_probabilities_uniform():
    # Distances of projected samples are far below those of the samples.
    X = 100 * oracle_files.inputs("A")["X"]
    common = {"n_clusters": 3, "standardize": False, "max_iter": 3, "tol": 0}
    samples = FSASL(mu="samples", **common).fit(X).scores_
    uniform = FSASL(mu=1e12, **common).fit(X).scores_
    projected = FSASL(mu="projected", **common).fit(X).scores_

    np.testing.assert_allclose(samples, uniform, rtol=1e-3)
    assert not np.allclose(projected, uniform, rtol=1e-2)


def test_auto_gamma_is_half_of_the_largest_useful_penalty():
    X = oracle_files.inputs("A")["X"]
    X = X - X.mean(axis=0)
    target = smallest_eigenvectors(oracle_files.inputs("A")["L"], 3)
    selector = FSASL(n_clusters=3, standardize=False, max_iter=1).fit(X)

    assert selector.gamma_ == pytest.approx(
        0.5 * largest_penalty(as_matrix(X), target), rel=1e-6
    )


# Learned graphs: optimality of the lasso, the simplex and the regulariser


@pytest.fixture(params=[(30, 3), (12, 20), (150, 4)])
def points(request):
    return np.random.RandomState(0).standard_normal(request.param)


def squared_distances(points):
    return ((points[:, np.newaxis] - points) ** 2).sum(axis=2)


@each("fraction", [0.001, 0.05, 0.5])
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
        assert inside.sum() <= points.shape[1]


def test_lasso_is_that_of_an_independent_library(points):
    atoms, target = points[1:], points[0]
    penalty = 0.1 * np.abs(atoms @ target).max()
    model = Lasso(penalty / len(target), fit_intercept=False, tol=1e-12, max_iter=10**6)

    np.testing.assert_allclose(
        lasso(atoms, target, penalty), model.fit(atoms.T, target).coef_, atol=1e-6
    )


@each("unit", [1e-100, 1e-8, 1e8, 1e100])
def test_units_of_the_points_do_not_matter(points, unit):
    expected = self_representation(points, 0.05).toarray()
    found = self_representation(unit * points, 0.05).toarray()

    np.testing.assert_allclose(found, expected, atol=1e-10)
    # Points at zero represent none and need none.
    S = self_representation(np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]), 0.1)
    assert not S.toarray()[0].any()
    assert not S.toarray()[:, 0].any()


def test_regulariser_gives_the_closed_weights_where_all_points_are_alike():
    near = np.array([1.0, 2.0, 4.0, 7.0])
    distances = np.array([np.roll([0.0, *near], i) for i in range(5)])
    closed = (near[3] - near[:3]) / (3 * near[3] - near[:3].sum())
    P = np.array([np.roll([0.0, *closed, 0.0], i) for i in range(5)])

    mu = neighbour_regulariser(distances, 3)
    found = neighbour_probabilities(distances, 3, mu).toarray()

    np.testing.assert_allclose(found, (P + P.T) / 2, atol=1e-12)


@each("n_points", [2, 3, 4])
def test_a_few_points_have_fewer_neighbours(n_points):
    distances = squared_distances(np.arange(float(n_points))[:, np.newaxis])
    mu = neighbour_regulariser(distances, 5)
    graph = neighbour_probabilities(distances, 5, mu)

    together = neighbour_probabilities(np.zeros((6, 6)), 2, 0.0)

    assert np.isfinite(mu)
    np.testing.assert_allclose(graph.sum(), n_points)
    np.testing.assert_allclose(together.sum(), 6)
