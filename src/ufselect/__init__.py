"""Unsupervised feature selection: the few columns that matter, without labels."""

from typing import TYPE_CHECKING

from ufselect._version import __version__ as __version__

if TYPE_CHECKING:
    from ufselect import data as data
    from ufselect import evaluation as evaluation
    from ufselect import pl as pl
    from ufselect import report as report
    from ufselect import tl as tl
    from ufselect import tuning as tuning
    from ufselect.models import load_selector as load_selector
    from ufselect.models import save_selector as save_selector
    from ufselect.registry import all_selectors as all_selectors
    from ufselect.registry import selector as selector
    from ufselect.selectors import *  # noqa: F403 - every method is public
    from ufselect.tuning import AutoSelect as AutoSelect
    from ufselect.tuning import Consensus as Consensus
    from ufselect.tuning import StabilitySelection as StabilitySelection
else:
    from ufselect._names import attach

    # Loading scikit-learn takes seconds, which ``ufselect --help`` does not need.
    __getattr__, __dir__, __all__ = attach(__name__, "__version__")
