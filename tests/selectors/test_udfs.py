"""UDFS against reference numbers, a plain transcription, and known faults of others."""

import numpy as np
import pytest
import scipy.sparse as sp
from each_case import each
from oracle_files import inputs, read
from sklearn.exceptions import ConvergenceWarning

from ufselect import UDFS
from ufselect.matrix import as_matrix
from ufselect.solvers import udfs
from ufselect.solvers.graphs import (
    clique_scatters,
    local_discriminant_matrix,
    neighbour_cliques,
)
from ufselect.solvers.udfs import (
    diagonal_of_scatter,
    fit_udfs,
    inverse_through_features,
    inverse_through_samples,
    smallest_through_features,
    smallest_through_samples,
    start_weights,
)

ROUTES = each("route", [smallest_through_features, smallest_through_samples])


def discriminant_of(X, ridge=1.0):
    cliques = neighbour_cliques(X, 5)
    return local_discriminant_matrix(
        clique_scatters(as_matrix(X), cliques), cliques, ridge
    )


def fit(X, L, weights, route, n_vectors=3, container=np.asarray, **options):
    settings = {"gamma": 1.0, "max_iter": 20, "tol": 0.0} | options
    matrix = as_matrix(container(X))
    return fit_udfs(matrix, L, weights, route(matrix, L, n_vectors), **settings)


def norms_of(found):
    return np.linalg.norm(found.coef, axis=1)


def transcription(M, weights, gamma, n_vectors, n_iterations):
    history = []
    for _ in range(n_iterations):
        W = np.linalg.eigh(M + gamma * np.diag(weights))[1][:, :n_vectors]
        norms = np.sqrt(np.sum(W**2, axis=1) + 2.2e-16)
        weights = 1 / (2 * norms)
        history.append(np.trace(W.T @ M @ W) + gamma * norms.sum())
    return np.linalg.norm(W, axis=1), history


TABLE = read("udfs_A")


@ROUTES
@each("run", TABLE["outputs"]["runs"])
def test_it_equals_the_numbers_of_the_public_code(run, route):
    X = inputs("A")["X"]
    given, values = TABLE["parameters"], run["values"]
    L = discriminant_of(X, given["lam"])

    found = fit(
        X,
        L,
        np.ones(15),
        route,
        given["n_clusters"],
        gamma=run["parameters"]["gamma"],
        max_iter=given["iterations"],
    )

    # With tol=0 the fit may stop where nothing changes any more.
    expected = values["objective"][: len(found.history)]
    np.testing.assert_allclose(found.history, expected, rtol=1e-6)
    np.testing.assert_allclose(norms_of(found), values["row_norms"], rtol=0, atol=1e-6)


@ROUTES
@each("shape", [(60, 12), (24, 40), (20, 80)])
@each("gamma", [0.1, 1.0])
def test_it_equals_the_transcription(planted, route, shape, gamma):
    X = planted(*shape, n_informative=6).X
    X = X - X.mean(axis=0)
    L = discriminant_of(X)
    diagonal = diagonal_of_scatter(as_matrix(X), L)
    weights = start_weights(diagonal, 3)

    np.testing.assert_allclose(diagonal, np.diag(X.T @ L @ X), rtol=1e-10)
    expected, history = transcription(X.T @ L @ X, weights, gamma, 3, 10)
    found = fit(X, L, weights, route, gamma=gamma, max_iter=10)

    # With tol=0 the fit may stop where nothing changes any more.
    history = history[: len(found.history)]
    np.testing.assert_allclose(found.history, history, rtol=1e-8)
    np.testing.assert_allclose(norms_of(found), expected, rtol=0, atol=1e-6)


@each("n_equal", [2, 3, 12])
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
@each("n_samples", [30, 300])
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


@each("container", [np.asarray, sp.csr_array, sp.csc_array])
@each("shape", [(12, 30), (30, 12)])
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


# The selector


@each("shape", [(60, 12), (24, 40), (40, 250)])
@each("small", [0, 1000])
def test_the_objective_never_rises(monkeypatch, planted, shape, small):
    monkeypatch.setattr(udfs, "MIN_SCATTER_FEATURES", small)

    selector = UDFS(n_clusters=3).fit(planted(*shape).X)
    history = selector.objective_history_

    assert (np.diff(history) <= 1e-9 * history[0]).all()
    np.testing.assert_allclose(selector.coef_.T @ selector.coef_, np.eye(3), atol=1e-9)


def scores_after_permuting(X, **parameters):
    permutation = np.random.RandomState(1).permutation(X.shape[1])
    selector = UDFS(n_clusters=3, **parameters)
    scores = selector.fit(X).scores_[permutation]
    return scores, selector.fit(X[:, permutation]).scores_


@each("shape", [(60, 20), (20, 60), (30, 300)])
def test_scores_follow_their_features(planted, shape):
    expected, found = scores_after_permuting(planted(*shape).X)

    np.testing.assert_allclose(found, expected, atol=1e-6)
    if shape == (20, 60):
        # From the published start they do not when p exceeds n.
        expected, found = scores_after_permuting(planted(*shape).X, start="identity")
        assert np.abs(found - expected).max() > 0.01


def test_numbers_mean_the_objective_as_printed(planted):
    X = planted(60, 12).X
    L = discriminant_of(X, 2.0)

    expected, history = transcription(X.T @ L @ X, np.ones(12), 0.5, 3, 5)
    selector = UDFS(
        n_clusters=3, lam=2.0, gamma=0.5, standardize=False, max_iter=5, tol=0.0
    )
    with pytest.warns(ConvergenceWarning, match="max_iter=5"):
        selector.fit(X)

    np.testing.assert_allclose(selector.objective_history_, history, rtol=1e-8)
    np.testing.assert_allclose(selector.scores_, expected, atol=1e-6)


# Parameters


def test_neighbours_that_do_not_differ_are_refused_and_clusters_limited(planted):
    X = np.repeat(planted(3, 12).X, 10, axis=0)

    with pytest.raises(ValueError, match="raise n_neighbors"):
        UDFS(n_clusters=3).fit(X)
    # More clusters than features leave a ranking.
    selector = UDFS(n_clusters=20).fit(planted(30, 5, n_informative=3).X)
    assert selector.coef_.shape == (5, 4)
    assert np.ptp(selector.scores_) > 0


@each(
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
    assert udfs.forms_scatter(shape, n_vectors) is formed
