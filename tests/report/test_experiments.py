"""The tables and figures of an experiment: what they say is what the store says."""

from dataclasses import replace

import numpy as np
import pytest
from small_experiments import small_plan

from ufselect.evaluation import nemenyi_critical_difference
from ufselect.experiments.cells import FIXED, GRID, Cell, Record, Role, roles_of
from ufselect.experiments.readings import Results
from ufselect.experiments.store import DONE, FAILED
from ufselect.experiments.stored import Experiment, StoredFit
from ufselect.report.experiment import convergence_blocks
from ufselect.report.experiment_figures import FLOOR
from ufselect.report.experiment_parts import (
    AverageRanks,
    ConvergenceCurves,
    CostRanges,
    MethodBars,
    ParameterMap,
    PublishedCurves,
    convergence_curves,
    cost_ranges,
)
from ufselect.report.experiment_tables import (
    Column,
    MetricTable,
    cost_blocks,
    cost_summary,
    failure_list,
    significance_of,
)

LABELS = ["good", "random", "all features"]
RANDOM = [0.5, 0.51, 0.52, 0.53, 0.54, 0.55]
NAN = np.nan


def table(means, metric="accuracy", labels=LABELS):
    means = np.array(means, dtype=float)
    columns = [Column(f"set {i}", "none") for i in range(means.shape[1])]
    return MetricTable(metric, "fixed", labels, columns, means, np.zeros_like(means))


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
    found = table(means).table()

    assert found.header[-1] == title
    assert found.rows[0][:2] == ["good", "50.0 ±0.0"]
    assert [row[-1] for row in found.rows[:2]] == [good, random]


def test_a_frame_has_a_row_for_each_method_and_set():
    frame = table([[0.5, 0.7], [0.4, NAN], [0.1, 0.2]]).frame()

    assert frame["method"].tolist()[:3] == ["good", "good", "random"]
    assert frame["data set"].tolist()[:3] == ["set 0", "set 1", "set 0"]
    assert frame["mean"].tolist()[:3] == [0.5, 0.7, 0.4]
    assert Column("lung", "log").title == "lung (log)"


def test_methods_are_ranked_and_tested_against_random():
    compared = significance_of(table([[0.9] * 6, RANDOM, [1.0] * 6]))
    lower = significance_of(table([[0.1] * 6, RANDOM, [1.0] * 6], "redundancy"))

    # Six differences of one sign: the least p value of an exact test, 2 / 2^6.
    assert compared.table().rows == [
        ["good", "1.00", "6", "+37.5", "0.031"],
        ["random", "2.00", "", "", ""],
    ]
    assert compared.labels == ["good", "random"]
    assert "all features" not in compared.sentence()
    assert compared.critical_difference() == nemenyi_critical_difference(2, 6) < 1
    assert "(Nemenyi, 5 %) do not occur." in compared.sentence()
    assert lower.table().rows[0][0] == "good"


def test_few_sets_have_no_statistics_and_missing_scores_are_told():
    few = significance_of(table(np.zeros((3, 4))))
    means = np.random.default_rng(0).uniform(size=(4, 8))
    means[1], means[0, 2] = NAN, NAN
    some = significance_of(table(means, labels=["good", "slow", *LABELS[1:]]))

    assert not few.enough
    assert [block.text for block in few.blocks()] == [
        "No statistics: 4 sets have a score of every method, and at least 5 are needed."
    ]
    assert some.labels == ["good", "random"]
    assert some.sentence().startswith("7 sets. ")
    assert some.sentence().endswith("Without slow, of which there is no score.")


def experiment():
    """Return one whose fits of SCFS take 1, 2, .. seconds and 100, 200, .. MB."""
    plan = small_plan()
    record = Record(plan, {"one": "a"}, {}, {"ufselect": "0"})
    roles = list(roles_of(plan, record.fingerprints))
    found = [role.cell.key for role in roles if role.label == "SCFS"]
    history = np.array([3.0, 2.0, 1.0])
    fits = {
        key: StoredFit(DONE, None, 1.0 + i, int(1e8) * (1 + i), history)
        for i, key in enumerate(found[:5])
    }
    fits[found[5]] = StoredFit(FAILED, "ValueError: W = 0", None, None, None)
    return Experiment(
        record, roles, Results(roles, []), fits, frozenset(), [record.versions], []
    )


def test_costs_have_median_and_largest_and_what_failed():
    _, costs, by_set = cost_blocks(experiment())
    rows = {row[0]: row[1:] for row in costs.rows}
    ranges = cost_ranges(experiment()).plot().svg

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
    assert "seconds of a fit" in ranges
    assert "peak memory (MB)" in ranges
    assert convergence_blocks(experiment())[0].rows == [["SCFS", "5", "3", "3"]]


