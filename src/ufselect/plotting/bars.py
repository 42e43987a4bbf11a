"""Bars and ranges of results: of random sets, of methods on data sets, of ranks."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ufselect.evaluation import indistinguishable_groups
from ufselect.plotting.axes import (
    COLOURS,
    FULL_WIDTH,
    GREY,
    GREYS,
    INK,
    Plot,
    add_legend,
    as_plot,
    colour_and_hatch,
    drawing,
    make_logarithmic,
    panels,
    printable,
)

# Of random sets: bins of their values, and the range in which nine in ten of them lie.
N_BINS = 16
BAND = (0.05, 0.95)
# Of the distance between two groups; the rest is left free.
GROUP_WIDTH = 0.86
# A panel whose values span more than this factor has a logarithmic axis.
WIDE_SPAN = 10
# Heights, counted downwards from the axis in rows of labels.
FIRST_BAR = 0.5
BETWEEN_BARS = 0.36
RULER = -1.9
ROW_IN_INCHES = 0.29
# Of the length of the axis: how far the stems reach over its ends.
OVERHANG = 0.04

Groups = Mapping[str, Mapping[str, float]]
Values = Mapping[str, Sequence[float]]


def random_bands(
    values: Mapping[str, float],
    random_values: Mapping[str, ArrayLike],
    notes: Mapping[str, str] | None = None,
) -> Plot:
    """Draw each value of a selection in the distribution of random sets.

    Parameters
    ----------
    values : mapping of str to float
        Criterion to the value of the selection; the larger the better.
    random_values : mapping of str to array
        Criterion to the values of random sets.
    notes : mapping of str to str, optional
        What to write below the name of a criterion.

    Examples
    --------
    >>> from ufselect.report import random_bands
    >>> plot = random_bands(
    ...     {"kernel alignment": 0.9}, {"kernel alignment": [0.1, 0.2, 0.3]}
    ... )
    >>> "kernel alignment" in plot.svg
    True
    """
    words = []
    with drawing():
        width = FULL_WIDTH / max(2, len(values))
        figure, every_axes = panels(len(values), height=2.9, width=width, most=4)
        for axes, (name, value) in zip(every_axes, values.items(), strict=True):
            others = np.asarray(random_values[name], dtype=np.float64)
            low, high = np.quantile(others, BAND)
            band = axes.axvspan(low, high, color=COLOURS[4], alpha=0.3, linewidth=0)
            # Values that are all equal need a bin, too.
            margin = 0.01 if np.ptp(others) == 0 else 0.0
            bins = np.linspace(others.min() - margin, others.max() + margin, N_BINS + 1)
            *_, bars = axes.hist(others, bins=bins, color=GREYS[1])
            line = axes.axvline(value, color=COLOURS[3], linewidth=2.6)
            axes.margins(x=0.12)
            axes.set_yticks([])
            axes.spines["left"].set_visible(False)
            axes.xaxis.get_major_locator().set_params(nbins=4)
            lines = [name, *([notes[name]] if notes and name in notes else [])]
            axes.set_title("\n".join(map(printable, lines)), fontsize=11)
            words.append(f"{name} {value:.3g}, random sets {low:.3g} to {high:.3g}")
        labels = ["random sets", "nine in ten of them", "chosen features"]
        add_legend(figure, [bars, band, line], labels)
        figure.supxlabel("value of the criterion; to the right is better")
        said = f"The chosen features among random sets: {'; '.join(words)}."
        return as_plot(figure, said, hover=list(zip(every_axes, words, strict=True)))


def bar_chart(
    groups: Groups,
    *,
    label: str,
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
    names = dict.fromkeys(name for row in groups.values() for name in row)
    methods = sorted(names, key=lambda method: method in baselines)
    if not methods:
        raise ValueError("a bar chart needs at least one value, and there is none")
    heights = pd.DataFrame(groups, dtype=float).reindex(methods)
    heights = heights.where(np.isfinite(heights))
    width = GROUP_WIDTH / len(methods)
    coloured = sum(method not in baselines for method in methods)
    handles = []
    with drawing():
        full = float(np.clip(0.22 * heights.size, 6, FULL_WIDTH))
        figure, (axes,) = panels(1, width=full, height=4.4)
        for place, method in enumerate(methods):
            x = np.arange(len(groups)) - GROUP_WIDTH / 2 + width * (place + 0.5)
            row = heights.loc[method]
            if place < coloured:
                colour, hatch = colour_and_hatch(place, COLOURS)
            else:
                colour, hatch = colour_and_hatch(place - coloured, GREYS)
            edge = {"hatch": hatch, "edgecolor": INK, "linewidth": 0}
            bars = axes.bar(x, row.fillna(0), 0.9 * width, color=colour, **edge)
            handles.append(bars)
            for each in x[row.isna()]:
                side = {"ha": "center", "va": "bottom", "size": 9}
                axes.text(each, 0, " none", rotation=90, **side)
        # Long names in two lines, or neighbours overlap.
        ticks = [
            printable(name).replace(" (", "\n(").replace("_", "_\n", 1)
            for name in groups
        ]
        axes.set_xticks(range(len(groups)), ticks)
        axes.tick_params(axis="x", length=0)
        axes.set_ylabel(printable(label))
        axes.grid(axis="y")
        add_legend(figure, handles, methods)
        return as_plot(figure, f"Bars: {label} of {', '.join(methods)}")


def range_chart(
    measures: Mapping[str, Values], random_values: Values | None = None
) -> Plot:
    """Draw ranges: a dot at the median, a line from least to largest.

    Parameters
    ----------
    measures : mapping of str to mapping
        What is measured, with its unit, to method to values; one panel for each. A
        method without a value is said to have none.
    random_values : mapping of str to sequence, optional
        Measure to the values of random sets, whose range is a grey band. Such a panel
        need not begin at zero.

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
        for axes, (label, members) in zip(every_axes, measures.items(), strict=True):
            known = [value for values in members.values() for value in values]
            band = (random_values or {}).get(label)
            if band is not None:
                axes.axvspan(min(band), max(band), color=GREY, alpha=0.3, linewidth=0)
            elif known and min(known) > 0 and max(known) > WIDE_SPAN * min(known):
                make_logarithmic(axes, "x")
            elif known and min(known) >= 0:
                axes.set_xlim(0, 1.08 * max(known) or 1)
            axes.set(xlabel=printable(label), ylim=(len(methods) - 0.4, -0.6))
            axes.tick_params(axis="y", length=0)
            axes.grid()
            for place, method in enumerate(methods):
                values = members.get(method, [])
                if not len(values):
                    side = {"transform": axes.get_yaxis_transform(), "va": "center"}
                    axes.text(0.02, place, "none", size=9, **side)
                    continue
                ends, colour = (min(values), max(values)), COLOURS[0]
                line = {"linewidth": 3, "solid_capstyle": "round", "alpha": 0.55}
                axes.plot(ends, (place, place), color=colour, **line)
                axes.plot(np.median(values), place, "o", color=colour, markersize=7)
            names = methods if axes is every_axes[0] else [""] * len(methods)
            axes.set_yticks(range(len(methods)), [printable(name) for name in names])
        said = f"{' and '.join(measures)} of {', '.join(methods)}"
        if random_values:
            return as_plot(figure, f"{said}; the grey band is random features")
        return as_plot(figure, f"Ranges: {said}")


