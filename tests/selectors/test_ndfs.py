"""NDFS: reference numbers, its transcription, its start, and the selector."""

import numpy as np
import pytest
import scipy.sparse as sp
from each_case import each
from oracle_files import all_runs, inputs, read
from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_rand_score
from solvers.naive import planted as simple

from ufselect import NDFS
from ufselect.matrix import as_matrix
from ufselect.solvers.graphs import neighbour_graph, normalised_laplacian
from ufselect.solvers.spectral_regression import (
    clusters_of_graph,
    fit_ndfs,
    indicator_from_labels,
    published_step,
    split_step,
    unit_columns,
)

SHAPE = each("shape", [(40, 12), (20, 45), (30, 30)])
WEIGHTS = each(
    ("alpha", "beta", "gamma"), [(1.0, 1.0, 1e2), (10.0, 0.1, 1e4), (1.0, 1.0, 1e8)]
)


def fit(X, Ln, F, alpha, beta, gamma, **options):
    settings = {
        "ridge_weights": np.ones(X.shape[1]),
        "damped": False,
        "max_iter": 30,
        "tol": 0.0,
    } | options
    return fit_ndfs(
        as_matrix(X),
        sp.csr_array(Ln),
        F,
        alpha=alpha,
        beta=beta,
        gamma=gamma,
        **settings,
    )


def problem(shape, moved=4):
    """Return data, its normalised Laplacian and a start with a few wrong labels."""
    X, labels = simple(*shape)
    labels = labels.copy()
    labels[:moved] = (labels[:moved] + 1) % 3
    Ln = normalised_laplacian(neighbour_graph(X, weights="heat")).toarray()
    return X - X.mean(axis=0), Ln, indicator_from_labels(labels, 3)


def transcription(X, Ln, F, alpha, beta, gamma, n_iterations):
    """Return W, F and the objectives, with every matrix written out."""
    n, p = X.shape
    D, history = np.eye(p), []
    for _ in range(n_iterations):
        inverse = np.linalg.inv(X.T @ X + beta * D)
        W = inverse @ X.T @ F
        M = Ln + alpha * (np.eye(n) - X @ inverse @ X.T)
        norms = np.linalg.norm(W, axis=1)
        D = np.diag(1 / (2 * np.sqrt(norms**2 + 2.2e-16)))
        F = F * (gamma * F) / (M @ F + gamma * F @ F.T @ F)
        F = F / np.linalg.norm(F, axis=0)
        history.append(
            np.trace(F.T @ Ln @ F)
            + alpha * (np.sum((X @ W - F) ** 2) + beta * norms.sum())
            + gamma / 2 * np.sum((F.T @ F - np.eye(F.shape[1])) ** 2)
        )
    return W, F, history


def fit_run(name, run, **options):
    """Fit one run of the public code, from its start."""
    given, data = run["parameters"], inputs(name)
    weights = given["alpha"], given["beta"], given["gamma"]
    return fit(data[given["X"]], data["Ln"], data["F0"], *weights, **options)


@each(("name", "run"), list(all_runs("ndfs")))
def test_it_equals_the_numbers_of_the_public_code(name, run):
    values, n_features = run["values"], inputs(name)["X"].shape[1]
    found = fit_run(
        name,
        run,
        ridge_weights=np.full(n_features, run["parameters"]["D0_diagonal"]),
        max_iter=read(f"ndfs_{name}")["parameters"]["iterations"],
    )
    norms, expected = np.linalg.norm(found.coef, axis=1), np.array(values["row_norms"])

    np.testing.assert_allclose(found.history, values["objective"], rtol=1e-6)
    np.testing.assert_allclose(found.indicators, values["F"], rtol=0, atol=1e-6)
    np.testing.assert_allclose(norms, expected, rtol=0, atol=1e-6 * expected.max())


@SHAPE
@each("gamma", [1e4, 1e6, 1e8])
@each("wide", [False, True])
def test_both_sides_equal_the_transcription(shape, gamma, wide):
    X, Ln, F = problem(shape)

    W, expected, history = transcription(X, Ln, F, 1.0, 1.0, gamma, 15)
    found = fit(X, Ln, F, 1.0, 1.0, gamma, max_iter=15, wide=wide)

    np.testing.assert_allclose(found.history, history, rtol=1e-8)
    np.testing.assert_allclose(found.indicators, expected, atol=1e-7)
    np.testing.assert_allclose(found.coef, W, atol=1e-7 * np.abs(W).max())


@SHAPE
@WEIGHTS
def test_the_damped_objective_never_rises(shape, alpha, beta, gamma):
    X, Ln, F = problem(shape)

    found = fit(X, Ln, F, alpha, beta, gamma, damped=True, max_iter=100)

    assert (np.diff(found.history) <= 1e-7 * np.array(found.history[:-1])).all()
    assert found.indicators.min() >= 0
    np.testing.assert_allclose(np.linalg.norm(found.indicators, axis=0), 1.0)


