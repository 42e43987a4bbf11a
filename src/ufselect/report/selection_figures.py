"""Figures of one selection: scores, random sets, stability, samples, distributions.

Each has a function ``draw_...``, which draws on given axes: `ufselect.pl` has the same.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ufselect.report.drawing import (
    COLOURS,
    FULL_WIDTH,
    GREYS,
    Graphic,
    Plot,
    add_legend,
    as_plot,
    drawing,
    markers,
    palette,
    panels,
    printable,
    shortened,
)

# Points drawn of longer lines, ever farther apart.
MOST_POINTS = 600
# With more features for each chosen one, ranks have a logarithmic scale.
MANY_PER_CHOSEN = 6
N_BINS = 16
BAND = (0.05, 0.95)
# Colours of the calls of AutoSelect, or of what was chosen.
KINDS = {
    **{"confirmed": COLOURS[2], "tentative": COLOURS[1], "rejected": GREYS[0]},
    **{"chosen": COLOURS[0], "not chosen": GREYS[0]},
}
Interval = tuple[float, float, float]
# More entries would fill the figure with its legend.
LONGEST_LEGEND = 24
LONGEST_NAME = 30
SPARK_BINS = 16
SPARK_BAR, SPARK_HEIGHT = 5, 20


def score_curve(
    scores: ArrayLike,
    n_selected: int,
    *,
    calls: ArrayLike | None = None,
    explained: ArrayLike | None = None,
    permuted: ArrayLike | None = None,
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
    explained, permuted : array-like, optional
        Share of the variance of each feature that the structure of the others
        explains, and the largest such share of its permuted copies: a second panel.

    Examples
    --------
    >>> from ufselect.report import score_curve
    >>> "2 of 4 features" in score_curve([9.0, 5.0, 1.0, 0.5], 2).svg
    True
    """
    count = np.size(scores)
    both = explained is not None and permuted is not None
    with drawing():
        width = FULL_WIDTH / 2 if both else 0.7 * FULL_WIDTH
        figure, every_axes = panels(1 + both, height=3.4, width=width)
        draw_scores(every_axes[0], scores, n_selected, calls)
        words = f"Scores by rank; the first {n_selected} of {count} features were "
        words += "chosen."
        if both:
            draw_scores(every_axes[1], explained, n_selected, calls, permuted=permuted)
            words += " Beside it, what is explained of each and of permuted copies."
        shown = every_axes[-1].get_legend_handles_labels()
        add_legend(figure, *shown)
        return as_plot(figure, words, hover=[(axes, "rows") for axes in every_axes])


def draw_scores(
    axes: Any,
    scores: ArrayLike | None,
    n_selected: int,
    calls: ArrayLike | None = None,
    *,
    permuted: ArrayLike | None = None,
) -> None:
    """Draw scores by rank in the colours of the calls, the cut, and permuted copies."""
    values = np.array(scores, dtype=np.float64)
    if values.ndim != 1 or not 1 <= n_selected <= values.size:
        raise ValueError(
            f"n_selected={n_selected} must be from 1 to the number of scores, got an "
            f"array of shape {values.shape}"
        )
    places = _thinned(len(values))
    if calls is None:
        calls = np.where(np.arange(len(values)) < n_selected, "chosen", "not chosen")
    kinds = np.asarray(calls)[places]
    if permuted is not None:
        shown = np.asarray(permuted)[places]
        look = {"color": GREYS[2], "label": "largest of its permuted copies"}
        axes.plot(places + 1, shown, ".", markersize=4, **look)
    line = {"linewidth": 2.6} if permuted is None else {"linestyle": ""}
    dots = "." if permuted is not None or len(places) <= 60 else ""
    for kind in [kind for kind in KINDS if kind in kinds]:
        shown = np.where(kinds == kind, values[places], np.nan)
        look = {"color": KINDS[kind], "label": kind, "marker": dots}
        axes.plot(places + 1, shown, markersize=5, **look, **line)
    if len(values) > MANY_PER_CHOSEN * n_selected:
        axes.set_xscale("log")
        axes.minorticks_off()
        axes.xaxis.set_major_formatter("{x:.0f}")
        axes.set_xlabel("rank (logarithmic)")
    else:
        axes.set_xlabel("rank")
    _draw_cut(axes, n_selected, on_the_left=n_selected > 0.7 * len(values))
    axes.set_ylabel("score" if permuted is None else "explained share of variance")
    axes.grid()


