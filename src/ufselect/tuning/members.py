"""What a selector around other selectors asks of them."""

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone

from ufselect._constraints import POSITIVE
from ufselect.selectors.base import UnsupervisedSelector

# What many fits have in common, as parameters of a selector.
EFFORT_CONSTRAINTS: dict[str, list[Any]] = {
    "n_jobs": [None, Integral],
    "time_budget": [None, POSITIVE],
    "random_state": ["random_state"],
    "verbose": ["boolean"],
}
LARGEST_SEED = np.iinfo(np.int32).max


def seeded(selector: UnsupervisedSelector, seed: int) -> UnsupervisedSelector:
    """Return an unfitted copy in which a seed stands wherever there was none."""
    copy = clone(selector)
    missing = {
        name: seed
        for name, value in copy.get_params().items()
        if value is None and name.split("__")[-1] == "random_state"
    }
    return copy.set_params(**missing)


def checked_selector(selector: Any, owner: str) -> UnsupervisedSelector:
    """Return the selector if it is one and its parameters are valid."""
    if not isinstance(selector, UnsupervisedSelector):
        raise TypeError(
            f"{owner} was given {selector!r}, which is no selector; give an instance "
            "such as SCFS()."
        )
    # Fits inside another fit do not look at their parameters again.
    selector._validate_params()
    return selector


def checked_table(selector: UnsupervisedSelector, X: Any) -> Any:
    """Return X as a fit would see it, or refuse it as a fit would."""
    return clone(selector)._validated(X, reset=True)
