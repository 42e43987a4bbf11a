"""Selectors by name: those of this package, and those that others register."""

from functools import cache
from typing import TYPE_CHECKING, Any

from ufselect import selectors, tuning
from ufselect._names import nearest_words
from ufselect._warn import warn

if TYPE_CHECKING:
    from ufselect.selectors import UnsupervisedSelector

__all__ = ["all_selectors", "selector"]

# Other packages register their methods as entry points of this group.
GROUP = "ufselect.methods"
# They fit other selectors, and are in ufselect.tuning.
META_SELECTORS = ("AutoSelect", "Consensus", "StabilitySelection")


def selector(name: str, **parameters: Any) -> "UnsupervisedSelector":
    """Return a selector by its name, with parameters.

    Parameters
    ----------
    name : str
        A name from `all_selectors`, or "AutoSelect", "Consensus" or
        "StabilitySelection", in upper or lower case.
    **parameters : dict
        Parameters of the selector. You may give ``random_state`` to every method: for
        a deterministic one it has no effect. Other parameters that the method does not
        have are refused.

    Returns
    -------
    selector : UnsupervisedSelector
        Unfitted.

    Examples
    --------
    >>> import ufselect
    >>> ufselect.selector("mcfs", n_clusters=3)
    MCFS(n_clusters=3)
    >>> ufselect.selector("LaplacianScore", random_state=0)
    LaplacianScore()
    """
    if not isinstance(name, str):
        raise TypeError(
            f"A method is given by its name, not as {name!r}; use for example "
            "ufselect.selector('SCFS')."
        )
    names = {each.lower(): each for each in (*own_names(), *META_SELECTORS)}
    if name.lower() in names:
        kind = own_selector(names[name.lower()])
    else:
        others = {each.lower(): kind for each, kind in installed_selectors().items()}
        if name.lower() not in others:
            methods = (*names.values(), *installed_selectors())
            raise ValueError(
                f"There is no method {name!r}; it could be "
                f"{nearest_words(name, methods)}."
            )
        kind = others[name.lower()]
    known = kind._get_param_names()
    if "random_state" not in known:
        parameters.pop("random_state", None)
    for each in parameters:
        if each == "n_clusters" and each not in known:
            raise ValueError(
                f"{kind.__name__} does not cluster the samples and has no parameter "
                "n_clusters; leave it out, or use a method that has it, such as SCFS."
            )
        if each not in known:
            raise ValueError(
                f"{kind.__name__} has no parameter {each!r}; it could be "
                f"{nearest_words(each, known)}."
            )
    made: UnsupervisedSelector = kind(**parameters)
    return made


def own_names() -> list[str]:
    """Return the names of the methods of this package, without loading them."""
    public: list[str] = vars(selectors)["__all__"]
    return [name for name in public if name != "UnsupervisedSelector"]


def own_selector(name: str) -> "type[UnsupervisedSelector]":
    """Return a selector of this package, loading it and no other."""
    package = tuning if name in META_SELECTORS else selectors
    kind: type[UnsupervisedSelector] = getattr(package, name)
    return kind


def all_selectors() -> dict[str, "type[UnsupervisedSelector]"]:
    """Return every selector by name, in alphabetical order.

    They include the selectors that other installed packages register as entry points
    of the group ``ufselect.methods``. They cannot replace those of this package.

    Examples
    --------
    >>> from ufselect import all_selectors
    >>> "SCFS" in all_selectors()
    True
    """
    own = {name: own_selector(name) for name in own_names()}
    return dict(sorted((installed_selectors() | own).items()))


@cache
def installed_selectors() -> dict[str, "type[UnsupervisedSelector]"]:
    """Return the selectors that installed packages register, by class name.

    One that cannot be loaded is left out with a warning, so that all other methods
    still work.
    """
    from importlib.metadata import entry_points

    from ufselect.selectors import UnsupervisedSelector

    found: dict[str, type[UnsupervisedSelector]] = {}
    for announced in entry_points(group=GROUP):
        try:
            kind = announced.load()
            if not (isinstance(kind, type) and issubclass(kind, UnsupervisedSelector)):
                raise TypeError(
                    f"{kind!r} is not a selector; derive it from UnsupervisedSelector."
                )
        except Exception as error:  # noqa: BLE001 - others' modules may raise anything
            warn(
                f"The method {announced.name!r} ({announced.value}) was left out: "
                f"{type(error).__name__}: {error}",
                RuntimeWarning,
            )
        else:
            found[kind.__name__] = kind
    return found