def rank_diagram(
    ranks: Mapping[str, float],
    critical_difference: float,
    *,
    baselines: Collection[str] = (),
) -> Plot:
    """Draw a critical difference diagram.

    Methods stand on an axis of average ranks, best to the left. A bar joins methods
    whose ranks differ by less than the critical difference: they are not told apart.

    Parameters
    ----------
    ranks : mapping of str to float
        Method to average rank, 1 being best; a pandas Series will do.
    critical_difference : float
        Such as `ufselect.evaluation.nemenyi_critical_difference` returns.
    baselines : collection of str
        Methods whose stems are grey and dashed.

    Examples
    --------
    >>> from ufselect.report import rank_diagram
    >>> plot = rank_diagram({"SCFS": 1.2, "NDFS": 1.9, "random": 2.9}, 1.1)
    >>> "critical difference 1.10" in plot.svg
    True
    """
    ranks = dict(ranks)
    if len(ranks) < 2:
        raise ValueError(
            f"a diagram of ranks needs at least two methods, got {len(ranks)}"
        )
    difference = critical_difference
    if not np.isfinite([*ranks.values(), difference]).all() or difference <= 0:
        raise ValueError(
            f"ranks and their critical difference must be finite, and the latter "
            f"positive, got {ranks!r:.60} and {difference}"
        )
    ranked = dict(sorted(ranks.items(), key=lambda pair: pair[1]))
    values = list(ranked.values())
    groups = indistinguishable_groups(values, difference)
    # Whole ranks between which all methods and the ruler have space.
    low = float(np.floor(values[0]))
    high = float(np.ceil(max(values[-1], low + difference, low + 1)))
    # A row for every method: the better half to the left, no two lines cross.
    n_methods, half = len(ranked), -(-len(ranked) // 2)
    first_row = FIRST_BAR + BETWEEN_BARS * len(groups) + 0.6
    rows = [first_row + min(i, n_methods - 1 - i) for i in range(n_methods)]
    lowest = max(rows) + 0.6
    with drawing():
        height = ROW_IN_INCHES * (lowest - RULER + 1) + 0.2
        figure, (axes,) = panels(1, width=FULL_WIDTH, height=height)
        axes.set(xlim=(low, high), ylim=(lowest, RULER - 1))
        axes.axis("off")
        _draw_axis(axes, (low, high), difference)
        for place, group in enumerate(groups):
            ends = (min(values[i] for i in group), max(values[i] for i in group))
            row = FIRST_BAR + BETWEEN_BARS * place
            look = {"color": COLOURS[0], "linewidth": 5, "solid_capstyle": "round"}
            axes.plot(ends, (row, row), clip_on=False, **look)
        overhang = OVERHANG * (high - low)
        for i, (label, rank) in enumerate(ranked.items()):
            left = i < half
            end = low - overhang if left else high + overhang
            stem = {"color": GREY, "ls": "--"} if label in baselines else {"color": INK}
            corner = (0, rows[i], rows[i])
            axes.plot((rank, rank, end), corner, lw=1, clip_on=False, **stem)
            side = {"ha": "right" if left else "left", "va": "center"}
            space = -overhang / 4 if left else overhang / 4
            axes.text(end + space, rows[i], printable(label), **side)
            number = {"ha": "left" if left else "right", "va": "bottom", "size": 9}
            axes.text(end, rows[i], f"{rank:.2f}", **number)
        said = ", ".join(f"{label} {rank:.2f}" for label, rank in ranked.items())
        return as_plot(figure, f"Critical difference diagram; average ranks: {said}")


def _draw_axis(axes: Any, ends: tuple[float, float], difference: float) -> None:
    low, high = ends
    axes.plot(ends, (0, 0), color=INK, linewidth=1)
    step = max(1, int(high - low) // 16)
    for rank in range(int(low), int(high) + 1, step):
        axes.plot((rank, rank), (-0.22, 0), color=INK, linewidth=1)
        axes.text(rank, -0.35, str(rank), ha="center", va="bottom")
    ruler = {"color": INK, "linewidth": 1.4, "clip_on": False}
    axes.plot((low, low + difference), (RULER, RULER), **ruler)
    for end in (low, low + difference):
        axes.plot((end, end), (RULER - 0.15, RULER + 0.15), **ruler)
    words = f"critical difference {difference:.2f}"
    axes.text(low, RULER - 0.25, words, ha="left", va="bottom")
    words = "average rank, 1 is best"
    axes.text(high, RULER - 0.25, words, ha="right", va="bottom")
