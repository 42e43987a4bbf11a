"""Unsupervised feature selection: the few columns that matter, without labels."""

from ufselect._version import __version__
from ufselect.selectors import (
    SCFS,
    SPEC,
    LaplacianScore,
    MaxVariance,
    RandomSelection,
    UnsupervisedSelector,
    all_selectors,
)

__all__ = [
    "SCFS",
    "SPEC",
    "LaplacianScore",
    "MaxVariance",
    "RandomSelection",
    "UnsupervisedSelector",
    "__version__",
    "all_selectors",
]
