"""False discovery rates of features, from eigenvectors that did not see them."""

import numpy as np
import pytest

from ufselect.data import planted
from ufselect.matrix import as_matrix
from ufselect.tuning.false_discovery import (
    effective_samples,
    features_that_follow,
    q_values,
)


def following(X, seed=0):
    return features_that_follow(
        as_matrix(X - X.mean(axis=0)), np.random.RandomState(seed)
    )


def test_q_values_are_the_naive_ones():
    random = np.random.default_rng(0)
    shares, permuted = random.random(40) ** 0.3, random.random((5, 40))

    rates = np.array(
        [(1 + np.sum(permuted >= t)) / 5 / np.sum(shares >= t) for t in shares]
    )
    expected = [rates[shares <= t].min() for t in shares]

    np.testing.assert_allclose(q_values(shares, permuted), np.minimum(expected, 1.0))


def test_of_noise_hardly_anything_is_a_discovery():
    random = np.random.default_rng(0)
    found = [
        np.sum(following(random.normal(size=(60, 300)), seed).q_values <= 0.05)
        for seed in range(10)
    ]

    # One false discovery makes the whole of it false: at most one table in twenty.
    assert np.mean(np.array(found) > 0) <= 0.3
    assert np.sum(found) <= 10


@pytest.mark.parametrize("geometry", ["blobs", "rings", "subspaces"])
def test_planted_columns_are_discoveries_and_few_others_are(geometry):
    data = planted(geometry, n_samples=120, n_useful=30, n_noise=270)

    discovered = following(data.table).q_values <= 0.05

    assert discovered[data.informative].mean() >= 0.8
    assert (~data.informative[discovered]).mean() <= 0.15


def test_rare_words_are_compared_with_rare_words():
    # Two outlying samples share words that occur nowhere else, as many by chance do.
    random = np.random.default_rng(0)
    data = planted("blobs", n_samples=100, n_useful=20, n_noise=80)
    rare = np.zeros((100, 200))
    rare[random.integers(100, size=200), np.arange(200)] = 50.0
    X = np.hstack([data.table, rare])

    found = following(X)

    assert (found.q_values[:100][data.informative] <= 0.05).mean() >= 0.8
    assert (found.q_values[100:] <= 0.05).mean() <= 0.05


def test_effective_samples_lie_between_one_and_all():
    X = np.zeros((20, 3))
    X[0, 0], X[:, 1] = 1.0, np.tile([-1.0, 1.0], 10)

    found = effective_samples(as_matrix(X))

    np.testing.assert_allclose(found, [1.0, 20.0, 1.0])


def test_a_single_column_follows_nothing():
    found = following(np.arange(10.0)[:, np.newaxis])

    assert (found.shares[0], found.q_values[0]) == (0.0, 1.0)
