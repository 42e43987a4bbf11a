"""NDFS: reference numbers, its formulas written out, its start and its properties."""

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
from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_rand_score
from solvers.naive import planted as simple

from ufselect import NDFS
from ufselect.selectors.ndfs import (
    clusters_of_graph,
    indicator_from_labels,
    multiplicative_step,
)
from ufselect.solvers.graphs import neighbour_graph, normalised_laplacian
from ufselect.solvers.spectral import unit_columns

SHAPES = [(40, 12), (20, 45), (30, 30)]


def published_step(F, MF, gamma):
    """Return F after the printed rule, which may make it negative."""
    F = F * (gamma * F) / (MF + gamma * F @ F.T @ F)
    return F / np.linalg.norm(F, axis=0)


def damped_step(F, MF, gamma, objective):
    """Return F after the first power 1, 1/2, ... that does not raise the objective.

    Negative parts of M F are in the numerator.
    """
    top = gamma * F + np.maximum(-MF, 0) + 2.2e-16
    bottom = gamma * F @ F.T @ F + np.maximum(MF, 0) + 2.2e-16
    for halvings in range(7):
        moved = F * (top / bottom) ** 0.5**halvings
        moved = moved / np.linalg.norm(moved, axis=0)
        if objective(moved) <= objective(F):
            return moved
    return F


def transcription(X, Ln, F, weights, n_iterations, *, D=1.0, damped=False):
    """Return W, F and the objectives, with every matrix written out.

    The published rule has no damping; NDFS has it.
    """
    alpha, beta, gamma = weights
    n, p = X.shape
    D, history = D * np.eye(p), []
    for _ in range(n_iterations):
        inverse = np.linalg.inv(X.T @ X + beta * D)
        W = inverse @ X.T @ F
        M = Ln + alpha * (np.eye(n) - X @ inverse @ X.T)
        norms = row_norms(W)
        D = np.diag(1 / (2 * np.sqrt(norms**2 + 2.2e-16)))

        def objective(F, W=W, norms=norms):
            return (
                np.trace(F.T @ Ln @ F)
                + alpha * (np.sum((X @ W - F) ** 2) + beta * norms.sum())
                + gamma / 2 * np.sum((F.T @ F - np.eye(F.shape[1])) ** 2)
            )

        MF = M @ F
        F = (
            damped_step(F, MF, gamma, objective)
            if damped
            else published_step(F, MF, gamma)
        )
        history.append(objective(F))
    return W, F, history


def problem(shape, moved=4):
    """Return data, its normalised Laplacian and a start with a few wrong labels."""
    X, labels = simple(*shape)
    labels = labels.copy()
    labels[:moved] = (labels[:moved] + 1) % 3
    Ln = normalised_laplacian(neighbour_graph(X, weights="heat"))
    return X - X.mean(axis=0), Ln, indicator_from_labels(labels, 3)


def run_of(X, Ln, F, alpha, beta, gamma, count):
    return iterates(NDFS(alpha=alpha, gamma=gamma), X, (Ln, F), beta, count)


@pytest.mark.parametrize(("name", "run"), list(all_runs("ndfs")))
def test_the_published_rule_gives_the_numbers_of_the_public_code(name, run):
    given, values, data = run["parameters"], run["values"], inputs(name)
    X, Ln, F = data[given["X"]], data["Ln"], data["F0"]
    weights = given["alpha"], given["beta"], given["gamma"]
    n_iterations = read(f"ndfs_{name}")["parameters"]["iterations"]
    start = given["D0_diagonal"]

    W, found, history = transcription(X, Ln, F, weights, n_iterations, D=start)
    damped = transcription(X, Ln, F, weights, n_iterations, D=start, damped=True)[2]

    np.testing.assert_allclose(history, values["objective"], rtol=1e-6)
    np.testing.assert_allclose(found, values["F"], rtol=0, atol=1e-6)
    assert_close(row_norms(W), np.array(values["row_norms"]))
    # Damping lowers what the published rule may raise.
    assert (np.diff(damped) <= 1e-7 * np.array(damped[:-1])).all()
    assert run["monotone"] == (np.diff(history) <= 1e-9 * history[0]).all()
    labels = data["partition"].astype(int)
    np.testing.assert_allclose(indicator_from_labels(labels, 3), F, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
# With the smallest gamma, most steps have an exponent below one.
@pytest.mark.parametrize("gamma", [1e-2, 1e2, 1e4, 1e8])
def test_iterations_equal_the_damped_formulas_and_leave_the_start_alone(shape, gamma):
    X, Ln, F = problem(shape)
    F.flags.writeable = False

    steps = run_of(X, Ln, F, 1.0, 1.0, gamma, 8)
    W, expected, history = transcription(
        X, Ln.toarray(), F, (1.0, 1.0, gamma), 8, damped=True
    )

    np.testing.assert_allclose(objectives(steps), history, rtol=1e-8)
    np.testing.assert_allclose(steps[-1].structure, expected, atol=1e-7)
    assert_close(steps[-1].W, W, 1e-7)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "weights", [(1.0, 1.0, 1e2), (10.0, 0.1, 1e4), (1.0, 1.0, 1e8)]
)
def test_F_stays_non_negative_and_of_unit_length(shape, weights):
    steps = run_of(*problem(shape), *weights, 100)
    F, history = steps[-1].structure, np.array(objectives(steps))

    assert (np.diff(history) <= 1e-7 * history[:-1]).all()
    assert F.min() >= 0
    np.testing.assert_allclose(np.linalg.norm(F, axis=0), 1.0)


