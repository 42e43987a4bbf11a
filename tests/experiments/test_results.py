"""The tables of an experiment are what its store says."""

import numpy as np
import pandas as pd
import pytest
from small_experiments import change, small_plan

from ufselect.evaluation import nemenyi_critical_difference
from ufselect.experiments.report import experiment_report, score_table
from ufselect.experiments.results import (
    Count,
    Ranks,
    experiment_of,
    read_experiment,
)
from ufselect.experiments.runs import Record

NAN = np.nan
COLUMNS = ["key", "status", "reason", "seconds", "peak_memory", "history"]


def experiment(scores, found=(), sets=("one",), **changes):
    """Return an experiment with these scores.

    They are given by the place of a run in the plan, metric, number of features and
    repetition: of SCFS four points of the grid and two seeds, then LaplacianScore, ten
    seeds of random, variance and all features.
    """
    record = Record(
        small_plan(sets=list(sets), **changes),
        {name: name for name in sets},
        {},
        {"ufselect": "0"},
    )
    nothing = experiment_of(
        record, pd.DataFrame(columns=COLUMNS), pd.DataFrame(columns=["key", "value"])
    )
    keys = nothing.runs["key"]
    rows = [
        [keys[place], size, metric, repetition, value]
        for (place, metric), by_size in scores.items()
        for size, values in zip((3, 6), by_size, strict=False)
        for repetition, value in enumerate(values)
    ]
    columns = ["key", "features", "metric", "repetition", "value"]
    found = pd.DataFrame(
        [(keys[place], *rest) for place, *rest in found], columns=COLUMNS
    )
    return experiment_of(record, found, pd.DataFrame(rows, columns=columns))


@pytest.mark.parametrize(
    ("metric", "reading", "scores", "mean", "deviation"),
    [
        pytest.param(
            *("accuracy", "oracle"),
            {0: [[0.1, 0.3], [0.8, 1.0]], 1: [[0.6, 0.4], [0.2, 0.4]]},
            # 0.5 and 0.9 are the best; the repetitions have 0.7 and 0.7.
            *(0.7, 0.0),
            id="best point at every number",
        ),
        pytest.param(
            *("redundancy", "oracle", {0: [[0.1], [0.9]], 1: [[0.6], [0.3]]}, 0.2, NAN),
            id="lowest where lower is better",
        ),
        pytest.param(
            *("accuracy", "fixed", {4: [[0.1], [0.5]], 5: [[0.3], [0.9]]}, 0.45, 0.15),
            id="over seeds",
        ),
        pytest.param(
            *("accuracy", "fixed", {4: [[0.2, 0.4], [0.2, 0.8]]}, 0.4, 0.2),
            id="over k-means",
        ),
        pytest.param(
            # Labels have chosen nothing that could be shown.
            *("accuracy", "oracle", {4: [[0.1, 0.2], [0.5, 0.6]]}, NAN, NAN),
            id="grid without a score",
        ),
    ],
)
def test_deviations_are_over_repetitions(metric, reading, scores, mean, deviation):
    found = experiment({(place, metric): each for place, each in scores.items()})
    table = found.table(reading, metric).loc["SCFS", "one"]

    assert table["mean"] == pytest.approx(mean, nan_ok=True)
    assert table["deviation"] == pytest.approx(deviation, nan_ok=True)
    assert table["labels"] == ("setting" if reading == "oracle" else "nothing")
    assert found.table(reading, "purity")["mean"].isna().all()


def test_a_method_without_a_grid_has_its_one_setting_in_both_readings():
    found = experiment({(6, "accuracy"): [[0.2, 0.4], [0.2, 0.8]]})
    oracle, fixed = (
        found.table(reading, "accuracy").loc["LaplacianScore", "one"]
        for reading in ("oracle", "fixed")
    )

    assert oracle.to_list() == fixed.to_list()
    assert oracle["labels"] == "nothing"


@pytest.mark.parametrize(
    ("means", "title", "shown"),
    [
        ([[0.5, 0.7], [0.4, 0.4]], "mean", ["60.0", "40.0"]),
        # Sets that lack a score are left out for all methods alike.
        ([[0.5, 0.7, 0.9], [0.4, NAN, 0.6]], "mean of 2", ["70.0", "50.0"]),
        # A method without any score does not spoil the mean.
        ([[0.5, 0.7], [NAN, NAN]], "mean", ["60.0", "-"]),
        ([[0.5, NAN], [NAN, 0.4]], "two", ["-", "40.0"]),
    ],
    ids=["complete", "incomplete", "method without", "none complete"],
)
def test_the_mean_is_over_the_sets_that_have_every_score(means, title, shown):
    sets = ("one", "two", "three")[: len(means[0])]
    per_set = 19
    scores = {
        (place + per_set * number, "accuracy"): [[row[number]], [row[number]]]
        for place, row in zip((4, 6), means, strict=True)
        for number in range(len(sets))
        if not np.isnan(row[number])
    }
    table = score_table(experiment(scores, sets=sets), "accuracy", "fixed")

    assert table.header[-1] == title
    assert [row[-1] for row in table.rows[:2]] == shown
    assert table.rows[0][2] == "50.0"


