"""Medians and extremes of many values: one row for each method."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ufselect.report.drawing import (
    COLOURS,
    FULL_WIDTH,
    drawing,
    panels,
    printable,
)
from ufselect.report.plots import Plot, as_plot
from ufselect.report.scales import make_logarithmic

# A panel whose values span more than this factor has a logarithmic axis.
WIDE_SPAN = 10

Values = Mapping[str, Sequence[float]]


def range_chart(measures: Mapping[str, Values]) -> Plot:
    """Draw ranges: a dot at the median, a line from least to largest.

    Parameters
    ----------
    measures : mapping of str to mapping
        What is measured, with its unit, to method to values; one panel for each. A
        method without a value is said to have none.

    Examples
    --------
    >>> from ufselect.report import range_chart
    >>> plot = range_chart({"seconds": {"SCFS": [0.5, 0.7, 9.0], "SPEC": [0.1]}})
    >>> "seconds" in plot.svg
    True
    """
    methods = list(dict.fromkeys(name for row in measures.values() for name in row))
    if not methods:
        raise ValueError("a chart of ranges needs at least one method, got none")
    with drawing():
        height = 0.3 * len(methods) + 1
        width = FULL_WIDTH / max(2, len(measures))
        figure, every_axes = panels(len(measures), width=width, height=height)
        for axes, (label, values) in zip(every_axes, measures.items(), strict=True):
            _draw_panel(axes, label, [list(values.get(name, [])) for name in methods])
            names = methods if axes is every_axes[0] else [""] * len(methods)
            axes.set_yticks(range(len(methods)), [printable(name) for name in names])
        said = " and ".join(measures)
        return as_plot(figure, f"Ranges: {said} of {', '.join(methods)}")


def _draw_panel(axes: Any, label: str, rows: list[list[float]]) -> None:
    _scale(axes, [value for row in rows for value in row])
    axes.set(xlabel=printable(label), ylim=(len(rows) - 0.4, -0.6))
    axes.tick_params(axis="y", length=0)
    axes.grid()
    for place, values in enumerate(rows):
        if values:
            line = {"color": COLOURS[0], "linewidth": 3, "solid_capstyle": "round"}
            axes.plot((min(values), max(values)), (place, place), alpha=0.55, **line)
            axes.plot(np.median(values), place, "o", color=COLOURS[0], markersize=7)
        else:
            note = {"transform": axes.get_yaxis_transform(), "va": "center", "size": 9}
            axes.text(0.02, place, "none", **note)


def _scale(axes: Any, values: list[float]) -> None:
    if values and min(values) > 0 and max(values) > WIDE_SPAN * min(values):
        make_logarithmic(axes, "x")
    elif values:
        axes.set_xlim(0, 1.08 * max(values) or 1)
