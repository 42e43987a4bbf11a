"""Maps: features over samples, agreement, correlations, parameters, pixels."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ufselect.report.drawing import (
    COLOURS,
    FULL_WIDTH,
    GREY,
    Plot,
    as_plot,
    colour_scale,
    drawing,
    panels,
    printable,
    short_value,
    shortened,
)

# Longer names are cut, or they would leave no room for the map.
LONGEST_NAME = 18
# Standard deviations at which a heat map has its strongest colours.
LIMIT = 2.5
# Of the width of the map: from its left edge to the names.
MARGIN = 0.025
CELL = 22
GAP = 36
TOP = 64
KEPT = "#d1495b"


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
        Group that each feature marks, drawn as a strip on the left.

    Examples
    --------
    >>> plot = cluster_map([[0, 0, 5, 6], [9, 8, 1, 0]], ["a", "b"], [0, 0, 1, 1])
    >>> "2 features over 4 samples in 2 clusters" in plot.svg
    True
    """
    table = _standardized(values)
    n_features, n_samples = table.shape
    strips = {
        name: np.unique(np.asarray(members), return_inverse=True)
        for name, members in (("cluster", groups), ("label", labels))
        if members is not None
    }
    heights = [*(0.16 for _ in strips), max(1.6, 0.17 * n_features)]
    with drawing():
        figure, (axes,) = panels(1, height=sum(heights) + 1.2, width=FULL_WIDTH)
        axes.remove()
        grid = figure.add_gridspec(
            len(heights), 2, height_ratios=heights, width_ratios=[1, 90]
        )
        axes = figure.add_subplot(grid[-1, 1])
        look = {"cmap": "RdBu_r", "vmin": -LIMIT, "vmax": LIMIT}
        image = axes.imshow(table, aspect="auto", interpolation="none", **look)
        axes.set(xticks=[], yticks=[], xlabel=f"{n_samples} samples")
        axes.spines[:].set_visible(False)
        for place, (name, (kinds, places)) in enumerate(strips.items()):
            strip = figure.add_subplot(grid[place, 1])
            _draw_strip(strip, places[np.newaxis])
            _write_left(strip, [name], MARGIN)
            if name == "cluster":
                _name_groups(strip, kinds, places)
                borders = np.flatnonzero(np.diff(places)) + 0.5
                ends = (-0.5, n_features - 0.5)
                axes.vlines(borders, *ends, color="white", linewidth=1.2)
        if marks is not None and "cluster" in strips:
            kinds, _ = strips["cluster"]
            places = np.searchsorted(kinds, np.asarray(marks))
            _draw_strip(figure.add_subplot(grid[-1, 0]), places[:, np.newaxis])
        _write_left(axes, names, MARGIN if marks is not None else MARGIN / 5)
        bar = figure.colorbar(
            image, ax=axes, location="bottom", shrink=0.3, aspect=40, pad=0.02
        )
        bar.set_label("standardized value", size=9)
        bar.ax.tick_params(labelsize=8)
        bar.outline.set_visible(False)
        words = f"Heat map of {n_features} features over {n_samples} samples"
        if "cluster" in strips:
            words += f" in {len(strips['cluster'][0])} clusters"
        return as_plot(figure, f"{words}.", cells=axes)


def _write_left(axes: Any, names: Sequence[str], margin: float) -> None:
    """Write names beside rows: a tick with its label takes ten times as long."""
    side = {"ha": "right", "va": "center", "fontsize": 8}
    for place, name in enumerate(names):
        text = shortened(name, LONGEST_NAME)
        axes.text(-margin, place, text, transform=axes.get_yaxis_transform(), **side)


def _standardized(values: ArrayLike) -> NDArray[np.float64]:
    table = np.array(values, dtype=np.float64)
    if table.ndim != 2 or not table.size:
        raise ValueError(f"a heat map needs features and samples, got {table.shape}")
    # Divided first, or the squares of large numbers would overflow.
    table /= np.maximum(np.abs(table).max(axis=1, keepdims=True), np.finfo(float).tiny)
    table -= table.mean(axis=1, keepdims=True)
    spread = table.std(axis=1, keepdims=True)
    return np.clip(table / np.where(spread > 0, spread, 1.0), -LIMIT, LIMIT)


