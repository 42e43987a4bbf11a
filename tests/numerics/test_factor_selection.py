"""The non-negative factor model, against reference numbers and plain formulas."""

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from numerics.naive import planted

from ufselect.matrix import as_matrix
from ufselect.numerics.factor_selection import (
    SMALLEST,
    Factors,
    Weights,
    fit_factors,
    random_factors,
    unit_problem,
)
from ufselect.numerics.graphs import neighbour_graph

ORACLES = Path(__file__).resolve().parents[1] / "oracles"
SHAPE = pytest.mark.parametrize("shape", [(40, 12), (20, 45), (30, 30)])


def never(iteration, value):
    return False


def fit(X, start, weights, *, container=np.asarray, **options):
    settings = {"max_iter": 20, "tol": 0.0, "report": never} | options
    return fit_factors(as_matrix(container(X)), start, weights, **settings)


def problem(shape, n_components=4, seed=0):
    """Return non-negative data, a start and a graph of features."""
    X = planted(*shape)[0]
    X = X - X.min()
    random = np.random.default_rng(seed)
    start = Factors(*random.random((2, shape[1], n_components)))
    return X, start, neighbour_graph(X.T, 3, weights="heat")


def naive_objective(X, S, V, graph, lam, alpha, beta):
    A = graph.toarray()
    L = np.diag(A.sum(axis=1)) - A
    identity = np.eye(S.shape[1])
    return (
        np.linalg.norm(X - X @ S @ V) ** 2
        + lam / 2 * np.linalg.norm(S.T @ S - identity) ** 2
        + alpha * np.trace(V @ L @ V.T)
        + beta * sum(np.linalg.norm(row) for row in S)
    )


def transcription(X, start, graph, lam, alpha, beta, exponent, n_iterations):
    """Return S, V and the objectives, with every matrix written out."""
    S, V = start.selection, start.loadings.T
    A = graph.toarray()
    D = np.diag(A.sum(axis=1))
    gram = X.T @ X
    history = []
    for _ in range(n_iterations):
        lengths = np.diag(np.sqrt(np.diag(S.T @ S)))
        S, V = S @ np.linalg.inv(lengths), lengths @ V
        Q = np.diag(1 / (2 * np.linalg.norm(S, axis=1)))
        rise = gram @ V.T + lam * S
        fall = gram @ S @ V @ V.T + beta * Q @ S + lam * S @ S.T @ S
        S = S * (rise / fall) ** exponent
        V = V * (S.T @ gram + alpha * V @ A) / (S.T @ gram @ S @ V + alpha * V @ D)
        history.append(naive_objective(X, S, V, graph, lam, alpha, beta))
    return S, V, history


def reference_runs():
    for name in "AB":
        table = json.loads((ORACLES / f"mffs_{name}.json").read_text())
        for run in table["outputs"]["runs"]:
            label = f"{name}-{run['parameters']['rho']}"
            yield pytest.param(name, run, table["parameters"]["iterations"], id=label)


def reference_start(name):
    inputs = json.loads((ORACLES / f"inputs_{name}.json").read_text())
    start = Factors(np.array(inputs["W0"]), np.array(inputs["H0"]).T)
    return np.array(inputs["X"]), start


@pytest.mark.parametrize(("name", "run", "n_iterations"), list(reference_runs()))
def test_it_equals_the_numbers_of_the_public_code(name, run, n_iterations):
    X, start = reference_start(name)
    weights = Weights(run["parameters"]["rho"])

    found = fit(X, start, weights, exponent=1.0, max_iter=n_iterations)
    norms = np.linalg.norm(found.factors.selection, axis=1)

    half = np.array(found.history) / 2
    np.testing.assert_allclose(half, run["values"]["objective"], rtol=1e-6)
    np.testing.assert_allclose(norms, run["values"]["row_norms"], rtol=1e-6)


@pytest.mark.parametrize(("name", "run", "n_iterations"), list(reference_runs()))
def test_the_safeguard_falls_where_the_published_rule_rises(name, run, n_iterations):
    X, start = reference_start(name)
    weights = Weights(run["parameters"]["rho"])

    published = fit(X, start, weights, exponent=1.0, max_iter=n_iterations).history
    guarded = fit(X, start, weights, max_iter=n_iterations).history

    assert (np.diff(published) <= 0).all() == run["monotone"]
    assert (np.diff(guarded) <= 0).all()


@SHAPE
@pytest.mark.parametrize(
    ("lam", "alpha", "beta", "exponent"),
    [
        (1.0, 0.0, 0.0, 1.0),
        (1e4, 0.0, 3.0, 0.5),
        (10.0, 5.0, 0.0, 1.0),
        (100.0, 20.0, 50.0, 0.25),
    ],
)
def test_it_equals_the_transcription(shape, lam, alpha, beta, exponent):
    X, start, graph = problem(shape)

    S, V, history = transcription(X, start, graph, lam, alpha, beta, exponent, 20)
    found = fit(X, start, Weights(lam, alpha, beta), graph=graph, exponent=exponent)

    np.testing.assert_allclose(found.history, history, rtol=1e-8)
    np.testing.assert_allclose(found.factors.selection, S, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.factors.loadings, V.T, rtol=1e-6, atol=1e-9)


