"""The figures of an experiment: what is drawn is what their frames say."""

import numpy as np
import pytest

from ufselect.report.convergence import FLOOR
from ufselect.report.experiment_parts import (
    AverageRanks,
    ConvergenceCurves,
    CostRanges,
    MethodBars,
    ParameterMap,
    PublishedCurves,
)

pytest.importorskip("matplotlib")

HISTORIES = {
    "ORL": {"SCFS": np.array([8.0, 4.0, 3.0]), "NDFS": np.array([-1.0, -5.0])},
    "lung": {"SCFS": np.array([9.0, 1.0])},
}


def rows_of(part):
    return list(zip(*part.frame().values(), strict=True))


def curves_of(part):
    """Return the objectives of a frame by what they are of."""
    found = {}
    for name, label, _, value in rows_of(part):
        found.setdefault((name, label), []).append(value)
    return found


def panels_of(part):
    return {axes.get_title(): axes for axes in part.plot().figure.axes}


def test_ranks_are_where_the_frame_says():
    part = AverageRanks({"SCFS": 1.25, "NDFS": 2.5, "random": 2.75}, 0.8)
    (axes,) = part.plot().figure.axes
    stems = [line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 3]

    assert part.frame()["method"] == ["SCFS", "NDFS", "random"]
    assert sorted(stems) == part.frame()["average rank"]


def test_cells_of_a_map_are_the_rows_of_the_frame():
    grid = {"alpha": [1, 10, 100], "beta": [0.1, 0.2]}
    tables = {
        name: np.array([[50.0, 51.25], [52, 53], [54, np.nan]]) + place
        for place, name in enumerate(["ORL", "lung"])
    }
    part = ParameterMap("accuracy in percent", grid, tables)
    panels = panels_of(part)
    drawn = {
        (name, grid["alpha"][int(text.get_position()[1])], grid["beta"][int(x)]): (
            text.get_text()
        )
        for name in tables
        for text in panels[name].texts
        for x in [text.get_position()[0]]
    }

    assert drawn == {
        tuple(row): "none" if np.isnan(value) else f"{value:.1f}"
        for *row, value in rows_of(part)
    }


def test_curves_are_the_ways_left_of_the_frame():
    part = ConvergenceCurves(HISTORIES)
    panels = panels_of(part)
    drawn = [line.get_ydata() for name in HISTORIES for line in panels[name].lines]
    found = [np.array(values) for values in curves_of(part).values()]
    expected = [
        np.maximum((curve - curve[-1]) / (curve[0] - curve[-1]), FLOOR)
        for curve in found
    ]

    assert list(curves_of(part)) == [
        (name, label) for name, row in HISTORIES.items() for label in row
    ]
    for line, values in zip(drawn, expected, strict=True):
        np.testing.assert_allclose(line, values)


def test_ranges_are_those_of_the_frame():
    seconds = {"SCFS": [0.5, 9.0, 0.7], "SPEC": [0.1]}
    part = CostRanges({"seconds of a fit": seconds, "peak memory (MB)": {"SPEC": [9]}})
    first, _ = part.plot().figure.axes
    lines = [line.get_xdata().tolist() for line in first.lines]
    found = {}
    for label, measure, value in rows_of(part):
        found.setdefault(measure, {}).setdefault(label, []).append(value)

    assert found["peak memory (MB)"] == {"SPEC": [9]}
    assert lines == [
        each
        for values in found["seconds of a fit"].values()
        for each in ([min(values), max(values)], [np.median(values)])
    ]


def test_bars_are_as_high_as_the_frame_says():
    groups = {"ORL": {"SCFS": 59.5, "random": 40.0}, "lung": {"SCFS": 80.0}}
    part = MethodBars("accuracy in percent", groups)
    (axes,) = part.plot().figure.axes
    heights = [bar.get_height() for bar in axes.patches]

    assert list(part.frame()) == ["data set", "method", "accuracy in percent"]
    # What is not there is a bar of no height.
    assert sorted(heights) == sorted([*part.frame()["accuracy in percent"], 0.0])


def test_published_curves_are_drawn_beside_ours():
    part = PublishedCurves(
        {"ORL": np.array([8.0, 4.0])}, {"ORL": np.array([100.0, 60.0, 50.0])}
    )
    (axes,) = part.plot().figure.axes
    drawn = sorted(line.get_ydata().tolist() for line in axes.lines)
    found = curves_of(part).values()

    assert list(curves_of(part)) == [("ORL", "ours"), ("ORL", "published")]
    assert drawn == sorted([value / row[0] for value in row] for row in found)
