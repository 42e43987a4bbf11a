"""Lines over ranks and iterations: scores, shares of false features, an objective."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ufselect.matrix import Float, Index
from ufselect.report.drawing import COLOURS, FULL_WIDTH, GREY, INK, drawing, panels
from ufselect.report.plots import Plot, as_plot

# Of longer lines as many points are drawn, ever farther apart.
MOST_POINTS = 1500
# Beyond so many times the cut, its surroundings get a panel of their own.
SURROUNDINGS = 3


def score_curve(scores: ArrayLike, n_selected: int) -> Plot:
    """Draw scores from the best feature to the worst, and where they were cut.

    Parameters
    ----------
    scores : array-like
        Best first.
    n_selected : int
        How many were chosen.

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
    near = min(count, max(SURROUNDINGS * n_selected, 10))
    shown = {f"all {count} features": count}
    if near < count / 2:
        shown[f"the first {near}"] = near
    with drawing():
        width = FULL_WIDTH / 2 if len(shown) > 1 else 0.7 * FULL_WIDTH
        figure, every_axes = panels(len(shown), height=3.4, width=width)
        for axes, (title, end) in zip(every_axes, shown.items(), strict=True):
            axes.set_title(title)
            _draw_scores(axes, values[:end], n_selected)
        every_axes[0].set_ylabel("score")
        figure.supxlabel("rank")
        return as_plot(
            figure,
            f"Scores by rank; the first {n_selected} of {count} features were chosen.",
        )


def false_share_curve(
    share: ArrayLike, lower: ArrayLike, upper: ArrayLike, n_selected: int
) -> Plot:
    """Draw the share of features that are there by chance, among the k best.

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
    near = min(len(shares), max(SURROUNDINGS * n_selected, 10))
    with drawing():
        figure, (axes,) = panels(1, height=3.2, width=0.7 * FULL_WIDTH)
        ranks = _thinned(near)
        axes.fill_between(
            ranks + 1, low[ranks], high[ranks], color=COLOURS[4], alpha=0.3, lw=0
        )
        axes.plot(ranks + 1, shares[ranks], color=COLOURS[0])
        _draw_cut(axes, n_selected, near)
        axes.set(xlabel="best features", ylabel="share by chance", ylim=(0, 1.05))
        axes.grid()
        return as_plot(
            figure,
            f"About {shares[n_selected - 1]:.0%} of the {n_selected} chosen features "
            "are there by chance.",
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
