"""From a selection or an experiment to a report: HTML, text, JSON, and figures.

Matplotlib is imported when the first figure is drawn.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ufselect.report.drawing import Graphic as Graphic
    from ufselect.report.drawing import Plot as Plot
    from ufselect.report.experiment_figures import bar_chart as bar_chart
    from ufselect.report.experiment_figures import convergence as convergence
    from ufselect.report.experiment_figures import curves as curves
    from ufselect.report.experiment_figures import range_chart as range_chart
    from ufselect.report.experiment_figures import rank_diagram as rank_diagram
    from ufselect.report.maps import PixelPanel as PixelPanel
    from ufselect.report.maps import agreement_maps as agreement_maps
    from ufselect.report.maps import cluster_map as cluster_map
    from ufselect.report.maps import pixel_image as pixel_image
    from ufselect.report.maps import redundancy_map as redundancy_map
    from ufselect.report.maps import surface as surface
    from ufselect.report.rendering import Paragraph as Paragraph
    from ufselect.report.rendering import Picture as Picture
    from ufselect.report.rendering import Preformatted as Preformatted
    from ufselect.report.rendering import Section as Section
    from ufselect.report.rendering import TextTable as TextTable
    from ufselect.report.rendering import html_page as html_page
    from ufselect.report.rendering import markdown_table as markdown_table
    from ufselect.report.rendering import text_table as text_table
    from ufselect.report.selection import SelectionReport as SelectionReport
    from ufselect.report.selection import selection_report as selection_report
    from ufselect.report.selection_figures import false_share_curve as false_share_curve
    from ufselect.report.selection_figures import objective_curve as objective_curve
    from ufselect.report.selection_figures import random_bands as random_bands
    from ufselect.report.selection_figures import sample_scatter as sample_scatter
    from ufselect.report.selection_figures import score_curve as score_curve
    from ufselect.report.selection_figures import (
        selection_frequencies as selection_frequencies,
    )
    from ufselect.report.selection_figures import sparkline as sparkline
    from ufselect.report.selection_subject import Effort as Effort
else:
    from ufselect._names import attach

    __getattr__, __dir__, __all__ = attach(__name__)
