"""Figures of one selection: scores, random sets, stability, samples, distributions."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ufselect.matrix import Float, Index
from ufselect.report.drawing import (
    COLOURS,
    FULL_WIDTH,
    GREY,
    GREYS,
    INK,
    Plot,
    add_legend,
    as_plot,
    colour_and_marker,
    drawing,
    line_handle,
    panels,
    printable,
    shortened,
)
from ufselect.report.rendering import Graphic

# Of longer lines as many points are drawn, ever farther apart.
MOST_POINTS = 1500
# Beyond so many times the cut, its surroundings get a panel of their own.
NEAR_THE_CUT = 3
N_BINS = 16
BAND = (0.05, 0.95)
# Colours of the calls of AutoSelect.
CALLS = {"confirmed": COLOURS[2], "tentative": COLOURS[1], "rejected": GREYS[1]}
Interval = tuple[float, float, float]
# More entries would fill the figure with its legend.
LONGEST_LEGEND = 12
LONGEST_NAME = 30
SPARK_BINS = 16
SPARK_BAR, SPARK_HEIGHT = 5, 20


def score_curve(
    scores: ArrayLike, n_selected: int, *, calls: ArrayLike | None = None
) -> Plot:
    """Draw scores from the best feature to the worst, and where they were cut.

    Parameters
    ----------
    scores : array-like
        Best first.
    n_selected : int
        How many were chosen.
    calls : array-like of str, optional
        Call of each feature, as `AutoSelect` makes it; calls differ by colour.

    Examples
    --------
    >>> from ufselect.report import score_curve
    >>> "2 of 4 features" in score_curve([9.0, 5.0, 1.0, 0.5], 2).svg
    True
    """
    values = np.array(scores, dtype=np.float64)
    if values.ndim != 1 or not 1 <= n_selected <= values.size:
        raise ValueError(
            f"a cut after n_selected={n_selected} needs at least as many scores in a "
            f"row, got an array of shape {values.shape}"
        )
    count = len(values)
    near = min(count, max(NEAR_THE_CUT * n_selected, 10))
    shown = {f"all {count} features": count}
    if near < count / 2:
        shown[f"the first {near}"] = near
    with drawing():
        width = FULL_WIDTH / 2 if len(shown) > 1 else 0.7 * FULL_WIDTH
        figure, every_axes = panels(len(shown), height=3.4, width=width)
        for axes, (title, end) in zip(every_axes, shown.items(), strict=True):
            axes.set_title(title)
            _draw_scores(axes, values[:end], n_selected)
            if calls is not None:
                _draw_calls(axes, values[:end], np.asarray(calls)[:end])
        if calls is not None:
            handles = [line_handle(_call_look(kind)) for kind in CALLS]
            add_legend(figure, handles, list(CALLS))
        every_axes[0].set_ylabel("score")
        figure.supxlabel("rank")
        return as_plot(
            figure,
            f"Scores by rank; the first {n_selected} of {count} features were chosen.",
        )


def false_share_curve(
    share: ArrayLike, lower: ArrayLike, upper: ArrayLike, n_selected: int
) -> Plot:
    """Draw the estimated false discovery rate among the k best features.

    Parameters
    ----------
    share, lower, upper : array-like
        The estimate and its interval, for k from 1 on.
    n_selected : int
        How many were chosen.

    Examples
    --------
    >>> from ufselect.report import false_share_curve
    >>> plot = false_share_curve([0.1, 0.2, 0.5], [0, 0, 0.1], [0.3, 0.5, 0.9], 2)
    >>> "20% of the 2 chosen" in plot.svg
    True
    """
    shares, low, high = (np.array(each, dtype=float) for each in (share, lower, upper))
    if not 1 <= n_selected <= shares.size == low.size == high.size:
        raise ValueError(
            f"shares for {shares.size}, {low.size} and {high.size} numbers of features "
            f"do not tell about n_selected={n_selected}"
        )
    near = min(len(shares), max(NEAR_THE_CUT * n_selected, 10))
    with drawing():
        figure, (axes,) = panels(1, height=3.2, width=0.7 * FULL_WIDTH)
        ranks = _thinned(near)
        axes.fill_between(
            ranks + 1, low[ranks], high[ranks], color=COLOURS[4], alpha=0.3, lw=0
        )
        axes.plot(ranks + 1, shares[ranks], color=COLOURS[0])
        _draw_cut(axes, n_selected, near)
        axes.set(xlabel="best features", ylabel="false discovery rate", ylim=(0, 1.05))
        axes.grid()
        return as_plot(
            figure,
            f"About {shares[n_selected - 1]:.0%} of the {n_selected} chosen features "
            "are false discoveries.",
        )


def objective_curve(history: ArrayLike) -> Plot:
    """Draw an objective after each iteration.

    Examples
    --------
    >>> from ufselect.report import objective_curve
    >>> "3 iterations" in objective_curve([4.0, 2.0, 1.5]).svg
    True
    """
    values = np.array(history, dtype=np.float64)
    if values.ndim != 1 or not values.size:
        raise ValueError(f"an objective needs its values in a row, got {history!r:.60}")
    with drawing():
        figure, (axes,) = panels(1, height=3.2, width=0.7 * FULL_WIDTH)
        iterations = np.arange(1, len(values) + 1)
        marker = "o" if len(values) <= 60 else ""
        axes.plot(iterations, values, color=COLOURS[0], marker=marker, markersize=3)
        axes.ticklabel_format(useOffset=False)
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.set(xlabel="iteration", ylabel="objective")
        axes.grid()
        return as_plot(
            figure,
            f"The objective after each of {len(values)} iterations, from "
            f"{values[0]:.6g} to {values[-1]:.6g}.",
        )


def _draw_scores(axes: Any, values: Float, n_selected: int) -> None:
    ranks = _thinned(len(values))
    axes.plot(ranks + 1, values[ranks], color=GREY, linewidth=1.6)
    chosen = ranks[ranks < n_selected]
    axes.plot(chosen + 1, values[chosen], color=COLOURS[0], linewidth=2.6)
    axes.fill_between(
        chosen + 1,
        values[chosen],
        values.min(),
        color=COLOURS[0],
        alpha=0.18,
        linewidth=0,
    )
    _draw_cut(axes, n_selected, len(values))
    axes.grid()


def _draw_calls(axes: Any, values: Float, calls: NDArray[np.str_]) -> None:
    ranks = _thinned(len(values))
    for kind in CALLS:
        shown = np.where(calls[ranks] == kind, values[ranks], np.nan)
        axes.plot(ranks + 1, shown, zorder=1, **_call_look(kind))


def _call_look(kind: str) -> dict[str, Any]:
    look = {"linewidth": 8, "alpha": 0.45, "solid_capstyle": "butt"}
    return {"color": CALLS[kind], **look}


def _draw_cut(axes: Any, n_selected: int, count: int) -> None:
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.axvline(n_selected + 0.5, color=COLOURS[3], linestyle="--", linewidth=1.4)
    on_the_left = n_selected > 0.7 * count
    axes.annotate(
        f"cut after {n_selected}",
        (n_selected + 0.5, 0.97),
        xycoords=axes.get_xaxis_transform(),
        xytext=(-6 if on_the_left else 6, 0),
        textcoords="offset points",
        ha="right" if on_the_left else "left",
        va="top",
        color=INK,
    )


def _thinned(count: int) -> Index:
    """Return places along a line, all at its start and fewer towards its end."""
    if count <= MOST_POINTS:
        return np.arange(count)
    return np.unique(np.geomspace(1, count, MOST_POINTS).astype(np.intp)) - 1


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
    >>> plot = random_bands({"structure": 0.9}, {"structure": [0.1, 0.2, 0.3]})
    >>> "structure" in plot.svg
    True
    """
    if not values:
        raise ValueError("bands need at least one criterion, and there is none")
    with drawing():
        width = FULL_WIDTH / max(2, len(values))
        figure, every_axes = panels(len(values), height=2.9, width=width, most=4)
        for axes, (name, value) in zip(every_axes, values.items(), strict=True):
            others = np.asarray(random_values[name], dtype=np.float64)
            handles = _draw_band(axes, value, others)
            note = (notes or {}).get(name, "")
            lines = [printable(text) for text in (name, note) if text]
            axes.set_title("\n".join(lines), fontsize=11)
        labels = ["random sets", "nine in ten of them", "chosen features"]
        add_legend(figure, handles, labels)
        figure.supxlabel("value of the criterion; to the right is better")
        return as_plot(figure, _description(values, random_values))


