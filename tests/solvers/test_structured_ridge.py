"""The reweighted step with a matrix of the samples, against formulas and numbers."""

import numpy as np
import pytest
import scipy.sparse as sp
from each_case import each
from oracle_files import all_runs, inputs, read
from sklearn.linear_model import MultiTaskLasso

from ufselect.matrix import as_matrix
from ufselect.solvers.graphs import kernel_root, laplacian, neighbour_graph
from ufselect.solvers.structured_ridge import (
    ThroughFeatures,
    ThroughSamples,
    fit_structured,
    metric_gram,
    structured_problem,
)

SHAPE = each("shape", [(30, 12), (15, 40), (20, 20)])


def made(shape, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=shape)
    return X, random.normal(size=(shape[0], 3)), laplacian(neighbour_graph(X, 4))


def naive(X, target, graph, rho, penalty, n_iterations):
    """Every matrix written out, p x p, as printed."""
    metric = np.eye(len(X)) + rho * graph.toarray()
    weights, history = np.ones(X.shape[1]), []
    for _ in range(n_iterations):
        system = X.T @ metric @ X + penalty * np.diag(weights)
        coef = np.linalg.solve(system, X.T @ target)
        norms = np.linalg.norm(coef, axis=1)
        weights = 1 / (2 * norms)
        smooth = np.trace(coef.T @ X.T @ graph.toarray() @ X @ coef)
        error = np.sum((X @ coef - target) ** 2)
        history.append(error + rho * smooth + penalty * norms.sum())
    return coef, history


@each(("name", "run"), list(all_runs("glspfs")))
def test_it_equals_the_numbers_of_the_public_code(name, run):
    given, settings, values = inputs(name), run["parameters"], run["values"]
    lle = read(f"lle_{name}")["outputs"]["runs"][0]["values"]["L_LLE"]
    graph = given["L"] if settings["L"] == "L" else np.array(lle)
    X, target = as_matrix(given[settings["X"]]), kernel_root(given["K"])

    problem = structured_problem(X, target, graph, settings["r2"])
    found = fit_structured(
        problem, settings["r1"], max_iter=values["n_iterations"], tol=0.0
    )
    norms, expected = np.linalg.norm(found.coef, axis=1), np.array(values["row_norms"])

    np.testing.assert_allclose(found.history, values["objective"], rtol=1e-6)
    np.testing.assert_allclose(norms, expected, rtol=0, atol=1e-6 * expected.max())
    stopped = fit_structured(problem, settings["r1"], max_iter=21, tol=1e-4)
    assert len(stopped.history) == values["n_iterations"]


@SHAPE
@each("convert", [np.asarray, sp.csr_array])
def test_it_equals_the_formulas_written_out(shape, convert):
    X, target, graph = made(shape)

    problem = structured_problem(as_matrix(convert(X)), target, graph, 0.7)
    found = fit_structured(problem, 2.0, max_iter=8, tol=0.0)
    coef, history = naive(X, target, graph, 0.7, 2.0, 8)

    np.testing.assert_allclose(found.coef, coef, atol=1e-8)
    np.testing.assert_allclose(found.history, history, rtol=1e-10)


@SHAPE
def test_features_and_samples_agree(shape):
    X, target, graph = made(shape)
    matrix, inverse_weights = as_matrix(X), np.linspace(0, 2, shape[1])
    gram = metric_gram(matrix, graph, 3.0)

    coef, error = ThroughSamples(matrix, target, graph, 3.0).solve(inverse_weights)
    other = ThroughFeatures(gram, X.T @ target, np.sum(target**2)).solve(
        inverse_weights
    )

    np.testing.assert_allclose(coef, other[0], atol=1e-10)
    assert error == pytest.approx(other[1])


@SHAPE
@each("rho", [0.0, 1e-3, 1.0, 1e3])
@each("penalty", [1e-3, 1.0, 10.0])
def test_the_objective_never_rises(shape, rho, penalty):
    X, target, graph = made(shape)

    problem = structured_problem(as_matrix(X), target, graph, rho)
    history = fit_structured(problem, penalty, max_iter=100, tol=0.0).history

    # Through features the error is a difference of numbers as large as |Y|^2.
    assert (np.diff(history) <= 1e-10 * np.sum(target**2)).all()


@SHAPE
def test_without_a_graph_it_is_the_multi_task_lasso(shape):
    X, target, graph = made(shape)
    peer = MultiTaskLasso(
        alpha=8.0 / (2 * len(X)), fit_intercept=False, tol=1e-12, max_iter=100_000
    )

    problem = structured_problem(as_matrix(X), target, graph, 0.0)
    found = fit_structured(problem, 8.0, max_iter=20_000, tol=0.0)

    np.testing.assert_allclose(found.coef, peer.fit(X, target).coef_.T, atol=1e-4)


def test_a_zero_row_stays_zero():
    X, target, graph = made((15, 40))
    X[:, 3] = 0.0

    problem = structured_problem(as_matrix(X), target, graph, 1.0)
    coef = fit_structured(problem, 1.0, max_iter=10, tol=0.0).coef

    assert not coef[3].any()
    assert np.isfinite(coef).all()


def test_a_report_of_true_stops_it():
    X, target, graph = made((15, 40))
    problem = structured_problem(as_matrix(X), target, graph, 1.0)

    found = fit_structured(
        problem, 1.0, max_iter=50, tol=0.0, report=lambda iteration, _: iteration == 4
    )

    assert len(found.history) == 5
