"""Samples: heat maps of the best features over them, and scatter plots of them."""

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_scalar

from ufselect.evaluation import sample_view
from ufselect.plotting.axes import (
    FULL_WIDTH,
    HALF_WIDTH,
    Plot,
    add_legend,
    as_plot,
    axes_or_new,
    drawing,
    markers,
    palette,
    panels,
    printable,
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
    table_of_fit,
)

# Longer names are cut, or they would leave no space for the map or the points.
MAX_NAME_LENGTH, MAX_GROUP_LENGTH = 18, 30
# More labels have no legend.
MAX_LABELS_EXPLAINED = 12
# Standard deviations at which a heat map has its strongest colours.
LIMIT = 2.5
# In inches: the height of a row of a heat map, of the least map, and of a strip.
ROW, MIN_HEIGHT, STRIP = 0.17, 1.6, 0.15
# More entries would fill the figure with its legend.
MAX_LEGEND_ENTRIES = 24


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


def samples(
    selector: Any,
    X: Any = None,
    *,
    color: ArrayLike | str | None = None,
    all_features: bool = False,
    random_state: int = 0,
    key: str = "ufselect",
    ax: Any = None,
) -> Any:
    """Draw the samples on the principal components of the chosen features.

    Parameters
    ----------
    selector : selector or AnnData
        Fitted, or an AnnData with a selection.
    X : {array-like, sparse matrix, DataFrame, AnnData} of shape (n, p)
        What the selector was fitted to; not needed for an AnnData with a selection.
    color : array-like of shape (n,), or str, optional
        Groups, by default the clusters that the selector found; a name is that of a
        column of ``adata.obs``.
    all_features : bool
        Use all features instead of the chosen ones.
    random_state : int
        Of the samples that are drawn if there are many.
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
    >>> pl.samples(SCFS(5, n_clusters=3, random_state=0).fit(X), X).get_title()
    'chosen features (...% of variance)'
    """
    fitted, X = fitted_with_table(selector, X, key)
    columns = None if all_features else chosen_features(fitted)
    data = table_of_fit(X, fitted)
    members = members_of(X, color, data.shape[0])
    if members is None:
        members = groups_shown(learned(fitted, "labels_"), data.shape[0])
    view = sample_view(data, columns, random_state=random_state)
    ax = axes_or_new(ax, (5.5, 4.5))
    words = f"{'all' if all_features else 'chosen'} features"
    handles, kinds, _ = draw_points(
        ax,
        view.points,
        None if members is None else members[view.samples].tolist(),
        f"{words} ({sum(view.shares):.0%} of variance)",
    )
    if 1 < len(kinds) <= MAX_LEGEND_ENTRIES:
        titles = [shortened(kind, MAX_GROUP_LENGTH) for kind in kinds]
        ax.legend(handles, titles, frameon=False)
    return ax


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
        width = HALF_WIDTH / max(2, len(planes))
        figure, every_axes = panels(len(planes), height=3.2, width=width)
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
        if 1 < len(kinds) <= MAX_LEGEND_ENTRIES:
            add_legend(figure, handles, [shortened(k, MAX_GROUP_LENGTH) for k in kinds])
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
