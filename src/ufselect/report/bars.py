"""Grouped bars: data sets side by side, one bar for each method."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.report.drawing import (
    COLOURS,
    FULL_WIDTH,
    GREYS,
    INK,
    add_legend,
    colour_and_hatch,
    drawing,
    panels,
    printable,
)
from ufselect.report.plots import Plot, as_plot

# Of the distance between two groups; the rest is left free.
GROUP_WIDTH = 0.86

Groups = Mapping[str, Mapping[str, float]]


def bar_chart(
    groups: Groups,
    *,
    label: str,
    errors: Groups | None = None,
    baselines: Collection[str] = (),
) -> Plot:
    """Draw grouped bars: data sets side by side, one bar for each method.

    Parameters
    ----------
    groups : mapping of str to mapping
        Data set and method to a value. Where a value is absent or not finite, "none"
        is written in place of the bar.
    label : str
        What the values are, with their unit.
    errors : mapping of str to mapping or None
        Data set and method to half the length of an error bar.
    baselines : collection of str
        Methods that are drawn in grey, after all others.

    Examples
    --------
    >>> from ufselect.report import bar_chart
    >>> values = {"ORL": {"SCFS": 59.2, "all features": 59.1}}
    >>> plot = bar_chart(values, label="accuracy (%)", baselines=["all features"])
    >>> "all features" in plot.svg
    True
    """
    methods = _in_order(groups, baselines)
    if not methods:
        raise ValueError("a bar chart needs at least one value, and there is none")
    heights = _matrix(groups, groups, methods)
    spreads = _matrix(groups, errors or {}, methods)
    with drawing():
        width = float(np.clip(0.22 * heights.size, 6, FULL_WIDTH))
        figure, (axes,) = panels(1, width=width, height=4.4)
        handles = _draw_bars(axes, heights, spreads, _looks(methods, baselines))
        axes.set_xticks(range(len(groups)), [printable(name) for name in groups])
        axes.tick_params(axis="x", length=0)
        axes.set_ylabel(printable(label))
        axes.grid(axis="y")
        add_legend(figure, handles, methods)
        return as_plot(figure, f"Bars: {label} of {', '.join(methods)}")


def _in_order(groups: Groups, baselines: Collection[str]) -> list[str]:
    """Return the methods as they first appear, with the baselines at the end."""
    methods = dict.fromkeys(name for row in groups.values() for name in row)
    return sorted(methods, key=lambda method: method in baselines)


def _matrix(groups: Groups, values: Groups, methods: list[str]) -> NDArray[np.float64]:
    """Return values with methods in rows and groups in columns; absent ones are NaN."""
    rows = [
        [values.get(group, {}).get(method, np.nan) for group in groups]
        for method in methods
    ]
    table = np.array(rows, dtype=np.float64)
    return np.where(np.isfinite(table), table, np.nan)


def _looks(methods: list[str], baselines: Collection[str]) -> list[tuple[str, str]]:
    """Return colour and hatch of each method; the baselines at the end are grey."""
    coloured = sum(method not in baselines for method in methods)
    return [
        *(colour_and_hatch(place, COLOURS) for place in range(coloured)),
        *(colour_and_hatch(place, GREYS) for place in range(len(methods) - coloured)),
    ]


def _draw_bars(
    axes: Any,
    heights: NDArray[np.float64],
    spreads: NDArray[np.float64],
    looks: Sequence[tuple[str, str]],
) -> list[Any]:
    """Draw the bars of one method after the other; return one handle for each."""
    width = GROUP_WIDTH / len(heights)
    handles = []
    for place, (row, spread) in enumerate(zip(heights, spreads, strict=True)):
        places = np.arange(len(row)) - GROUP_WIDTH / 2 + width * (place + 0.5)
        colour, hatch = looks[place]
        edge = {"hatch": hatch, "edgecolor": INK, "linewidth": 0}
        bars = axes.bar(places, np.nan_to_num(row), 0.9 * width, color=colour, **edge)
        handles.append(bars)
        known = np.isfinite(row) & np.isfinite(spread)
        axes.errorbar(
            places[known], row[known], spread[known], fmt="none", ecolor=INK, lw=0.9
        )
        for x in places[~np.isfinite(row)]:
            axes.text(x, 0, " none", rotation=90, ha="center", va="bottom", size=9)
    return handles
