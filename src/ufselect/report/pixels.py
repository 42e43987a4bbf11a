"""A picture of which pixels were kept, as SVG: no plotting library needed."""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

CELL = 22
GAP = 36
TOP = 64
KEPT = "#d1495b"


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
        f'aria-label="{escape(_description(panels))}">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for place, panel in enumerate(panels):
        parts += _panel(panel, GAP + place * (panel_width + GAP))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _description(panels: Sequence[PixelPanel]) -> str:
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
