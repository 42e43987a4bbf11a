"""Heat maps: the best features over the samples, both ordered by cluster."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_scalar

from ufselect.plotting.axes import (
    FULL_WIDTH,
    Plot,
    as_plot,
    axes_or_new,
    drawing,
    palette,
    panels,
    shortened,
)
from ufselect.plotting.fitted import (
    chosen_columns,
    chosen_features,
    fitted_with_table,
    groups_shown,
    in_cluster_order,
    learned,
    marked_clusters,
    members_of,
    names_of,
)

# Longer names are cut, or they would leave no space for the map.
MAX_NAME_LENGTH = 18
# More labels have no legend.
MAX_LABELS_EXPLAINED = 12
# Standard deviations at which a heat map has its strongest colours.
LIMIT = 2.5
# In inches: the height of a row of a heat map, of the least map, and of a strip.
ROW, MIN_HEIGHT, STRIP = 0.17, 1.6, 0.15


def heatmap(
    selector: Any,
    X: Any = None,
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
    selector : selector or AnnData
        Fitted, or an AnnData with a selection.
    X : {array-like, sparse matrix, DataFrame, AnnData} of shape (n, p)
        What the selector was fitted to; not needed for an AnnData with a selection.
    n_features : int
        How many of the chosen features to draw.
    groups, labels : array-like of shape (n,), or str, optional
        Clusters, by default those that the selector found, and labels; a name is that
        of a column of ``adata.obs``.
    feature_names : sequence of str, optional
        By default those of X, or of the fit.
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
    >>> pl.heatmap(SCFS(5, n_clusters=3, random_state=0).fit(X), X).get_xlabel()
    '90 samples'
    """
    check_scalar(n_features, "n_features", Integral, min_val=1)
    fitted, X = fitted_with_table(selector, X, key)
    chosen = chosen_features(fitted)[:n_features]
    names = names_of(X, fitted, feature_names)
    values = chosen_columns(X, chosen, fitted)
    known = members_of(X, labels, len(values))
    members = members_of(X, groups, len(values))
    members = learned(fitted, "labels_") if members is None else members
    clusters = groups_shown(members, len(values))
    marked = None if clusters is None else marked_clusters(values, clusters)
    order, rows, marks = in_cluster_order(values, clusters, marked)
    ax = axes_or_new(ax, (9, 1.6 + max(MIN_HEIGHT, ROW * len(rows))))
    draw_heat_map(
        ax,
        values[np.ix_(order, rows)].T,
        [names[column] for column in chosen[rows]],
        None if clusters is None else clusters[order],
        None if known is None else known[order].tolist(),
        marks,
    )
    return ax


def cluster_map(
    values: ArrayLike,
    names: Sequence[str],
    groups: ArrayLike | None = None,
    *,
    labels: Sequence[Any] | None = None,
    marks: Sequence[Any] | None = None,
) -> Plot:
    """Draw features over samples as a heat map, each feature standardized.

    Parameters
    ----------
    values : array-like of shape (features, samples)
        In the order in which they are drawn: samples of one group side by side.
    names : sequence of str
        Of the features.
    groups : array-like, optional
        Group of each sample, drawn as a strip of colours above the map.
    labels : sequence, optional
        Label of each sample, drawn as a second strip.
    marks : sequence, optional
        Group that each feature marks, drawn as a strip beside the map.

    Examples
    --------
    >>> plot = cluster_map([[0, 0, 5, 6], [9, 8, 1, 0]], ["a", "b"], [0, 0, 1, 1])
    >>> "2 features over 4 samples in 2 clusters" in plot.svg
    True
    """
    n_features, n_samples = np.shape(values) if np.ndim(values) == 2 else (0, 0)
    height = max(MIN_HEIGHT, ROW * n_features)
    with drawing():
        figure, (axes,) = panels(1, height=height + 1.6, width=FULL_WIDTH)
        draw_heat_map(axes, values, names, groups, labels, marks)
        words = f"Heat map of {n_features} features over {n_samples} samples"
        if groups is not None:
            words += f" in {len(np.unique(np.asarray(groups)))} clusters"
        return as_plot(figure, f"{words}.", hover=[(axes, "cells")])


