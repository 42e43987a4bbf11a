"""What a parameter of a selector may be, for scikit-learn's check of parameters."""

from numbers import Integral, Real
from typing import Any

from ufselect._sklearn_compat import Interval

COUNT = Interval(Integral, 1, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")

# Those of a method that goes on until little changes.
ITERATIONS: dict[str, list[Any]] = {
    "max_iter": [COUNT],
    "tol": [NOT_NEGATIVE],
    "verbose": ["boolean"],
}
