"""How fast methods get to where they stop: one panel per data set."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ufselect.report.drawing import (
    COLOURS,
    add_legend,
    drawing,
    panels,
    printable,
)
from ufselect.report.plots import Plot, as_plot
from ufselect.report.scales import make_logarithmic

DASHES = ("-", "--", ":", "-.")
# What is left of the way when a curve is as good as at its end.
FLOOR = 1e-6
# Enough for the eye; a thousand iterations need not be a thousand points.
POINTS = 60

Histories = Mapping[str, Mapping[str, ArrayLike]]


def convergence(histories: Histories) -> Plot:
    """Draw curves of convergence: one panel per data set, a line per method.

    Objectives have different units and signs, so that each is shown as the share of
    its own way that is left: 1 at the first value, 0 at the last.

    Parameters
    ----------
    histories : mapping of str to mapping
        Data set to method to the objective after each iteration. One that does not
        change is left out.

    Examples
    --------
    >>> from ufselect.report import convergence
    >>> plot = convergence({"ORL": {"SCFS": [8, 4, 3, 3], "NDFS": [90, 60, 50]}})
    >>> "share of the way left" in plot.svg
    True
    """
    curves = {
        name: {
            method: way
            for method, values in members.items()
            if (way := _way_left(values)) is not None
        }
        for name, members in histories.items()
    }
    curves = {name: members for name, members in curves.items() if members}
    methods = list(dict.fromkeys(name for row in curves.values() for name in row))
    if not methods:
        raise ValueError("convergence needs at least one curve that changes, got none")
    looks = {method: _look(place) for place, method in enumerate(methods)}
    with drawing():
        figure, every_axes = panels(len(curves), height=2.8)
        for axes, (name, members) in zip(every_axes, curves.items(), strict=True):
            _draw_panel(axes, name, members, looks)
        figure.supxlabel("iteration")
        figure.supylabel("share of the way left")
        handles = [_handle(look) for look in looks.values()]
        add_legend(figure, handles, methods)
        return as_plot(figure, f"Convergence of {', '.join(methods)}")


def _way_left(values: ArrayLike) -> NDArray[np.float64] | None:
    """Return iterations and what is left of the way, or None where there is no way."""
    curve = np.asarray(values, dtype=np.float64)
    if curve.size < 2 or not np.isfinite(curve).all() or curve[0] == curve[-1]:
        return None
    left = (curve - curve[-1]) / (curve[0] - curve[-1])
    shown = np.unique(np.geomspace(1, len(curve), POINTS).round().astype(int))
    return np.stack([shown, np.maximum(left[shown - 1], FLOOR)])


def _look(place: int) -> dict[str, Any]:
    """Return colour and dashes of a method; when colours come round, dashes change."""
    turn, index = divmod(place, len(COLOURS))
    style = DASHES[turn % len(DASHES)]
    return {"color": COLOURS[index], "linestyle": style, "linewidth": 1.8}


def _draw_panel(
    axes: Any,
    name: str,
    members: Mapping[str, NDArray[np.float64]],
    looks: Mapping[str, dict[str, Any]],
) -> None:
    axes.set_title(printable(name))
    make_logarithmic(axes, "x", "y")
    axes.set_ylim(FLOOR / 1.5, 2)
    axes.grid()
    for method, way in members.items():
        axes.plot(*way, **looks[method])


def _handle(look: dict[str, Any]) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], **look)
