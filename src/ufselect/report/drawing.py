"""What all figures share: the engine, the colours, and the way to SVG."""

import hashlib
import io
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from xml.dom import minidom  # nosec B408 # it reads what Matplotlib wrote

# Stands for the colour of the text around the figure, which is put in afterwards, so
# that one drawing serves light and dark pages.
INK = "#010203"
GREY = "#8a8a8a"
# In inches: what a page shows without making it smaller.
FULL_WIDTH = 10.2

# Okabe and Ito's palette for all kinds of colour vision, without its black and its
# yellow, which would vanish on a dark and on a light page.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7")
GREYS = ("#6e6e6e", "#9c9c9c", "#c6c6c6")
# Lines only: a field of dots makes a file of megabytes.
HATCHES = ("", "////", "||||", "xxxx")
# Shapes that differ at the size of a point; each takes its turn with all colours.
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*")

STYLE: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": GREY,
    "axes.facecolor": "none",
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlesize": 12,
    "figure.constrained_layout.h_pad": 0.1,
    "figure.constrained_layout.w_pad": 0.06,
    "figure.facecolor": "none",
    "figure.labelsize": 11,
    "font.size": 11,
    "grid.alpha": 0.35,
    "grid.color": GREY,
    "grid.linewidth": 0.6,
    "hatch.linewidth": 0.6,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "savefig.facecolor": "none",
    "svg.fonttype": "none",  # text stays text: it can be searched and read aloud
    "svg.hashsalt": "ufselect",
    "text.color": INK,
    "text.parse_math": False,  # a dollar in a name is a dollar
    "xtick.color": GREY,
    "xtick.labelcolor": INK,
    "xtick.major.width": 0.6,
    "ytick.color": GREY,
    "ytick.labelcolor": INK,
    "ytick.major.width": 0.6,
}


@contextmanager
def drawing() -> Iterator[None]:
    """Draw in our style, whatever the settings of the user, and leave those alone."""
    matplotlib = _engine()
    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        # The text is set by the viewer, who may have the glyphs that we lack.
        warnings.filterwarnings("ignore", message=".*[Gg]lyph .* missing from")
        yield


def panels(
    count: int, *, height: float, width: float = FULL_WIDTH / 3, most: int = 3
) -> tuple[Any, list[Any]]:
    """Return a figure and its axes, so many in a row at most, each of the same size."""
    columns = min(most, count)
    rows = -(-count // columns)
    size = (columns * width, rows * height)
    figure = _engine().figure.Figure(figsize=size, layout="constrained")
    return figure, [
        figure.add_subplot(rows, columns, place) for place in range(1, count + 1)
    ]


def colour_and_hatch(place: int, palette: Sequence[str]) -> tuple[str, str]:
    """Return the colour at a place; when colours come round again, hatches change."""
    turn, index = divmod(place, len(palette))
    return palette[index], HATCHES[turn % len(HATCHES)]


def colour_and_marker(place: int) -> tuple[str, str]:
    """Return the colour at a place; neighbours differ by the shape of points too."""
    turn, index = divmod(place, len(COLOURS))
    return COLOURS[index], MARKERS[(index + turn) % len(MARKERS)]


def add_legend(figure: Any, handles: Sequence[Any], labels: Sequence[str]) -> None:
    """Add a legend above all panels, where it covers nothing."""
    # In inches: a patch with its margins, and the letters of the longest label.
    entry = 0.6 + 0.09 * max((min(len(label), 30) for label in labels), default=0)
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


def printable(text: str) -> str:
    """Return text without the control characters that XML does not allow."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def shortened(text: str, longest: int) -> str:
    """Return printable text, cut if it would leave no room for anything else."""
    words = printable(text)
    if len(words) <= longest:
        return words
    return words[: longest - 1] + "\N{HORIZONTAL ELLIPSIS}"


def as_svg(figure: Any, description: str) -> str:
    """Return a figure as an SVG element that can stand in an HTML page.

    The same figure gives the same bytes. Its ids begin with a digest of the drawing,
    so that several figures can share a page.
    """
    text = _svg_bytes(figure)
    document = minidom.parseString(text)  # nosec B318 # Matplotlib wrote it
    root: Any = document.documentElement
    _drop(document, "metadata", "style")
    prefix = f"f{hashlib.sha256(text).hexdigest()[:8]}-"
    for element in document.getElementsByTagName("*"):
        _adapt(element, prefix)
    # What the dropped style sheet said of every element on the page.
    root.setAttribute("stroke-linejoin", "round")
    root.setAttribute("stroke-linecap", "butt")
    root.setAttribute("role", "img")
    root.setAttribute("aria-label", printable(description))
    return root.toxml() + "\n"


def _engine() -> Any:
    try:
        import matplotlib
        import matplotlib.figure
    except ImportError as error:
        raise ImportError(
            "figures need Matplotlib, which cannot be imported; install it with: "
            "pip install 'ufselect[report]'"
        ) from error
    return matplotlib


def _svg_bytes(figure: Any) -> bytes:
    """Return a figure as Matplotlib writes it, without the rehearsal of ``savefig``.

    That draws everything once more to find the layout, which drawing finds anyway.
    """
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    stream = io.StringIO()
    FigureCanvasSVG(figure).print_svg(stream, metadata={"Date": None, "Creator": None})
    return stream.getvalue().encode()


def _drop(document: minidom.Document, *names: str) -> None:
    for name in names:
        for element in document.getElementsByTagName(name):
            parent: Any = element.parentNode
            parent.removeChild(element)


def _adapt(element: minidom.Element, prefix: str) -> None:
    """Make ids unique, follow them in references, and let the page choose the ink."""
    for name, value in list(element.attributes.items()):
        if name == "id":
            value = prefix + value
        elif "#" not in value:  # neither a reference nor a colour
            continue
        elif name.endswith("href"):
            value = value.replace("#", f"#{prefix}", 1)
        else:
            value = re.sub(r"url\(#", f"url(#{prefix}", value)
            value = value.replace(INK, "currentColor")
        element.setAttribute(name, value)
