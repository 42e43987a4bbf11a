"""Figures of selections and of experiments, drawn with Matplotlib.

Each is loaded when it is first used: a selection without a report draws none.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ufselect.plotting.axes import Plot as Plot
    from ufselect.plotting.bars import bar_chart as bar_chart
    from ufselect.plotting.bars import random_bands as random_bands
    from ufselect.plotting.bars import range_chart as range_chart
    from ufselect.plotting.bars import rank_diagram as rank_diagram
    from ufselect.plotting.convergence import objective_curve as objective_curve
    from ufselect.plotting.curves import false_share_curve as false_share_curve
    from ufselect.plotting.curves import score_curve as score_curve
    from ufselect.plotting.curves import selection_frequencies as selection_frequencies
    from ufselect.plotting.maps import agreement_maps as agreement_maps
    from ufselect.plotting.maps import pixel_map as pixel_map
    from ufselect.plotting.maps import redundancy_map as redundancy_map
    from ufselect.plotting.maps import surface as surface
    from ufselect.plotting.samples import cluster_map as cluster_map
    from ufselect.plotting.samples import sample_scatter as sample_scatter
else:
    from ufselect._names import attach

    __getattr__, __dir__, __all__ = attach(__name__)