def _draw_strip(axes: Any, places: NDArray[np.intp]) -> None:
    from matplotlib.colors import ListedColormap

    shown = places % len(COLOURS)
    look = {"cmap": ListedColormap(COLOURS), "vmin": 0, "vmax": len(COLOURS) - 1}
    axes.imshow(shown, aspect="auto", interpolation="none", **look)
    axes.set_axis_off()


def _name_groups(axes: Any, kinds: NDArray[Any], places: NDArray[np.intp]) -> None:
    """Write the name of each group above its samples."""
    for place, kind in enumerate(kinds):
        middle = float(np.flatnonzero(places == place).mean())
        side = {"ha": "center", "va": "bottom", "fontsize": 9}
        axes.text(middle, -0.7, shortened(str(kind), 12), **side)


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
        name: _checked_map(name, table, (len(alphas), len(betas)))
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


def _checked_map(
    name: str, table: ArrayLike, shape: tuple[int, int]
) -> NDArray[np.float64]:
    array = np.array(table, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(
            f"the map of {name} has shape {array.shape}, but there are {shape[0]} "
            f"and {shape[1]} values of the parameters"
        )
    return array


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


class PixelPanel(NamedTuple):
    """One drawing: a title, grey values in 0..1 and the pixels that were kept."""

    title: str
    caption: str
    values: NDArray[np.float64]
    kept: NDArray[np.bool_]


def pixel_image(panels: Sequence[PixelPanel]) -> str:
    """Return an SVG with the panels side by side, kept pixels outlined.

    Examples
    --------
    >>> import numpy as np
    >>> panel = PixelPanel("SCFS", "1 of 4", np.eye(2), np.eye(2, dtype=bool))
    >>> pixel_image([panel]).count("<rect")
    8
    """
    rows, columns = panels[0].values.shape
    panel_width = max(columns * CELL, 150)
    width = GAP + len(panels) * (panel_width + GAP)
    height = TOP + rows * CELL + GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" role="img" '
        f'aria-label="{escape(_panel_words(panels))}">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for place, panel in enumerate(panels):
        parts += _panel(panel, GAP + place * (panel_width + GAP))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel_words(panels: Sequence[PixelPanel]) -> str:
    return "; ".join(f"{panel.title}: {panel.caption}" for panel in panels)


def _panel(panel: PixelPanel, left: int) -> list[str]:
    parts = [
        f'<text x="{left}" y="26" font-size="16" font-weight="bold">'
        f"{escape(panel.title)}</text>",
        f'<text x="{left}" y="48" font-size="13" fill="#444">'
        f"{escape(panel.caption)}</text>",
    ]
    parts += [
        f'<rect x="{left + column * CELL}" y="{TOP + row * CELL}" width="{CELL}" '
        f'height="{CELL}" fill="{_grey(value)}"/>'
        for (row, column), value in np.ndenumerate(panel.values)
    ]
    height, width = (CELL * length for length in panel.values.shape)
    parts.append(
        f'<rect x="{left}" y="{TOP}" width="{width}" height="{height}" fill="none" '
        'stroke="#999"/>'
    )
    # Outlines come last, or the next square would cover half of each.
    parts += [
        f'<rect x="{left + column * CELL + 2}" y="{TOP + row * CELL + 2}" '
        f'width="{CELL - 4}" height="{CELL - 4}" fill="none" stroke="{KEPT}" '
        'stroke-width="3"/>'
        for row, column in np.argwhere(panel.kept)
    ]
    return parts


def _grey(value: float) -> str:
    level = round(255 * (1 - float(np.clip(value, 0, 1))))
    return f"#{level:02x}{level:02x}{level:02x}"
