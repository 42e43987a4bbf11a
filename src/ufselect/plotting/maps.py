"""Maps of pairs, parameters and pixels: a colour, and often a value, in each cell."""

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_scalar

from ufselect.plotting.axes import (
    FULL_WIDTH,
    GREY,
    HALF_WIDTH,
    Plot,
    as_plot,
    axes_or_new,
    colour_scale,
    drawing,
    panels,
    printable,
    short_value,
    shortened,
)
from ufselect.plotting.fitted import chosen_features, fitted_selector
from ufselect.solvers.rankings import ranks_of, top_overlap

# Longer names are cut, or they would leave no space for the map.
MAX_NAME_LENGTH = 18
# Longer names stand upright below the map.
MAX_LEVEL_NAME_LENGTH = 4
# Maps of more names have no values in their cells.
MAX_NAMES_WITH_VALUES = 12
KEPT = "#d1495b"


def compare(
    selectors: Mapping[str, Any],
    *,
    n_features: int | None = None,
    key: str = "ufselect",
    ax: Any = None,
) -> Any:
    """Draw the share of selected features that each pair of methods has in common.

    Parameters
    ----------
    selectors : mapping of str to selector or AnnData
        Name to a fitted selector, or to an AnnData with a selection.
    n_features : int, optional
        How many of the best to compare; by default the fewest that one selected.
    key : str
        Name of the columns of ``adata.var``.
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
    if not hasattr(selectors, "items") or len(selectors) < 2:
        raise ValueError(
            "Give two selectors or more by name, such as pl.compare({'a': first, 'b': "
            "second})."
        )
    fitted = [fitted_selector(each, key) for each in selectors.values()]
    if n_features is None:
        n_features = min(len(chosen_features(each)) for each in fitted)
    lengths = {len(each.scores_) for each in fitted}
    if len(lengths) > 1:
        numbers = " and ".join(map(str, sorted(lengths)))
        raise ValueError(
            f"The selectors were fitted to tables of {numbers} features; compare "
            "selectors of one table."
        )
    check_scalar(n_features, "n_features", Integral, min_val=1, max_val=min(lengths))
    ranks = ranks_of(np.array([each.scores_ for each in fitted]))
    size = 1.5 + 0.7 * len(selectors)
    ax = axes_or_new(ax, (size + 1, size))
    draw_pairs(ax, list(selectors), top_overlap(ranks, n_features))
    ax.set_title(f"share of the best {n_features} in common")
    return ax


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
    with drawing():
        size = np.clip(0.6 * len(names) + 1.2, HALF_WIDTH / 2, FULL_WIDTH / 2)
        width, height = float(size), float(min(size, 3.6))
        figure, every_axes = panels(len(maps), height=height, width=width)
        for axes, (title, table) in zip(every_axes, maps.items(), strict=True):
            colours = draw_pairs(axes, names, table)
            axes.set_title(printable(title))
            axes.set(xlabel=label, ylabel=label)
        _add_colour_bar(figure, colours, every_axes)
        labels = ", ".join(map(printable, names))
        return as_plot(figure, f"Maps of {' and '.join(maps)} of {labels}")


def redundancy_map(names: Sequence[str], correlations: ArrayLike) -> Plot:
    """Draw absolute correlations between features, as many as there are names.

    Examples
    --------
    >>> from ufselect.report import redundancy_map
    >>> "gene 2" in redundancy_map(["gene 1", "gene 2"], [[1, -0.5], [-0.5, 1]]).svg
    True
    """
    size = float(np.clip(0.22 * len(names) + 2.0, 3.4, HALF_WIDTH))
    with drawing():
        figure, (axes,) = panels(1, height=0.85 * size, width=size)
        colours = draw_pairs(axes, names, np.abs(correlations), values=False)
        axes.tick_params(labelsize=8)
        _add_colour_bar(figure, colours, [axes], "absolute correlation")
        words = f"Absolute correlations between {len(names)} features"
        return as_plot(figure, words, hover=[(axes, "cells")])


def draw_pairs(
    axes: Any, names: Sequence[str], table: ArrayLike, *, values: bool = True
) -> Any:
    """Draw a number from 0 to 1 for each pair of names; return the scale of colours."""
    shown, count = np.array(table, dtype=np.float64), len(names)
    if shown.shape != (count, count):
        raise ValueError(f"a map of shape {shown.shape} does not fit {count} names")
    colours = colour_scale([0.0, 1.0])
    if values and count <= MAX_NAMES_WITH_VALUES:
        draw_map(axes, shown, colours, ".2f")
    else:
        axes.imshow(shown, cmap=colours.cmap, norm=colours.norm, interpolation="none")
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
    labels = [shortened(name, MAX_NAME_LENGTH) for name in names]
    # Long names would cover one another.
    upright = max(map(len, labels), default=0) > MAX_LEVEL_NAME_LENGTH
    axes.set_xticks(range(count), labels, rotation=90 if upright else 0)
    axes.set_yticks(range(count), labels)
    axes.set_ylim(count - 0.5, -0.5)
    return colours


def _add_colour_bar(
    figure: Any, colours: Any, every_axes: Sequence[Any], label: str = ""
) -> None:
    bar = figure.colorbar(colours, ax=every_axes, shrink=0.8, aspect=30)
    bar.set_label(printable(label))
    bar.outline.set_visible(False)


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
    tables = {name: np.array(table, dtype=float) for name, table in values.items()}
    for name, table in tables.items():
        if table.shape != (len(alphas), len(betas)):
            raise ValueError(
                f"the map of {name} has shape {table.shape}, but there are "
                f"{len(alphas)} and {len(betas)} values of the parameters"
            )
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
        _add_colour_bar(figure, colours, every_axes, label)
        return as_plot(figure, f"Maps: {label} over {' and '.join(names)}")


def draw_map(
    axes: Any, table: NDArray[np.float64], colours: Any, form: str = ".1f"
) -> None:
    """Draw a cell for each value of a table, with the value in it."""
    from matplotlib.patches import Rectangle

    rows, columns = table.shape
    axes.set(xlim=(-0.5, columns - 0.5), ylim=(-0.5, rows - 0.5), aspect="equal")
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    middle = {"ha": "center", "va": "center", "size": 9}
    for (y, x), value in np.ndenumerate(table):
        corner = (x - 0.5, y - 0.5)
        if not np.isfinite(value):
            missing = Rectangle(corner, 1, 1, fill=False, hatch="//", ec=GREY, lw=0)
            axes.add_patch(missing)
            axes.text(x, y, "none", **middle)
            continue
        red, green, blue, _ = colours.to_rgba(value)
        axes.add_patch(Rectangle(corner, 1, 1, color=(red, green, blue), lw=0.5))
        bright = 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.45
        words = f"{value:{form}}"
        # A value that is rounded to 0 has no sign.
        words = words if float(words) else words.lstrip("-")
        axes.text(x, y, words, color="black" if bright else "white", **middle)


def pixel_map(mean: NDArray[np.float64], kept: NDArray[np.bool_]) -> Plot:
    """Draw the mean image, bright where it is high, with the chosen pixels outlined.

    Examples
    --------
    >>> "1 of 2 pixels" in pixel_map(np.eye(2)[:1], np.array([[True, False]])).svg
    True
    """
    rows, columns = mean.shape
    # In inches: a pixel, unless there are many.
    size = min(0.3, 5 / max(rows, columns))
    height, width = rows * size + 0.8, max(2.4, columns * size + 0.4)
    with drawing():
        figure, (axes,) = panels(1, height=height, width=width)
        axes.imshow(mean, cmap="gray", interpolation="none")
        y, x = np.nonzero(kept)
        edge = {"markeredgecolor": KEPT, "markeredgewidth": 7 * size}
        axes.plot(x, y, "s", markersize=55 * size, mfc="none", **edge)
        axes.set(xticks=[], yticks=[])
        words = f"{kept.sum()} of {kept.size} pixels"
        axes.set_title(f"Chosen pixels\n{words}", fontsize=11)
        axes.spines[:].set_visible(False)
        return as_plot(figure, f"Chosen pixels: {words}", hover=[(axes, "pixels")])
