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
from ufselect.selectors.ndfs import (
    clusters_of_graph,
    fit_ndfs,
    indicator_from_labels,
    published_step,
    split_step,
)
from ufselect.solvers.graphs import neighbour_graph, normalised_laplacian
from ufselect.solvers.spectral import unit_columns

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
    # Damping lowers what the published rule may raise.
    published, damped = (
        fit_run(name, run, damped=damped).history for damped in (False, True)
    )
    assert (np.diff(damped) <= 1e-7 * np.array(damped[:-1])).all()
    assert run["monotone"] == (np.diff(published) <= 1e-9 * published[0]).all()
    start = indicator_from_labels(inputs(name)["partition"].astype(int), 3)
    np.testing.assert_allclose(start, inputs(name)["F0"], atol=1e-12)


@SHAPE
@each("gamma", [1e4, 1e6, 1e8])
def test_it_equals_the_transcription_and_leaves_its_start_alone(shape, gamma):
    X, Ln, F = problem(shape)
    F.flags.writeable = False

    W, expected, history = transcription(X, Ln, F, 1.0, 1.0, gamma, 15)
    found = fit(X, Ln, F, 1.0, 1.0, gamma, max_iter=15)

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


def test_a_negative_pull_makes_an_entry_grow():
    # The published rule would turn such an entry negative.
    F = unit_columns(np.array([[1.0, 0.1], [1.0, 0.1], [0.1, 1.0]]))
    pull = np.zeros((3, 2))
    pull[0, 1] = -5.0

    assert published_step(F, pull, 1.0)[0, 1] < 0
    assert split_step(F, pull, 1.0, 1.0)[0, 1] > F[0, 1]
    # Where nothing is negative both steps agree.
    for exponent in (1.0, 0.5, 0.25):
        ratio = published_step(F, np.abs(pull), 50.0) / F
        expected = unit_columns(F * (ratio / ratio[0]) ** exponent)
        found = split_step(F, np.abs(pull), 50.0, exponent)
        np.testing.assert_allclose(found, expected, rtol=1e-10)


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


# The start


def graph_of(n_samples=60, n_neighbors=12):
    X, labels = simple(n_samples, 12, distance=1.0)
    return neighbour_graph(X, n_neighbors), labels


def test_clusters_are_those_of_spectral_clustering():
    graph, _ = graph_of()
    model = SpectralClustering(
        3, affinity="precomputed", n_init=10, assign_labels="cluster_qr", random_state=0
    )
    expected = model.fit_predict(graph.toarray())

    found = clusters_of_graph(graph, 3, np.random.RandomState(0))

    assert adjusted_rand_score(expected, found) > 0.9


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
    # A single cluster ranks by the distance from zero.
    X = sample.X.copy()
    X[:, 4] += 50.0
    assert made(n_clusters=1).fit(X).order_[0] == 4


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
