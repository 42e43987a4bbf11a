"""GraphEnergy: proven by a naive transcription and by what its score must not see."""

import numpy as np
import pytest
from each_case import each

from ufselect import GraphEnergy
from ufselect.data import planted


def naive_scores(X, K, k):
    """The formulas of the card, on all samples."""
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


@each("geometry", ["blobs", "rings", "counts", "subspaces"])
def test_planted_columns_come_first(geometry):
    data = planted(geometry, n_samples=90, n_useful=20, n_noise=80)

    order = GraphEnergy(max_correlation=None, random_state=0).fit(data.table).order_

    assert data.informative[order[:20]].mean() >= 0.9


def test_units_do_not_matter_if_features_are_scaled(few):
    scaled = few * np.logspace(-3, 3, 8)

    first, second = (
        GraphEnergy(standardize=True, random_state=0).fit(X) for X in (few, scaled)
    )

    np.testing.assert_allclose(first.scores_, second.scores_, atol=1e-8)


def test_a_copy_comes_behind_the_others(few):
    X = np.column_stack([few, few[:, 0]])

    selector = GraphEnergy(max_correlation=0.9, random_state=0).fit(X)

    assert {0, 8} & {selector.order_[-1]}
    assert selector.standardize_ == "none"


def test_many_samples_cost_as_much_as_a_thousand():
    data = planted("blobs", n_samples=3000, n_useful=10, n_noise=40)

    selector = GraphEnergy(10, n_subsamples=2, random_state=0).fit(data.table)

    assert data.informative[selector.get_support()].all()
