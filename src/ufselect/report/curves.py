"""How an objective falls: our runs over published ones, one panel per data set."""

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

LOOKS: dict[str, dict[str, Any]] = {
    "published": {"color": COLOURS[1], "linewidth": 3.2, "linestyle": "-"},
    "ours": {"color": COLOURS[0], "linewidth": 1.8, "marker": "o", "markersize": 3},
}


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
            _draw_panel(axes, name, scaled)
        figure.supxlabel("iteration")
        figure.supylabel("objective / its first value")
        handles = [_handle(family) for family in scaled]
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


def _draw_panel(
    axes: Any, name: str, families: Mapping[str, Mapping[str, NDArray[np.float64]]]
) -> None:
    axes.set_title(printable(name))
    axes.ticklabel_format(useOffset=False)
    axes.grid()
    for family, members in families.items():
        if name in members:
            values = members[name]
            axes.plot(np.arange(1, len(values) + 1), values, **LOOKS[family])
        else:
            note = f"{family}: none"
            axes.text(0.96, 0.92, note, transform=axes.transAxes, ha="right", va="top")


def _handle(family: str) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], **LOOKS[family])
