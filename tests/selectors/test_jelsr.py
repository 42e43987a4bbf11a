"""JELSR: reference numbers, its transcription, optimality, and the selector."""

import numpy as np
import pytest
import scipy.sparse as sp
from each_case import each
from oracle_files import all_runs, inputs, read
from solvers.naive import planted as made

from ufselect import JELSR
from ufselect.matrix import as_matrix
from ufselect.solvers.graphs import laplacian, neighbour_graph
from ufselect.solvers.neighbourhoods import local_linear_matrix
from ufselect.solvers.spectral_regression import fit_jelsr, lowest_vectors

SHAPE = each("shape", [(40, 12), (20, 45), (30, 30)])
WEIGHTS = each(("alpha", "beta"), [(1.0, 1.0), (0.1, 10.0), (10.0, 0.1)])


def fit(X, L, alpha, beta, **options):
    settings = {
        "ridge_weights": np.ones(X.shape[1]),
        "drop_constant": False,
        "max_iter": 20,
        "tol": 0.0,
    } | options
    return fit_jelsr(
        as_matrix(X), sp.csr_array(L), 3, alpha=alpha, beta=beta, **settings
    )


def problem(shape):
    X, _ = made(*shape)
    X = X - X.mean(axis=0)
    return X, local_linear_matrix(X).toarray()


def transcription(X, L, m, alpha, beta, n_iterations):
    """Return W, Y and the objectives, with every matrix written out."""
    n, p = X.shape
    U, history = np.eye(p), []
    for _ in range(n_iterations):
        inverse = np.linalg.inv(X.T @ X + alpha * U)
        K = L + beta * np.eye(n) - beta * X @ inverse @ X.T
        Y = np.linalg.eigh((K + K.T) / 2)[1][:, :m]
        W = inverse @ X.T @ Y
        norms = np.linalg.norm(W, axis=1)
        U = np.diag(1 / (2 * norms + 2.2e-16))
        error = np.sum((X @ W - Y) ** 2)
        history.append(np.trace(Y.T @ L @ Y) + beta * (error + alpha * norms.sum()))
    return W, Y, history


@each(("name", "run"), list(all_runs("jelsr")))
def test_it_equals_the_numbers_of_the_public_code(name, run):
    given, values, data = run["parameters"], run["values"], inputs(name)
    local = read(f"lle_{name}")["outputs"]["runs"][0]["values"]
    structures = {"L": data["L"], **local}
    n_iterations = read(f"jelsr_{name}")["parameters"]["iterations"]

    found = fit(
        data[given["X"]],
        np.array(structures[given["L"]]),
        given["alpha"],
        given["beta"],
        max_iter=n_iterations,
    )
    norms, expected = np.linalg.norm(found.coef, axis=1), np.array(values["row_norms"])

    np.testing.assert_allclose(found.history, values["objective"], rtol=1e-6)
    np.testing.assert_allclose(norms, expected, rtol=0, atol=1e-6 * expected.max())


@SHAPE
@WEIGHTS
@each("wide", [False, True])
def test_both_sides_equal_the_transcription(shape, alpha, beta, wide):
    X, L = problem(shape)

    W, Y, history = transcription(X, L, 3, alpha, beta, 10)
    found = fit(X, L, alpha, beta, max_iter=10, wide=wide)

    np.testing.assert_allclose(found.history, history, rtol=1e-8)
    np.testing.assert_allclose(found.embedding @ found.embedding.T, Y @ Y.T, atol=1e-6)
    np.testing.assert_allclose(
        np.linalg.norm(found.coef, axis=1),
        np.linalg.norm(W, axis=1),
        atol=1e-7 * np.abs(W).max(),
    )


@SHAPE
@WEIGHTS
@each("drop_constant", [False, True])
def test_the_objective_never_rises(shape, alpha, beta, drop_constant):
    X, L = problem(shape)

    found = fit(X, L, alpha, beta, max_iter=60, drop_constant=drop_constant)

    assert (np.diff(found.history) <= 1e-12 * found.history[0]).all()


