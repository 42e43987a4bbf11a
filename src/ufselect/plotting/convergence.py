"""Curves of convergence: objectives after each iteration."""

from collections.abc import Mapping
from itertools import cycle, product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ufselect.plotting.axes import (
    COLOURS,
    HALF_WIDTH,
    Plot,
    add_legend,
    as_plot,
    drawing,
    line_handle,
    make_logarithmic,
    panels,
    printable,
)

DASHES = ("-", "--", ":", "-.")
# Remaining share at which a curve is as good as at its end.
FLOOR = 1e-6
# Enough for the eye; a thousand iterations need not be a thousand points.
POINTS = 60

Histories = Mapping[str, Mapping[str, ArrayLike]]
LOOKS: dict[str, dict[str, Any]] = {
    "published": {"color": COLOURS[1], "linewidth": 3.2, "linestyle": "-"},
    "ours": {"color": COLOURS[0], "linewidth": 1.8, "marker": "o", "markersize": 3},
}


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
        figure, (axes,) = panels(1, height=3.0, width=HALF_WIDTH)
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
    >>> "remaining share of the change" in plot.svg
    True
    """
    curves = {
        name: {
            method: way
            for method, values in members.items()
            if (way := _remaining_share(values)) is not None
        }
        for name, members in histories.items()
    }
    curves = {name: members for name, members in curves.items() if members}
    methods = list(dict.fromkeys(name for row in curves.values() for name in row))
    if not methods:
        raise ValueError("convergence needs at least one curve that changes, got none")
    # When colours come round, dashes change.
    styles = cycle(product(DASHES, COLOURS))
    looks = {
        method: {"color": colour, "linestyle": dash, "linewidth": 1.8}
        for method, (dash, colour) in zip(methods, styles, strict=False)
    }
    with drawing():
        figure, every_axes = panels(len(curves), height=2.8)
        for axes, (name, members) in zip(every_axes, curves.items(), strict=True):
            axes.set_title(printable(name))
            make_logarithmic(axes, "x", "y")
            axes.set_ylim(FLOOR / 1.5, 2)
            axes.grid()
            for method, way in members.items():
                axes.plot(*way, **looks[method])
        figure.supxlabel("iteration")
        figure.supylabel("remaining share of the change")
        handles = [line_handle(look) for look in looks.values()]
        add_legend(figure, handles, methods)
        return as_plot(figure, f"Convergence of {', '.join(methods)}")


def _remaining_share(values: ArrayLike) -> NDArray[np.float64] | None:
    """Return iterations and remaining shares, or None where nothing changes."""
    curve = np.asarray(values, dtype=np.float64)
    if curve.size < 2 or not np.isfinite(curve).all() or curve[0] == curve[-1]:
        return None
    left = (curve - curve[-1]) / (curve[0] - curve[-1])
    shown = np.unique(np.geomspace(1, len(curve), POINTS).round().astype(int))
    return np.stack([shown, np.maximum(left[shown - 1], FLOOR)])


def curves(
    ours: Mapping[str, ArrayLike], published: Mapping[str, ArrayLike] | None = None
) -> Plot:
    """Draw curves of convergence: ours over the published, one panel per set.

    Parameters
    ----------
    ours, published : mapping of str to array
        Data set to the objective after each iteration. Since units differ, each curve
        is divided by its first value. A data set may be absent from one of the two,
        which is said in its panel.

    Examples
    --------
    >>> from ufselect.report import curves
    >>> plot = curves({"ORL": [8, 4, 2]}, {"ORL": [100, 60, 50, 50]})
    >>> "objective / its first value" in plot.svg
    True
    """
    families = {"published": published or {}, "ours": ours}
    names = list(dict.fromkeys([*families["published"], *ours]))
    if not names:
        raise ValueError("curves need at least one data set, and there is none")
    scaled = {
        family: {name: _relative(name, curve) for name, curve in members.items()}
        for family, members in families.items()
        if members
    }
    with drawing():
        figure, every_axes = panels(len(names), height=2.8)
        for axes, name in zip(every_axes, names, strict=True):
            axes.set_title(printable(name))
            axes.ticklabel_format(useOffset=False)
            axes.grid()
            for family, members in scaled.items():
                if name in members:
                    x = np.arange(1, len(members[name]) + 1)
                    axes.plot(x, members[name], **LOOKS[family])
                else:
                    side = {"transform": axes.transAxes, "ha": "right", "va": "top"}
                    axes.text(0.96, 0.92, f"{family}: none", **side)
        figure.supxlabel("iteration")
        figure.supylabel("objective / its first value")
        handles = [line_handle(LOOKS[family]) for family in scaled]
        add_legend(figure, handles, list(scaled))
        return as_plot(figure, f"Curves of convergence on {', '.join(names)}")


def _relative(name: str, curve: ArrayLike) -> NDArray[np.float64]:
    values = np.array(curve, dtype=np.float64)
    if values.ndim != 1 or not values.size or not values[0] > 0:
        raise ValueError(
            f"the curve of {name} must be a sequence that begins with a positive "
            f"number, to divide by; got {curve!r:.60}"
        )
    return values / values[0]
