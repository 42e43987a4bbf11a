"""Curves over the ranks of features: scores, false discoveries, and stability."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ufselect.plotting.axes import (
    COLOURS,
    GREYS,
    HALF_WIDTH,
    Plot,
    add_legend,
    as_plot,
    axes_or_new,
    drawing,
    panels,
)
from ufselect.plotting.fitted import (
    chosen_features,
    fitted_selector,
    table_of_fit,
)
from ufselect.tuning import StabilitySelection

# Points drawn of longer lines, ever farther apart.
MAX_POINTS = 600
# With more features for each chosen one, ranks have a logarithmic scale.
MIN_PER_CHOSEN_FOR_LOG = 6
# Colours of the calls of AutoSelect, or of what was chosen.
KINDS = {
    **{"confirmed": COLOURS[2], "tentative": COLOURS[1], "rejected": GREYS[0]},
    **{"chosen": COLOURS[0], "not chosen": GREYS[0]},
}
Interval = tuple[float, float, float]


def scores(
    selector: Any,
    X: Any = None,
    *,
    y: Literal["score", "explained"] = "score",
    key: str = "ufselect",
    ax: Any = None,
) -> Any:
    """Draw the scores of all features by rank, and where they were cut.

    Parameters
    ----------
    selector : selector or AnnData
        Fitted, or an AnnData with a selection.
    X : ignored
        Present so that all plots are called alike.
    y : {"score", "explained"}
        What to draw. "explained" is for `AutoSelect`: the share of the variance of each
        feature that the structure of the others explains, before that of permuted
        copies.
    key : str
        Name of the columns of ``adata.var``.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from ufselect import AutoSelect, pl
    >>> from ufselect.data import planted
    >>> selector = AutoSelect(random_state=0).fit(planted("blobs").table)
    >>> pl.scores(selector, y="explained").get_xlabel()
    'rank'
    """
    selector = fitted_selector(selector, key)
    order, permuted = selector.order_, None
    values, calls = selector.scores_[order], getattr(selector, "calls_", None)
    if y == "explained":
        if not hasattr(selector, "permuted_explained_"):
            raise ValueError(
                f"y='explained' needs an AutoSelect, not {type(selector).__name__}; "
                "leave y out."
            )
        values = selector.explained_[order]
        permuted = selector.permuted_explained_[order]
    elif y != "score":
        raise ValueError(f"y={y!r} is not known; use 'score' or 'explained'.")
    ax = axes_or_new(ax, (6.4, 3.6))
    count = int(np.count_nonzero(selector.get_support()))
    draw_scores(
        ax, values, count, None if calls is None else calls[order], permuted=permuted
    )
    ax.legend(frameon=False)
    return ax


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
        width = HALF_WIDTH / (1 + both)
        figure, every_axes = panels(1 + both, height=3.2, width=width)
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
    if values.ndim != 1 or not 0 <= n_selected <= values.size:
        raise ValueError(
            f"n_selected={n_selected} must be from 0 to the number of scores, got an "
            f"array of shape {values.shape}"
        )
    places = _thinned(len(values))
    if calls is None:
        calls = np.where(np.arange(len(values)) < n_selected, "chosen", "not chosen")
    kinds = np.asarray(calls)[places]
    if permuted is not None:
        shown = np.asarray(permuted)[places]
        look = {"color": GREYS[2], "label": "permuted copies"}
        axes.plot(places + 1, shown, ".", markersize=4, **look)
    line = {"linewidth": 2.6} if permuted is None else {"linestyle": ""}
    dots = "." if permuted is not None or len(places) <= 60 else ""
    for kind in [kind for kind in KINDS if kind in kinds]:
        shown = np.where(kinds == kind, values[places], np.nan)
        look = {"color": KINDS[kind], "label": kind, "marker": dots}
        axes.plot(places + 1, shown, markersize=5, **look, **line)
    if len(values) > MIN_PER_CHOSEN_FOR_LOG * max(n_selected, 1):
        axes.set_xscale("log")
        axes.minorticks_off()
        axes.xaxis.set_major_formatter("{x:.0f}")
        axes.set_xlabel("rank (logarithmic)")
    else:
        axes.set_xlabel("rank")
    if n_selected:
        _draw_cut(axes, n_selected, on_the_left=n_selected > 0.7 * len(values))
    axes.set_ylabel("score" if permuted is None else "explained share")
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
    if count <= MAX_POINTS:
        return np.arange(count)
    return np.unique(np.geomspace(1, count, MAX_POINTS).astype(np.intp)) - 1


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
        figure, (axes,) = panels(1, height=3.0, width=HALF_WIDTH)
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


def stability(
    selector: Any,
    X: Any = None,
    *,
    n_subsamples: int = 20,
    key: str = "ufselect",
    ax: Any = None,
) -> Any:
    """Draw how often each chosen feature is chosen again on half of the samples.

    Parameters
    ----------
    selector : selector or SelectionReport
        A report, or a fitted `StabilitySelection`, knows it; of any other fitted
        selector, copies are fitted to halves of X.
    X : {array-like, sparse matrix, DataFrame, AnnData} of shape (n, p), optional
        What the selector was fitted to.
    n_subsamples : int
        Fits to halves of X.
    key : str
        Name of the columns of ``adata.var``.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from ufselect import LaplacianScore, pl
    >>> from ufselect.data import planted
    >>> X = planted("blobs").table
    >>> pl.stability(LaplacianScore(5).fit(X), X).get_ylabel()
    'share of subsamples'
    """
    if hasattr(selector, "surroundings"):
        if selector.stability is None:
            raise ValueError("The report has no stability; make it with more effort.")
        facts = selector.stability.facts
        frequency, chance, index = (
            facts[name] for name in ("frequency", "chance", "index")
        )
    else:
        known = fitted_selector(selector, key)
        chosen = chosen_features(known)
        if not hasattr(selector, "frequency_"):
            if X is None or known is not selector:
                name = type(selector).__name__
                raise ValueError(
                    f"{name} has no stability; give X after a fitted selector to "
                    "measure it."
                )
            data = table_of_fit(X, known)
            known = StabilitySelection(
                selector, len(chosen), n_subsamples=n_subsamples, random_state=0
            ).fit(data)
        frequency, index = known.frequency_[chosen], known.stability_
        chance = len(chosen) / len(known.frequency_)
    ax = axes_or_new(ax, (6.4, 3.2))
    interval = None if index is None else (index.value, index.lower, index.upper)
    draw_frequencies(ax, frequency, chance, interval)
    return ax


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
        figure, (axes,) = panels(1, height=3.0, width=HALF_WIDTH)
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
