"""The tables and figures of an experiment: what they say is what the store says."""

import numpy as np
import pandas as pd
import pytest
from small_experiments import stored_experiment

from ufselect.evaluation import nemenyi_critical_difference
from ufselect.experiments.report import ExperimentReport, parameter_map
from ufselect.experiments.reproduction import _bars, _published_curves
from ufselect.experiments.stored import title_of
from ufselect.experiments.tables import (
    MetricTable,
    Significance,
    cost_summary,
)
from ufselect.plotting.convergence import FLOOR

LABELS = ["good", "random", "all features"]
RANDOM = [0.5, 0.51, 0.52, 0.53, 0.54, 0.55]
NAN = np.nan


def table(means, metric="accuracy", labels=LABELS):
    sets = [f"set {i}" for i in range(len(means[0]))]
    means = pd.DataFrame(means, index=labels, columns=sets, dtype=float)
    return MetricTable(metric, "fixed", means, 0 * means)


@pytest.mark.parametrize(
    ("means", "title", "good", "random"),
    [
        ([[0.5, 0.7], [0.4, 0.4], [0.1, 0.2]], "mean", "60.0", "40.0"),
        # Sets that lack a score are left out for all methods alike.
        (
            [[0.5, 0.7, 0.9, NAN], [0.4, NAN, 0.6, NAN], [0.1, 0.2, 0.3, NAN]],
            *("mean of 2", "70.0", "50.0"),
        ),
        # A method without any score does not spoil the mean.
        ([[0.5, 0.7], [NAN, NAN], [0.1, 0.2]], "mean", "60.0", "-"),
        ([[0.5, NAN], [NAN, 0.4], [0.1, 0.2]], "set 1", "-", "40.0 ±0.0"),
    ],
)
def test_the_mean_is_over_the_sets_that_have_every_score(means, title, good, random):
    shown, frame = table(means).table(), table(means).frame()

    assert shown.header[-1] == title
    assert shown.rows[0][:2] == ["good", "50.0 ±0.0"]
    assert [row[-1] for row in shown.rows[:2]] == [good, random]
    assert frame["method"].tolist()[:2] == ["good", "good"]
    assert frame["data set"].tolist()[:2] == ["set 0", "set 1"]
    np.testing.assert_equal(frame["mean"].tolist(), np.ravel(means).tolist())
    assert title_of("lung", "log") == "lung (log)"


def test_methods_are_ranked_and_tested_against_random():
    compared = Significance(table([[0.9] * 6, RANDOM, [1.0] * 6]))
    lower = Significance(table([[0.1] * 6, RANDOM, [1.0] * 6], "redundancy"))
    few = Significance(table(np.zeros((3, 4))))
    means = np.random.default_rng(0).uniform(size=(4, 8))
    means[1], means[0, 2] = NAN, NAN
    some = Significance(table(means, labels=["good", "slow", *LABELS[1:]]))

    # Six differences of one sign: the least p value of an exact test, 2 / 2^6.
    assert compared.table().rows == [
        ["good", "1.00", "6", "+37.5", "0.031"],
        ["random", "2.00", "", "", ""],
    ]
    assert list(compared.ranks) == list(some.ranks) == ["good", "random"]
    assert "all features" not in compared.sentence()
    assert compared.critical_difference == nemenyi_critical_difference(2, 6) < 1
    assert "(Nemenyi, 5 %) do not occur." in compared.sentence()
    assert lower.table().rows[0][0] == "good"
    assert not few.enough
    assert few.sentence() == (
        "No statistics: 4 sets have a score of every method, and at least 5 are needed."
    )
    assert some.sentence().startswith("7 sets. ")
    assert some.sentence().endswith("Without slow, of which there is no score.")


def experiment(*, measured=True):
    """Return one whose fits of SCFS take 1, 2, .. seconds and 100, 200, .. MB."""
    found = stored_experiment()
    cells = found.cells
    places = cells.index[cells["method"] == "SCFS"]
    for i, place in enumerate(places[:5]):
        if measured:
            cells.loc[place, ["seconds", "peak_memory"]] = 1.0 + i, 1e8 * (1 + i)
            cells.at[place, "history"] = np.array([3.0, 2.0, 1.0])
    cells.loc[places[5], ["state", "reason"]] = "failed", "ValueError: W = 0"
    return found


def test_costs_have_median_and_largest_and_what_failed():
    report = ExperimentReport(experiment())
    rows = {row[0]: row[1:] for row in report.cost_table().rows}
    by_set, part = report.seconds_by_set(), report.costs
    lines = [line.get_xdata().tolist() for line in part.plot().figure.axes[0].lines]
    bare = ExperimentReport(experiment(measured=False))
    nothing = ExperimentReport(stored_experiment())

    assert rows["SCFS"] == ["5", "1", "3.00", "5.00", "300", "500"]
    assert rows["LaplacianScore"] == ["0", "0", "-", "-", "-", "-"]
    assert "all features" not in rows
    assert (by_set.header, by_set.rows[0]) == (["method", "one"], ["SCFS", "3.00"])
    assert cost_summary(experiment()).loc["SCFS"].to_dict() == {
        "fits": 5,
        "failed": 1,
        "median_seconds": 3.0,
        "largest_seconds": 5.0,
        "median_megabytes": 300.0,
        "largest_megabytes": 500.0,
    }
    assert np.isnan(cost_summary(experiment()).loc["variance", "median_seconds"])
    assert lines == [[1.0, 5.0], [3.0]]
    assert part.frame()["measure"].unique().tolist() == [
        *("seconds of a fit", "peak memory (MB)")
    ]
    assert all(name in part.plot().svg for name in part.frame()["measure"].unique())
    assert report.length_table().rows == [["SCFS", "5", "3", "3"]]
    assert bare.cost_table().rows[0] == ["SCFS", "0", "1", "-", "-", "-", "-"]
    assert "The store has no objective of any fit" in bare.text()
    assert nothing.costs is nothing.convergence is None