@SHAPE
@pytest.mark.parametrize("lam", [1e-2, 1.0, 1e4, 1e8])
@pytest.mark.parametrize(("alpha", "beta"), [(0.0, 0.0), (10.0, 0.0), (1e3, 1e3)])
def test_the_guarded_objective_never_rises(shape, lam, alpha, beta):
    X, start, graph = problem(shape)

    found = fit(X, start, Weights(lam, alpha, beta), graph=graph, max_iter=200)

    history = np.array(found.history)
    assert (np.diff(history) <= 1e-12 * history[0]).all()


@pytest.mark.parametrize("container", [sp.csr_array, sp.csc_array])
@SHAPE
def test_sparse_data_give_the_same_history(shape, container):
    X, start, graph = problem(shape)
    X = np.where(X > 3.0, X, 0.0)
    weights = Weights(1.0, 1.0, 1.0)

    dense = fit(X, start, weights, graph=graph)
    sparse = fit(X, start, weights, graph=graph, container=container)

    np.testing.assert_allclose(sparse.history, dense.history, rtol=1e-8)


def test_through_features_and_through_samples_agree():
    X, start, graph = problem((20, 45))
    # Rows of zeros change nothing but which form is taken.
    tall = np.vstack([X, np.zeros((30, 45))])
    weights = Weights(1.0, 1.0, 1.0)

    through_samples = fit(X, start, weights, graph=graph)
    through_features = fit(tall, start, weights, graph=graph)

    np.testing.assert_allclose(
        through_samples.history, through_features.history, rtol=1e-8
    )


def test_at_the_end_the_conditions_of_an_optimum_hold():
    X, start, _ = problem((40, 12), n_components=2)
    lam = 10.0

    found = fit(X, start, Weights(lam), max_iter=50_000, tol=1e-13)
    S, V = found.factors.selection, found.factors.loadings.T
    residual = X.T @ (X @ S @ V - X)
    slope_S = residual @ V.T + lam * S @ (S.T @ S - np.eye(2))
    slope_V = S.T @ residual
    size = np.abs(X.T @ X).max()

    # Where a factor is positive its slope is zero; elsewhere it is not negative.
    assert np.abs(slope_S * S).max() < 1e-3 * size
    assert np.abs(slope_V * V).max() < 1e-3 * size
    assert slope_S.min() > -1e-2 * size
    assert slope_V.min() > -1e-2 * size


class TestStopping:
    def test_it_says_that_it_converged(self):
        X, start, _ = problem((40, 12))

        found = fit(X, start, Weights(1.0), tol=1e-3, max_iter=2000)

        assert found.converged
        assert len(found.history) < 2000

    def test_it_says_that_it_did_not(self):
        X, start, _ = problem((40, 12))

        assert not fit(X, start, Weights(1.0), max_iter=3).converged

    def test_a_report_of_true_stops_it(self):
        X, start, _ = problem((40, 12))

        found = fit(X, start, Weights(1.0), report=lambda iteration, _: iteration == 4)

        assert len(found.history) == 5


def test_the_start_is_left_alone_and_its_zeros_are_not_for_ever():
    X, start, _ = problem((20, 45))
    start.selection[0] = 0.0
    kept = start.selection.copy()

    found = fit(X, start, Weights(1.0), max_iter=200)

    np.testing.assert_array_equal(start.selection, kept)
    assert found.factors.selection.min() >= SMALLEST
    assert found.factors.selection[0].max() > SMALLEST


@SHAPE
def test_the_problem_is_non_negative_and_of_unit_size(shape):
    X = np.column_stack([np.full(shape[0], -9e9), 1e6 * planted(*shape)[0]])
    data = as_matrix(X)

    found = unit_problem(data, data.summary())
    values = found.matrix.rows(slice(None))

    np.testing.assert_array_equal(found.varying, np.arange(1, shape[1] + 1))
    assert values.min() == pytest.approx(0.0, abs=1e-15)
    assert np.linalg.norm(values) == pytest.approx(1.0)


def test_a_column_starts_from_the_same_numbers_wherever_it_stands():
    X = problem((20, 45))[0]
    places = np.random.default_rng(0).permutation(45)

    first = random_factors(as_matrix(X), 3, np.random.RandomState(0))
    second = random_factors(as_matrix(X[:, places]), 3, np.random.RandomState(0))

    np.testing.assert_array_equal(second.selection > 0, True)
    np.testing.assert_allclose(second.selection, first.selection[places])
    np.testing.assert_allclose(second.loadings, first.loadings[places])
