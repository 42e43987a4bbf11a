"""A figure that shows itself in a notebook and can be saved."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ufselect.report.drawing import as_svg, drawing
from ufselect.report.page import Block, Paragraph, Picture

# Columns of equal length by name; ``pandas.DataFrame`` takes it.
Frame = dict[str, list[Any]]


@dataclass(frozen=True)
class Plot:
    """A figure, which a notebook shows, in the colours of the page around it.

    Attributes
    ----------
    svg : str
        The figure as an SVG element.
    figure : matplotlib.figure.Figure or None
        The figure itself, unless it was made without Matplotlib.

    Examples
    --------
    >>> Plot('<svg xmlns="http://www.w3.org/2000/svg"></svg>').svg[:4]
    '<svg'
    """

    svg: str
    figure: Any = None

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> None:
        """Write the figure to a file, whose ending says the format: svg, pdf or png."""
        path = Path(path)
        if path.suffix == ".svg":
            path.write_text(self.svg, encoding="utf-8")
            return
        if self.figure is None:
            raise ValueError(
                f"{path.name} cannot be written, for this figure is plain SVG; give a "
                "name that ends with .svg"
            )
        with drawing():
            self.figure.savefig(path, facecolor="white", dpi=200)


class Part(Protocol):
    """What is shown of a report: the numbers, and the figure of these numbers."""

    def frame(self) -> Frame:
        """Return the numbers."""

    def plot(self) -> Plot:
        """Draw them."""


def picture_of(part: Part, caption: str, name: str) -> Block:
    """Return the figure of a part with its data, or how to get figures."""
    try:
        plot = part.plot()
    except ImportError as error:
        return Paragraph(f"There is no figure: {error}.")
    return Picture(plot.svg, caption, part.frame(), name)


def as_plot(figure: Any, description: str) -> Plot:
    """Return a figure of Matplotlib as a plot; to be called while drawing."""
    return Plot(as_svg(figure, description), figure)
