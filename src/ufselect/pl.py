"""Plots of a selection with Matplotlib, drawn as the report draws them.

Each function takes the fitted selector first, then the table that it was fitted to, and
``ax=``; it returns the axes. An AnnData on which ``ufselect.tl.select`` has selected is
both selector and table.
"""

from ufselect.plotting.curves import scores, stability
from ufselect.plotting.maps import compare
from ufselect.plotting.samples import heatmap, samples

__all__ = ["compare", "heatmap", "samples", "scores", "stability"]
