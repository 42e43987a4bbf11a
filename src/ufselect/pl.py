"""Plots of a selection with Matplotlib, drawn as the report draws them.

Each function takes ``ax=`` and returns the axes. Where a table is asked for, an AnnData
will do, on which ``ufselect.tl.select`` has selected.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ufselect.evaluation import sample_view
from ufselect.matrix import as_matrix
from ufselect.report.drawing import shortened
from ufselect.report.maps import draw_heat_map, draw_pairs
from ufselect.report.selection_figures import (
    LONGEST_LEGEND,
    LONGEST_NAME,
    draw_frequencies,
    draw_points,
    draw_scores,
)
from ufselect.report.selection_subject import Effort, Subject
from ufselect.solvers.rankings import ranks_of, top_overlap
from ufselect.tuning import StabilitySelection

__all__ = ["compare", "heatmap", "samples", "scores", "stability"]


class _Chosen:
    """What `ufselect.tl.select` has written to an AnnData, as a selector has it."""

    def __init__(self, adata: Any, key: str) -> None:
        missing = [name for name in (key, f"{key}_score") if name not in adata.var]
        if missing:
            raise ValueError(
                f"adata.var has no column {missing[0]!r}; run ufselect.tl.select "
                "first, or give the selector."
            )
        self.scores_ = adata.var[f"{key}_score"].to_numpy(dtype=float)
        self.order_ = np.argsort(adata.var[f"{key}_rank"].to_numpy(), kind="stable")
        self._support = adata.var[key].to_numpy(dtype=bool)

    def get_support(self) -> Any:
        """Return which features are selected."""
        return self._support


def scores(
    selector: Any,
    *,
    y: Literal["score", "explained"] = "score",
    key: str = "ufselect",
    ax: Any = None,
) -> Any:
    """Draw the scores of all features by rank, and where they were cut.

    Parameters
    ----------
    selector : selector or AnnData
        Fitted.
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
    selector = _fitted(selector, key)
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
    ax = _axes(ax, (6.4, 3.6))
    count = int(np.count_nonzero(selector.get_support()))
    draw_scores(
        ax, values, count, None if calls is None else calls[order], permuted=permuted
    )
    ax.legend(frameon=False)
    return ax


def heatmap(
    X: Any,
    selector: Any = None,
    *,
    n_features: int = 30,
    groups: ArrayLike | str | None = None,
    labels: ArrayLike | str | None = None,
    feature_names: Sequence[str] | None = None,
    key: str = "ufselect",
    ax: Any = None,
) -> Any:
    """Draw the best features over the samples, both ordered by cluster.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, p), DataFrame or AnnData
    selector : selector, optional
        Fitted to X; not needed for an AnnData with a selection.
    n_features : int
        How many of the chosen features to draw.
    groups, labels : array-like of shape (n,), or str, optional
        Clusters, by default those that the selector found, and labels; a name is that
        of a column of ``adata.obs``.
    feature_names : sequence of str, optional
    key : str
        Name of the columns of ``adata.var``.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from ufselect import SCFS, pl
    >>> from ufselect.data import planted
    >>> X = planted("blobs").table
    >>> pl.heatmap(X, SCFS(5, n_clusters=3, random_state=0).fit(X)).get_xlabel()
    '90 samples'
    """
    subject = replace(
        _subject(X, selector, key, feature_names), given_clusters=_members(X, groups)
    )
    order, rows, marks = subject.in_order(n_features)
    members = subject.clusters
    known = _members(X, labels)
    ax = _axes(ax, (9, 1.6 + max(1.6, 0.17 * len(rows))))
    draw_heat_map(
        ax,
        subject.listed[np.ix_(order, rows)].T,
        [subject.names[column] for column in subject.chosen[rows]],
        None if members is None else members[order],
        None if known is None else known[order].tolist(),
        marks,
    )
    return ax


def samples(
    X: Any,
    selector: Any = None,
    *,
    color: ArrayLike | str | None = None,
    all_features: bool = False,
    key: str = "ufselect",
    random_state: int = 0,
    ax: Any = None,
) -> Any:
    """Draw the samples on the principal components of the chosen features.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, p), DataFrame or AnnData
    selector : selector, optional
        Fitted to X; not needed for an AnnData with a selection.
    color : array-like of shape (n,), or str, optional
        Groups, by default the clusters that the selector found; a name is that of a
        column of ``adata.obs``.
    all_features : bool
        Use all features instead of the chosen ones.
    key : str
        Name of the columns of ``adata.var``.
    random_state : int
        Of the samples that are drawn if there are many.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from ufselect import SCFS, pl
    >>> from ufselect.data import planted
    >>> X = planted("blobs").table
    >>> pl.samples(X, SCFS(5, n_clusters=3, random_state=0).fit(X)).get_title()
    'chosen features (...% of variance)'
    """
    subject = _subject(X, selector, key)
    columns = None if all_features else subject.chosen
    view = sample_view(subject.table, columns, random_state=random_state)
    members = _members(X, color)
    members = subject.clusters if members is None else members
    ax = _axes(ax, (5.5, 4.5))
    words = f"{'all' if all_features else 'chosen'} features"
    handles, kinds, _ = draw_points(
        ax,
        view.points,
        None if members is None else members[view.samples].tolist(),
        f"{words} ({sum(view.shares):.0%} of variance)",
    )
    if 1 < len(kinds) <= LONGEST_LEGEND:
        titles = [shortened(kind, LONGEST_NAME) for kind in kinds]
        ax.legend(handles, titles, frameon=False)
    return ax


