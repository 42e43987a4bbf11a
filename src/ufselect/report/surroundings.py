"""What it takes to repeat a result: the parameters of its selector."""

from inspect import signature
from typing import Any


def parameters_of(estimator: Any) -> dict[str, tuple[str, str]]:
    """Return value and default of each parameter of an estimator.

    Those of a selector that it fitted inside follow, behind the name of its class.

    Examples
    --------
    >>> from ufselect import MaxVariance
    >>> parameters_of(MaxVariance(5))
    {'n_features_to_select': ('5', 'None')}
    """
    known = signature(type(estimator)).parameters
    found = {
        name: (repr(value), repr(known[name].default))
        for name, value in estimator.get_params(deep=False).items()
    }
    inside = getattr(estimator, "selector_", None)
    if inside is not None:
        title = type(inside).__name__
        found |= {f"{title}.{name}": v for name, v in parameters_of(inside).items()}
    return found
