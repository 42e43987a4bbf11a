"""The best of several runs of k-means is scikit-learn's, and so is what it draws."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

from ufselect.evaluation.batch_k_means import best_restart, k_means_of_draws, n_draws
from ufselect.evaluation.sample_distances import SampleDistances


@pytest.mark.parametrize("n_clusters", [1, 2, 7])
def test_labels_and_draws_are_those_of_scikit_learn(n_clusters):
    points = np.random.default_rng(3).standard_normal((80, 4))
    random, other = np.random.RandomState(5), np.random.RandomState(5)

    draws = random.uniform(size=(1, 10 * n_draws(n_clusters)))
    labels, _ = k_means_of_draws(SampleDistances(points), draws, n_clusters, 10)
    expected = KMeans(n_clusters, n_init=10, random_state=other).fit_predict(points)

    assert np.array_equal(labels[0], expected)
    assert random.uniform() == other.uniform()


def test_among_equal_clusterings_the_first_restart_is_kept():
    labels = np.array([[0, 0, 1], [1, 1, 0], [0, 1, 1]])

    assert best_restart(labels, np.array([1.0, 1.0 - 1e-15, 2.0])) == 0
    assert best_restart(labels, np.array([1.0, 1.0, 1.0 - 1e-15])) == 2
    assert best_restart(labels, np.array([1.0, 0.5, 2.0])) == 1
