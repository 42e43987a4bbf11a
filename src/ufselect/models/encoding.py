"""A selector becomes what JSON can hold, and a list of arrays."""

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.models.known import (
    NOT_KEPT,
    OUTPUT,
    RECORDS,
    is_learned,
    known_selectors,
)
from ufselect.selectors.base import UnsupervisedSelector

Arrays = list[NDArray[Any]]


def encoded(value: Any, arrays: Arrays) -> Any:
    """Return a value as JSON; arrays in it are added to a list, and referred to.

    Examples
    --------
    >>> import numpy as np
    >>> arrays = []
    >>> encoded({"scores": np.zeros(2), "alpha": float("inf")}, arrays)
    {'dict': [['scores', {'array': 0}], ['alpha', {'float': 'inf'}]]}
    >>> arrays
    [array([0., 0.])]
    """
    # Exactly these: a class derived from them may hold more.
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    for kinds, encode in ENCODERS.items():
        if isinstance(value, kinds):
            return encode(value, arrays)
    raise TypeError(
        f"a file of a selector cannot hold {str(value)[:50]!r}, which is of type "
        f"{type(value).__name__}; give a parameter of another type"
    )


def _selector(value: UnsupervisedSelector, arrays: Arrays) -> Any:
    name = type(value).__name__
    if known_selectors().get(name) is not type(value):
        raise TypeError(
            f"{name} is none of ufselect's own selectors, and no other can be kept in "
            "a file of a selector; keep what it is made of"
        )
    parameters = value.get_params(deep=False)
    parameters.update(dict.fromkeys(NOT_KEPT & set(parameters)))
    learned = {
        each: content
        for each, content in vars(value).items()
        if (is_learned(each) and each not in parameters) or each == OUTPUT
    }
    return {
        "selector": name,
        "parameters": _pairs(parameters, arrays),
        "learned": _pairs(learned, arrays),
    }


def _pairs(content: dict[Any, Any], arrays: Arrays) -> list[list[Any]]:
    return [
        [encoded(key, arrays), encoded(value, arrays)] for key, value in content.items()
    ]


def _array(value: NDArray[Any], arrays: Arrays) -> Any:
    if value.dtype.kind not in "OU":
        if value.dtype.kind not in "biuf":
            raise TypeError(
                f"a file of a selector cannot hold an array of {value.dtype}"
            )
        arrays.append(np.asarray(value, order="C"))
        return {"array": len(arrays) - 1}
    texts = value.tolist()
    if value.ndim != 1 or not all(type(each) is str for each in texts):
        raise TypeError("a file of a selector can hold objects only if they are names")
    return {"names": texts, "objects": value.dtype.kind == "O"}


def _record(value: Any, arrays: Arrays) -> Any:
    items = [encoded(each, arrays) for each in value]
    name = type(value).__name__
    if RECORDS.get(name) is type(value):
        return {"record": name, "values": items}
    if type(value) is not tuple:
        raise TypeError(f"a file of a selector cannot hold a {name}")
    return {"tuple": items}


def _random_state(value: np.random.RandomState, arrays: Arrays) -> Any:
    return {"random state": encoded(value.get_state(legacy=False), arrays)}


def _scalar(value: np.generic, arrays: Arrays) -> Any:
    return {"scalar": _array(np.asarray(value), arrays)}


ENCODERS: dict[Any, Callable[[Any, Arrays], Any]] = {
    UnsupervisedSelector: _selector,
    np.ndarray: _array,
    np.generic: _scalar,
    list: lambda value, arrays: [encoded(each, arrays) for each in value],
    tuple: _record,
    dict: lambda value, arrays: {"dict": _pairs(value, arrays)},
    np.random.RandomState: _random_state,
    os.PathLike: lambda value, arrays: os.fspath(value),
}
