"""Decisions without labels: which features, how many, how stable, at which FDR.

Selectors are passed as arguments; each class knows one or two for its default.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ufselect.tuning.auto_select import AutoSelect as AutoSelect
    from ufselect.tuning.consensus import Consensus as Consensus
    from ufselect.tuning.false_discovery import FalseSelections as FalseSelections
    from ufselect.tuning.false_discovery import false_selections as false_selections
    from ufselect.tuning.side_by_side import Sensitivity as Sensitivity
    from ufselect.tuning.side_by_side import (
        sensitivity_to_clusters as sensitivity_to_clusters,
    )
    from ufselect.tuning.stability_selection import (
        StabilitySelection as StabilitySelection,
    )
else:
    from ufselect._names import attach

    __getattr__, __dir__, __all__ = attach(__name__)
