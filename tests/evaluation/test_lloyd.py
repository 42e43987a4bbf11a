"""Lloyd's iteration from given centres against scikit-learn's."""

import warnings

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from ufselect.evaluation.batch_k_means import lloyd
from ufselect.evaluation.sample_distances import SampleDistances

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
