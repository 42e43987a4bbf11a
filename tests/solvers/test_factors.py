"""The non-negative factor model, against reference numbers and plain formulas."""

import numpy as np
import pytest
import scipy.sparse as sp
from oracle_files import all_runs, inputs, read
from solvers.naive import planted

from ufselect.matrix import as_matrix
from ufselect.solvers.factors import (
    MIN_FACTOR,
    Factors,
    SampleTerm,
    Weights,
    fit_factors,
    random_factors,
    unit_problem,
)
from ufselect.solvers.graphs import (
    gaussian_matrices,
    local_discriminant_matrix,
    neighbour_graph,
    neighbourhoods_of,
    scatter_matrices,
)

SHAPE = pytest.mark.parametrize("shape", [(40, 12), (20, 45), (30, 30)])


def fit(X, start, weights, *, container=np.asarray, **options):
    settings = {"max_iter": 20, "tol": 0.0} | options
    return fit_factors(as_matrix(container(X)), start, weights, **settings)


def problem(shape, n_components=4, seed=0):
    """Return non-negative data, a start, a graph of features and a sample matrix."""
    X = planted(*shape)[0]
    X = X - X.min()
    start = np.random.default_rng(seed).random((2, shape[1], n_components))
    neighbourhoods = neighbourhoods_of(X, 4)
    K = gaussian_matrices(scatter_matrices(as_matrix(X), neighbourhoods))
    M = local_discriminant_matrix(K, neighbourhoods, 0.1)
    return X, Factors(*start), neighbour_graph(X.T, 3, weights="heat"), M


def naive_objective(X, S, V, A, M, weights, delta):
    lam, alpha, beta, gamma = weights
    return (
        np.linalg.norm(X - X @ S @ V) ** 2
        + lam / 2 * np.linalg.norm(S.T @ S - np.eye(S.shape[1])) ** 2
        + alpha * np.trace(V @ (np.diag(A.sum(axis=1)) - A) @ V.T)
        + beta * sum(np.linalg.norm(row) for row in S)
        + gamma * np.abs(S).sum()
        + delta * np.trace(S.T @ X.T @ M @ X @ S)
    )


def transcription(X, start, A, M, weights, delta, exponent, n_iterations):
    """Return S, V and the objectives, with every matrix written out."""
    lam, alpha, beta, gamma = weights
    S, V, D, gram = start.selection, start.loadings.T, np.diag(A.sum(axis=1)), X.T @ X
    plus, minus = (X.T @ ((np.abs(M) + sign * M) / 2) @ X for sign in (1, -1))
    history = []
    for _ in range(n_iterations):
        size = np.diag(np.sqrt(np.diag(S.T @ S)))
        S, V = S @ np.linalg.inv(size), size @ V
        Q = np.diag(1 / (2 * np.linalg.norm(S, axis=1)))
        rise = gram @ V.T + delta * minus @ S + lam * S
        fall = gram @ S @ V @ V.T + delta * plus @ S + lam * S @ S.T @ S
        fall += beta * Q @ S + gamma / 2
        S = S * (rise / fall) ** exponent
        V = V * (S.T @ gram + alpha * V @ A) / (S.T @ gram @ S @ V + alpha * V @ D)
        history.append(naive_objective(X, S, V, A, M, weights, delta))
    return S, V, history


@pytest.mark.parametrize(("name", "run"), list(all_runs("mffs")))
def test_it_equals_the_numbers_of_the_public_code(name, run):
    given, values = inputs(name), run["values"]
    start, weights = (
        Factors(given["W0"], given["H0"].T),
        Weights(run["parameters"]["rho"]),
    )
    n_iterations = read(f"mffs_{name}")["parameters"]["iterations"]

    found = fit(given["X"], start, weights, exponent=1.0, max_iter=n_iterations)
    guarded = fit(given["X"], start, weights, max_iter=n_iterations)
    norms = np.linalg.norm(found.factors.selection, axis=1)

    half = np.array(found.history) / 2
    np.testing.assert_allclose(half, values["objective"], rtol=1e-6)
    np.testing.assert_allclose(norms, values["row_norms"], rtol=1e-6)
    # The safeguard falls where the published rule rises.
    assert (np.diff(found.history) <= 0).all() == run["monotone"]
    assert (np.diff(guarded.history) <= 0).all()


@SHAPE
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize(
    ("weights", "delta", "exponent"),
    [
        (Weights(1.0), 0.0, 1.0),
        (Weights(1e4, 0.0, 3.0), 0.0, 0.5),
        (Weights(10.0, 5.0), 0.0, 1.0),
        (Weights(100.0, 20.0, 50.0), 0.0, 0.25),
        (Weights(1.0), 0.1, 1.0),
        (Weights(1e4, entry_sparsity=30.0), 0.0, 0.5),
        (Weights(10.0, entry_sparsity=5.0), 1.0, 0.5),
        (Weights(100.0, 2.0, 3.0, 50.0), 100.0, 0.25),
    ],
)
def test_it_equals_the_transcription(shape, container, weights, delta, exponent):
    X, start, graph, M = problem(shape)

    S, V, history = transcription(
        X, start, graph.toarray(), M.toarray(), weights, delta, exponent, 20
    )
    found = fit(
        X,
        start,
        weights,
        container=container,
        graph=graph if weights.smoothness else None,
        samples=SampleTerm(M, delta) if delta else None,
        exponent=exponent,
    )

    np.testing.assert_allclose(found.history, history, rtol=1e-8)
    np.testing.assert_allclose(found.factors.selection, S, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.factors.loadings, V.T, rtol=1e-6, atol=1e-9)


@SHAPE
@pytest.mark.parametrize("lam", [1e-2, 1.0, 1e4, 1e8])
@pytest.mark.parametrize(
    ("alpha", "beta", "gamma", "delta"),
    [
        (0.0, 0.0, 0.0, 0.0),
        (1e3, 1e3, 0.0, 0.0),
        (0.0, 0.0, 1e3, 1e-2),
        (0.0, 0.0, 0.0, 1e3),
    ],
)
def test_the_guarded_objective_never_rises(shape, lam, alpha, beta, gamma, delta):
    X, start, graph, M = problem(shape)
    weights = Weights(lam, alpha, beta, gamma)

    found = fit(
        X, start, weights, graph=graph, samples=SampleTerm(M, delta), max_iter=80
    )

    history = np.array(found.history)
    assert (np.diff(history) <= 1e-12 * history[0]).all()


def test_at_the_end_the_conditions_of_an_optimum_hold():
    X, start, _, _ = problem((40, 12), n_components=2)
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


def test_the_start_is_left_alone_and_its_zeros_are_not_for_ever():
    X, start, _, _ = problem((20, 45))
    start.selection[0] = 0.0
    kept = start.selection.copy()

    found = fit(X, start, Weights(1.0), max_iter=200)

    np.testing.assert_array_equal(start.selection, kept)
    assert found.factors.selection.min() >= MIN_FACTOR
    assert found.factors.selection[0].max() > MIN_FACTOR


@SHAPE
def test_the_problem_is_non_negative_and_of_unit_size(shape):
    X = np.column_stack([np.full(shape[0], -9e9), 1e6 * planted(*shape)[0]])
    data = as_matrix(X)

    found = unit_problem(data)
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
