"""The non-negative factor model, against reference numbers and plain formulas."""

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from solvers.naive import planted

from ufselect.matrix import as_matrix
from ufselect.solvers.factors import (
    SMALLEST_FACTOR,
    Factors,
    SampleTerm,
    Weights,
    fit_factors,
    has_small_gram,
    random_factors,
    signed_parts,
    unit_problem,
)
from ufselect.solvers.graphs import neighbour_graph
from ufselect.solvers.neighbourhoods import (
    clique_scatters,
    gaussian_scatters,
    local_discriminant_matrix,
    neighbour_cliques,
)

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


def sample_matrix(X, n_neighbors=4):
    """Return a sparse positive matrix of the samples whose rows sum to zero."""
    cliques = neighbour_cliques(X, n_neighbors)
    scatters = gaussian_scatters(clique_scatters(as_matrix(X), cliques))
    return local_discriminant_matrix(scatters, cliques, 0.1)


def naive_sample_objective(X, S, V, M, lam, delta, gamma):
    return (
        np.linalg.norm(X - X @ S @ V) ** 2
        + lam / 2 * np.linalg.norm(S.T @ S - np.eye(S.shape[1])) ** 2
        + delta * np.trace(S.T @ X.T @ M @ X @ S)
        + gamma * np.abs(S).sum()
    )


def sample_transcription(X, start, M, lam, delta, gamma, exponent, n_iterations):
    """Return S, V and the objectives, with every matrix written out."""
    S, V = start.selection, start.loadings.T
    gram = X.T @ X
    plus = X.T @ ((np.abs(M) + M) / 2) @ X
    minus = X.T @ ((np.abs(M) - M) / 2) @ X
    history = []
    for _ in range(n_iterations):
        lengths = np.diag(np.sqrt(np.diag(S.T @ S)))
        S, V = S @ np.linalg.inv(lengths), lengths @ V
        rise = gram @ V.T + delta * minus @ S + lam * S
        fall = gram @ S @ V @ V.T + delta * plus @ S + gamma / 2 + lam * S @ S.T @ S
        S = S * (rise / fall) ** exponent
        V = V * (S.T @ gram) / (S.T @ gram @ S @ V)
        history.append(naive_sample_objective(X, S, V, M, lam, delta, gamma))
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

    found = fit(X, start, Weights(lam, alpha, beta), graph=graph, max_iter=80)

    history = np.array(found.history)
    assert (np.diff(history) <= 1e-12 * history[0]).all()


