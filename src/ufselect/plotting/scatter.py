"""Scatter plots of samples."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ufselect.evaluation import sample_view
from ufselect.plotting.axes import (
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
    chosen_features,
    fitted_with_table,
    groups_shown,
    learned,
    members_of,
    table_of_fit,
)

# More entries would fill the figure with its legend.
MAX_LEGEND_ENTRIES = 24
MAX_NAME_LENGTH = 30


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
        titles = [shortened(kind, MAX_NAME_LENGTH) for kind in kinds]
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
            add_legend(figure, handles, [shortened(k, MAX_NAME_LENGTH) for k in kinds])
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
