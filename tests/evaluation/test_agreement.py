"""All metrics from one count against their scalar definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from ufselect.evaluation import agreement, clustering_accuracy
from ufselect.evaluation.agreement import METRICS


def purity_by_counting(classes, clusters):
    commonest = [
        np.unique(classes[clusters == cluster], return_counts=True)[1].max()
        for cluster in np.unique(clusters)
    ]
    return sum(commonest) / len(classes)


def one_by_one(classes, clusters):
    information = [
        normalized_mutual_info_score(classes, clusters, average_method=normaliser)
        for normaliser in ("geometric", "arithmetic", "max", "min")
    ]
    return [
        clustering_accuracy(classes, clusters),
        *information,
        adjusted_rand_score(classes, clusters),
        purity_by_counting(classes, clusters),
    ]


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 1)),
        min_size=1,
        max_size=30,
    )
)
def test_every_metric_equals_its_scalar_definition(triples):
    classes, *labellings = np.array(triples).T
    expected = [one_by_one(classes, clusters) for clusters in labellings]

    assert agreement(classes, labellings) == pytest.approx(np.array(expected), abs=1e-7)


def test_metrics_come_in_the_order_asked_for():
    scores = agreement(["a", "a", "b"], [[0, 0, 0]], ["purity", "adjusted_rand"])

    assert scores == pytest.approx(np.array([[2 / 3, 0.0]]))


def test_all_metrics_of_a_perfect_labelling_are_one():
    scores = agreement([3, 3, 8, 8, 9], [[2, 2, 0, 0, 1]])

    assert scores == pytest.approx(np.ones((1, len(METRICS))))


def test_an_unknown_metric_is_named():
    with pytest.raises(ValueError, match=r"\['beauty'\] are unknown"):
        agreement([0, 1], [[0, 1]], ["accuracy", "beauty"])
