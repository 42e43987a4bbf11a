"""GraphEnergy: proven by a naive transcription and by what its score must not see."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.manifold import SpectralEmbedding

from ufselect import GraphEnergy
from ufselect.matrix import as_matrix
from ufselect.solvers.graph_scores import (
    centred_basis,
    column_squares,
    draw_subsamples,
    energy_shares,
    graph_vectors,
    principal_vectors,
    self_tuning_graph,
)
from ufselect.solvers.rankings import lowered, redundant_features


def naive_scores(X, K, k):
    """The formulas of the page, on all samples."""
    d = np.linalg.norm(X[:, None] - X[None], axis=2)
    np.fill_diagonal(d, np.inf)
    s = np.sort(d, axis=1)[:, k - 1]
    near = d <= s[:, None]
    W = np.where(near | near.T, np.exp(-(d**2) / np.outer(s, s)), 0.0)
    D = W.sum(axis=1)
    values, vectors = np.linalg.eigh(W / np.sqrt(np.outer(D, D)))
    V = vectors[:, np.argsort(-values)[1 : K + 1]]
    V = np.linalg.qr(V - V.mean(axis=0))[0]
    Z = X - X.mean(axis=0)
    share = ((V.T @ Z) ** 2).sum(axis=0) / (Z**2).sum(axis=0)
    return share, share * Z.std(axis=0) / Z.std(axis=0).max()


@pytest.fixture(scope="module")
def few():
    # So few samples are not divided into subsamples.
    random = np.random.default_rng(3)
    return random.normal(size=(14, 8)) * random.uniform(0.5, 3, size=8)


def test_scores_are_the_naive_ones(few):
    selector = GraphEnergy(
        n_components=3, n_neighbors=4, max_correlation=None, random_state=0
    ).fit(few)

    shares, scores = naive_scores(few, 3, 4)
    np.testing.assert_allclose(selector.shares_, shares, atol=1e-8)
    np.testing.assert_allclose(selector.scores_, scores, atol=1e-8)


def test_a_copy_comes_behind_the_others(few):
    X = np.column_stack([few, few[:, 0]])

    selector = GraphEnergy(max_correlation=0.9, random_state=0).fit(X)

    assert {0, 8} & {selector.order_[-1]}
    assert selector.standardize_ == "none"


def naive_weights(X, k):
    n = len(X)
    d = np.array([[np.linalg.norm(a - b) for b in X] for a in X])
    scale = [np.sort(np.delete(d[i], i))[k - 1] for i in range(n)]
    W = np.zeros((n, n))
    for i in range(n):
        for j in np.argsort(np.where(np.arange(n) == i, np.inf, d[i]))[:k]:
            W[i, j] = W[j, i] = np.exp(-(d[i, j] ** 2) / (scale[i] * scale[j]))
    return W


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(30, 6))


def test_the_graph_is_the_naive_one(X):
    centred = X - X.mean(axis=0)

    graph = self_tuning_graph(centred @ centred.T, 4)

    np.testing.assert_allclose(graph.toarray(), naive_weights(X, 4), atol=1e-10)


def test_the_vectors_are_those_of_spectral_embedding(X):
    centred = X - X.mean(axis=0)
    embedding = SpectralEmbedding(3, affinity="precomputed", random_state=0)

    found = graph_vectors(centred @ centred.T, 3, 6)
    W = naive_weights(X, 6)
    expected = embedding.fit_transform(W) * np.sqrt(W.sum(axis=1))[:, np.newaxis]

    np.testing.assert_allclose(
        found @ found.T, expected @ np.linalg.pinv(expected), atol=1e-6
    )


def test_of_separate_regular_groups_the_share_is_that_between_them():
    # On hexagons all samples have the same degree.
    groups = np.repeat(np.arange(3), 6)
    angles = np.tile(np.arange(6) * np.pi / 3, 3)
    X = np.column_stack([np.cos(angles), np.sin(angles), 1e-3 * angles**2])
    X[:, 0] += 1000 * groups
    centred = np.column_stack([X - X.mean(axis=0), np.zeros(len(X))])
    basis = centred_basis(graph_vectors(centred @ centred.T, 2, 2))

    found = energy_shares(as_matrix(centred), basis, column_squares(as_matrix(centred)))

    means = np.array([centred[groups == group].mean(axis=0) for group in range(3)])
    squares = np.maximum((centred**2).sum(axis=0), 1e-300)
    eta = (means[groups] ** 2).sum(axis=0) / squares
    np.testing.assert_allclose(found[:3], eta[:3], atol=1e-10)
    # A constant column has no share.
    assert found[3] == 0.0


@pytest.mark.parametrize("copies", [2, 15])
def test_equal_samples_leave_a_graph_with_edges(copies):
    rows = np.random.default_rng(0).normal(size=(30 // copies, 4))
    X = np.repeat(rows, copies, axis=0)

    graph = self_tuning_graph(X @ X.T, 5)

    assert np.isfinite(graph.data).all()
    assert graph.sum(axis=1).min() > 0


def test_principal_vectors_are_left_singular_vectors(X):
    centred = X - X.mean(axis=0)

    left = np.linalg.svd(centred)[0][:, :2]
    for narrow in (None, as_matrix(centred)):
        found = principal_vectors(centred @ centred.T, 2, narrow)
        np.testing.assert_allclose(np.abs(found), np.abs(left), atol=1e-10)


def test_a_direction_without_variance_has_no_principal_vector(X):
    copies = np.column_stack([X[:, 0], X[:, 0]]) - X[:, 0].mean()

    found = principal_vectors(copies @ copies.T, 2, as_matrix(copies))

    np.testing.assert_allclose(np.linalg.norm(found, axis=0), [1.0, 0.0], atol=1e-8)


# What rankings share


def test_a_feature_behind_correlates_with_one_before_it():
    random = np.random.default_rng(0)
    X = random.normal(size=(50, 4))
    X = np.column_stack([X, X[:, 0] + 0.1 * random.normal(size=50), np.ones(50)])
    data = as_matrix(X)

    found = redundant_features(data, np.array([4, 0, 1, 2, 3, 5]), 0.8)

    np.testing.assert_array_equal(found, [0])
    sparse = as_matrix(sp.csr_array(X))
    order = np.array([0, 1, 4, 2, 3, 5])
    np.testing.assert_array_equal(redundant_features(sparse, order, 0.8), [4])


def test_lowered_scores_come_behind_in_their_order():
    scores = np.array([5.0, 1.0, 4.0, 2.0])

    found = lowered(scores, np.array([0, 2]), np.ones(len(scores), dtype=bool))

    np.testing.assert_array_equal(np.argsort(-found), [3, 1, 0, 2])
    np.testing.assert_array_equal(found[[1, 3]], scores[[1, 3]])


@pytest.mark.parametrize(
    ("n_samples", "sizes"),
    [(9, [9]), (15, [15]), (18, [15, 15]), (90, [60, 60]), (9000, [1000, 1000])],
)
def test_subsamples_are_two_thirds_within_bounds(n_samples, sizes):
    found = draw_subsamples(n_samples, 2, 1000, np.random.RandomState(0))

    assert [len(rows) for rows in found] == sizes
    assert all(len(np.unique(rows)) == len(rows) for rows in found)
