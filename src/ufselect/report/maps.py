"""Square maps: how far rankings agree, how far features repeat one another."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ufselect.report.drawing import FULL_WIDTH, drawing, panels, printable, shortened
from ufselect.report.plots import Plot, as_plot
from ufselect.report.surfaces import colour_scale, draw_map

# Longer names are cut, or they would leave no room for the map.
LONGEST_NAME = 18


def agreement_maps(
    names: Sequence[str], maps: Mapping[str, ArrayLike], *, label: str = ""
) -> Plot:
    """Draw how far pairs agree, with the value in each cell; one map per measure.

    ``label`` says what the names are.

    Examples
    --------
    >>> from ufselect.report import agreement_maps
    >>> "0.25" in agreement_maps(["2", "3"], {"overlap": [[1, 0.25], [0.25, 1]]}).svg
    True
    """
    tables = {title: _square(table, len(names)) for title, table in maps.items()}
    if not tables or not names:
        raise ValueError("maps need at least one measure of some pairs, got none")
    labels = [printable(name) for name in names]
    with drawing():
        width = FULL_WIDTH / max(2, len(tables))
        figure, every_axes = panels(len(tables), height=3.6, width=width)
        colours = colour_scale(np.zeros(0), (0.0, 1.0))
        for axes, (title, table) in zip(every_axes, tables.items(), strict=True):
            draw_map(axes, table, colours, ".2f")
            axes.set_title(printable(title))
            axes.set_xticks(range(len(labels)), labels)
            axes.set_yticks(range(len(labels)), labels)
            axes.set(ylim=(len(labels) - 0.5, -0.5), xlabel=label, ylabel=label)
        bar = figure.colorbar(colours, ax=every_axes, shrink=0.8, aspect=30)
        bar.outline.set_visible(False)
        return as_plot(figure, f"Maps of {' and '.join(tables)} of {', '.join(labels)}")


def redundancy_map(names: Sequence[str], correlations: ArrayLike) -> Plot:
    """Draw absolute correlations between features, as many as there are names.

    Examples
    --------
    >>> from ufselect.report import redundancy_map
    >>> "gene 2" in redundancy_map(["gene 1", "gene 2"], [[1, -0.5], [-0.5, 1]]).svg
    True
    """
    table = np.abs(_square(correlations, len(names)))
    if not len(table):
        raise ValueError("a map needs at least one feature, and there is none")
    labels = [shortened(name, LONGEST_NAME) for name in names]
    size = float(np.clip(0.22 * len(names) + 2.0, 3.4, 0.85 * FULL_WIDTH))
    with drawing():
        figure, (axes,) = panels(1, height=0.85 * size, width=size)
        colours = colour_scale(np.zeros(0), (0.0, 1.0))
        axes.pcolormesh(table, cmap=colours.cmap, norm=colours.norm, linewidth=0)
        axes.set(aspect="equal", xlim=(0, len(table)), ylim=(len(table), 0))
        middles = np.arange(len(table)) + 0.5
        # Texts, for a tick with its label takes ten times as long to draw.
        for middle, label in zip(middles, labels, strict=True):
            axes.text(-0.3, middle, label, ha="right", va="center", fontsize=8)
            axes.text(
                middle,
                len(table) + 0.3,
                label,
                rotation=90,
                ha="center",
                va="top",
                fontsize=8,
            )
        axes.set_axis_off()
        bar = figure.colorbar(colours, ax=axes, shrink=0.8, aspect=30)
        bar.set_label("absolute correlation")
        bar.outline.set_visible(False)
        return as_plot(figure, f"Absolute correlations between {len(names)} features")


def _square(table: ArrayLike, count: int) -> NDArray[np.float64]:
    array = np.array(table, dtype=np.float64)
    if array.shape != (count, count):
        raise ValueError(f"a map of shape {array.shape} does not fit {count} names")
    return array
