"""UDFS: reference numbers, its formulas written out, its eigensolver and properties."""

import numpy as np
import pytest
import scipy.sparse as sp
from oracle_files import inputs, read
from regression_properties import (
    DescentProperties,
    iterates,
    objectives,
    row_norms,
    weight_in,
)
from sklearn.exceptions import ConvergenceWarning

from ufselect import UDFS
from ufselect.matrix import as_matrix
from ufselect.selectors import udfs
from ufselect.selectors.udfs import (
    forms_scatter,
    inverse_through_features,
    inverse_through_samples,
    smallest_through_features,
    smallest_through_samples,
)
from ufselect.solvers.graphs import (
    diagonal_of_scatter,
    local_discriminant_matrix,
    neighbourhoods_of,
    scatter_matrices,
)

ROUTES = pytest.mark.parametrize(
    "route", [smallest_through_features, smallest_through_samples]
)


def discriminant_of(X, lam=1.0):
    neighbourhoods = neighbourhoods_of(X, 5)
    return local_discriminant_matrix(
        scatter_matrices(as_matrix(X), neighbourhoods), neighbourhoods, lam
    )


def transcription(M, D, gamma, c, n_iterations):
    """Return the row norms of W and the objectives, by dense decompositions."""
    history = []
    for _ in range(n_iterations):
        W = np.linalg.eigh(M + gamma * np.diag(D))[1][:, :c]
        norms = np.sqrt(np.sum(W**2, axis=1) + 2.2e-16)
        D = 1 / (2 * norms)
        history.append(np.trace(W.T @ M @ W) + gamma * norms.sum())
    return row_norms(W), history


def start_of(M, c):
    """Return the diagonal of D as if row norms fell with the square root of M_ii."""
    norms = 1 / np.sqrt(np.diag(M))
    return np.linalg.norm(norms) / np.sqrt(c) / (2 * norms)


RUNS = read("udfs_A")["outputs"]["runs"]


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run['parameters']}")
def test_iterations_are_the_numbers_of_the_public_code(run):
    X, given, values = inputs("A")["X"], read("udfs_A")["parameters"], run["values"]
    L, c = discriminant_of(X, given["lam"]), given["n_clusters"]
    gamma, count = run["parameters"]["gamma"], given["iterations"]

    steps = iterates(
        UDFS(n_clusters=c, start="identity"), X, (L, None, None), gamma, count
    )
    written_out = transcription(X.T @ L @ X, np.ones(15), gamma, c, count)[0]

    np.testing.assert_allclose(objectives(steps), values["objective"], rtol=1e-6)
    for norms in (row_norms(steps[-1].W), written_out):
        np.testing.assert_allclose(norms, values["row_norms"], rtol=0, atol=1e-6)


@pytest.mark.parametrize("shape", [(60, 12), (24, 40), (40, 250)])
def test_the_diagonal_of_the_scatter_matrix(planted, shape):
    X = planted(*shape, n_informative=6).X
    L = discriminant_of(X)

    diagonal = diagonal_of_scatter(as_matrix(X), L)

    np.testing.assert_allclose(diagonal, np.diag(X.T @ L @ X), rtol=1e-8)