@SHAPE
def test_the_embedding_is_orthonormal_and_sums_to_zero(shape):
    X, L = problem(shape)

    embedding = fit(X, L, 1.0, 1.0, drop_constant=True).embedding

    np.testing.assert_allclose(embedding.T @ embedding, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(embedding.sum(axis=0), 0, atol=1e-10)


def test_the_published_rule_may_return_a_constant_column():
    # With a small beta the vector of ones has the lowest eigenvalue of all.
    X, L = problem((40, 12))
    ones = np.ones(40) / np.sqrt(40)

    kept = fit(X, L, 1.0, 1e-3).embedding
    dropped = fit(X, L, 1.0, 1e-3, drop_constant=True).embedding

    assert np.linalg.norm(ones @ kept) > 0.999
    assert np.linalg.norm(ones @ dropped) < 1e-10


@SHAPE
def test_without_a_regression_the_embedding_is_that_of_the_graph(shape):
    X, _ = problem(shape)
    L = laplacian(neighbour_graph(X, 8)).toarray()

    embedding = fit(X, L, 1.0, 1e-12, drop_constant=True).embedding

    expected = np.linalg.eigvalsh(L)[1:4].sum()
    assert np.trace(embedding.T @ L @ embedding) == pytest.approx(expected, abs=1e-9)


@SHAPE
def test_the_regression_is_optimal_at_the_end(shape):
    X, L = problem(shape)

    found = fit(X, L, 0.5, 1.0, max_iter=3000, tol=1e-13)
    norms = np.linalg.norm(found.coef, axis=1)
    slope = 2 * X.T @ (X @ found.coef - found.embedding)
    inside = norms > 1e-4 * norms.max()
    pull = 0.5 * found.coef[inside] / norms[inside, np.newaxis]

    np.testing.assert_allclose(slope[inside], -pull, atol=2e-3)
    assert np.linalg.norm(slope[~inside], axis=1).max(initial=0) <= 0.5 * (1 + 2e-2)


def test_it_stops_when_it_has_converged_or_is_told_to():
    X, L = problem((40, 12))

    converged = fit(X, L, 1.0, 1.0, tol=1e-3)
    told = fit(X, L, 1.0, 1.0, report=lambda iteration, _: iteration == 4)

    assert converged.converged
    assert len(converged.history) < 20
    assert not told.converged
    assert len(told.history) == 5


def test_the_lowest_vectors_leave_out_only_the_constant_one():
    L = laplacian(neighbour_graph(problem((30, 30))[0], 20)).toarray()
    values = np.linalg.eigvalsh(L)

    found = lowest_vectors(L.copy(), 29, drop_constant=True)

    np.testing.assert_allclose(
        np.einsum("ij,ij->j", found, L @ found), values[1:], atol=1e-10
    )
    np.testing.assert_allclose(found.sum(axis=0), 0, atol=1e-10)


# The selector

SHAPES = [(60, 20), (40, 120)]


@pytest.fixture(params=SHAPES, ids=["tall", "wide"])
def sample(request, planted):
    return planted(*request.param, n_informative=8)


def test_planted_columns_come_first(sample):
    order = JELSR(n_clusters=3).fit(sample.X).order_

    found = len(np.intersect1d(order[:8], sample.informative))
    assert found >= 7


def test_the_best_feature_has_the_longest_row(sample):
    # A public wrapper returns the ranking from worst to best.
    selector = JELSR(n_clusters=3).fit(sample.X)
    norms = np.linalg.norm(selector.coef_, axis=1)

    assert selector.order_[0] == norms.argmax()


def test_it_is_the_alternation_on_centred_data_in_its_own_unit(sample):
    X = sample.X - sample.X.mean(axis=0)
    unit = np.sqrt(3) / np.linalg.norm(X)
    selector = JELSR(n_clusters=3, alpha=2.0, beta=0.5).fit(sample.X)

    expected = fit_jelsr(
        as_matrix(X),
        local_linear_matrix(X),
        3,
        alpha=2.0,
        beta=0.5,
        # One weight for all features, in units where |X|^2 = 3.
        ridge_weights=np.full(X.shape[1], 1 / unit),
        drop_constant=True,
        max_iter=200,
        tol=1e-4,
    )

    np.testing.assert_allclose(selector.objective_history_, expected.history, rtol=1e-8)
    np.testing.assert_allclose(
        selector.scores_, np.linalg.norm(expected.coef, axis=1), atol=1e-8
    )


def test_equal_columns_share_their_weight(sample):
    best = JELSR(n_clusters=3).fit(sample.X).order_[0]
    X = np.column_stack([sample.X, sample.X[:, best]])

    scores = JELSR(n_clusters=3).fit(X).scores_

    assert scores[best] == pytest.approx(scores[-1], rel=1e-6)


def test_the_embedding_has_no_more_columns_than_samples_allow(planted):
    X = planted(4, 6, n_informative=3).X

    assert JELSR(n_clusters=4).fit(X).embedding_.shape == (4, 3)
