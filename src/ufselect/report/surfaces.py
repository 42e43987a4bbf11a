"""How a result depends on two parameters: annotated maps, one for each data set."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ufselect.report.drawing import GREY, drawing, panels, printable
from ufselect.report.plots import Plot, as_plot
from ufselect.report.scales import short_value

# Even in lightness and alike to all kinds of colour vision.
COLOUR_MAP = "cividis"
# Few enough to keep the colour bar, which is drawn step by step, small.
COLOUR_STEPS = 64


def surface(
    alphas: Sequence[Any],
    betas: Sequence[Any],
    values: Mapping[str, ArrayLike],
    *,
    label: str,
    names: tuple[str, str] = ("alpha", "beta"),
) -> Plot:
    """Draw maps of a result over two parameters, one panel per data set.

    Parameters
    ----------
    alphas, betas : sequence of float, or of values that have names
        The values of the two parameters, drawn at equal distances.
    values : mapping of str to array of shape (len(alphas), len(betas))
        Data set to results. One that is not finite is hatched and labelled "none".
    label : str
        What the results are, with their unit. All panels share their colours.
    names : tuple of str
        The names of the parameters.

    Examples
    --------
    >>> from ufselect.report import surface
    >>> plot = surface([0.01, 1], [1, 100], {"ORL": [[50, 51], [52, 53]]}, label="ACC")
    >>> "10⁻²" in plot.svg
    True
    """
    tables = {
        name: _table(name, table, (len(alphas), len(betas)))
        for name, table in values.items()
    }
    if not tables:
        raise ValueError("maps need the results of at least one data set, got none")
    with drawing():
        figure, every_axes = panels(len(tables), height=3.2)
        colours = colour_scale(np.concatenate([t.ravel() for t in tables.values()]))
        for axes, (name, table) in zip(every_axes, tables.items(), strict=True):
            draw_map(axes, table, colours)
            axes.set_title(printable(name))
            axes.set_xticks(range(len(betas)), [short_value(b) for b in betas])
            axes.set_yticks(range(len(alphas)), [short_value(a) for a in alphas])
            axes.set_xlabel(printable(names[1]))
            axes.set_ylabel(printable(names[0]))
        bar = figure.colorbar(colours, ax=every_axes, shrink=0.8, aspect=30)
        bar.set_label(printable(label))
        bar.outline.set_visible(False)
        return as_plot(figure, f"Maps: {label} over {' and '.join(names)}")


def _table(name: str, table: ArrayLike, shape: tuple[int, int]) -> NDArray[np.float64]:
    array = np.array(table, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(
            f"the map of {name} has shape {array.shape}, but there are {shape[0]} "
            f"and {shape[1]} values of the parameters"
        )
    return array


def colour_scale(
    values: NDArray[np.float64], limits: tuple[float, float] | None = None
) -> Any:
    """Return a scale of colours between limits, or one that holds all finite values."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    known = values[np.isfinite(values)]
    low, high = (known.min(), known.max()) if known.size else (0.0, 1.0)
    low, high = limits or (low, high)
    if low == high:
        low, high = low - 0.5, high + 0.5
    return ScalarMappable(
        Normalize(low, high), colormaps[COLOUR_MAP].resampled(COLOUR_STEPS)
    )


def draw_map(
    axes: Any, table: NDArray[np.float64], colours: Any, form: str = ".1f"
) -> None:
    """Draw a cell for each value of a table, with the value in it."""
    rows, columns = table.shape
    axes.set(xlim=(-0.5, columns - 0.5), ylim=(-0.5, rows - 0.5), aspect="equal")
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    for (row, column), value in np.ndenumerate(table):
        _draw_cell(axes, column, row, value, colours, form)


def _draw_cell(
    axes: Any, x: int, y: int, value: float, colours: Any, form: str
) -> None:
    from matplotlib.patches import Rectangle

    corner, place = (x - 0.5, y - 0.5), {"ha": "center", "va": "center", "size": 9}
    if not np.isfinite(value):
        missing = Rectangle(corner, 1, 1, fill=False, hatch="//", ec=GREY, lw=0)
        axes.add_patch(missing)
        axes.text(x, y, "none", **place)
        return
    red, green, blue, _ = colours.to_rgba(value)
    axes.add_patch(Rectangle(corner, 1, 1, color=(red, green, blue), lw=0.5))
    bright = 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.45
    words = f"{value:{form}}"
    # What is rounded to nothing has no sign.
    words = words if float(words) else words.lstrip("-")
    axes.text(x, y, words, color="black" if bright else "white", **place)
