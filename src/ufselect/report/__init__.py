"""From plain arrays to text tables, pictures and pages.

The figures need Matplotlib, which is imported when the first one is drawn.
"""

from ufselect.report.bars import bar_chart
from ufselect.report.convergence import convergence
from ufselect.report.curves import curves
from ufselect.report.page import (
    Paragraph,
    Picture,
    Preformatted,
    Section,
    Table,
    html_page,
)
from ufselect.report.pixels import PixelPanel, pixel_image
from ufselect.report.ranges import range_chart
from ufselect.report.ranks import rank_diagram
from ufselect.report.surfaces import surface
from ufselect.report.tables import markdown_table, text_table

__all__ = [
    "Paragraph",
    "Picture",
    "PixelPanel",
    "Preformatted",
    "Section",
    "Table",
    "bar_chart",
    "convergence",
    "curves",
    "html_page",
    "markdown_table",
    "pixel_image",
    "range_chart",
    "rank_diagram",
    "surface",
    "text_table",
]
