"""Samples as points in planes, side by side, coloured by group."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ufselect.report.drawing import (
    FULL_WIDTH,
    add_legend,
    colour_and_marker,
    drawing,
    panels,
    printable,
    shortened,
)
from ufselect.report.plots import Plot, as_plot

# More entries would fill the figure with its legend.
LONGEST_LEGEND = 12
LONGEST_NAME = 30


def sample_scatter(
    planes: Mapping[str, ArrayLike], groups: Sequence[Any] | None = None
) -> Plot:
    """Draw samples as points, one panel per plane, in the colours of their groups.

    Parameters
    ----------
    planes : mapping of str to array of shape (n, 2)
        Title to the points of all samples.
    groups : sequence, optional
        Group of each sample, such as its cluster. Groups differ by colour and shape.

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
    names = [""] * count if groups is None else [str(group) for group in groups]
    distinct = list(dict.fromkeys(_in_order(groups, names)))
    with drawing():
        width = FULL_WIDTH / max(2, len(points))
        figure, every_axes = panels(len(points), height=4.2, width=width)
        for axes, (title, plane) in zip(every_axes, points.items(), strict=True):
            handles = _draw_points(axes, plane, np.array(names), distinct)
            axes.set_title(printable(title))
        if 1 < len(distinct) <= LONGEST_LEGEND:
            names = [shortened(name, LONGEST_NAME) for name in distinct]
            add_legend(figure, handles, names)
        kinds = f" in {len(distinct)} groups" if groups is not None else ""
        return as_plot(figure, f"{count} samples{kinds} by {' and by '.join(points)}")


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
    axes: Any, points: NDArray[np.float64], names: Any, distinct: list[str]
) -> list[Any]:
    size = float(np.clip(90 / np.sqrt(len(points)), 3, 6))
    handles = []
    for place, name in enumerate(distinct):
        colour, marker = colour_and_marker(place)
        x, y = points[names == name].T
        look = {"color": colour, "marker": marker, "markersize": size, "alpha": 0.75}
        handles += axes.plot(x, y, linestyle="", markeredgewidth=0, **look)
    axes.set(xlabel="first component", ylabel="second component")
    axes.set_xticks([])
    axes.set_yticks([])
    return handles