def draw_heat_map(
    axes: Any,
    values: ArrayLike,
    names: Sequence[str],
    groups: ArrayLike | None = None,
    labels: Sequence[Any] | None = None,
    marks: Sequence[Any] | None = None,
) -> None:
    """Draw standardized features over samples, with strips of groups around them."""
    table = _standardized(values)
    n_features, n_samples = table.shape
    look = {"cmap": "RdBu_r", "vmin": -LIMIT, "vmax": LIMIT}
    image = axes.imshow(table, aspect="auto", interpolation="none", **look)
    axes.set(xticks=[], yticks=[], xlabel=f"{n_samples} samples")
    axes.spines[:].set_visible(False)
    # Texts, because a tick with its label takes ten times as long to draw.
    beside = {"va": "center", "fontsize": 8, "clip_on": False}
    gap = 0.008
    for place, name in enumerate(names):
        across = axes.get_yaxis_transform()
        text = shortened(name, MAX_NAME_LENGTH)
        axes.text(-gap, place, text, ha="right", transform=across, **beside)
    height = STRIP / max(MIN_HEIGHT, ROW * n_features)
    top = 1.0
    for title, members in {"label": labels, "cluster": groups}.items():
        if members is None:
            continue
        kinds, places = np.unique(np.asarray(members), return_inverse=True)
        strip = axes.inset_axes((0, top + height / 3, 1, height))
        # Labels in other colours than clusters, from the other end.
        colours = palette(len(kinds), from_end=title == "label")
        _draw_strip(strip, places[np.newaxis], colours)
        strip.text(-gap, 0.5, title, ha="right", transform=strip.transAxes, **beside)
        top += 4 / 3 * height
        if title == "cluster":
            borders = np.flatnonzero(np.diff(places)) + 0.5
            ends = (-0.5, n_features - 0.5)
            axes.vlines(borders, *ends, color="white", linewidth=1.2)
            _name_blocks(strip, kinds, places, along="x")
            if marks is not None:
                owners = np.searchsorted(kinds, np.asarray(marks))
                side = axes.inset_axes((1 + gap, 0, 1.5 * gap, 1))
                _draw_strip(side, owners[:, np.newaxis], colours)
                _name_blocks(side, kinds, owners, along="y")
        elif len(kinds) <= MAX_LABELS_EXPLAINED:
            _explain_labels(axes, kinds, colours)
    bar = axes.figure.colorbar(
        image, ax=axes, location="bottom", shrink=0.3, aspect=40, pad=0.02
    )
    bar.set_label("standardized value", size=9)
    bar.ax.tick_params(labelsize=8)
    bar.outline.set_visible(False)


def _standardized(values: ArrayLike) -> NDArray[np.float64]:
    table = np.array(values, dtype=np.float64)
    if table.ndim != 2 or not table.size:
        raise ValueError(f"a heat map needs features and samples, got {table.shape}")
    # Divided first, or the squares of large numbers would overflow.
    table /= np.maximum(np.abs(table).max(axis=1, keepdims=True), np.finfo(float).tiny)
    table -= table.mean(axis=1, keepdims=True)
    spread = table.std(axis=1, keepdims=True)
    return np.clip(table / np.where(spread > 0, spread, 1.0), -LIMIT, LIMIT)


def _draw_strip(axes: Any, places: NDArray[np.intp], colours: Sequence[str]) -> None:
    from matplotlib.colors import ListedColormap

    look = {"cmap": ListedColormap(colours), "vmin": 0, "vmax": len(colours) - 1}
    axes.imshow(places, aspect="auto", interpolation="none", **look)
    axes.set_axis_off()


def _explain_labels(axes: Any, kinds: NDArray[Any], colours: Sequence[str]) -> None:
    """Say below the map which colour is which label."""
    from matplotlib.patches import Patch

    legend = axes.legend(
        [Patch(color=colour) for colour in colours],
        ["label"] * len(kinds),
        loc="upper left",
        bbox_to_anchor=(0, -0.01),
        ncols=3,
        fontsize=8,
    )
    for text, kind in zip(legend.get_texts(), kinds, strict=True):
        text.set_text(shortened(str(kind), 12))


def _name_blocks(
    axes: Any, kinds: NDArray[Any], places: NDArray[np.intp], *, along: str
) -> None:
    """Write the name of each group above its samples, or beside its features."""
    for place in np.unique(places).tolist():
        middle = float(np.flatnonzero(places == place).mean())
        name = shortened(str(kinds[place]), 12)
        if along == "x":
            axes.text(middle, -0.7, name, ha="center", va="bottom", fontsize=9)
        else:
            axes.text(0.8, middle, f"marks {name}", va="center", fontsize=8)