def _draw_band(axes: Any, value: float, others: NDArray[np.float64]) -> list[Any]:
    low, high = np.quantile(others, BAND)
    band = axes.axvspan(low, high, color=COLOURS[4], alpha=0.3, linewidth=0)
    *_, bars = axes.hist(others, bins=_bins(others), color=GREYS[1])
    line = axes.axvline(value, color=COLOURS[3], linewidth=2.6)
    axes.margins(x=0.12)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.xaxis.get_major_locator().set_params(nbins=4)
    return [bars, band, line]


def _bins(others: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = float(others.min()), float(others.max())
    if low == high:
        low, high = low - 0.01, high + 0.01
    return np.linspace(low, high, N_BINS + 1)


def _description(
    values: Mapping[str, float], random_values: Mapping[str, ArrayLike]
) -> str:
    parts = []
    for name, value in values.items():
        low, high = np.quantile(np.asarray(random_values[name], dtype=float), BAND)
        parts.append(f"{name} {value:.3g}, random sets {low:.3g} to {high:.3g}")
    return f"The chosen features among random sets: {'; '.join(parts)}."


def selection_frequencies(
    frequency: ArrayLike, *, chance: float, stability: Interval | None = None
) -> Plot:
    """Draw how often each chosen feature is chosen again, and the stability of all.

    Parameters
    ----------
    frequency : array-like
        Share of the subsamples on which each chosen feature is chosen, by rank.
    chance : float
        The share to expect of a feature drawn at random, drawn as a dashed line.
    stability : tuple of float, optional
        The index with the ends of its interval.

    Examples
    --------
    >>> from ufselect.report import selection_frequencies
    >>> plot = selection_frequencies([1.0, 0.4], chance=0.1, stability=(0.6, 0.5, 0.7))
    >>> "stability 0.6" in plot.svg
    True
    """
    shares = np.array(frequency, dtype=np.float64)
    if shares.ndim != 1 or not shares.size:
        raise ValueError("frequencies need at least one feature, and there is none")
    words = f"Chosen features are chosen again on {shares.mean():.0%} of the subsamples"
    with drawing():
        figure, (left, *others) = _two_panels(stability is not None)
        _draw_frequencies(left, shares, chance)
        if stability is not None:
            _draw_stability(others[0], stability)
            words += f" on average; stability {stability[0]:.3g}"
        return as_plot(figure, f"{words}.")


def _two_panels(both: bool) -> tuple[Any, list[Any]]:
    figure, (axes,) = panels(1, height=3.2, width=FULL_WIDTH if both else 7)
    if not both:
        return figure, [axes]
    axes.remove()
    grid = figure.add_gridspec(1, 2, width_ratios=[5, 1])
    return figure, [figure.add_subplot(grid[0]), figure.add_subplot(grid[1])]


def _draw_frequencies(axes: Any, shares: Any, chance: float) -> None:
    ranks = np.arange(1, len(shares) + 1)
    if len(shares) <= 200:
        axes.vlines(ranks, 0, shares, color=COLOURS[0], linewidth=1.2, alpha=0.7)
    axes.plot(ranks, shares, "o", color=COLOURS[0], markersize=3.2)
    axes.axhline(chance, color=COLOURS[3], linestyle="--", linewidth=1.4)
    edge = max(1, 0.015 * len(shares))
    axes.set(xlabel="rank", ylabel="share of subsamples", ylim=(0, 1.05))
    axes.set_xlim(1 - edge, len(shares) + edge)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.grid(axis="y")


def _draw_stability(axes: Any, stability: Interval) -> None:
    value, lower, upper = stability
    axes.vlines(0, lower, upper, color=COLOURS[0], linewidth=2)
    axes.plot([0], [value], "o", color=COLOURS[0], markersize=8)
    axes.axhline(0, color=GREY, linewidth=0.8)
    axes.text(0.2, value, f"{value:.2f}", va="center", color=INK)
    axes.set(xlim=(-0.5, 1), ylim=(min(-0.05, lower - 0.05), max(1.05, upper)))
    axes.set_xticks([])
    axes.set_title("stability")
    axes.grid(axis="y")


def sample_scatter(
    planes: Mapping[str, ArrayLike],
    groups: Sequence[Any] | None = None,
    *,
    names: Sequence[str] | None = None,
) -> Plot:
    """Draw samples as points, one panel per plane, in the colours of their groups.

    Parameters
    ----------
    planes : mapping of str to array of shape (n, 2)
        Title to the points of all samples.
    groups : sequence, optional
        Group of each sample, such as its cluster. Groups differ by colour and shape.
    names : sequence of str, optional
        Name of each sample, shown under the pointer.

    Examples
    --------
    >>> from ufselect.report import sample_scatter
    >>> plot = sample_scatter({"all": [[0, 1], [2, 3]]}, groups=["a", "b"])
    >>> plot.svg.startswith("<svg")
    True
    """
    points = {title: _points(title, plane) for title, plane in planes.items()}
    if not points:
        raise ValueError("a view needs at least one plane, and there is none")
    count = len(next(iter(points.values())))
    members = [""] * count if groups is None else [str(group) for group in groups]
    distinct = list(dict.fromkeys(_in_order(groups, members)))
    titles: dict[str, list[str]] = {}
    with drawing():
        width = FULL_WIDTH / max(2, len(points))
        figure, every_axes = panels(len(points), height=4.2, width=width)
        for panel, (title, plane) in enumerate(points.items()):
            axes, handles = every_axes[panel], []
            for place, group in enumerate(distinct):
                inside = np.flatnonzero(np.array(members) == group)
                identity = f"points-{panel}-{place}"
                handles += _draw_points(axes, plane, inside, place, identity)
                if names is not None:
                    titles[identity] = [
                        f"{names[sample]} ({group})" if group else str(names[sample])
                        for sample in inside.tolist()
                    ]
            axes.set_title(printable(title))
            axes.set(xlabel="first component", ylabel="second component")
            axes.set_xticks([])
            axes.set_yticks([])
        if 1 < len(distinct) <= LONGEST_LEGEND:
            shown = [shortened(group, LONGEST_NAME) for group in distinct]
            add_legend(figure, handles, shown)
        kinds = f" in {len(distinct)} groups" if groups is not None else ""
        words = f"{count} samples{kinds} by {' and by '.join(points)}"
        return as_plot(figure, words, titles=titles)


def _points(title: str, plane: ArrayLike) -> NDArray[np.float64]:
    points = np.array(plane, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(
            f"{title!r} has shape {points.shape} but points have two parts"
        )
    return points


def _in_order(groups: Sequence[Any] | None, names: list[str]) -> list[str]:
    """Return names in the order of their groups: numbers as numbers."""
    if groups is None:
        return names
    values = np.asarray(groups)
    if values.dtype.kind not in "biuf":
        return sorted(names)
    return [names[place] for place in np.argsort(values, kind="stable")]


def _draw_points(
    axes: Any, points: NDArray[np.float64], inside: Index, place: int, identity: str
) -> list[Any]:
    size = float(np.clip(90 / np.sqrt(len(points)), 3, 6))
    colour, marker = colour_and_marker(place)
    look = {"color": colour, "marker": marker, "markersize": size, "alpha": 0.75}
    drawn = axes.plot(*points[inside].T, linestyle="", markeredgewidth=0, **look)
    drawn[0].set_gid(identity)
    return list(drawn)


def sparkline(values: ArrayLike) -> Graphic:
    """Return a histogram as a cell: bars in the colour of the text.

    Examples
    --------
    >>> from ufselect.report import sparkline
    >>> sparkline([0.0, 1.0, 1.0, 4.0])
    'from 0 to 4, median 1'
    """
    numbers = np.asarray(values, dtype=np.float64)
    words = "no values"
    if numbers.size:
        low, middle, high = numbers.min(), np.median(numbers), numbers.max()
        words = f"from {low:.4g} to {high:.4g}, median {middle:.4g}"
    counts = _bin_counts(numbers)
    width = SPARK_BAR * SPARK_BINS
    svg = (
        f'<svg width="{width}" height="{SPARK_HEIGHT}" role="img" '
        f'aria-label="{escape(words)}"><path fill="currentColor" opacity=".65" '
        f'd="{_bars(counts)}"/><path stroke="currentColor" opacity=".4" '
        f'd="M0 {SPARK_HEIGHT - 0.5}h{width}"/></svg>'
    )
    return Graphic(svg, words)


def _bin_counts(numbers: Float) -> Index:
    """Return how many numbers fall into each bin; a single value into the middle."""
    # Halved, the largest numbers have a difference that is one.
    low, high = numbers.min(initial=np.inf) / 2, numbers.max(initial=-np.inf) / 2
    if low < high:
        places = (numbers / 2 - low) / (high - low) * SPARK_BINS
    else:
        places = np.full(numbers.size, SPARK_BINS / 2)
    bins = np.minimum(places.astype(np.intp), SPARK_BINS - 1)
    return np.bincount(bins, minlength=SPARK_BINS)


def _bars(counts: Index) -> str:
    """Return the outline of all bars; one that is not empty is seen."""
    highest = max(1, int(counts.max()))
    heights = np.ceil(counts / highest * (SPARK_HEIGHT - 1)).astype(int)
    return "".join(
        f"M{SPARK_BAR * place} {SPARK_HEIGHT}v-{height}h{SPARK_BAR - 1}v{height}z"
        for place, height in enumerate(heights.tolist())
        if height
    )


def cluster_ranges(values: ArrayLike, groups: ArrayLike) -> Graphic:
    """Return medians and quartiles by group as a cell, in the colours of the groups.

    Examples
    --------
    >>> cluster_ranges([0.0, 1.0, 5.0, 6.0], [0, 0, 1, 1])
    'median by cluster: 0 at 0.5, 1 at 5.5'
    """
    numbers, members = np.asarray(values, dtype=np.float64), np.asarray(groups)
    kinds = np.unique(members)
    step = 5 if len(kinds) < 5 else 4
    width, height = SPARK_BAR * SPARK_BINS, step * len(kinds) + 2
    # Halved, the largest numbers have a difference that is one.
    low, high = numbers.min() / 2, numbers.max() / 2
    scale = (width - 4) / (high - low) if high > low else 0.0
    shapes, words = [], []
    for place, kind in enumerate(kinds):
        inside = numbers[members == kind]
        first, middle, last = np.quantile(inside, [0.25, 0.5, 0.75])
        x1, x, x2 = (2 + scale * (q / 2 - low) for q in (first, middle, last))
        y, colour = step * (place + 0.5) + 1, COLOURS[place % len(COLOURS)]
        shapes.append(
            f'<path stroke="{colour}" stroke-width="2" opacity=".6" '
            f'd="M{x1:.1f} {y}H{max(x2, x1 + 0.1):.1f}"/>'
            f'<circle cx="{x:.1f}" cy="{y}" r="2" fill="{colour}"/>'
        )
        words.append(f"{kind} at {middle:.4g}")
    said = f"median by cluster: {', '.join(words)}"
    svg = (
        f'<svg width="{width}" height="{height}" role="img" '
        f'aria-label="{escape(said)}">{"".join(shapes)}</svg>'
    )
    return Graphic(svg, said)
