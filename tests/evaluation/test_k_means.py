"""k-means of many seeds against scikit-learn, seed by seed."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from ufselect.evaluation import k_means, repeated_k_means
from ufselect.evaluation.k_means import (
    SampleDistances,
    best_restart,
    greedy_seeds,
    lloyd,
    n_draws,
)


def overlapping(n_samples=150, n_columns=5, n_groups=12):
    """Return samples of overlapping groups: many local minima."""
    random = np.random.default_rng(7)
    groups = random.integers(0, n_groups, n_samples)
    means = 2.0 * random.standard_normal((n_groups, n_columns))
    noise = random.standard_normal((n_samples, n_columns))
    return means[groups] + noise


def by_scikit_learn(columns, n_clusters, seeds, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        models = [
            KMeans(n_clusters, random_state=seed, **options).fit(columns)
            for seed in seeds
        ]
    labels = np.array([model.labels_ for model in models])
    return labels, np.array([model.inertia_ for model in models])


def inertia_by_definition(columns, labels):
    return sum(
        ((columns[labels == cluster] - columns[labels == cluster].mean(axis=0)) ** 2)
        .sum()
        .item()
        for cluster in np.unique(labels)
    )


@pytest.mark.parametrize("n_init", [1, 10])
@pytest.mark.parametrize(
    ("shape", "n_clusters", "options"),
    [
        *(((150, 5), 12, {}), ((40, 90), 4, {}), ((300, 3), 2, {}), ((60, 60), 1, {})),
        *(((150, 5), 9, rule) for rule in ({"max_iter": 2}, {"tol": 0}, {"tol": 0.3})),
    ],
)
def test_labels_and_inertia_are_those_of_scikit_learn(
    shape, n_clusters, n_init, options
):
    columns = overlapping(*shape)
    options = options | {"n_init": n_init}
    expected = by_scikit_learn(columns, n_clusters, range(8), **options)

    labels, inertia = repeated_k_means(columns, n_clusters, seeds=range(8), **options)

    assert (labels == expected[0]).all()
    assert inertia == pytest.approx(expected[1], rel=1e-9, abs=1e-9)


def same(first, second, rel=0.0):
    """Tell whether labels are the same, and inertias up to rounding."""
    return (first[0] == second[0]).all() and first[1] == pytest.approx(second[1], rel)


def test_batches_blocks_pairs_and_containers_do_not_change_the_answer(monkeypatch):
    columns = overlapping()
    columns[columns < 0.5] = 0.0
    answer = repeated_k_means(columns, 12, seeds=range(6), n_init=3)
    alone = [repeated_k_means(columns, 12, seeds=[s], n_init=3) for s in range(6)]

    def again(table):
        return repeated_k_means(table, 12, seeds=range(6), n_init=3)

    assert same(answer, [np.concatenate(parts) for parts in zip(*alone, strict=True)])
    assert same(answer, again(sp.csr_array(columns)))
    assert same(answer, again(columns + 1e6), rel=1e-6)
    monkeypatch.setattr(k_means, "BLOCK", 1)
    assert same(answer, again(columns))
    # Without the distances of all pairs.
    monkeypatch.setattr(k_means.SampleDistances.__init__, "__defaults__", (0,))
    assert same(answer, again(columns), rel=1e-9)


def test_fewer_distinct_rows_than_clusters_are_warned_of():
    columns = np.repeat([[0.0, 1.0], [4.0, 2.0], [9.0, 9.0]], 5, axis=0)
    with pytest.warns(ConvergenceWarning, match="found 3 distinct clusters"):
        labels, inertia = repeated_k_means(columns, 5, seeds=range(3), n_init=4)

    assert all(inertia_by_definition(columns, row) == 0 for row in labels)
    assert inertia == pytest.approx(np.zeros(3), abs=1e-9)
    with pytest.warns(ConvergenceWarning, match="found 1 distinct clusters"):
        labels, inertia = repeated_k_means(np.ones((6, 2)), 3, seeds=[0], n_init=2)
    assert len(np.unique(labels)) == 1
    assert inertia == 0.0


def test_as_many_clusters_as_samples_leave_nothing_and_no_seeds_give_no_rows():
    columns = overlapping(30, 4)
    labels, inertia = repeated_k_means(columns, 30, seeds=range(3), n_init=2)
    none = repeated_k_means(np.eye(4), 2, seeds=[])

    assert all(len(np.unique(row)) == 30 for row in labels)
    assert inertia == pytest.approx(np.zeros(3), abs=1e-9)
    assert (none[0].shape, none[1].shape) == ((0, 4), (0,))


@pytest.mark.parametrize(
    ("n_clusters", "options", "complaint"),
    [
        (5, {}, "n_clusters=5 must be between 1 and the 4 samples"),
        (0, {}, "n_clusters=0 must be between 1 and the 4 samples"),
        (2, {"n_init": 0}, "n_init=0 must be at least 1"),
        (2, {"max_iter": 0}, "max_iter=0 must be at least 1"),
    ],
)
def test_impossible_numbers_are_named(n_clusters, options, complaint):
    with pytest.raises(ValueError, match=complaint):
        repeated_k_means(np.eye(4), n_clusters, seeds=[0], **options)
    for convert in (np.asarray, sp.csr_array):
        with pytest.raises(ValueError, match=r"reach 1e\+200, whose square is not fin"):
            repeated_k_means(convert(1e200 * np.eye(3)), 2, seeds=[0])
    with pytest.raises(ValueError, match="infinity"):
        repeated_k_means([[np.inf], [-np.inf], [0.0]], 2, seeds=[0])


def test_an_untidy_sparse_matrix_is_left_as_it_was():
    parts = np.array([1.0, 2.0, 9.0]), np.array([0, 0, 0]), np.array([0, 2, 3])
    untidy = sp.csr_array(parts, shape=(2, 1))

    repeated_k_means(untidy, 2, seeds=[0])

    assert untidy.nnz == 3


# Restarts from given centres


def from_centres(columns, centres, **options):
    """Return labels and inertia of restarts from centres (B, c, k)."""
    geometry = SampleDistances(columns, **options)
    distances = geometry.to_points(centres - columns.mean(axis=0))
    return lloyd(geometry, distances, tolerance=1e-4 * geometry.variance, max_iter=300)


@pytest.mark.parametrize("keep_pairs_up_to", [0, 5000])
@pytest.mark.parametrize("n_far", [0, 1, 3, 5])
def test_empty_clusters_are_filled_as_scikit_learn_fills_them(n_far, keep_pairs_up_to):
    random = np.random.default_rng(n_far)
    columns = random.standard_normal((80, 4))
    centres = random.standard_normal((30, 6, 4))
    centres[:, :n_far] += 100.0
    expected = [by_scikit_learn(columns, 6, [0], init=c, n_init=1) for c in centres]
    first = ((columns[:, None] - centres[0]) ** 2).sum(axis=2).argmin(axis=1)
    assert len(np.unique(first)) <= 6 - n_far

    labels, inertia = from_centres(columns, centres, keep_pairs_up_to=keep_pairs_up_to)

    assert (labels == np.concatenate([each for each, _ in expected])).all()
    assert inertia == pytest.approx(np.concatenate([each for _, each in expected]))


def test_an_empty_cluster_that_cannot_be_filled_follows_the_biggest():
    columns = np.array([[0.0], [0.0], [0.0], [6.0]])
    centres = np.array([[0.0], [6.0], [50.0]])
    expected, _ = by_scikit_learn(columns, 3, [0], init=centres, n_init=1)

    labels, inertia = from_centres(columns, centres[np.newaxis])

    assert labels.tolist() == expected.tolist()
    assert inertia == pytest.approx(0.0)


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
