"""Unsupervised feature selection: the few columns that matter, without labels."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ufselect._version import __version__ as __version__

if TYPE_CHECKING:
    from ufselect import tl as tl
    from ufselect.models import load_selector as load_selector
    from ufselect.models import save_selector as save_selector
    from ufselect.selectors import *  # noqa: F403 - every method is public
    from ufselect.selectors import UnsupervisedSelector as UnsupervisedSelector
    from ufselect.selectors import all_selectors as all_selectors
    from ufselect.tuning import AutoSelect as AutoSelect
    from ufselect.tuning import Consensus as Consensus
    from ufselect.tuning import StabilitySelection as StabilitySelection

    __all__: list[str]


def __getattr__(name: str) -> Any:
    """Load what is public when some of it is first asked for.

    scikit-learn takes seconds to load, for which ``ufselect --help`` need not wait.
    """
    if name.startswith("__") and name != "__all__":
        raise AttributeError(f"module 'ufselect' has no attribute {name!r}")
    selectors = import_module("ufselect.selectors")
    # Not those of other packages, whose modules ask this one for their base class.
    public = selectors.own_selectors() | {
        each: getattr(selectors, each)
        for each in ("UnsupervisedSelector", "all_selectors")
    }
    # The other room may ask for these while it is being loaded.
    if name not in public:
        tuning = import_module("ufselect.tuning")
        public |= {
            each: getattr(tuning, each)
            for each in ("AutoSelect", "Consensus", "StabilitySelection")
        }
        models = import_module("ufselect.models")
        public |= {
            each: getattr(models, each) for each in ("load_selector", "save_selector")
        }
        public["tl"] = import_module("ufselect.tl")
        public["__all__"] = ["__version__", *sorted(public)]
    globals().update(public)
    try:
        return globals()[name]
    except KeyError:
        message = f"module 'ufselect' has no attribute {name!r}"
        raise AttributeError(message) from None


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})
