"""What all figures share: style, colours, axes, legends, and SVG."""

import hashlib
import io
import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any
from xml.etree import ElementTree  # nosec B405 # it reads what Matplotlib wrote

import numpy as np
from numpy.typing import ArrayLike

from ufselect._names import printable as printable
from ufselect._names import shortened as shortened

# Namespace of the elements of a figure; it is the default one, without a prefix.
SVG = "{http://www.w3.org/2000/svg}"
ElementTree.register_namespace("", SVG.strip("{}"))
ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")

# Stands for the colour of the text around the figure, which is put in afterwards, so
# that one drawing serves light and dark pages. The style of figures has it, too.
INK = "#010203"
GREY = "#8a8a8a"
# In inches: what a page, or half of it, shows without making it smaller.
FULL_WIDTH = 10.2
HALF_WIDTH = 6.0

# Okabe and Ito's palette for all kinds of colour vision, without its black and its
# yellow, which would vanish on a dark and on a light page; violet and olive instead.
COLOURS = (
    *("#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7"),
    *("#7a5cc4", "#8c8c2a"),
)
GREYS = ("#6e6e6e", "#9c9c9c", "#c6c6c6")
# Lines only: a field of dots makes a file of megabytes.
HATCHES = ("", "////", "||||", "xxxx")
# Shapes that differ at the size of a point; each takes its turn with all colours.
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*")

# Even in lightness and alike to all kinds of colour vision.
COLOUR_MAP = "cividis"
# Few, because the colour bar is drawn step by step.
COLOUR_STEPS = 64
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Plot:
    """A figure, which a notebook shows, in the colours of the page around it.

    Attributes
    ----------
    svg : str
        The figure as an SVG element.
    figure : matplotlib.figure.Figure
    """

    svg: str
    figure: Any

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> None:
        """Write the figure to a file, whose ending says the format: svg, pdf or png."""
        path = Path(path)
        if path.suffix == ".svg":
            path.write_text(self.svg, encoding="utf-8")
            return
        with drawing():
            self.figure.savefig(path, facecolor="white", dpi=200)


def load_matplotlib() -> None:
    """Import what drawing needs, before it is needed or to see that it is there."""
    import matplotlib.backends.backend_svg
    import matplotlib.figure  # noqa: F401


@contextmanager
def drawing() -> Iterator[None]:
    """Draw in the style of reports, without changing the settings of the user."""
    import matplotlib

    style = resources.files(__package__) / "figures.mplstyle"
    with (
        resources.as_file(style) as path,
        matplotlib.rc_context(fname=path),
        warnings.catch_warnings(),
    ):
        # The text is set by the viewer, who may have the glyphs that we lack.
        warnings.filterwarnings("ignore", message=".*[Gg]lyph .* missing from")
        yield


