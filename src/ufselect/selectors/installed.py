"""Methods that other packages bring, announced as entry points of a group."""

import warnings
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from ufselect.selectors.base import UnsupervisedSelector

GROUP = "ufselect.methods"


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