@each(("name", "run"), list(all_runs("ndfs")))
def test_damping_lowers_what_the_published_rule_may_raise(name, run):
    published = fit_run(name, run).history
    damped = fit_run(name, run, damped=True).history

    assert (np.diff(damped) <= 1e-7 * np.array(damped[:-1])).all()
    assert run["monotone"] == (np.diff(published) <= 1e-9 * published[0]).all()


@each("exponent", [1.0, 0.5, 0.25])
def test_both_steps_agree_where_nothing_is_negative(exponent):
    random = np.random.default_rng(0)
    F, pull = random.uniform(0.1, 1, (12, 3)), random.uniform(0, 5, (12, 3))
    ratio = published_step(F, pull, 50.0) / F
    expected = F * (ratio / ratio[0]) ** exponent

    found = split_step(F, pull, 50.0, exponent)

    np.testing.assert_allclose(found, unit_columns(expected), rtol=1e-10)


def test_a_negative_pull_makes_an_entry_grow():
    # The published rule would turn such an entry negative.
    F = unit_columns(np.array([[1.0, 0.1], [1.0, 0.1], [0.1, 1.0]]))
    pull = np.zeros((3, 2))
    pull[0, 1] = -5.0

    assert published_step(F, pull, 1.0)[0, 1] < 0
    assert split_step(F, pull, 1.0, 1.0)[0, 1] > F[0, 1]


@SHAPE
def test_a_zero_stays_zero_and_a_positive_start_does_not_lock(shape):
    # A public implementation starts from an indicator with zeros.
    X, Ln, F = problem(shape)
    locked = np.where(F > 0.2, F - 0.2, 0.0)

    found = fit(X, Ln, locked, 1.0, 0.1, 10.0, damped=True, max_iter=100)
    free = fit(X, Ln, F, 1.0, 0.1, 10.0, damped=True, max_iter=100)

    labels = np.arange(len(X)) % 3
    assert not found.indicators[locked == 0].any()
    np.testing.assert_array_equal(free.indicators.argmax(axis=1), labels)


@SHAPE
def test_with_a_huge_gamma_the_regression_is_that_of_the_start(shape):
    X, Ln, F = problem(shape)
    crisp = np.where(F > 0.2, F - 0.2, 0.0)

    found = fit(X, Ln, F, 1.0, 0.5, 1e12, damped=True, max_iter=2000, tol=1e-13)
    norms = np.linalg.norm(found.coef, axis=1)
    slope = 2 * X.T @ (X @ found.coef - crisp)
    inside = norms > 1e-4 * norms.max()
    pull = 0.5 * found.coef[inside] / norms[inside, np.newaxis]

    np.testing.assert_allclose(found.indicators, crisp, atol=1e-5)
    np.testing.assert_allclose(slope[inside], -pull, atol=2e-3)
    assert np.linalg.norm(slope[~inside], axis=1).max(initial=0) <= 0.5 * (1 + 2e-2)


def test_it_stops_when_it_has_converged_or_is_told_to():
    X, Ln, F = problem((40, 12))

    converged = fit(X, Ln, F, 1.0, 1.0, 1e8, damped=True, tol=1e-3)
    told = fit(X, Ln, F, 1.0, 1.0, 1e8, report=lambda iteration, _: iteration == 2)

    assert converged.converged
    assert len(converged.history) < 30
    assert not told.converged
    assert len(told.history) == 3


def test_the_start_is_left_alone():
    X, Ln, F = problem((20, 45))
    kept = F.copy()

    fit(X, Ln, F, 1.0, 1.0, 1e4, damped=True)

    np.testing.assert_array_equal(F, kept)


# The start


def graph_of(n_samples=60, n_neighbors=12):
    X, labels = simple(n_samples, 12, distance=1.0)
    return neighbour_graph(X, n_neighbors), labels


@each("name", ["A", "B"])
def test_it_equals_the_start_of_the_reference_numbers(name):
    found = indicator_from_labels(inputs(name)["partition"].astype(int), 3)

    np.testing.assert_allclose(found, inputs(name)["F0"], atol=1e-12)


def test_without_offset_the_columns_are_orthonormal():
    F = indicator_from_labels(np.arange(20) % 3, 3, 0.0)

    np.testing.assert_allclose(F.T @ F, np.eye(3), atol=1e-12)


def test_clusters_are_those_of_spectral_clustering():
    graph, _ = graph_of()
    model = SpectralClustering(
        3, affinity="precomputed", n_init=10, assign_labels="cluster_qr", random_state=0
    )
    expected = model.fit_predict(graph.toarray())

    found = clusters_of_graph(graph, 3, np.random.RandomState(0))

    assert adjusted_rand_score(expected, found) > 0.9


