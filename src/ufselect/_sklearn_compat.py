"""Parts of scikit-learn that are private or differ between versions.

With the constraints of parameters that several selectors share.
"""

from numbers import Integral, Real
from typing import Any

from sklearn.base import _fit_context as fit_context
from sklearn.pipeline import _name_estimators as name_estimators
from sklearn.utils._param_validation import Interval, Options, RealNotInt, StrOptions
from sklearn.utils.metaestimators import _BaseComposition as BaseComposition

__all__ = [
    "COUNT",
    "ITERATIONS",
    "NOT_NEGATIVE",
    "POSITIVE",
    "BaseComposition",
    "Interval",
    "Options",
    "RealNotInt",
    "StrOptions",
    "fit_context",
    "name_estimators",
]

COUNT = Interval(Integral, 1, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")

# Of a method that iterates until it converges.
ITERATIONS: dict[str, list[Any]] = {
    "max_iter": [COUNT],
    "tol": [NOT_NEGATIVE],
    "verbose": ["boolean"],
}
