"""The classes that a file of a selector may speak of; it cannot name any other."""

from typing import Any

from ufselect.evaluation.stability import Stability
from ufselect.evaluation.structure_found import StructureTest
from ufselect.selectors import all_selectors
from ufselect.selectors.base import UnsupervisedSelector
from ufselect.tuning import AutoSelect, Consensus, StabilitySelection

# Named tuples that selectors keep, by their name.
RECORDS: dict[str, Any] = {"Stability": Stability, "StructureTest": StructureTest}
# Names a file that a fit writes to, which whoever sends a file must not choose.
NOT_KEPT = {"checkpoint"}
# What scikit-learn keeps of set_output.
OUTPUT = "_sklearn_output_config"


def known_selectors() -> dict[str, type[UnsupervisedSelector]]:
    """Return every class of selectors of this package by its name.

    Examples
    --------
    >>> "AutoSelect" in known_selectors(), "SCFS" in known_selectors()
    (True, True)
    """
    around = (AutoSelect, Consensus, StabilitySelection)
    return {**all_selectors(), **{each.__name__: each for each in around}}


def is_learned(name: str) -> bool:
    """Tell whether an attribute of this name is one that a fit sets.

    Examples
    --------
    >>> is_learned("scores_"), is_learned("fit"), is_learned("__class__")
    (True, False, False)
    """
    return name.isidentifier() and name.endswith("_") and not name.startswith("_")