def test_a_store_without_measures_has_dashes_and_no_figures():
    known = experiment()
    fits = {
        key: fit._replace(seconds=None, peak_memory=None, history=None)
        for key, fit in known.fits.items()
    }
    known = replace(known, fits=fits)
    (paragraph,) = convergence_blocks(known)

    assert cost_blocks(known)[1].rows[0] == ["SCFS", "0", "1", "-", "-", "-", "-"]
    assert cost_ranges(known) is None
    assert paragraph.text.startswith("The store has no objective of any fit")
    assert convergence_curves(known) is None


def role(set_name, seed, reading=GRID, label="SCFS"):
    return Role(label, reading, Cell(set_name, "abc", "none", "SCFS", "{}", seed))


def failures(reasons):
    by_key = {role.cell.key: reason for role, reason in reasons.items()}
    return failure_list(Results(reasons, []), by_key)


def test_failures_are_one_line_for_each_method_and_reason():
    assert failures(
        {
            # Reasons that differ by numbers are one.
            role("lung", 0): "ValueError: beta=0.01 is above 1.5e-03",
            role("lung", 1): "ValueError: beta=1e+04 is above 0.002",
            role("ORL", 0): "ValueError: beta=1 is above 7",
            role("lung", 2): "ArpackError: no\n  convergence",
            role("lung", 3): "ValueError: W = 0",
            # A cell with two roles is counted once.
            role("lung", 3, FIXED): "ValueError: W = 0",
            role("lung", 4, FIXED, "NDFS"): "ValueError: W = 0",
        }
    ) == [
        "SCFS, 3 cells (lung 2, ORL 1): ValueError: beta=0.01 is above 1.5e-03 "
        "(others with other numbers)",
        "SCFS, 1 cell (lung 1): ArpackError: no convergence",
        "SCFS, 1 cell (lung 1): ValueError: W = 0",
        "NDFS, 1 cell (lung 1): ValueError: W = 0",
    ]


def panels_of(part):
    return {axes.get_title(): axes for axes in part.plot().figure.axes}


def test_ranks_bars_and_ranges_are_where_the_frames_say():
    ranks = AverageRanks({"SCFS": 1.25, "NDFS": 2.5, "random": 2.75}, 0.8)
    (axes,) = ranks.plot().figure.axes
    stems = [line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 3]
    groups = {"ORL": {"SCFS": 59.5, "random": 40.0}, "lung": {"SCFS": 80.0}}
    bars = MethodBars("accuracy in percent", groups)
    heights = [bar.get_height() for bar in bars.plot().figure.axes[0].patches]
    costs = CostRanges({"seconds": {"SCFS": [0.5, 9.0, 0.7], "SPEC": [0.1]}})
    lines = [line.get_xdata().tolist() for line in costs.plot().figure.axes[0].lines]

    assert sorted(stems) == ranks.frame()["average rank"].tolist()
    assert list(bars.frame()) == ["data set", "method", "accuracy in percent"]
    # What is not there is a bar of no height.
    assert sorted(heights) == sorted([*bars.frame()["accuracy in percent"], 0.0])
    assert lines == [
        each
        for _, values in costs.frame().groupby("method", sort=False)["value"]
        for each in ([values.min(), values.max()], [values.median()])
    ]


def test_cells_of_a_map_are_the_rows_of_the_frame():
    grid = {"alpha": [1, 10, 100], "beta": [0.1, 0.2]}
    tables = {
        name: np.array([[50.0, 51.25], [52, 53], [54, NAN]]) + place
        for place, name in enumerate(["ORL", "lung"])
    }
    part = ParameterMap("accuracy in percent", grid, tables)
    drawn = {
        (name, grid["alpha"][int(text.get_position()[1])], grid["beta"][int(x)]): (
            text.get_text()
        )
        for name in tables
        for text in panels_of(part)[name].texts
        for x in [text.get_position()[0]]
    }

    assert drawn == {
        tuple(row): "none" if np.isnan(value) else f"{value:.1f}"
        for *row, value in part.frame().itertuples(index=False)
    }


def test_curves_are_those_of_the_frames():
    histories = {
        "ORL": {"SCFS": np.array([8.0, 4.0, 3.0]), "NDFS": np.array([-1.0, -5.0])},
        "lung": {"SCFS": np.array([9.0, 1.0])},
    }
    part = ConvergenceCurves(histories)
    panels = panels_of(part)
    drawn = [line.get_ydata() for name in histories for line in panels[name].lines]
    keys = ["data set", "method"]
    found = [
        np.array(each)
        for _, each in part.frame().groupby(keys, sort=False)["objective"]
    ]
    published = PublishedCurves({"ORL": [8.0, 4.0]}, {"ORL": [100.0, 60.0, 50.0]})
    (axes,) = published.plot().figure.axes

    for line, curve in zip(drawn, found, strict=True):
        left = (curve - curve[-1]) / (curve[0] - curve[-1])
        np.testing.assert_allclose(line, np.maximum(left, FLOOR))
    assert sorted(line.get_ydata().tolist() for line in axes.lines) == sorted(
        (np.array(each) / each.iloc[0]).tolist()
        for _, each in published.frame().groupby("source")["objective"]
    )