def test_a_negative_pull_makes_an_entry_grow():
    # The published rule would turn such an entry negative.
    F = unit_columns(np.array([[1.0, 0.1], [1.0, 0.1], [0.1, 1.0]]))
    pull = np.zeros((3, 2))
    pull[0, 1] = -5.0

    assert published_step(F, pull, 1.0)[0, 1] < 0
    assert multiplicative_step(F, pull, 1.0, 1.0)[0, 1] > F[0, 1]
    # Where nothing is negative both steps agree.
    for exponent in (1.0, 0.5, 0.25):
        ratio = published_step(F, np.abs(pull), 50.0) / F
        expected = unit_columns(F * (ratio / ratio[0]) ** exponent)
        found = multiplicative_step(F, np.abs(pull), 50.0, exponent)
        np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_zero_stays_zero_and_a_positive_start_does_not_lock(shape):
    # A public implementation starts from an indicator with zeros.
    X, Ln, F = problem(shape)
    locked = np.where(F > 0.2, F - 0.2, 0.0)

    found = run_of(X, Ln, locked, 1.0, 0.1, 10.0, 100)[-1].structure
    free = run_of(X, Ln, F, 1.0, 0.1, 10.0, 100)[-1].structure

    assert not found[locked == 0].any()
    np.testing.assert_array_equal(free.argmax(axis=1), np.arange(len(X)) % 3)


# The start


def test_clusters_are_those_of_spectral_clustering():
    graph = neighbour_graph(simple(60, 12, distance=1.0)[0], 12)
    model = SpectralClustering(
        3, affinity="precomputed", n_init=10, assign_labels="cluster_qr", random_state=0
    )
    expected = model.fit_predict(graph.toarray())

    found = clusters_of_graph(graph, 3, np.random.RandomState(0))

    assert adjusted_rand_score(expected, found) > 0.9


@pytest.mark.parametrize("n_clusters", [1, 5, 6])
def test_as_many_clusters_as_samples_allow(n_clusters):
    X = np.random.default_rng(0).normal(size=(6, 3))
    graph = neighbour_graph(X, 2)

    labels = clusters_of_graph(graph, n_clusters, np.random.RandomState(0))

    assert len(set(labels)) == n_clusters


class TestNDFS(DescentProperties):
    METHOD = NDFS
    SETTINGS = (
        {"gamma": 100.0, "tol": 1e-4},
        {"alpha": 0.5, "beta": 2.0, "gamma": 100.0, "sigma": 4.0, "tol": 1e-4},
    )
    ROUNDING = 1e-7

    def written_out(self, fitted, X):
        X = X - X.mean(axis=0)
        graph = neighbour_graph(X, 5, weights="heat", bandwidth=fitted.sigma)
        labels = clusters_of_graph(graph, 3, np.random.RandomState(0))
        W, _, history = transcription(
            X,
            normalised_laplacian(graph).toarray(),
            indicator_from_labels(labels, 3),
            (fitted.alpha, weight_in(fitted, "beta"), fitted.gamma),
            fitted.n_iter_,
            # One weight for all features, in units where |X|^2 = 3.
            D=np.linalg.norm(X) / np.sqrt(3),
            damped=True,
        )
        return row_norms(W), history

    @pytest.mark.parametrize("gamma", [10.0, 1e8])
    @pytest.mark.parametrize("shape", [(60, 20), (40, 120)])
    def test_planted_columns_and_clusters_are_found(self, planted, shape, gamma):
        X, labels, informative = planted(*shape, n_informative=8)

        selector = self.fitted(X, gamma=gamma)

        assert len(np.intersect1d(selector.order_[:8], informative)) >= 7
        assert adjusted_rand_score(labels, selector.labels_) > 0.9

    def test_a_single_cluster_ranks_by_the_distance_from_zero(self, X):
        X = X.copy()
        X[:, 4] += 50.0

        assert self.fitted(X, n_clusters=1).order_[0] == 4

    def test_the_fit_has_a_laplacian(self, X):
        # A public implementation subtracts the graph from a row of degrees.
        selector = self.fitted(X, alpha=0.5, gamma=10.0)
        graph = neighbour_graph(X, weights="heat").toarray()
        degrees = graph.sum(axis=1)
        normalised = graph / np.sqrt(np.outer(degrees, degrees))

        found = selector.objective_history_[-1]
        right = printed_objective(X, selector, np.eye(len(graph)) - normalised)
        broadcast = printed_objective(X, selector, degrees - graph)
        of_normalised = normalised.sum(axis=1) - normalised

        assert found == pytest.approx(right, rel=1e-6)
        assert found != pytest.approx(broadcast, rel=1e-2)
        assert found != pytest.approx(
            printed_objective(X, selector, of_normalised), rel=1e-2
        )


def printed_objective(X, fitted, roughness):
    """Return the objective of the paper for a given matrix of the samples."""
    X = X - X.mean(axis=0)
    F, W = fitted.indicators_, fitted.coef_
    overlap = F.T @ F - np.eye(F.shape[1])
    error = np.sum((X @ W - F) ** 2)
    sparsity = fitted.beta_ * row_norms(W).sum()
    value = np.trace(F.T @ roughness @ F) + fitted.alpha * (error + sparsity)
    return value + fitted.gamma / 2 * np.sum(overlap**2)