@pytest.mark.parametrize("n_equal", [2, 3, 12])
def test_equal_features_leave_the_smallest_eigenvectors_to_be_found(planted, n_equal):
    # Differences of equal features with equal weights share one eigenvalue.
    X = planted(24, 260).X
    X = np.hstack([X, np.repeat(X[:, :1], n_equal - 1, axis=1)])
    matrix, L = as_matrix(X), discriminant_of(X)
    M, weights = X.T @ L @ X, np.ones(X.shape[1])
    weights[1:260] += np.linspace(0.1, 5, 259)

    expected = np.linalg.eigvalsh(M + np.diag(weights))[:3].sum()
    W = smallest_through_samples(matrix, L, 3)(weights)

    np.testing.assert_allclose(W.T @ W, np.eye(3), atol=1e-10)
    found = np.trace(W.T @ M @ W) + weights @ np.square(W).sum(axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def eigenvalues_from_weights_to_weights(X, route, unit):
    # The difference of two equal features has a part in nothing that came before.
    X[:, -1] = X[:, -2]
    L = discriminant_of(X)
    M, weights = X.T @ L @ X, unit * np.linspace(1, 5, X.shape[1])
    solve = route(as_matrix(X), L, 3)
    for last in (10.0, 6.0, 0.9, 4.0):
        weights[-2:] = last * unit
        weighted = M + np.diag(weights)
        W = solve(weights)
        yield np.linalg.eigvalsh(W.T @ weighted @ W), np.linalg.eigvalsh(weighted)[:3]


@ROUTES
@pytest.mark.parametrize("n_samples", [30, 300])
def test_from_weights_to_weights_no_eigenvector_is_missed(
    monkeypatch, planted, route, n_samples
):
    monkeypatch.setattr(udfs, "MAX_DECOMPOSED_FEATURES", 0)
    X = planted(n_samples, 260).X

    for found, expected in eigenvalues_from_weights_to_weights(X, route, 1.0):
        np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_weights_may_be_less_than_rounding_errors(monkeypatch, planted):
    monkeypatch.setattr(udfs, "MAX_DECOMPOSED_FEATURES", 0)
    X = np.repeat(planted(300, 52).X, 5, axis=1)
    route = smallest_through_features

    for found, expected in eigenvalues_from_weights_to_weights(X, route, 1e-18):
        np.testing.assert_allclose(found, expected, atol=1e-12)


def positive_semi_definite(order, random):
    half = np.where(random.uniform(size=(order, order)) < 0.2, 1.0, 0.0)
    return sp.csr_array(half.T @ half)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("shape", [(12, 30), (30, 12)])
def test_both_ways_are_the_inverse(container, shape):
    random = np.random.RandomState(0)
    X, L = random.standard_normal(shape), positive_semi_definite(shape[0], random)
    block = random.standard_normal((shape[1], 3))
    M = X.T @ L.toarray() @ X
    ways = [
        inverse_through_features(M),
        inverse_through_samples(as_matrix(container(X)), L),
    ]

    for scale in (1.0, 1e-3):
        weights = scale * random.uniform(0.5, 5, shape[1])
        expected = np.linalg.solve(M + np.diag(weights), block)
        for inverse in ways:
            found = inverse(weights)(block)

            np.testing.assert_allclose(found, expected, atol=1e-9 / scale)
    np.testing.assert_array_equal(M, X.T @ L.toarray() @ X)


class TestUDFS(DescentProperties):
    METHOD = UDFS
    # M is formed for the first shape, and not for the second.
    SHAPES = ((60, 20), (40, 250))
    SETTINGS = (
        {"standardize": False, "lam": 2.0, "gamma": 0.5, "max_iter": 10, "tol": 0.0},
        {"gamma": 0.1, "max_iter": 10, "start": "scatter"},
    )

    def written_out(self, fitted, X):
        if fitted.standardize_ == "features":
            X = (X - X.mean(axis=0)) / X.std(axis=0)
        L = discriminant_of(X, weight_in(fitted, "lam"))
        M = X.T @ L @ X
        tall = fitted.start == "auto" and X.shape[1] < X.shape[0]
        D = np.ones(len(M)) if tall else start_of(M, 3)
        return transcription(M, D, weight_in(fitted, "gamma"), 3, fitted.n_iter_)

    def test_the_coefficients_are_orthonormal(self, X):
        W = self.fitted(X).coef_

        np.testing.assert_allclose(W.T @ W, np.eye(3), atol=1e-9)

    def test_constant_features_have_no_coefficients(self, X):
        with_constants = np.insert(X, [3, 10], 7.0, axis=1)

        W = self.fitted(with_constants).coef_

        assert not W[[3, 11]].any()


def test_from_the_published_start_scores_depend_on_the_order_of_features(planted):
    # Where p > n, the smallest eigenvalue of the first step has many eigenvectors.
    X = planted(20, 60).X
    places = np.random.RandomState(1).permutation(60)
    selector = UDFS(n_clusters=3, start="identity")

    scores = selector.fit(X).scores_[places]

    assert np.abs(selector.fit(X[:, places]).scores_ - scores).max() > 0.01


def test_it_says_that_it_did_not_converge(planted):
    with pytest.warns(ConvergenceWarning, match="max_iter=5"):
        UDFS(n_clusters=3, max_iter=5, tol=0.0).fit(planted(60, 12).X)


# Parameters


def test_neighbours_that_do_not_differ_are_refused_and_clusters_limited(planted):
    X = np.repeat(planted(3, 12).X, 10, axis=0)

    with pytest.raises(ValueError, match="raise n_neighbors"):
        UDFS(n_clusters=3).fit(X)
    # More clusters than features leave a ranking.
    selector = UDFS(n_clusters=20).fit(planted(30, 5, n_informative=3).X)
    assert selector.coef_.shape == (5, 4)
    assert np.ptp(selector.scores_) > 0


@pytest.mark.parametrize(
    ("shape", "n_vectors", "formed"),
    [
        ((500, 400), 2, True),
        ((50, 200), 2, True),
        ((400, 1024), 40, True),
        ((400, 1024), 8, False),
        ((400, 3000), 200, False),
    ],
)
def test_a_square_of_the_features_is_formed_where_that_is_quicker(
    shape, n_vectors, formed
):
    assert forms_scatter(shape, n_vectors) is formed