def _draw_cut(axes: Any, n_selected: int, *, on_the_left: bool) -> None:
    axes.axvline(n_selected + 0.5, color=COLOURS[3], linestyle="--", linewidth=1.4)
    axes.annotate(
        f"cut after {n_selected}",
        (n_selected + 0.5, 0.97),
        xycoords=axes.get_xaxis_transform(),
        xytext=(-6 if on_the_left else 6, 0),
        textcoords="offset points",
        ha="right" if on_the_left else "left",
        va="top",
    )


def _thinned(count: int) -> NDArray[np.intp]:
    """Return places along a line, all at its start and fewer towards its end."""
    if count <= MOST_POINTS:
        return np.arange(count)
    return np.unique(np.geomspace(1, count, MOST_POINTS).astype(np.intp)) - 1


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
            f"n_selected={n_selected} needs share, lower and upper of that many, "
            f"got {shares.size}, {low.size} and {high.size}"
        )
    near = min(len(shares), max(3 * n_selected, 10))
    with drawing():
        figure, (axes,) = panels(1, height=3.2, width=0.7 * FULL_WIDTH)
        ranks = _thinned(near)
        axes.fill_between(
            ranks + 1, low[ranks], high[ranks], color=COLOURS[4], alpha=0.3, lw=0
        )
        axes.plot(ranks + 1, shares[ranks], color=COLOURS[0])
        _draw_cut(axes, n_selected, on_the_left=n_selected > 0.7 * near)
        axes.set(xlabel="best features", ylabel="false discovery rate", ylim=(0, 1.05))
        axes.grid()
        words = (
            f"About {shares[n_selected - 1]:.0%} of the {n_selected} chosen features "
            "are false discoveries."
        )
        return as_plot(figure, words, hover=[(axes, "rows")])


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
        raise ValueError(f"history must be a sequence of numbers, got {history!r:.60}")
    with drawing():
        figure, (axes,) = panels(1, height=3.2, width=0.7 * FULL_WIDTH)
        iterations = np.arange(1, len(values) + 1)
        marker = "o" if len(values) <= 60 else ""
        axes.plot(iterations, values, color=COLOURS[0], marker=marker, markersize=3)
        axes.ticklabel_format(useOffset=False)
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.set(xlabel="iteration", ylabel="objective")
        axes.grid()
        words = (
            f"The objective after each of {len(values)} iterations, from "
            f"{values[0]:.6g} to {values[-1]:.6g}."
        )
        return as_plot(figure, words, hover=[(axes, "rows")])


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
    with drawing():
        figure, (axes,) = panels(1, height=3.2, width=0.8 * FULL_WIDTH)
        shares = draw_frequencies(axes, frequency, chance, stability)
        words = (
            f"Chosen features are chosen again on {shares.mean():.0%} of the subsamples"
        )
        if stability is not None:
            words += f" on average; stability {stability[0]:.3g}"
        return as_plot(figure, f"{words}.", hover=[(axes, "rows")])


def draw_frequencies(
    axes: Any, frequency: ArrayLike, chance: float, stability: Interval | None = None
) -> NDArray[np.float64]:
    """Draw shares by rank, that of a random choice, and the stability in the title."""
    shares = np.array(frequency, dtype=np.float64)
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
    if stability is not None:
        value, low, high = stability
        interval = f" (95 %: {low:.2f} to {high:.2f})" if high > low else ""
        axes.set_title(f"stability {value:.2f}{interval}", fontsize=11)
    return shares


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
    titles: dict[str, list[str]] = {}
    with drawing():
        width = FULL_WIDTH / max(2, len(planes))
        figure, every_axes = panels(len(planes), height=4.2, width=width)
        for panel, (title, plane) in enumerate(planes.items()):
            axes = every_axes[panel]
            points = np.array(plane, dtype=np.float64)
            handles, kinds, members = draw_points(axes, points, groups, title)
            for place, drawn in enumerate(handles if names is not None else ()):
                drawn.set_gid(f"points-{panel}-{place}")
                titles[drawn.get_gid()] = [
                    f"{names[sample]}{f' ({kinds[place]})' if kinds[place] else ''}: "  # type: ignore[index]
                    f"{points[sample, 0]:.3g}, {points[sample, 1]:.3g}"
                    for sample in np.flatnonzero(members == place).tolist()
                ]
        if 1 < len(kinds) <= LONGEST_LEGEND:
            add_legend(figure, handles, [shortened(k, LONGEST_NAME) for k in kinds])
        said = f" in {len(kinds)} groups" if groups is not None else ""
        words = f"{len(points)} samples{said} by {' and by '.join(planes)}"
        return as_plot(figure, words, titles=titles)


