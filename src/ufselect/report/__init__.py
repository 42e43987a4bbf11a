"""From a selection to a report: HTML, text, JSON, and figures.

Matplotlib is imported when the first figure is drawn.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ufselect.plotting.axes import Plot as Plot
    from ufselect.plotting.bars import bar_chart as bar_chart
    from ufselect.plotting.bars import random_bands as random_bands
    from ufselect.plotting.bars import range_chart as range_chart
    from ufselect.plotting.bars import rank_diagram as rank_diagram
    from ufselect.plotting.convergence import convergence as convergence
    from ufselect.plotting.convergence import curves as curves
    from ufselect.plotting.convergence import objective_curve as objective_curve
    from ufselect.plotting.curves import false_share_curve as false_share_curve
    from ufselect.plotting.curves import score_curve as score_curve
    from ufselect.plotting.curves import selection_frequencies as selection_frequencies
    from ufselect.plotting.heatmap import cluster_map as cluster_map
    from ufselect.plotting.maps import PixelPanel as PixelPanel
    from ufselect.plotting.maps import agreement_maps as agreement_maps
    from ufselect.plotting.maps import pixel_image as pixel_image
    from ufselect.plotting.maps import redundancy_map as redundancy_map
    from ufselect.plotting.maps import surface as surface
    from ufselect.plotting.scatter import sample_scatter as sample_scatter
    from ufselect.report.content import SelectionReport as SelectionReport
    from ufselect.report.parts import Effort as Effort
    from ufselect.report.rendering import Bullets as Bullets
    from ufselect.report.rendering import Paragraph as Paragraph
    from ufselect.report.rendering import Picture as Picture
    from ufselect.report.rendering import Preformatted as Preformatted
    from ufselect.report.rendering import Section as Section
    from ufselect.report.rendering import TextTable as TextTable
    from ufselect.report.rendering import html_page as html_page
    from ufselect.report.rendering import markdown_table as markdown_table
    from ufselect.report.rendering import text_table as text_table
    from ufselect.report.selection import selection_report as selection_report
else:
    from ufselect._names import attach

    __getattr__, __dir__, __all__ = attach(__name__)
