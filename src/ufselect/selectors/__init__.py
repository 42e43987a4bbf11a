"""The methods, one file each. A new one needs one import line here."""

from ufselect.selectors.base import UnsupervisedSelector as UnsupervisedSelector
from ufselect.selectors.cpfs import CPFS as CPFS
from ufselect.selectors.fsasl import FSASL as FSASL
from ufselect.selectors.glspfs import GLSPFS as GLSPFS
from ufselect.selectors.graph_energy import GraphEnergy as GraphEnergy
from ufselect.selectors.installed import installed_selectors
from ufselect.selectors.jelsr import JELSR as JELSR
from ufselect.selectors.laplacian_score import LaplacianScore as LaplacianScore
from ufselect.selectors.ldssl import LDSSL as LDSSL
from ufselect.selectors.max_variance import MaxVariance as MaxVariance
from ufselect.selectors.mcfs import MCFS as MCFS
from ufselect.selectors.mffs import MFFS as MFFS
from ufselect.selectors.ndfs import NDFS as NDFS
from ufselect.selectors.random_selection import RandomSelection as RandomSelection
from ufselect.selectors.refs import REFS as REFS
from ufselect.selectors.scfs import SCFS as SCFS
from ufselect.selectors.sgfs import SGFS as SGFS
from ufselect.selectors.spec import SPEC as SPEC
from ufselect.selectors.spfs import SPFS as SPFS
from ufselect.selectors.spufs import SPUFS as SPUFS
from ufselect.selectors.udfs import UDFS as UDFS


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
