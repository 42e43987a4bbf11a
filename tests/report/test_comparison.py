"""Selections side by side: in which units they are measured, and who leads."""

import re

import numpy as np
import pytest
from accessibility import serious_violations
from markupsafe import escape

from ufselect.data import planted
from ufselect.evaluation import judge_by_k_means
from ufselect.report import comparison
from ufselect.report.comparison import compare_selections
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


def test_a_method_that_leads_by_more_than_noise_is_the_winner():
    several = methods(bad=BAD, good=GOOD)
    found = compare_selections(DATA.table, several, 10, labels=DATA.classes)
    noise = 100 * np.ptp(found.draws["mutual_information"])

    assert found.winner == "good"
    assert found.conclusion.startswith("By NMI, good leads bad by ")
    assert (
        f"which is more than noise: 20 random sets differ by up to {noise:.1f}."
        in found.conclusion
    )
    assert found.selected == {"bad": NOISE[:10].tolist(), "good": USEFUL.tolist()}
    # Equal methods lead together, one alone leads nobody; else neighbours decide.
    again = np.r_[USEFUL[::-1], NOISE]
    for several, labels, words in (
        (methods(a=GOOD, b=again, c=GOOD), DATA.classes, "a, b and c are equal ("),
        (methods(good=GOOD), None, "Fewer than two methods could be compared."),
        (methods(bad=BAD, good=GOOD), None, "By neighbourhood preservation, "),
    ):
        found = compare_selections(DATA.table, several, 10, labels=labels)
        assert words in found.conclusion
        assert found.winner is None or words == "By neighbourhood preservation, "


def test_a_method_no_better_than_random_is_no_winner():
    key = "neighbourhood_preservation"
    draws = {key: np.random.RandomState(0).normal(0.5, 0.05, 20).tolist()}
    values = {"good": 0.5, "bad": 0, "random": 0.5, "all": None}
    rows = [{"method": name, key: value} for name, value in values.items()]
    winner, conclusion = comparison._conclusion(rows, draws)

    assert winner is None
    assert "which is more than noise" in conclusion
    assert "good is not better than the best of them, which has 0.612." in conclusion


@pytest.mark.parametrize("distribution", ["normal", "uniform", "exponential"])
@pytest.mark.parametrize("n_methods", [2, 3, 5, 18])
def test_equal_methods_make_a_winner_in_one_of_twenty_cases_at_most(
    distribution, n_methods
):
    random = np.random.RandomState(0)
    n_winners = 0
    for _ in range(2000):
        scores = getattr(random, distribution)(size=n_methods + 20)
        rows = [
            {"method": str(place), "neighbourhood_preservation": score}
            for place, score in enumerate(scores[:n_methods])
        ]
        draws = {"neighbourhood_preservation": scores[n_methods:].tolist()}
        winner, _ = comparison._conclusion([*rows, {"method": "all"}], draws)
        n_winners += winner is not None

    # Three standard errors above one of twenty.
    assert n_winners / 2000 < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 2000)
    assert n_winners > 0 or n_methods > 2 or distribution == "uniform"


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


def test_the_report_says_it_all_and_runs_no_name():
    evil = "<script>alert(1)</script>"
    names = [evil, *(f"gene {place}" for place in range(1, 80))]
    order = np.r_[0, USEFUL[USEFUL > 0], NOISE[NOISE > 0]]
    several = methods(**{evil: order, "good": GOOD, "bad": BAD})
    several["failed"] = [Ranked("failed", None, None, 0.0, ["no graph"])]
    found = compare_selections(DATA.table, several, 10, labels=DATA.classes)
    page = found.html(
        "genes.csv", names, reading=["A note."], command="ufselect compare genes.csv"
    )

    assert page.startswith("<!DOCTYPE html>")
    assert evil not in page
    assert page.count("<svg") == 3
    for words in (
        str(escape(found.conclusion)),
        "Note: failed: no graph",
        "<li>A note.</li>",
        '<pre tabindex="0">ufselect compare genes.csv</pre>',
        "ACC and NMI of &lt;script",
    ):
        assert words in page
    features = page.split('id="features"')[1].split("<tbody>")[1]
    first = re.findall(r"<td[^>]*>(.*?)</td>", features)[:6]
    assert first[1] == "2"


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_the_report_fits_the_window(page, tmp_path, width):
    several = methods(good=GOOD, bad=BAD, LaplacianScore=GOOD, GraphEnergy=BAD)
    found = compare_selections(DATA.table, several, 10, labels=DATA.classes)
    names = [f"gene {place}" for place in range(80)]
    path = tmp_path / "compare.html"
    path.write_text(found.html("genes.csv", names), encoding="utf-8")
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(path.as_uri())

    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator(".verdict").inner_text().startswith("No method leads")
    assert page.locator("figure svg[aria-label]").count() == 3
    assert serious_violations(page) == []