def ranks(rows, metric="accuracy", labels=("good", "random", "all features")):
    return Ranks(pd.DataFrame(rows, index=labels, dtype=float), metric)


RANDOM = [0.5, 0.51, 0.52, 0.53, 0.54, 0.55]


def test_methods_are_ranked_and_tested_against_random():
    compared = ranks([[0.9] * 6, RANDOM, [1.0] * 6])
    lower = ranks([[0.1] * 6, RANDOM, [1.0] * 6], "redundancy")
    tested = compared.against_random()

    assert list(tested.index) == ["good", "random"]
    assert tested.loc["good", "average rank"] == 1
    assert tested.loc["good", "sets above random"] == 6
    assert tested.loc["good", "median gain"] == pytest.approx(0.375)
    # Six differences of one sign: the least p value of an exact test, 2 / 2^6.
    assert tested.loc["good", "p (Holm)"] == pytest.approx(2 / 2**6)
    assert tested.loc["random"].isna().sum() == 3
    assert compared.critical_difference == nemenyi_critical_difference(2, 6) < 1
    assert "(Nemenyi, 5 %) do not occur." in compared.sentence()
    assert lower.against_random().index[0] == "good"


def test_ranks_need_sets_with_every_score():
    means = np.random.default_rng(0).uniform(size=(4, 8))
    means[1], means[0, 2] = NAN, NAN
    some = ranks(means, labels=["good", "slow", "random", "all features"])
    few = ranks(np.zeros((3, 4)))

    assert list(some.average.index) == ["good", "random"]
    assert some.sentence().startswith("7 sets. ")
    assert some.sentence().endswith("Without slow, of which there is no score.")
    assert not few.enough
    assert few.sentence() == (
        "No statistics: 4 sets have a score of every method, and at least 5 are needed."
    )


def test_failures_are_one_line_for_each_method_and_reason():
    reasons = [
        (0, "ValueError: beta=0.01 is above 1.5e-03"),
        (1, "ValueError: beta=1e+04 is above 0.002"),
        (20, "ValueError: beta=1 is above 7"),
        (2, "ArpackError: no\n  convergence"),
        (6, "ValueError: W = 0"),
    ]
    failed = [(place, "failed", reason, NAN, NAN, None) for place, reason in reasons]
    found = experiment({}, failed, sets=("lung", "ORL"))

    assert found.count() == Count(38, 0, 5, 33)
    assert found.count("lung") == Count(19, 0, 4, 15)
    assert found.failures() == [
        "SCFS, 3 runs (lung 2, ORL 1): ValueError: beta=0.01 is above 1.5e-03 "
        "(others with other numbers)",
        "SCFS, 1 run (lung 1): ArpackError: no convergence",
        "LaplacianScore, 1 run (lung 1): ValueError: W = 0",
    ]


def test_costs_have_median_and_largest_and_what_failed():
    curve = np.array([3.0, 2.0, 1.0]).tobytes()
    done = [(i, "done", None, 1.0 + i, 1e8 * (1 + i), curve) for i in range(5)]
    found = experiment({}, [*done, (5, "failed", "ValueError", NAN, NAN, None)])
    summary = found.cost_summary()
    text = " ".join(experiment_report(found).text().split())

    assert summary.loc["SCFS"].to_dict() == {
        "fits": 5,
        "failed": 1,
        "median_seconds": 3.0,
        "largest_seconds": 5.0,
        "median_megabytes": 300.0,
        "largest_megabytes": 500.0,
    }
    assert "all features" not in summary.index
    assert np.isnan(summary.loc["variance", "median_seconds"])
    assert "SCFS 5 1 3.00 5.00 300 500 " in text
    # Five fits with a curve of three values.
    assert "SCFS 5 3 3 " in text
    # The fixed setting comes before the grid, and its middle before the rest.
    assert found.history_of("SCFS", "one") is found.runs["history"][4]
    assert found.history_of("random", "one") is None


def test_a_report_of_nothing_says_what_is_missing():
    found = experiment({})
    report = experiment_report(found)

    assert "19 runs: 0 ranked and judged, 0 failed, 19 missing" in report.text()
    assert "<svg" not in report.html()
    assert found.frame()["mean"].isna().all()


def test_a_finished_experiment_is_read_from_its_store_alone(calm):
    found = read_experiment(calm)
    frame = found.frame()

    assert found.plan == small_plan()
    assert found.count() == Count(38, 38, 0, 0)
    assert list(frame.columns) == [
        *("metric", "reading", "method", "data set", "mean", "deviation"),
        *("repetitions", "labels"),
    ]
    assert frame["mean"].between(0, 1).all()
    assert len(frame) == 3 * 2 * 5 * 2
    assert found.others == []


def test_results_of_another_version_of_ufselect_are_read_with_its_keys(calm, tmp_path):
    path = tmp_path / "old.sqlite"
    path.write_bytes(calm.read_bytes())
    change(path, "UPDATE plans SET content = replace(content, '0.1.0', '0.0.9')")

    assert read_experiment(path).count() == Count(38, 0, 0, 38)
