"""Agreement with classes: indices by definition, k-means, rankings, classifiers."""

from itertools import combinations, permutations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import normalized_mutual_info_score
from sklearn.model_selection import StratifiedKFold

from ufselect.evaluation import (
    adjusted_rand,
    agreement,
    clustering_accuracy,
    judge_by_classification,
    judge_by_k_means,
    judge_ranking,
    mutual_information,
    purity,
)
from ufselect.evaluation.judging import METRICS

CLASSES = np.repeat([0, 1, 2], 20)


def one_by_one(classes, clusters):
    """Return all indices by their definitions, or by scikit-learn."""
    accuracy = max(
        np.mean(np.array(relabelling)[clusters] == classes)
        for relabelling in permutations(range(4))
    )
    information = [
        normalized_mutual_info_score(classes, clusters, average_method=normaliser)
        for normaliser in ("geometric", "arithmetic", "max", "min")
    ]
    commonest = [
        np.unique(classes[clusters == cluster], return_counts=True)[1].max()
        for cluster in np.unique(clusters)
    ]
    # Hubert and Arabie: pairs together in both, less what is expected by chance.
    pairs = list(combinations(range(len(classes)), 2))
    same_class = np.array([classes[i] == classes[j] for i, j in pairs])
    same_cluster = np.array([clusters[i] == clusters[j] for i, j in pairs])
    expected = same_class.sum() * same_cluster.sum() / max(1, len(pairs))
    above = np.sum(same_class & same_cluster) - expected
    most = (same_class.sum() + same_cluster.sum()) / 2 - expected
    rand = above / most if abs(most) > 1e-12 else 1.0
    return [accuracy, *information, rand, sum(commonest) / len(classes)]


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 1)),
        min_size=2,
        max_size=20,
    )
)
def test_every_index_equals_its_definition(triples):
    classes, *labellings = np.array(triples).T
    expected = [one_by_one(classes, clusters) for clusters in labellings]

    assert agreement(classes, labellings) == pytest.approx(np.array(expected), abs=1e-7)


def test_labels_may_be_of_any_kind_and_number():
    classes, clusters = ["a", "a", "a", "b", "b", "c"], [0, 0, 1, 1, 1, 1]
    perfect = agreement([3, 3, 8, 8, 9], [[2, 2, 0, 0, 1]])
    two = agreement(["a", "a", "b"], [[0, 0, 0]], ["purity", "adjusted_rand"])

    assert clustering_accuracy(["a", "a", "b"], [5, 5, 2]) == 1.0
    assert clustering_accuracy([0, 0, 0, 0], [0, 1, 2, 3]) == 0.25
    assert purity(classes, clusters) == pytest.approx((2 + 2) / 6)
    assert adjusted_rand(classes, classes) == 1.0
    assert mutual_information(classes, clusters, "max") == pytest.approx(
        normalized_mutual_info_score(classes, clusters, average_method="max")
    )
    assert perfect == pytest.approx(np.ones((1, len(METRICS))))
    assert two == pytest.approx(np.array([[2 / 3, 0.0]]))
    with pytest.raises(ValueError, match=r"\['beauty'\] are unknown"):
        agreement([0, 1], [[0, 1]], ["accuracy", "beauty"])


@pytest.fixture
def table():
    random = np.random.default_rng(0)
    means = 2.0 * random.standard_normal((3, 6))
    return np.repeat(means, 20, axis=0) + random.standard_normal((60, 6))


def test_judge_agrees_with_a_loop_over_scikit_learn(table):
    models = [KMeans(3, n_init=2, random_state=seed) for seed in range(6)]
    expected = [
        clustering_accuracy(CLASSES, model.fit_predict(table[:, :2]))
        for model in models
    ]

    scores = judge_by_k_means(table[:, :2], CLASSES, seeds=range(6), n_init=2)

    assert scores[:, 0] == pytest.approx(expected)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array, sp.csr_matrix])
def test_a_ranking_is_judged_as_its_leading_columns_are(table, convert):
    order, seeds = [4, 1, 0, 5, 2, 3], [3, 8]
    scores = judge_ranking(
        convert(table), order, CLASSES, sizes=[2, 4], seeds=seeds, n_init=2
    )
    expected = [
        judge_by_k_means(
            table[:, columns], CLASSES, seeds=seeds, n_init=2, metrics=None
        )
        for columns in ([1, 4], [0, 1, 4, 5])
    ]

    assert scores.shape == (2, 2, 7)
    assert (scores == np.array(expected)).all()
    with pytest.raises(ValueError, match=r"sizes has 7; .* 6 columns"):
        judge_ranking(table, range(6), CLASSES, sizes=[2, 7], seeds=[0], n_init=1)


