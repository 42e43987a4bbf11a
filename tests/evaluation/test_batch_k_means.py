"""Lloyd's iteration from given centres against scikit-learn's."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.exceptions import ConvergenceWarning

from ufselect.evaluation.k_means import (
    SampleDistances,
    best_restart,
    greedy_seeds,
    lloyd,
    n_draws,
)

KEPT = pytest.mark.parametrize("keep_pairs_up_to", [0, 5000])


def from_centres(columns, centres, tol=1e-4, max_iter=300, **options):
    """Run restarts from centres (B, c, k)."""
    geometry = SampleDistances(columns, **options)
    distances = geometry.to_points(centres - columns.mean(axis=0))
    tolerance = tol * geometry.variance
    return lloyd(geometry, distances, tolerance=tolerance, max_iter=max_iter)


def by_scikit_learn(columns, centres, tol=1e-4, max_iter=300):
    labels, inertia = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for start in centres:
            model = KMeans(len(start), init=start, n_init=1, tol=tol, max_iter=max_iter)
            model.fit(columns)
            labels.append(model.labels_)
            inertia.append(model.inertia_)
    return np.array(labels), np.array(inertia)


@KEPT
@pytest.mark.parametrize("shape", [(200, 3), (200, 30), (25, 60)])
def test_labels_equal_those_of_scikit_learn(shape, keep_pairs_up_to):
    random = np.random.default_rng(3)
    columns = random.standard_normal(shape)
    # No cluster stays empty: centres that coincide are told apart by rounding only.
    starts = np.array([random.permutation(shape[0])[:7] for _ in range(40)])
    centres = columns[starts] + 0.1 * random.standard_normal((40, 7, shape[1]))
    expected = by_scikit_learn(columns, centres)

    labels, inertia = from_centres(columns, centres, keep_pairs_up_to=keep_pairs_up_to)

    assert (labels == expected[0]).all()
    assert inertia == pytest.approx(expected[1])


@KEPT
@pytest.mark.parametrize("n_far", [1, 3, 5])
def test_empty_clusters_are_filled_as_scikit_learn_fills_them(n_far, keep_pairs_up_to):
    random = np.random.default_rng(n_far)
    columns = random.standard_normal((80, 4))
    centres = random.standard_normal((30, 6, 4))
    centres[:, :n_far] += 100.0
    expected = by_scikit_learn(columns, centres)
    first = ((columns[:, None] - centres[0]) ** 2).sum(axis=2).argmin(axis=1)
    assert len(np.unique(first)) <= 6 - n_far

    labels, inertia = from_centres(columns, centres, keep_pairs_up_to=keep_pairs_up_to)

    assert (labels == expected[0]).all()
    assert inertia == pytest.approx(expected[1])


@pytest.mark.parametrize("options", [{"max_iter": 1}, {"max_iter": 3}, {"tol": 0.5}])
def test_an_early_end_gives_the_labels_of_the_last_centres(options):
    random = np.random.default_rng(4)
    columns = random.standard_normal((120, 5))
    centres = random.standard_normal((20, 6, 5))
    expected = by_scikit_learn(columns, centres, **options)

    labels, inertia = from_centres(columns, centres, **options)

    assert (labels == expected[0]).all()
    assert inertia == pytest.approx(expected[1])


def test_an_empty_cluster_that_cannot_be_filled_follows_the_biggest():
    columns = np.array([[0.0], [0.0], [0.0], [6.0]])
    centres = np.array([[[0.0], [6.0], [50.0]]])
    labels, inertia = from_centres(columns, centres)

    assert labels.tolist() == by_scikit_learn(columns, centres)[0].tolist()
    assert inertia == pytest.approx(0.0)


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
    assert seeds[0, 0] == (0 if value == 0.0 else 8)


def test_among_equal_clusterings_the_first_restart_is_kept():
    labels = np.array([[0, 0, 1], [1, 1, 0], [0, 1, 1]])

    assert best_restart(labels, np.array([1.0, 1.0 - 1e-15, 2.0])) == 0
    assert best_restart(labels, np.array([1.0, 1.0, 1.0 - 1e-15])) == 2
    assert best_restart(labels, np.array([1.0, 0.5, 2.0])) == 1


SHAPES = pytest.mark.parametrize("shape", [(30, 4), (12, 40)])


@SHAPES
@KEPT
def test_distances_to_samples_are_euclidean(shape, keep_pairs_up_to):
    columns = np.random.default_rng(0).standard_normal(shape) + 3.0
    geometry = SampleDistances(columns, keep_pairs_up_to)
    samples = np.array([[1, 5, 7], [0, 2, 11]])
    expected = cdist(columns, columns, "sqeuclidean")[samples]

    assert geometry.to_samples(samples) == pytest.approx(expected)
    assert geometry.variance == pytest.approx(columns.var(axis=0).mean())


@SHAPES
@KEPT
@pytest.mark.parametrize("group", [1, 2])
def test_distances_to_means_are_euclidean(shape, keep_pairs_up_to, group):
    random = np.random.default_rng(1)
    columns = random.standard_normal(shape)
    labels = np.array([random.permutation(np.arange(shape[0]) % 3) for _ in range(4)])
    sizes = np.array([np.bincount(row) for row in labels], dtype=float)
    expected = [
        cdist([columns[row == j].mean(axis=0) for j in range(3)], columns) ** 2
        for row in labels
    ]
    members = labels + 3 * np.arange(4)[:, None]
    geometry = SampleDistances(sp.csr_array(columns), keep_pairs_up_to)

    assert geometry.to_means(members, sizes, group) == pytest.approx(np.array(expected))
