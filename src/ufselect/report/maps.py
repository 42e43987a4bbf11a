"""Maps: features over samples, agreement, correlations, parameters, pixels."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ufselect.report.drawing import (
    FULL_WIDTH,
    GREY,
    Plot,
    as_plot,
    colour_scale,
    drawing,
    palette,
    panels,
    printable,
    short_value,
    shortened,
)

# Longer names are cut, or they would leave no room for the map.
LONGEST_NAME = 18
LONGEST_LEVEL_NAME = 4
# Standard deviations at which a heat map has its strongest colours.
LIMIT = 2.5
# In inches: the height of a row of a heat map, of the least map, and of a strip.
ROW, LEAST_HEIGHT, STRIP = 0.17, 1.6, 0.15
# Maps of more names have no values in their cells.
MOST_NAMES_WITH_VALUES = 12
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
        Group that each feature marks, drawn as a strip beside the map.

    Examples
    --------
    >>> plot = cluster_map([[0, 0, 5, 6], [9, 8, 1, 0]], ["a", "b"], [0, 0, 1, 1])
    >>> "2 features over 4 samples in 2 clusters" in plot.svg
    True
    """
    n_features, n_samples = np.shape(values) if np.ndim(values) == 2 else (0, 0)
    height = max(LEAST_HEIGHT, ROW * n_features)
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
        text = shortened(name, LONGEST_NAME)
        axes.text(-gap, place, text, ha="right", transform=across, **beside)
    height = STRIP / max(LEAST_HEIGHT, ROW * n_features)
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
        elif len(kinds) <= MOST_NAMES_WITH_VALUES:
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
        width = FULL_WIDTH / max(2, len(maps))
        figure, every_axes = panels(len(maps), height=3.6, width=width)
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
    size = float(np.clip(0.22 * len(names) + 2.0, 3.4, 0.85 * FULL_WIDTH))
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
    colours = colour_scale(np.zeros(0), (0.0, 1.0))
    if values and count <= MOST_NAMES_WITH_VALUES:
        draw_map(axes, shown, colours, ".2f")
    else:
        axes.imshow(shown, cmap=colours.cmap, norm=colours.norm, interpolation="none")
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
    labels = [shortened(name, LONGEST_NAME) for name in names]
    # Long names would cover one another.
    upright = max(map(len, labels), default=0) > LONGEST_LEVEL_NAME
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


class PixelPanel(NamedTuple):
    """One drawing: a title, grey values in 0..1 and the pixels that were kept."""

    title: str
    caption: str
    values: NDArray[np.float64]
    kept: NDArray[np.bool_]


def pixel_image(images: Sequence[PixelPanel]) -> str:
    """Return an SVG with the panels side by side, kept pixels outlined.

    Examples
    --------
    >>> import numpy as np
    >>> panel = PixelPanel("SCFS", "1 of 4", np.eye(2), np.eye(2, dtype=bool))
    >>> "SCFS: 1 of 4" in pixel_image([panel])
    True
    """
    return pixel_plot(images).svg


def pixel_plot(images: Sequence[PixelPanel]) -> Plot:
    """Draw images with the kept pixels outlined."""
    rows, columns = images[0].values.shape
    # In inches: a pixel, unless there are many.
    size = min(0.3, 5 / max(rows, columns))
    with drawing():
        shape = {"height": rows * size + 0.8, "width": max(2.4, columns * size + 0.4)}
        figure, every_axes = panels(len(images), **shape, most=len(images))
        for axes, (title, caption, values, kept) in zip(
            every_axes, images, strict=True
        ):
            look = {"cmap": "gray_r", "vmin": 0, "vmax": 1, "interpolation": "none"}
            axes.imshow(np.clip(values, 0, 1), **look)
            y, x = np.nonzero(kept)
            edge = {"markeredgecolor": KEPT, "markeredgewidth": 7 * size}
            axes.plot(x, y, "s", markersize=55 * size, mfc="none", **edge)
            axes.set(xticks=[], yticks=[])
            axes.set_title(f"{printable(title)}\n{printable(caption)}", fontsize=11)
            axes.spines[:].set_visible(False)
        words = "; ".join(f"{each.title}: {each.caption}" for each in images)
        # The data of a report are those of one image.
        hover = [(every_axes[0], "pixels")] if len(images) == 1 else []
        return as_plot(figure, words, hover=hover)