def test_equal_sets_of_columns_are_judged_once(table):
    cache = {}
    options = {"sizes": [2, 3], "seeds": [0], "n_init": 1, "cache": cache}
    judge_ranking(table, [4, 1, 0, 2], CLASSES, **options)[:] = -1.0
    assert cache[1, 4].min() > -1.0
    cache[1, 4] += 10.0

    scores = judge_ranking(table, [1, 4, 2, 0], CLASSES, **options)

    assert sorted(cache) == [(0, 1, 4), (1, 2, 4), (1, 4)]
    assert scores[0].min() > 9.0


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_columns_are_judged_in_the_units_that_are_asked_for(table, convert):
    units = table * [1, 1, 1, 1, 1, 1e4]
    scaled = (table - table.mean(axis=0)) / table.std(axis=0)
    options = {"seeds": range(3), "n_init": 3}
    found = judge_by_k_means(convert(units), CLASSES, standardize="features", **options)
    raw = judge_by_k_means(convert(units), CLASSES, **options)

    assert found == pytest.approx(judge_by_k_means(scaled, CLASSES, **options))
    assert raw == pytest.approx(judge_by_k_means(table[:, 5:], CLASSES, **options))
    # Of a ranking, the whole table is prepared.
    counts = np.abs(table)
    lengths = np.linalg.norm(counts, axis=1, keepdims=True)
    of_ranking = [
        judge_ranking(each, range(6), CLASSES, sizes=[2], standardize=kind, **options)
        for each, kind in ((convert(counts), "samples"), (counts / lengths, False))
    ]
    assert of_ranking[0] == pytest.approx(of_ranking[1])
    with pytest.raises(ValueError, match="standardize='rows' is not known; use 'auto'"):
        judge_by_k_means(table, CLASSES, standardize="rows")


# Classifiers


def naive_scores(columns, classes, n_splits, seed):
    """Scale, fit and count fold by fold; the nearest neighbour by hand."""
    right = np.zeros(2)
    folds = StratifiedKFold(n_splits, shuffle=True, random_state=seed)
    for train, test in folds.split(columns, classes):
        mean, deviation = columns[train].mean(axis=0), columns[train].std(axis=0)
        known, new = ((columns[rows] - mean) / deviation for rows in (train, test))
        nearest = np.linalg.norm(new[:, np.newaxis] - known, axis=2).argmin(axis=1)
        model = LogisticRegression(max_iter=1000).fit(known, classes[train])
        right += [
            np.sum(classes[train][nearest] == classes[test]),
            np.sum(model.predict(new) == classes[test]),
        ]
    return right / len(classes)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_classifiers_are_judged_as_by_the_naive_folds(planted, convert):
    X, labels, _ = planted(60, 8, n_informative=3, distance=1.0)
    X = X * np.arange(1, 9) + 3
    found = judge_by_classification(convert(X), labels, n_splits=4, seeds=[0, 7])

    assert found == pytest.approx(
        np.array([naive_scores(X, labels, 4, seed) for seed in (0, 7)])
    )
    assert 0.4 < found.min() <= found.max() < 1.0
    large = np.repeat([[1e30], [3e30]], 6, axis=0).astype(np.float32)
    scores = judge_by_classification(convert(large), [0] * 6 + [1] * 6, seeds=[0])
    assert scores[0, 0] == 1.0


def test_units_and_rare_classes_do_not_matter_and_noise_gives_chance(planted):
    X, labels, _ = planted(60, 5, n_informative=3, distance=1.0)
    names = np.array(["a", "b", "c"])[labels]
    scores = judge_by_classification(X, names, seeds=[0])
    # Powers of two change no digit; a class smaller than the folds is left out.
    scaled = judge_by_classification(X * 2.0 ** np.arange(-2, 3), names, seeds=[0])
    rare = np.concatenate([names, ["d"] * 4])
    padded = judge_by_classification(np.vstack([X, X[:4] + 9]), rare, seeds=[0])
    noise = np.random.RandomState(0).standard_normal((300, 4))
    chance = judge_by_classification(noise, np.arange(300) % 3, seeds=range(2))

    np.testing.assert_array_equal(scaled, scores)
    np.testing.assert_array_equal(padded, scores)
    assert chance == pytest.approx(1 / 3, abs=0.08)
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    depth = np.geomspace(1, 100, 60)[:, np.newaxis]
    found = judge_by_classification(X * depth, names, seeds=[0], standardize="samples")
    expected = judge_by_classification(X / lengths, names, seeds=[0])
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    ("scale", "classes", "options", "message"),
    [
        (1, [0, 0, 1], {}, r"classes has shape \(3,\) but there are 10 samples"),
        (1, [0] * 8 + [1] * 2, {}, "1 class.* have at least n_splits=5 members"),
        (1, [0] * 5 + [1] * 5, {"n_splits": 1}, "n_splits=1; ask for at least two"),
        (1e200, [0] * 5 + [1] * 5, {}, "whose square is not finite"),
    ],
)
def test_what_cannot_be_classified_is_refused(scale, classes, options, message):
    columns = scale * np.arange(20.0).reshape(10, 2)

    with pytest.raises(ValueError, match=message):
        judge_by_classification(columns, classes, **options)
