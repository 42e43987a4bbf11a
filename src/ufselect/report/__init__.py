"""From plain arrays to text tables, pictures and pages.

The figures need Matplotlib, which is imported when the first one is drawn.
"""

from ufselect.report.bars import bar_chart
from ufselect.report.curves import curves
from ufselect.report.page import (
    Paragraph,
    Picture,
    Preformatted,
    Section,
    Table,
    html_page,
)
from ufselect.report.page_tables import Graphic
from ufselect.report.pixels import PixelPanel, pixel_image
from ufselect.report.surfaces import surface
from ufselect.report.tables import markdown_table, text_table

__all__ = [
    "Graphic",
    "Paragraph",
    "Picture",
    "PixelPanel",
    "Preformatted",
    "Section",
    "Table",
    "bar_chart",
    "curves",
    "html_page",
    "markdown_table",
    "pixel_image",
    "surface",
    "text_table",
]
