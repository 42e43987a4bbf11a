"""How often features are chosen again on parts of the samples."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ufselect.report.drawing import COLOURS, FULL_WIDTH, GREY, INK, drawing, panels
from ufselect.report.plots import Plot, as_plot

Interval = tuple[float, float, float]


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
