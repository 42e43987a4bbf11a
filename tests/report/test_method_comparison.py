"""Selections side by side: in which units they are measured, and who leads."""

import numpy as np
import pytest

from ufselect.data import planted
from ufselect.evaluation import judge_by_k_means
from ufselect.report.method_comparison import compare_selections
from ufselect.tuning.side_by_side import Ranked

DATA = planted("blobs", n_samples=60, n_useful=10, n_noise=70)
USEFUL, NOISE = np.flatnonzero(DATA.informative), np.flatnonzero(~DATA.informative)


def ranked(order):
    scores = np.empty(len(order))
    scores[order] = np.arange(len(order), 0, -1)
    return Ranked("", scores, np.asarray(order), 0.0, [])


def methods(**orders):
    random = np.random.RandomState(0)
    draws = [ranked(random.permutation(80)) for _ in range(20)]
    return {name: [ranked(order)] for name, order in orders.items()} | {"random": draws}


GOOD, BAD = np.r_[USEFUL, NOISE], np.r_[NOISE, USEFUL]


def test_a_method_that_leads_by_more_than_random_sets_differ_is_the_winner():
    several = methods(bad=BAD, good=GOOD)
    found = compare_selections(DATA.table, several, 10, labels=DATA.classes)

    assert found.winner == "good"
    assert found.conclusion.startswith("By NMI, good leads bad by ")
    assert "which is more than the spread of random sets" in found.conclusion


def test_equal_methods_lead_together():
    several = methods(first=GOOD, second=np.r_[USEFUL[::-1], NOISE])
    found = compare_selections(DATA.table, several, 10, labels=DATA.classes)

    assert found.winner is None
    assert "first and second are equal (" in found.conclusion


def test_without_labels_neighbours_decide():
    found = compare_selections(DATA.table, methods(bad=BAD, good=GOOD), 10)

    assert found.conclusion.startswith("By neighbours, ")


def test_one_method_alone_leads_nobody():
    found = compare_selections(DATA.table, methods(good=GOOD), 10)

    assert found.winner is None
    assert "no two methods" in found.conclusion


@pytest.mark.parametrize(
    ("standardize", "words"),
    [
        ("auto", "with features scaled to unit variance"),
        ("samples", "with samples scaled to unit length"),
        (False, "in the units of the table"),
    ],
)
def test_selections_are_judged_in_one_unit_and_it_is_said(standardize, words):
    options = {"labels": DATA.classes, "standardize": standardize}
    found = compare_selections(DATA.table, methods(good=GOOD, bad=BAD), 10, **options)

    assert found.conclusion.endswith(f"All are judged {words}.")


def test_scores_are_those_of_k_means_in_these_units():
    table = DATA.table * np.geomspace(1, 1e4, 80)
    found = compare_selections(table, methods(good=GOOD), 10, labels=DATA.classes)
    by_hand = judge_by_k_means(
        table[:, USEFUL],
        DATA.classes,
        seeds=range(3),
        n_init=5,
        standardize="features",
    )

    accuracy, information = by_hand.mean(axis=0)
    assert found.rows[0]["accuracy"] == pytest.approx(accuracy)
    assert found.rows[0]["mutual_information"] == pytest.approx(information)
