"""Deciding without labels: whom to ask, how steady the answer is, how much is chance.

Selectors come to this room as arguments or through ``all_selectors()``.
"""

from ufselect.tuning.auto_select import AutoSelect
from ufselect.tuning.consensus import Consensus
from ufselect.tuning.false_discovery import FalseSelections, false_selections
from ufselect.tuning.side_by_side import Sensitivity, sensitivity_to_clusters
from ufselect.tuning.stability_selection import StabilitySelection

__all__ = [
    "AutoSelect",
    "Consensus",
    "FalseSelections",
    "Sensitivity",
    "StabilitySelection",
    "false_selections",
    "sensitivity_to_clusters",
]
