"""The best of several runs of k-means is scikit-learn's, and so is what it draws."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

from ufselect.numerics import restarted_k_means
from ufselect.numerics.restarted_k_means import best_restart, k_means_labels


@pytest.mark.parametrize("n_clusters", [1, 2, 7])
@pytest.mark.parametrize("few_samples", [10, 1000])
def test_labels_and_draws_are_those_of_scikit_learn(
    monkeypatch, few_samples, n_clusters
):
    monkeypatch.setattr(restarted_k_means, "FEW_SAMPLES", few_samples)
    points = np.random.default_rng(3).standard_normal((80, 4))
    random, other = np.random.RandomState(5), np.random.RandomState(5)

    labels = k_means_labels(points, n_clusters, random)
    expected = KMeans(n_clusters, n_init=10, random_state=other).fit_predict(points)

    assert np.array_equal(labels, expected)
    assert random.uniform() == other.uniform()


def test_among_equal_clusterings_the_first_restart_is_kept():
    labels = np.array([[0, 0, 1], [1, 1, 0], [0, 1, 1]])

    assert best_restart(labels, np.array([1.0, 1.0 - 1e-15, 2.0])) == 0
    assert best_restart(labels, np.array([1.0, 1.0, 1.0 - 1e-15])) == 2
    assert best_restart(labels, np.array([1.0, 0.5, 2.0])) == 1
