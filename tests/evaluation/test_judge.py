"""Judging selections and rankings by k-means."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans

from ufselect.evaluation import clustering_accuracy, judge_by_k_means, judge_ranking


@pytest.fixture
def table():
    random = np.random.default_rng(0)
    means = 2.0 * random.standard_normal((3, 6))
    return np.repeat(means, 20, axis=0) + random.standard_normal((60, 6))


CLASSES = np.repeat([0, 1, 2], 20)


def test_judge_is_reproducible_and_perfect_on_separated_points():
    columns = np.array([[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]])
    classes = [1, 1, 1, 0, 0, 0]
    scores = judge_by_k_means(columns, classes, seeds=[0, 1], n_init=2)

    assert scores.shape == (2, 2)
    assert (scores == 1.0).all()


def test_judge_agrees_with_a_loop_over_scikit_learn(table):
    seeds = range(6)
    expected = [
        clustering_accuracy(
            CLASSES, KMeans(3, n_init=2, random_state=seed).fit_predict(table[:, :2])
        )
        for seed in seeds
    ]

    scores = judge_by_k_means(table[:, :2], CLASSES, seeds=seeds, n_init=2)

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


def test_equal_sets_of_columns_are_judged_once(table):
    cache = {}
    options = {"sizes": [2, 3], "seeds": [0], "n_init": 1, "cache": cache}
    judge_ranking(table, [4, 1, 0, 2], CLASSES, **options)
    cache[1, 4] += 10.0

    scores = judge_ranking(table, [1, 4, 2, 0], CLASSES, **options)

    assert sorted(cache) == [(0, 1, 4), (1, 2, 4), (1, 4)]
    assert scores[0].min() > 9.0


def test_a_cached_score_cannot_be_changed_through_the_answer(table):
    cache = {}
    options = {"sizes": [2], "seeds": [0], "n_init": 1, "cache": cache}
    judge_ranking(table, [4, 1], CLASSES, **options)[:] = -1.0

    assert cache[1, 4].min() > -1.0


@pytest.mark.parametrize("size", [0, 7])
def test_a_size_beyond_the_ranking_is_named(table, size):
    with pytest.raises(ValueError, match=f"sizes has {size}; .* 6 columns"):
        judge_ranking(table, range(6), CLASSES, sizes=[2, size], seeds=[0], n_init=1)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_columns_are_judged_in_the_units_that_are_asked_for(table, convert):
    units = table * [1, 1, 1, 1, 1, 1e4]
    scaled = (table - table.mean(axis=0)) / table.std(axis=0)
    options = {"seeds": range(3), "n_init": 3}
    found = judge_by_k_means(convert(units), CLASSES, standardize="features", **options)
    raw = judge_by_k_means(convert(units), CLASSES, **options)

    assert found == pytest.approx(judge_by_k_means(scaled, CLASSES, **options))
    assert raw == pytest.approx(judge_by_k_means(table[:, 5:], CLASSES, **options))


def test_of_a_ranking_the_whole_table_is_prepared(table):
    counts = np.abs(table)
    lengths = np.linalg.norm(counts, axis=1, keepdims=True)
    options = {"sizes": [2], "seeds": [0, 1], "n_init": 3}
    found = judge_ranking(counts, range(6), CLASSES, standardize="samples", **options)

    assert found == pytest.approx(
        judge_ranking(counts / lengths, range(6), CLASSES, **options)
    )


def test_unknown_units_are_refused(table):
    with pytest.raises(ValueError, match="standardize='rows' is not known; use 'auto'"):
        judge_by_k_means(table, CLASSES, standardize="rows")
