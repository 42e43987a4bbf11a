"""The methods, one file each. A new one needs one import line here."""

from ufselect.selectors.base import UnsupervisedSelector
from ufselect.selectors.laplacian_score import LaplacianScore
from ufselect.selectors.max_variance import MaxVariance
from ufselect.selectors.random_selection import RandomSelection
from ufselect.selectors.scfs import SCFS
from ufselect.selectors.spec import SPEC


def all_selectors() -> dict[str, type[UnsupervisedSelector]]:
    """Return every selector of the package by name, in alphabetical order.

    Examples
    --------
    >>> from ufselect import all_selectors
    >>> sorted(all_selectors())
    ['LaplacianScore', 'MaxVariance', 'RandomSelection', 'SCFS', 'SPEC']
    """
    return {
        name: value
        for name, value in sorted(globals().items())
        if isinstance(value, type)
        and issubclass(value, UnsupervisedSelector)
        and value is not UnsupervisedSelector
    }


__all__ = [
    "SCFS",
    "SPEC",
    "LaplacianScore",
    "MaxVariance",
    "RandomSelection",
    "UnsupervisedSelector",
    "all_selectors",
]
