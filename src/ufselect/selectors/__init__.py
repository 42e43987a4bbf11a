"""The methods, one file each. A new one needs one import line here."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
else:
    from ufselect._names import attach

    __getattr__, __dir__, __all__ = attach(__name__)
