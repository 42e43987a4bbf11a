"""From a selection or an experiment to a report: HTML, text, JSON, and figures.

Matplotlib is imported when the first figure is drawn.
"""

from ufselect.report.drawing import Plot
from ufselect.report.experiment_figures import (
    bar_chart,
    convergence,
    curves,
    range_chart,
    rank_diagram,
)
from ufselect.report.maps import (
    PixelPanel,
    agreement_maps,
    cluster_map,
    pixel_image,
    redundancy_map,
    surface,
)
from ufselect.report.rendering import (
    Graphic,
    Paragraph,
    Picture,
    Preformatted,
    Section,
    TextTable,
    html_page,
)
from ufselect.report.selection import SelectionReport, selection_report
from ufselect.report.selection_figures import (
    false_share_curve,
    objective_curve,
    random_bands,
    sample_scatter,
    score_curve,
    selection_frequencies,
    sparkline,
)
from ufselect.report.selection_measures import Effort
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
    "TextTable",
    "agreement_maps",
    "bar_chart",
    "cluster_map",
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
