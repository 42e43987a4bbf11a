"""JELSR: reference numbers, its formulas written out, and its properties."""

import numpy as np
import pytest
from oracle_files import all_runs, inputs, read
from regression_properties import (
    DescentProperties,
    assert_close,
    iterates,
    objectives,
    row_norms,
    weight_in,
)
from solvers.naive import planted as made

from ufselect import JELSR
from ufselect.selectors.jelsr import lowest_vectors
from ufselect.solvers.graphs import laplacian, local_linear_matrix, neighbour_graph


def transcription(X, L, c, alpha, beta, n_iterations, *, D=1.0, with_ones=True):
    """Return W, Y and the objectives, with every matrix written out.

    The published rule starts from D = I and may return the vector of ones in Y; JELSR
    leaves it out.
    """
    n, p = X.shape
    D, history = D * np.eye(p), []
    lift = np.zeros((n, n)) if with_ones else np.full((n, n), 1e6 / n)
    for _ in range(n_iterations):
        inverse = np.linalg.inv(X.T @ X + alpha * D)
        K = L + beta * np.eye(n) - beta * X @ inverse @ X.T
        Y = np.linalg.eigh((K + K.T) / 2 + lift)[1][:, :c]
        W = inverse @ X.T @ Y
        norms = row_norms(W)
        D = np.diag(1 / (2 * norms + 2.2e-16))
        error = np.sum((X @ W - Y) ** 2)
        history.append(np.trace(Y.T @ L @ Y) + beta * (error + alpha * norms.sum()))
    return W, Y, history


def problem(shape):
    X = made(*shape)[0]
    X = X - X.mean(axis=0)
    return X, local_linear_matrix(X)


@pytest.mark.parametrize(("name", "run"), list(all_runs("jelsr")))
def test_the_published_rule_gives_the_numbers_of_the_public_code(name, run):
    given, values, data = run["parameters"], run["values"], inputs(name)
    local = read(f"lle_{name}")["outputs"]["runs"][0]["values"]
    L = np.array({"L": data["L"], **local}[given["L"]])
    n_iterations = read(f"jelsr_{name}")["parameters"]["iterations"]

    W, _, history = transcription(
        data[given["X"]], L, 3, given["alpha"], given["beta"], n_iterations
    )

    np.testing.assert_allclose(history, values["objective"], rtol=1e-6)
    assert_close(row_norms(W), np.array(values["row_norms"]))


@pytest.mark.parametrize("shape", [(40, 12), (20, 45), (30, 30)])
@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (0.1, 10.0), (10.0, 0.1)])
def test_iterations_equal_the_formulas_without_the_vector_of_ones(shape, alpha, beta):
    X, L = problem(shape)

    steps = iterates(JELSR(n_clusters=3, beta=beta), X, L, alpha, 10)
    W, Y, history = transcription(X, L.toarray(), 3, alpha, beta, 10, with_ones=False)

    np.testing.assert_allclose(objectives(steps), history, rtol=1e-8)
    np.testing.assert_allclose(
        steps[-1].structure @ steps[-1].structure.T, Y @ Y.T, atol=1e-6
    )
    assert_close(row_norms(steps[-1].W), row_norms(W))


class TestJELSR(DescentProperties):
    METHOD = JELSR
    SETTINGS = ({}, {"alpha": 2.0, "beta": 0.5})
    ROUNDING = 1e-12

    def written_out(self, fitted, X):
        X = X - X.mean(axis=0)
        W, _, history = transcription(
            X,
            local_linear_matrix(X).toarray(),
            3,
            weight_in(fitted, "alpha"),
            fitted.beta,
            fitted.n_iter_,
            # One weight for all features, in units where |X|^2 = 3.
            D=np.linalg.norm(X) / np.sqrt(3),
            with_ones=False,
        )
        return row_norms(W), history

    def test_the_embedding_is_orthonormal_and_without_the_vector_of_ones(self, X):
        Y = self.fitted(X).embedding_

        np.testing.assert_allclose(Y.T @ Y, np.eye(3), atol=1e-10)
        np.testing.assert_allclose(Y.sum(axis=0), 0, atol=1e-9)


def test_the_published_rule_may_return_a_constant_column():
    # With a small beta the vector of ones has the lowest eigenvalue of all.
    X, L = problem((40, 12))

    kept = transcription(X, L.toarray(), 3, 1.0, 1e-3, 20)[1]

    assert np.linalg.norm(kept.sum(axis=0)) / np.sqrt(40) > 0.999


def test_the_lowest_vectors_leave_out_only_the_constant_one():
    L = laplacian(neighbour_graph(problem((30, 30))[0], 20)).toarray()
    values = np.linalg.eigvalsh(L)

    found = lowest_vectors(L.copy(), 29)

    np.testing.assert_allclose(
        np.einsum("ij,ij->j", found, L @ found), values[1:], atol=1e-10
    )
    np.testing.assert_allclose(found.sum(axis=0), 0, atol=1e-10)


def test_the_embedding_has_no_more_columns_than_samples_allow(planted):
    X = planted(4, 6, n_informative=3).X

    assert JELSR(n_clusters=4).fit(X).embedding_.shape == (4, 3)
