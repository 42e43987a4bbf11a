"""Unsupervised feature selection: the few columns that matter, without labels."""

from ufselect._version import __version__
from ufselect.selectors import *  # noqa: F403 - every method is public
from ufselect.selectors import UnsupervisedSelector, all_selectors
from ufselect.tuning import AutoSelect, Consensus, StabilitySelection

__all__ = [
    *all_selectors(),
    "AutoSelect",
    "Consensus",
    "StabilitySelection",
    "UnsupervisedSelector",
    "__version__",
    "all_selectors",
]