def axes_or_new(ax: Any, size: tuple[float, float]) -> Any:
    """Return given axes, or those of a new figure that a notebook shows."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(figsize=size, layout="constrained")[1]


def panels(
    count: int, *, height: float, width: float = FULL_WIDTH / 3, most: int = 3
) -> tuple[Any, list[Any]]:
    """Return a figure and its axes of equal size, at most ``most`` in a row."""
    from matplotlib.figure import Figure

    columns = min(most, count)
    rows = -(-count // columns)
    figure = Figure(figsize=(columns * width, rows * height), layout="constrained")
    return figure, [
        figure.add_subplot(rows, columns, place) for place in range(1, count + 1)
    ]


def colour_and_hatch(place: int, palette: Sequence[str]) -> tuple[str, str]:
    """Return the colour at a place; when colours come round again, hatches change."""
    turn, index = divmod(place, len(palette))
    return palette[index], HATCHES[turn % len(HATCHES)]


def palette(count: int, *, from_end: bool = False) -> list[str]:
    """Return as many colours, which differ for all kinds of colour vision.

    More than eight go from dark to light: then lightness tells neighbours apart, and
    points differ by shape too.

    Examples
    --------
    >>> palette(2), len(set(palette(30)))
    (['#0072b2', '#e69f00'], 30)
    """
    if count <= len(COLOURS):
        return list(COLOURS[::-1] if from_end else COLOURS)[:count]
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    # Without the lightest part, which would vanish on a light page.
    chosen = colormaps["plasma" if from_end else "viridis"]
    return [to_hex(colour) for colour in chosen(np.linspace(0, 0.93, count))]


def markers(count: int) -> list[str]:
    """Return as many shapes of points, of which neighbours differ."""
    return [MARKERS[place % len(MARKERS)] for place in range(count)]


def add_legend(figure: Any, handles: Sequence[Any], labels: Sequence[str]) -> None:
    """Add a legend above all panels, where it covers nothing."""
    # In inches: a patch with its margins, and the letters of the longest label.
    entry = 0.75 + 0.09 * max((min(len(label), 30) for label in labels), default=0)
    columns = max(1, int(figure.get_figwidth() / entry))
    legend = figure.legend(
        handles,
        ["label"] * len(labels),
        loc="outside upper center",
        ncols=min(len(labels), columns),
    )
    # Given at once, a label that begins with an underscore would be left out.
    for text, label in zip(legend.get_texts(), labels, strict=True):
        text.set_text(printable(label))


def as_plot(
    figure: Any,
    description: str,
    *,
    titles: Mapping[str, Sequence[str]] | None = None,
    hover: Sequence[tuple[Any, str]] = (),
) -> Plot:
    """Return a figure of Matplotlib as a plot; to be called while drawing.

    The same figure gives the same bytes. Its ids begin with a digest of the drawing,
    so that several figures can share a document.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    description : str
        Text for screen readers.
    titles : mapping of str to sequence of str, optional
        Id of a line to what is shown when the pointer is over each of its points.
    hover : sequence of (matplotlib axes, str)
        What the script of the report tells under the pointer within axes: "cells" of a
        map, the "rows" of the data that x counts from 1 on, "pixels" of an image, each
        of which is a row of the data, or any other text as it is.
    """
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    stream = io.StringIO()
    # ``savefig`` would draw everything twice, to find the layout first.
    FigureCanvasSVG(figure).print_svg(stream, metadata={"Date": None, "Creator": None})
    text = stream.getvalue().encode()
    root = ElementTree.fromstring(text)  # nosec B314 # Matplotlib wrote it
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{SVG}metadata", f"{SVG}style"):
                parent.remove(child)
    prefix = f"f{hashlib.sha256(text).hexdigest()[:8]}-"
    for element in list(root.iter()):
        names = (titles or {}).get(element.get("id", ""), ())
        for point, name in zip(element.iter(f"{SVG}use"), names, strict=False):
            ElementTree.SubElement(point, f"{SVG}title").text = printable(name)
        _adapt(element, prefix)
    # The dropped style sheet set these for every element.
    root.set("stroke-linejoin", "round")
    root.set("stroke-linecap", "butt")
    root.set("role", "img")
    root.set("aria-label", printable(description))
    if hover:
        described = [_hover_data(axes, what) for axes, what in hover]
        root.set("data-hover", json.dumps(described))
    return Plot(ElementTree.tostring(root, "unicode") + "\n", figure)


def _hover_data(axes: Any, what: str) -> dict[str, Any]:
    """Return where axes are in their figure, in points, and what hovering shows."""
    box, (width, height) = axes.get_position(), 72 * axes.figure.get_size_inches()
    place = [box.x0 * width, (1 - box.y1) * height, box.width * width]
    corners = [round(float(number), 2) for number in (*place, box.height * height)]
    described: dict[str, Any] = {"box": corners}
    if what == "rows":
        described["x"] = [float(f"{limit:.6g}") for limit in axes.get_xlim()]
        described["log"] = axes.get_xscale() == "log"
    elif what == "pixels":
        described["grid"] = list(axes.get_images()[0].get_array().shape)
    elif what != "cells":
        described["text"] = what
    return described


def _adapt(element: ElementTree.Element, prefix: str) -> None:
    """Make ids unique, follow them in references, and let the page choose the ink."""
    for name, value in list(element.items()):
        if name == "id":
            value = prefix + value
        elif "#" not in value:  # neither a reference nor a colour
            continue
        elif name.endswith("href"):
            value = value.replace("#", f"#{prefix}", 1)
        else:
            value = re.sub(r"url\(#", f"url(#{prefix}", value)
            value = value.replace(INK, "currentColor")
        element.set(name, value)


def power_of_ten(value: float) -> str:
    """Return a power of ten as such and any other value in short.

    Examples
    --------
    >>> from ufselect.plotting.axes import power_of_ten
    >>> [power_of_ten(value) for value in (0.0001, 1, 10, 100, 0.5, 0)]
    ['10⁻⁴', '1', '10', '10²', '0.5', '0']
    """
    mantissa, exponent = f"{value:e}".split("e")
    if float(mantissa) != 1 or int(exponent) in (0, 1):
        return f"{value:g}"
    return "10" + str(int(exponent)).translate(SUPERSCRIPTS)


def short_value(value: Any) -> str:
    """Return the value of a parameter in short, whatever its type.

    Examples
    --------
    >>> from ufselect.plotting.axes import short_value
    >>> [short_value(value) for value in (100.0, 5, "heat", True, None)]
    ['10²', '5', 'heat', 'True', 'None']
    """
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return power_of_ten(value) if number else printable(str(value))


def make_logarithmic(axes: Any, *names: str) -> None:
    """Make the axes ("x", "y") logarithmic, marked with text, not formulas."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    for name in names:
        axes.set(**{f"{name}scale": "log"})
        axis = getattr(axes, f"{name}axis")
        axis.set_major_formatter(FuncFormatter(lambda value, place: _mark(value)))
        axis.set_minor_formatter(NullFormatter())


def _mark(value: float) -> str:
    return f"{value:g}" if 0.01 <= value <= 1000 else power_of_ten(value)


def line_handle(look: dict[str, Any]) -> Any:
    """Return a line for a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], **look)


def colour_scale(values: ArrayLike) -> Any:
    """Return a scale of colours for all finite values."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    known = np.asarray(values)[np.isfinite(values)]
    low, high = (known.min(), known.max()) if known.size else (0.0, 1.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    return ScalarMappable(
        Normalize(low, high), colormaps[COLOUR_MAP].resampled(COLOUR_STEPS)
    )
