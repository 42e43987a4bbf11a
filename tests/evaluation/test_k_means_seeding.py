"""Greedy k-means++ against scikit-learn's, and on extreme random numbers."""

import numpy as np
import pytest
from sklearn.cluster import kmeans_plusplus

from ufselect.evaluation.batch_k_means import first_seeds, greedy_seeds, n_draws
from ufselect.evaluation.sample_distances import SampleDistances


@pytest.mark.parametrize("n_clusters", [1, 2, 7, 12])
def test_the_same_random_numbers_choose_what_scikit_learn_chooses(n_clusters):
    # With more clusters, two samples nearest to each other are equally good.
    columns = np.random.default_rng(0).standard_normal((60, 3))
    seeds = range(20)
    uniforms = np.array(
        [np.random.RandomState(s).uniform(size=n_draws(n_clusters)) for s in seeds]
    )
    expected = [kmeans_plusplus(columns, n_clusters, random_state=s)[1] for s in seeds]

    assert (
        greedy_seeds(SampleDistances(columns), uniforms, n_clusters) == expected
    ).all()


@pytest.mark.parametrize("value", [0.0, 1.0 - 2.0**-53])
def test_the_ends_of_the_unit_interval_choose_samples(value):
    columns = np.random.default_rng(0).standard_normal((9, 2))
    uniforms = np.full((2, n_draws(4)), value)
    seeds = greedy_seeds(SampleDistances(columns), uniforms, 4)

    assert seeds.min() >= 0
    assert seeds.max() <= 8


def test_first_seeds_split_the_unit_interval_evenly():
    assert first_seeds(np.array([0.0, 0.24, 0.26, 0.99]), 4).tolist() == [0, 0, 1, 3]