class TestTermOfTheSamples:
    @SHAPE
    @pytest.mark.parametrize(
        ("lam", "delta", "gamma", "exponent"),
        [
            (1.0, 0.1, 0.0, 1.0),
            (1e4, 0.0, 30.0, 0.5),
            (10.0, 1.0, 5.0, 0.5),
            (100.0, 100.0, 50.0, 0.25),
        ],
    )
    def test_it_equals_the_transcription(self, shape, lam, delta, gamma, exponent):
        X, start, _ = problem(shape)
        matrix = sample_matrix(X)

        S, V, history = sample_transcription(
            X, start, matrix.toarray(), lam, delta, gamma, exponent, 20
        )
        found = fit(
            X,
            start,
            Weights(lam, entry_sparsity=gamma),
            samples=SampleTerm(matrix, delta),
            exponent=exponent,
        )

        np.testing.assert_allclose(found.history, history, rtol=1e-8)
        np.testing.assert_allclose(found.factors.selection, S, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(found.factors.loadings, V.T, rtol=1e-6, atol=1e-9)

    @SHAPE
    @pytest.mark.parametrize("lam", [1e-2, 1.0, 1e4])
    @pytest.mark.parametrize("delta", [1e-2, 1.0, 1e3])
    @pytest.mark.parametrize("gamma", [0.0, 1e3])
    def test_the_guarded_objective_never_rises(self, shape, lam, delta, gamma):
        X, start, _ = problem(shape)

        found = fit(
            X,
            start,
            Weights(lam, entry_sparsity=gamma),
            samples=SampleTerm(sample_matrix(X), delta),
            max_iter=80,
        )

        history = np.array(found.history)
        assert (np.diff(history) <= 1e-12 * history[0]).all()

    @SHAPE
    def test_the_ratio_follows_from_the_slope_of_the_objective(self, shape):
        X, start, _ = problem(shape)
        M = sample_matrix(X)
        weights = Weights(3.0, entry_sparsity=5.0)
        # Unit columns, which are left as they are.
        S = start.selection / np.linalg.norm(start.selection, axis=0)
        V = start.loadings.T
        step, place = 1e-6, (2, 1)
        tiny = 1e-3

        change = np.zeros_like(S)
        change[place] = step
        above, below = (
            naive_sample_objective(X, S + sign * change, V, M.toarray(), 3.0, 2.0, 5.0)
            for sign in (1, -1)
        )
        slope = (above - below) / (2 * step)
        found = fit(
            X,
            Factors(S, start.loadings),
            weights,
            samples=SampleTerm(M, 2.0),
            exponent=tiny,
            max_iter=1,
        )

        # A step down where the objective rises, and up where it falls.
        assert np.sign(S[place] - found.factors.selection[place]) == np.sign(slope)

    @pytest.mark.parametrize("container", [sp.csr_array, sp.csc_array])
    @SHAPE
    def test_sparse_data_give_the_same_history(self, shape, container):
        X, start, _ = problem(shape)
        X = np.where(X > 3.0, X, 0.0)
        options = {"samples": SampleTerm(sample_matrix(X), 1.0)}

        dense = fit(X, start, Weights(1.0), **options)
        sparse = fit(X, start, Weights(1.0), container=container, **options)

        np.testing.assert_allclose(sparse.history, dense.history, rtol=1e-8)

    def test_a_weight_of_zero_is_no_term(self):
        X, start, _ = problem((20, 45))

        without = fit(X, start, Weights(1.0))
        zero = fit(X, start, Weights(1.0), samples=SampleTerm(sample_matrix(X), 0.0))

        np.testing.assert_allclose(zero.history, without.history, rtol=1e-12)

    def test_through_features_and_through_samples_agree(self):
        X, start, _ = problem((20, 45))
        matrix = sample_matrix(X)
        # Rows of zeros that M does not know change nothing but the form taken. Means
        # of X S differ, so that rows of M have to sum to zero.
        tall = np.vstack([X, np.zeros((30, 45))])
        padded = sp.csr_array(sp.block_diag([matrix, sp.csr_array((30, 30))]))

        wide = fit(X, start, Weights(1.0), samples=SampleTerm(matrix, 1.0))
        long = fit(tall, start, Weights(1.0), samples=SampleTerm(padded, 1.0))

        np.testing.assert_allclose(long.history, wide.history, rtol=1e-8)

    def test_parts_by_sign_are_not_negative_and_make_up_the_matrix(self):
        matrix = sample_matrix(problem((20, 45))[0])

        positive, negative = signed_parts(matrix)

        assert min(positive.min(), negative.min()) >= 0
        assert (positive * negative).nnz == 0 or (positive * negative).max() == 0
        np.testing.assert_array_equal((positive - negative).toarray(), matrix.toarray())


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
    assert found.factors.selection.min() >= SMALLEST_FACTOR
    assert found.factors.selection[0].max() > SMALLEST_FACTOR


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


def test_the_gram_matrix_of_features_is_small_next_to_what_is_stored():
    assert has_small_gram(as_matrix(np.ones((30, 30))))
    assert not has_small_gram(as_matrix(np.ones((30, 31))))
    assert not has_small_gram(as_matrix(sp.csr_array(sp.eye_array(300, 30))))


def test_sparse_and_dense_products_lead_to_the_same_factors():
    X, start, _ = problem((40, 12))[:3]
    X = np.where(np.quantile(X, 0.9) < X, X, 0.0)
    weights = Weights(orthogonality=0.1)
    dense, sparse = (
        fit(X, start, weights, container=container, max_iter=20, tol=0.0)
        for container in (np.asarray, sp.csr_array)
    )

    np.testing.assert_allclose(sparse.factors.selection, dense.factors.selection)
