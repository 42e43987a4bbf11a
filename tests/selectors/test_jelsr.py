"""JELSR: reference numbers, its transcription, optimality, and the selector."""

import numpy as np
import pytest
import scipy.sparse as sp
from each_case import each
from oracle_files import all_runs, inputs, read
from solvers.naive import planted as made

from ufselect import JELSR
from ufselect.matrix import as_matrix
from ufselect.selectors.jelsr import fit_jelsr, lowest_vectors
from ufselect.solvers.graphs import laplacian, local_linear_matrix, neighbour_graph

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
def test_it_equals_the_transcription(shape, alpha, beta):
    X, L = problem(shape)

    W, Y, history = transcription(X, L, 3, alpha, beta, 10)
    found = fit(X, L, alpha, beta, max_iter=10)

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
    embedding = found.embedding

    assert (np.diff(found.history) <= 1e-12 * found.history[0]).all()
    np.testing.assert_allclose(embedding.T @ embedding, np.eye(3), atol=1e-10)


def test_the_published_rule_may_return_a_constant_column():
    # With a small beta the vector of ones has the lowest eigenvalue of all.
    X, L = problem((40, 12))
    ones = np.ones(40) / np.sqrt(40)

    kept = fit(X, L, 1.0, 1e-3).embedding
    dropped = fit(X, L, 1.0, 1e-3, drop_constant=True).embedding

    assert np.linalg.norm(ones @ kept) > 0.999
    assert np.linalg.norm(ones @ dropped) < 1e-10


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


def test_the_embedding_has_no_more_columns_than_samples_allow(planted):
    X = planted(4, 6, n_informative=3).X

    assert JELSR(n_clusters=4).fit(X).embedding_.shape == (4, 3)