def draw_points(
    axes: Any,
    points: NDArray[np.float64],
    groups: Sequence[Any] | None,
    title: str = "",
) -> tuple[list[Any], list[str], NDArray[np.intp]]:
    """Draw points by group; return what was drawn, the groups, and their members."""
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(
            f"{title!r} has shape {points.shape} but points have two coordinates"
        )
    values = np.asarray([""] * len(points) if groups is None else groups)
    if values.dtype.kind not in "biuf":
        values = values.astype(str)
    kinds, members = np.unique(values, return_inverse=True)
    size = float(np.clip(90 / np.sqrt(len(points)), 3, 6))
    looks = zip(palette(len(kinds)), markers(len(kinds)), strict=True)
    handles = []
    for place, (colour, marker) in enumerate(looks):
        look = {"color": colour, "marker": marker, "markersize": size, "alpha": 0.75}
        inside = points[members == place].T
        handles += axes.plot(*inside, linestyle="", markeredgewidth=0, **look)
    axes.set_title(printable(title))
    axes.set(xlabel="first component", ylabel="second component", xticks=[], yticks=[])
    return handles, [str(kind) for kind in kinds], members


def sparkline(values: ArrayLike, groups: ArrayLike | None = None) -> Graphic:
    """Return a distribution as a cell: a histogram, or quartiles by group.

    Examples
    --------
    >>> from ufselect.report import sparkline
    >>> sparkline([0.0, 1.0, 1.0, 4.0])
    'from 0 to 4, median 1'
    >>> sparkline([0.0, 1.0, 5.0, 6.0], [0, 0, 1, 1])
    'median by cluster: 0 at 0.5, 1 at 5.5'
    """
    numbers = np.asarray(values, dtype=np.float64)
    if not numbers.size:
        return _cell("", SPARK_HEIGHT, "no values")
    # Halved, the largest numbers have a difference that is one.
    low, high = numbers.min() / 2, numbers.max() / 2
    spread = high - low or 1.0
    if groups is None:
        places = (numbers / 2 - low) / spread * SPARK_BINS
        if high == low:
            places += SPARK_BINS / 2
        counts = np.bincount(np.minimum(places.astype(np.intp), SPARK_BINS - 1))
        # One that is not empty is seen.
        heights = np.ceil(counts / counts.max() * (SPARK_HEIGHT - 1)).astype(int)
        bars = "".join(
            f"M{SPARK_BAR * place} {SPARK_HEIGHT}v-{height}h{SPARK_BAR - 1}v{height}z"
            for place, height in enumerate(heights.tolist())
            if height
        )
        words = f"from {2 * low:.4g} to {2 * high:.4g}, median {np.median(numbers):.4g}"
        shape = f'<path fill="currentColor" opacity=".65" d="{bars}"/>'
        return _cell(shape, SPARK_HEIGHT, words)
    kinds, members = np.unique(np.asarray(groups), return_inverse=True)
    step = 5 if len(kinds) < 5 else 4
    scale = (SPARK_BAR * SPARK_BINS - 4) / spread
    shapes, said = [], []
    for place, colour in enumerate(palette(len(kinds))):
        quartiles = np.quantile(numbers[members == place], [0.25, 0.5, 0.75])
        first, middle, last = 2 + scale * (quartiles / 2 - low)
        y = step * (place + 0.5) + 1
        shapes.append(
            f'<path stroke="{colour}" stroke-width="2" opacity=".6" '
            f'd="M{first:.1f} {y}H{max(last, first + 0.1):.1f}"/>'
            f'<circle cx="{middle:.1f}" cy="{y}" r="2" fill="{colour}"/>'
        )
        said.append(f"{kinds[place]} at {quartiles[1]:.4g}")
    words = f"median by cluster: {', '.join(said)}"
    return _cell("".join(shapes), step * len(kinds) + 2, words)


def _cell(shapes: str, height: int, words: str) -> Graphic:
    svg = (
        f'<svg width="{SPARK_BAR * SPARK_BINS}" height="{height}" role="img" '
        f'aria-label="{escape(words)}">{shapes}</svg>'
    )
    return Graphic(svg, words)
