"""From plain arrays to text tables, pictures and pages.

The figures need Matplotlib, which is imported when the first one is drawn.
"""

from ufselect.report.bars import bar_chart
from ufselect.report.convergence import convergence
from ufselect.report.curves import curves
from ufselect.report.frequencies import selection_frequencies
from ufselect.report.lines import false_share_curve, objective_curve, score_curve
from ufselect.report.maps import agreement_maps, redundancy_map
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
from ufselect.report.plots import Plot
from ufselect.report.random_bands import random_bands
from ufselect.report.ranges import range_chart
from ufselect.report.ranks import rank_diagram
from ufselect.report.scatter import sample_scatter
from ufselect.report.selection import SelectionReport, selection_report
from ufselect.report.selection_subject import Effort
from ufselect.report.sparklines import sparkline
from ufselect.report.surfaces import surface
from ufselect.report.tables import markdown_table, text_table

__all__ = [
    "Effort",
    "Graphic",
    "Paragraph",
    "Picture",
    "PixelPanel",
    "Plot",
    "Preformatted",
    "Section",
    "SelectionReport",
    "Table",
    "agreement_maps",
    "bar_chart",
    "convergence",
    "curves",
    "false_share_curve",
    "html_page",
    "markdown_table",
    "objective_curve",
    "pixel_image",
    "random_bands",
    "range_chart",
    "rank_diagram",
    "redundancy_map",
    "sample_scatter",
    "score_curve",
    "selection_frequencies",
    "selection_report",
    "sparkline",
    "surface",
    "text_table",
]
