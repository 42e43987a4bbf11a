"""NDFS as a selector."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils._param_validation import InvalidParameterError

from ufselect import NDFS
from ufselect.matrix import as_matrix
from ufselect.solvers.graphs import neighbour_graph, normalised_laplacian
from ufselect.solvers.spectral_regression import (
    clusters_of_graph,
    fit_ndfs,
    indicator_from_labels,
)

SHAPES = [(60, 20), (40, 120)]


@pytest.fixture(params=SHAPES, ids=["tall", "wide"])
def sample(request, planted):
    return planted(*request.param, n_informative=8)


def made(**parameters):
    return NDFS(**{"n_clusters": 3, "random_state": 0, **parameters})


@pytest.mark.parametrize("gamma", [10.0, 1e8])
def test_planted_columns_and_clusters_are_found(sample, gamma):
    selector = made(gamma=gamma).fit(sample.X)

    found = len(np.intersect1d(selector.order_[:8], sample.informative))
    assert found >= 7
    assert adjusted_rand_score(sample.labels, selector.labels_) > 0.9


@pytest.mark.parametrize("sigma", [None, 4.0])
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
        report=lambda iteration, value: False,
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


def test_labels_do_not_start_the_clusters(sample):
    # B8. A public implementation takes its first indicator from y.
    shuffled = np.random.default_rng(0).permutation(sample.labels)
    expected = made().fit(sample.X)

    for y in (sample.labels, shuffled, np.zeros(len(shuffled))):
        fitted = made().fit(sample.X, y)
        np.testing.assert_array_equal(fitted.indicators_, expected.indicators_)
        np.testing.assert_array_equal(fitted.scores_, expected.scores_)


@pytest.mark.parametrize("n_clusters", [2, 3, 5])
def test_there_are_as_many_clusters_as_asked_for(sample, n_clusters):
    # A public implementation always takes four.
    selector = made(n_clusters=n_clusters).fit(sample.X)

    assert selector.indicators_.shape == (len(sample.X), n_clusters)
    assert set(selector.labels_) == set(range(n_clusters))


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_the_unit_of_the_data_does_not_matter(sample, factor):
    first = made().fit(sample.X)
    second = made().fit(factor * sample.X)

    np.testing.assert_allclose(
        second.scores_ * factor, first.scores_, rtol=1e-5, atol=1e-9
    )
    assert second.beta_ == pytest.approx(factor * first.beta_)


def test_an_offset_does_not_matter(sample):
    first = made().fit(sample.X).scores_
    second = made().fit(sample.X + 1e5).scores_

    np.testing.assert_allclose(second, first, rtol=1e-4, atol=1e-7)


def test_equal_columns_share_their_weight(sample):
    best = made().fit(sample.X).order_[0]
    X = np.column_stack([sample.X, sample.X[:, best]])

    scores = made().fit(X).scores_

    assert scores[best] == pytest.approx(scores[-1], rel=1e-6)


@pytest.mark.parametrize("gamma", [1.0, 10.0, 100.0, 1e8])
def test_the_objective_does_not_rise(sample, gamma):
    selector = made(gamma=gamma, tol=1e-4).fit(sample.X)
    history = selector.objective_history_

    assert (np.diff(history) <= 1e-7 * history[:-1]).all()


def test_sparse_data_give_the_same_scores(sample):
    X = np.where(np.abs(sample.X) > 1, sample.X, 0.0)

    dense = made().fit(X).scores_
    sparse = made().fit(sp.csr_array(X)).scores_

    np.testing.assert_allclose(sparse, dense, rtol=1e-6, atol=1e-9)


def test_a_sigma_far_too_small_still_gives_a_ranking(sample):
    # All weights underflow; binary ones take their place.
    selector = made(sigma=1e-3).fit(sample.X)

    found = len(np.intersect1d(selector.order_[:8], sample.informative))
    assert found >= 7


def test_more_clusters_than_samples_are_refused(sample):
    message = "n_clusters=61 but X has n_samples=.*; ask for at most"

    with pytest.raises(ValueError, match=message):
        made(n_clusters=61).fit(sample.X)


def test_a_beta_that_leaves_nothing_is_refused(sample):
    with pytest.raises(ValueError, match=r"beta=1e\+20 .*W = 0.* well below"):
        made(beta=1e20).fit(sample.X)


def test_a_single_cluster_ranks_by_distance_from_zero(sample):
    X = sample.X.copy()
    X[:, 4] += 50.0

    assert made(n_clusters=1).fit(X).order_[0] == 4


def test_it_says_that_it_did_not_converge(sample):
    with pytest.warns(ConvergenceWarning, match="NDFS stopped after max_iter=2"):
        made(max_iter=2, tol=0).fit(sample.X)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("alpha", 0.0),
        ("beta", "best"),
        ("beta", -1.0),
        ("gamma", 0.0),
        ("n_clusters", 0),
        ("n_neighbors", 0),
        ("sigma", 0.0),
        ("max_iter", 0),
        ("tol", -1e-3),
    ],
)
def test_a_parameter_out_of_range_is_refused(sample, name, value):
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of NDFS"):
        NDFS(**{name: value}).fit(sample.X)


def test_the_published_grid_names_parameters():
    assert set(NDFS.PARAM_GRID) <= set(NDFS().get_params())


def test_verbose_prints_the_objective(sample, capsys):
    selector = made(verbose=True).fit(sample.X)

    assert f"iteration {selector.n_iter_}: objective" in capsys.readouterr().out