def test_planted_clusters_are_found():
    X, labels = simple(60, 12)
    graph = neighbour_graph(X)

    found = clusters_of_graph(graph, 3, np.random.RandomState(0))

    assert adjusted_rand_score(labels, found) == 1.0


@each("n_clusters", [1, 5, 6])
def test_as_many_clusters_as_samples_allow(n_clusters):
    X = np.random.default_rng(0).normal(size=(6, 3))
    graph = neighbour_graph(X, 2)

    labels = clusters_of_graph(graph, n_clusters, np.random.RandomState(0))

    assert len(set(labels)) == n_clusters


# The selector

SHAPES = [(60, 20), (40, 120)]


@pytest.fixture(params=SHAPES)
def sample(request, planted):
    return planted(*request.param, n_informative=8)


def made(**parameters):
    return NDFS(**{"n_clusters": 3, "random_state": 0, **parameters})


@each("gamma", [10.0, 1e8])
def test_planted_columns_and_clusters_are_found(sample, gamma):
    selector = made(gamma=gamma).fit(sample.X)

    found = len(np.intersect1d(selector.order_[:8], sample.informative))
    assert found >= 7
    assert adjusted_rand_score(sample.labels, selector.labels_) > 0.9


@each("sigma", [None, 4.0])
def test_it_is_the_alternation_on_centred_data_in_its_own_unit(sample, sigma):
    X = sample.X - sample.X.mean(axis=0)
    unit = np.sqrt(3) / np.linalg.norm(X)
    graph = neighbour_graph(X, 5, weights="heat", bandwidth=sigma)
    normalised = normalised_laplacian(graph)
    labels = clusters_of_graph(graph, 3, np.random.RandomState(0))

    selector = made(alpha=0.5, beta=2.0, gamma=100.0, sigma=sigma, tol=1e-4)
    selector.fit(sample.X)
    expected = fit_ndfs(
        as_matrix(X),
        normalised,
        indicator_from_labels(labels, 3),
        alpha=0.5,
        beta=2.0,
        gamma=100.0,
        # One weight for all features, in units where |X|^2 = 3.
        ridge_weights=np.full(X.shape[1], 1 / unit),
        max_iter=500,
        tol=1e-4,
    )

    np.testing.assert_allclose(selector.objective_history_, expected.history, rtol=1e-6)
    np.testing.assert_allclose(
        selector.scores_, np.linalg.norm(expected.coef, axis=1), atol=1e-6
    )


def printed_objective(X, fitted, roughness):
    """Return the objective of the paper for a given matrix of the samples."""
    X = X - X.mean(axis=0)
    F, W = fitted.indicators_, fitted.coef_
    overlap = F.T @ F - np.eye(F.shape[1])
    error = np.sum((X @ W - F) ** 2)
    sparsity = fitted.beta_ * np.linalg.norm(W, axis=1).sum()
    value = np.trace(F.T @ roughness @ F) + fitted.alpha * (error + sparsity)
    return value + fitted.gamma / 2 * np.sum(overlap**2)


def test_the_fit_has_a_laplacian(sample):
    # B2. A public implementation subtracts the graph from a row of degrees.
    selector = made(alpha=0.5, gamma=10.0).fit(sample.X)
    graph = neighbour_graph(sample.X, weights="heat").toarray()
    degrees = graph.sum(axis=1)
    normalised = graph / np.sqrt(np.outer(degrees, degrees))

    found = selector.objective_history_[-1]
    right = printed_objective(sample.X, selector, np.eye(len(graph)) - normalised)
    broadcast = printed_objective(sample.X, selector, degrees - graph)
    of_normalised = normalised.sum(axis=1) - normalised

    assert found == pytest.approx(right, rel=1e-6)
    assert found != pytest.approx(broadcast, rel=1e-2)
    assert found != pytest.approx(
        printed_objective(sample.X, selector, of_normalised), rel=1e-2
    )


@each("n_clusters", [2, 3, 5])
def test_there_are_as_many_clusters_as_asked_for(sample, n_clusters):
    # A public implementation always takes four.
    selector = made(n_clusters=n_clusters).fit(sample.X)

    assert selector.indicators_.shape == (len(sample.X), n_clusters)
    assert set(selector.labels_) == set(range(n_clusters))


def test_equal_columns_share_their_weight(sample):
    best = made().fit(sample.X).order_[0]
    X = np.column_stack([sample.X, sample.X[:, best]])

    scores = made().fit(X).scores_

    assert scores[best] == pytest.approx(scores[-1], rel=1e-6)


def test_a_sigma_far_too_small_still_gives_a_ranking(sample):
    # All weights underflow; binary ones take their place.
    selector = made(sigma=1e-3).fit(sample.X)

    found = len(np.intersect1d(selector.order_[:8], sample.informative))
    assert found >= 7


def test_a_single_cluster_ranks_by_distance_from_zero(sample):
    X = sample.X.copy()
    X[:, 4] += 50.0

    assert made(n_clusters=1).fit(X).order_[0] == 4