def test_failures_are_one_line_for_each_method_and_reason():
    found = stored_experiment(sets=("lung", "ORL"))
    cells = found.cells
    # Reasons that differ by numbers are one, and a cell with two roles counts once.
    cells["key"] = [*range(4), 3, *range(5, len(cells))]
    cells["method"] = ["SCFS"] * 5 + ["NDFS"] * (len(cells) - 5)
    cells.loc[2, "set_name"] = "ORL"
    for place, reason in enumerate(
        [
            "ValueError: beta=0.01 is above 1.5e-03",
            "ValueError: beta=1e+04 is above 0.002",
            "ValueError: beta=1 is above 7",
            *["ArpackError: no\n  convergence"] * 2,
            "ValueError: W = 0",
        ]
    ):
        cells.loc[place, ["state", "reason"]] = "failed", reason

    assert found.failures() == [
        "SCFS, 3 cells (lung 2, ORL 1): ValueError: beta=0.01 is above 1.5e-03 "
        "(others with other numbers)",
        "SCFS, 1 cell (lung 1): ArpackError: no convergence",
        "NDFS, 1 cell (lung 1): ValueError: W = 0",
    ]


def test_ranks_and_bars_are_where_the_frames_say():
    ranks = Significance(table([[0.9] * 6, RANDOM, [1.0] * 6])).figure()
    (axes,) = ranks.plot().figure.axes
    stems = [line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 3]
    groups = {"ORL": {"SCFS": 59.5, "random": 40.0}, "lung": {"SCFS": 80.0}}
    bars = _bars(groups, "accuracy in percent")
    heights = [bar.get_height() for bar in bars.plot().figure.axes[0].patches]

    assert sorted(stems) == ranks.frame()["average rank"].tolist()
    assert list(bars.frame()) == ["data set", "method", "accuracy in percent"]
    # What is not there is a bar of no height.
    assert sorted(heights) == sorted([*bars.frame()["accuracy in percent"], 0.0])


def test_cells_of_a_map_are_the_rows_of_the_frame():
    found = stored_experiment(sets=("ORL", "lung"))
    method = found.plan.methods[0]
    grid = found.cells[(found.cells["method"] == "SCFS")].query("reading == 'grid'")
    for i, key in enumerate(grid["key"][:-1]):
        found.scores.loc[i] = [key, 3, "accuracy", 0.5 + 0.01 * i]
    part = parameter_map(found, method, "accuracy", {"ORL": "ORL", "lung": "Lung"})
    panels = {axes.get_title(): axes for axes in part.plot().figure.axes}
    drawn = {}
    for name in ("ORL", "Lung"):
        for text in panels[name].texts:
            x, y = map(int, text.get_position())
            point = (method.grid["alpha"][y], method.grid["beta"][x])
            drawn[name, *point] = text.get_text()

    assert len(drawn) == 2 * 4
    assert drawn == {
        tuple(row): "none" if np.isnan(value) else f"{value:.1f}"
        for *row, value in part.frame().itertuples(index=False)
    }
    assert drawn["Lung", 1.0, 0.01] == "54.0"


def test_curves_are_those_of_the_frames():
    found = stored_experiment(sets=("ORL", "lung"))
    first = found.cells.drop_duplicates(["data set", "method"]).index
    for place, curve in zip(
        first, ([8.0, 4.0, 3.0], [-1.0, -5.0], [9.0, 1.0]), strict=False
    ):
        found.cells.at[place, "history"] = np.array(curve)
    part = ExperimentReport(found).convergence
    drawn = [
        line.get_ydata() for axes in part.plot().figure.axes for line in axes.lines
    ]
    keys = ["data set", "method"]
    curves = [
        np.array(each)
        for _, each in part.frame().groupby(keys, sort=False)["objective"]
    ]
    printed = {"ORL": [100.0, 60.0, 50.0]}
    published = _published_curves({"ORL": [8.0, 4.0]}, printed)
    (axes,) = published.plot().figure.axes

    for line, curve in zip(drawn, curves, strict=True):
        left = (curve - curve[-1]) / (curve[0] - curve[-1])
        np.testing.assert_allclose(line, np.maximum(left, FLOOR))
    assert sorted(line.get_ydata().tolist() for line in axes.lines) == sorted(
        (np.array(each) / each.iloc[0]).tolist()
        for _, each in published.frame().groupby("source")["objective"]
    )
