"""Clustering scores with known values."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ufselect.evaluation import (
    adjusted_rand,
    clustering_accuracy,
    mutual_information,
    purity,
)


def best_by_trying_all(classes, clusters):
    return max(
        np.mean(np.array(relabelling)[clusters] == classes)
        for relabelling in permutations(range(4))
    )


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12)
)
def test_accuracy_is_the_best_over_all_relabellings(pairs):
    classes, clusters = np.array(pairs).T

    assert clustering_accuracy(classes, clusters) == pytest.approx(
        best_by_trying_all(classes, clusters)
    )


def test_labels_may_be_of_any_kind_and_number():
    classes, clusters = ["a", "a", "a", "b", "b", "c"], [0, 0, 1, 1, 1, 1]

    assert clustering_accuracy(["a", "a", "b"], [5, 5, 2]) == 1.0
    assert clustering_accuracy([0, 0, 0, 0], [0, 1, 2, 3]) == 0.25
    assert purity(classes, clusters) == pytest.approx((2 + 2) / 6)


def test_normalisers_differ_as_their_definitions_say():
    classes, clusters = [0, 0, 1, 1], [0, 0, 0, 1]
    entropy = np.log(2), -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
    shared = entropy[1] - 0.5 * np.log(2)

    assert mutual_information(classes, clusters) == pytest.approx(
        shared / np.sqrt(entropy[0] * entropy[1])
    )
    assert mutual_information(classes, clusters, "max") == pytest.approx(
        shared / max(entropy)
    )


def rand_by_counting_pairs(classes, clusters):
    """Hubert and Arabie: pairs together in both, against what chance would give."""
    pairs = list(combinations(range(len(classes)), 2))
    same_class = np.array([classes[i] == classes[j] for i, j in pairs])
    same_cluster = np.array([clusters[i] == clusters[j] for i, j in pairs])
    expected = same_class.sum() * same_cluster.sum() / len(pairs)
    most = (same_class.sum() + same_cluster.sum()) / 2
    return (np.sum(same_class & same_cluster) - expected) / (most - expected)


def test_adjusted_rand_is_the_one_counted_over_pairs():
    random = np.random.RandomState(0)
    classes, clusters = random.randint(3, size=30), random.randint(4, size=30)

    assert adjusted_rand(classes, clusters) == pytest.approx(
        rand_by_counting_pairs(classes, clusters)
    )


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12)
)
def test_purity_is_no_less_than_accuracy_and_than_the_largest_class(pairs):
    classes, clusters = np.array(pairs).T
    largest = np.bincount(classes).max() / len(classes)

    assert purity(classes, clusters) >= max(
        largest, clustering_accuracy(classes, clusters)
    )
