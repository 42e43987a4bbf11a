"""The methods, one file each. A new one needs one import line here."""

import warnings
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from ufselect.selectors.base import UnsupervisedSelector as UnsupervisedSelector
from ufselect.selectors.baselines import MaxVariance as MaxVariance
from ufselect.selectors.baselines import RandomSelection as RandomSelection
from ufselect.selectors.cpfs import CPFS as CPFS
from ufselect.selectors.fsasl import FSASL as FSASL
from ufselect.selectors.glspfs import GLSPFS as GLSPFS
from ufselect.selectors.graph_energy import GraphEnergy as GraphEnergy
from ufselect.selectors.jelsr import JELSR as JELSR
from ufselect.selectors.laplacian_score import LaplacianScore as LaplacianScore
from ufselect.selectors.ldssl import LDSSL as LDSSL
from ufselect.selectors.mcfs import MCFS as MCFS
from ufselect.selectors.mffs import MFFS as MFFS
from ufselect.selectors.ndfs import NDFS as NDFS
from ufselect.selectors.refs import REFS as REFS
from ufselect.selectors.scfs import SCFS as SCFS
from ufselect.selectors.sgfs import SGFS as SGFS
from ufselect.selectors.spec import SPEC as SPEC
from ufselect.selectors.spfs import SPFS as SPFS
from ufselect.selectors.spufs import SPUFS as SPUFS
from ufselect.selectors.udfs import UDFS as UDFS

# Other packages announce their methods as entry points of this group.
GROUP = "ufselect.methods"


def own_selectors() -> dict[str, type[UnsupervisedSelector]]:
    """Return every selector of this package by name, in alphabetical order."""
    return {
        name: value
        for name, value in sorted(globals().items())
        if isinstance(value, type)
        and issubclass(value, UnsupervisedSelector)
        and value is not UnsupervisedSelector
    }


def all_selectors() -> dict[str, type[UnsupervisedSelector]]:
    """Return every selector by name, in alphabetical order.

    To those of this package come those that other installed packages announce as entry
    points of the group ``ufselect.methods``. None of them takes the place of ours.

    Examples
    --------
    >>> from ufselect import all_selectors
    >>> "SCFS" in all_selectors()
    True
    """
    return dict(sorted((installed_selectors() | own_selectors()).items()))


@cache
def installed_selectors() -> dict[str, type[UnsupervisedSelector]]:
    """Return the selectors that installed packages announce, by the name of the class.

    One that cannot be had is left out with a warning, so that a fault of another
    package is not one of all methods.
    """
    found = {}
    for announced in entry_points(group=GROUP):
        try:
            selector = announced_selector(announced)
        except Exception as error:  # noqa: BLE001 - others' modules may raise anything
            warnings.warn(
                f"The method {announced.name!r} ({announced.value}) was left out: "
                f"{type(error).__name__}: {error}",
                RuntimeWarning,
                stacklevel=2,
            )
        else:
            found[selector.__name__] = selector
    return found


def announced_selector(announced: EntryPoint) -> type[UnsupervisedSelector]:
    """Return the class that is announced, or say why it is none of ours."""
    selector = announced.load()
    if not (isinstance(selector, type) and issubclass(selector, UnsupervisedSelector)):
        raise TypeError(
            f"{selector!r} is no selector; derive it from UnsupervisedSelector."
        )
    return selector