def stability(
    selector: Any, X: Any = None, *, n_subsamples: int = 20, ax: Any = None
) -> Any:
    """Draw how often each chosen feature is chosen again on half of the samples.

    Parameters
    ----------
    selector : selector or SelectionReport
        A report, or a fitted `StabilitySelection`, knows it; of any other fitted
        selector, copies are fitted to halves of X.
    X : {array-like, sparse matrix} of shape (n, p), optional
    n_subsamples : int
        Fits to halves of X.
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
        chosen = selector.order_[: int(np.count_nonzero(selector.get_support()))]
        known = selector
        if not hasattr(selector, "frequency_"):
            if X is None:
                name = type(selector).__name__
                raise ValueError(f"{name} has no stability; give X to measure it.")
            known = StabilitySelection(
                selector, len(chosen), n_subsamples=n_subsamples, random_state=0
            ).fit(_values(X))
        frequency, index = known.frequency_[chosen], known.stability_
        chance = len(chosen) / len(known.frequency_)
    ax = _axes(ax, (6.4, 3.2))
    interval = None if index is None else (index.value, index.lower, index.upper)
    draw_frequencies(ax, frequency, chance, interval)
    return ax


def compare(
    selectors: Mapping[str, Any], *, n_features: int | None = None, ax: Any = None
) -> Any:
    """Draw the share of selected features that each pair of methods has in common.

    Parameters
    ----------
    selectors : mapping of str to selector
        Name to a fitted selector.
    n_features : int, optional
        How many of the best to compare; by default the fewest that one selected.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from ufselect import LaplacianScore, MaxVariance, pl
    >>> from ufselect.data import planted
    >>> X = planted("blobs").table
    >>> both = {"variance": MaxVariance(5).fit(X), "LS": LaplacianScore(5).fit(X)}
    >>> pl.compare(both).get_title()
    'share of the best 5 in common'
    """
    if len(selectors) < 2:
        raise ValueError("compare needs two selectors or more, by name.")
    if n_features is None:
        counts = [np.count_nonzero(each.get_support()) for each in selectors.values()]
        n_features = int(min(counts))
    ranks = ranks_of(np.array([each.scores_ for each in selectors.values()]))
    size = 1.5 + 0.7 * len(selectors)
    ax = _axes(ax, (size + 1, size))
    draw_pairs(ax, list(selectors), top_overlap(ranks, n_features))
    ax.set_title(f"share of the best {n_features} in common")
    return ax


def _axes(ax: Any, size: tuple[float, float]) -> Any:
    """Return given axes, or those of a new figure that a notebook shows."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(figsize=size, layout="constrained")[1]


def _fitted(selector: Any, key: str) -> Any:
    return _Chosen(selector, key) if hasattr(selector, "obs_names") else selector


def _values(X: Any) -> Any:
    return X.X if hasattr(X, "obs_names") else X


def _members(X: Any, given: ArrayLike | str | None) -> Any:
    """Return groups of samples, or the column of ``adata.obs`` that is named."""
    if isinstance(given, str):
        obs = getattr(X, "obs", pd.DataFrame())
        if given not in obs:
            raise ValueError(f"{given!r} is not a column of adata.obs.")
        return obs[given].to_numpy(dtype=str)
    return None if given is None else np.asarray(given)


def _subject(
    X: Any,
    selector: Any,
    key: str,
    names: Sequence[str] | None = None,
) -> Subject:
    """Return a selection and its table, as the report looks at them."""
    if selector is None:
        if not hasattr(X, "obs_names"):
            raise ValueError("Give a fitted selector, or an AnnData with a selection.")
        selector = _Chosen(X, key)
    if names is None:
        names = getattr(X, "var_names", getattr(X, "columns", None))
    values: Any = as_matrix(_values(X)).raw
    if names is None:
        names = [f"x{column}" for column in range(values.shape[1])]
    chosen = selector.order_[: int(np.count_nonzero(selector.get_support()))]
    labels = [str(name) for name in names]
    return Subject(values, selector, selector, labels, chosen, Effort(), 0)
