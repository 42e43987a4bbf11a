"""FSASL against reference numbers, conditions of optimality and its limits."""

import numpy as np
import oracle_files
import pytest
import scipy.sparse as sp
from regression_properties import (
    RegressionProperties,
    assert_close,
    iterates,
    objectives,
    row_norms,
    weight_in,
)
from sklearn.linear_model import Lasso
from solvers.naive import project_to_simplex

from ufselect import FSASL
from ufselect.matrix import as_matrix
from ufselect.selectors.fsasl import (
    lasso,
    neighbour_probabilities,
    neighbour_regulariser,
    self_representation,
    smallest_eigenvectors,
)
from ufselect.solvers.graphs import neighbour_graph, squared_distances_of
from ufselect.solvers.group_lasso import largest_penalty

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


@pytest.mark.parametrize(("letter", "run"), EXACT)
def test_row_norms_and_objectives_are_the_reference_numbers(letter, run):
    parameters, values = run
    X, graph = given_to(letter, parameters)
    samples = oracle_files.inputs(letter)["X"]
    mu = neighbour_regulariser(squared_distances_of(samples @ samples.T), 5)
    weights = {name: parameters[name] for name in ["n_clusters", "alpha", "beta"]}
    structure = sp.csr_array(graph), parameters["mu"]

    steps = iterates(
        FSASL(**weights), X, structure, parameters["gamma"], parameters["iterations"]
    )

    assert mu == pytest.approx(oracle_files.runs("fsasl", letter)[0][0]["mu"])
    np.testing.assert_allclose(objectives(steps), values["objective"], rtol=1e-6)
    assert_close(row_norms(steps[-1].W), np.array(values["row_norms"]))


@pytest.mark.parametrize(
    ("letter", "run"), [(name, run) for name, run in EXACT if run[0]["X"] == "Xc"]
)
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
    assert_close(selector.scores_, expected)


def transcription(X, graph, fitted):
    """Return W and the objectives, every matrix written out, with an exact lasso."""
    n, p = X.shape
    alpha, beta, gamma, c, k = (
        fitted.alpha,
        fitted.beta,
        weight_in(fitted, "gamma"),
        3,
        5,
    )
    S, P, mu, L_S, history = np.zeros((n, n)), graph, 0.0, np.zeros((n, n)), []
    for _ in range(fitted.n_iter_):
        L = L_S + beta * (np.diag(P.sum(axis=1)) - P)
        Y = np.linalg.eigh(L)[1][:, :c]
        D = np.eye(p)
        for _ in range(10):
            W = np.linalg.solve(X.T @ X + gamma * D, X.T @ Y)
            D = np.diag(1 / (2 * np.sqrt(row_norms(W) ** 2 + 2.2e-16)))
        Z = X @ W
        sparsity = alpha * np.abs(S).sum() + gamma * row_norms(W).sum()
        history.append(np.trace(Z.T @ L @ Z) + beta * mu * np.sum(P**2) + sparsity)
        distances = squared_distances(Z)
        order = np.argsort(distances + np.diag(np.full(n, np.inf)), axis=1)
        near = np.take_along_axis(distances, order, axis=1)[:, : k + 1]
        mu = np.mean(k * near[:, k] - near[:, :k].sum(axis=1)) / 2
        P = np.zeros((n, n))
        for i in range(n):
            P[i, order[i, :k]] = project_to_simplex(-near[i, :k] / (2 * mu))
        P = (P + P.T) / 2
        S = np.column_stack([lasso_of(Z, i, alpha) for i in range(n)])
        L_S = (np.eye(n) - S) @ (np.eye(n) - S).T
    return W, history


def lasso_of(Z, i, alpha):
    """Return column i of S, from scikit-learn."""
    atoms = Z.copy()
    atoms[i] = 0.0
    # S does not depend on the unit of the samples, but when scikit-learn stops does.
    unit = np.abs(Z).max()
    atoms, target = atoms / unit, Z[i] / unit
    penalty = alpha * np.abs(atoms @ target).max()
    model = Lasso(penalty / len(target), fit_intercept=False, tol=1e-13, max_iter=10**6)
    return model.fit(atoms.T, target).coef_


# Not of DescentProperties: Y relaxes the constraint, so that the objective may rise.
class TestFSASL(RegressionProperties):
    METHOD = FSASL
    SHAPES = ((40, 15), (30, 60))
    SETTINGS = ({"max_iter": 3, "gamma": 0.3, "standardize": False},)

    def written_out(self, fitted, X):
        X = X - X.mean(axis=0)
        W, history = transcription(X, neighbour_graph(X, 5).toarray(), fitted)
        return row_norms(W), history


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
        assert inside.sum() <= points.shape[1]


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


@pytest.mark.parametrize("n_points", [2, 3, 4])
def test_a_few_points_have_fewer_neighbours(n_points):
    distances = squared_distances(np.arange(float(n_points))[:, np.newaxis])
    mu = neighbour_regulariser(distances, 5)
    graph = neighbour_probabilities(distances, 5, mu)

    together = neighbour_probabilities(np.zeros((6, 6)), 2, 0.0)

    assert np.isfinite(mu)
    np.testing.assert_allclose(graph.sum(), n_points)
    np.testing.assert_allclose(together.sum(), 6)
