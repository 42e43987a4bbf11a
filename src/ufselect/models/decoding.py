"""What a file says becomes a selector, if it fits together."""

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

Array = Callable[[int], NDArray[Any]]


def decoded(content: Any, array: Array) -> UnsupervisedSelector:
    """Return the selector that a file describes; ValueError if it describes none.

    Examples
    --------
    >>> decoded({"selector": "SPEC", "parameters": [], "learned": []}, None)
    Traceback (most recent call last):
    ...
    ValueError: it has other parameters than SPEC has
    """
    selector = _value(content, array)
    if not isinstance(selector, UnsupervisedSelector):
        raise ValueError("it describes no selector")
    return selector


def _value(content: Any, array: Array) -> Any:
    if isinstance(content, list):
        return [_value(each, array) for each in content]
    if not isinstance(content, dict):
        return content
    for kind, decode in DECODERS.items():
        if kind in content:
            return decode(content, array)
    raise ValueError(f"it holds {str(list(content))[:50]}, which means nothing")


def _selector(content: dict[str, Any], array: Array) -> UnsupervisedSelector:
    name = content["selector"]
    known = known_selectors()
    if name not in known:
        raise ValueError(f"there is no selector {str(name)[:50]!r}")
    parameters = _dictionary(content["parameters"], array)
    if set(parameters) != set(known[name]().get_params(deep=False)):
        raise ValueError(f"it has other parameters than {name} has")
    parameters.update(dict.fromkeys(NOT_KEPT & set(parameters)))
    selector = known[name](**parameters)
    selector._validate_params()
    for key, value in _dictionary(content["learned"], array).items():
        if key != OUTPUT and (not is_learned(key) or hasattr(type(selector), key)):
            raise ValueError(f"{str(key)[:50]!r} is nothing that {name} learns")
        setattr(selector, key, value)
    _check_output(selector)
    _check_ranking(selector)
    return selector


def _check_output(selector: UnsupervisedSelector) -> None:
    """Refuse what set_output would refuse."""
    choice = getattr(selector, OUTPUT, None)
    if choice is None:
        return
    if list(choice) != ["transform"]:
        raise ValueError("its output is none that there is")
    selector.set_output(transform=choice["transform"])


def _check_ranking(selector: UnsupervisedSelector) -> None:
    """Refuse parts of a fit, and parts that do not fit together."""
    learned = [key for key in vars(selector) if is_learned(key)]
    if not learned:
        return
    width = selector.n_features_in_
    names = getattr(selector, "feature_names_in_", None)
    fits = (
        type(width) is int
        and type(selector.n_selected_) is int
        and 0 <= selector.n_selected_ <= width
        and selector.scores_.shape == selector.order_.shape == (width,)
        and selector.order_.dtype.kind == "i"
        and np.array_equal(np.sort(selector.order_), np.arange(width))
        and (names is None or (names.shape == (width,) and names.dtype == object))
    )
    if not fits:
        raise ValueError("its parts do not fit together")


def _dictionary(pairs: Any, array: Array) -> dict[Any, Any]:
    return {_value(key, array): _value(value, array) for key, value in pairs}


def _array(content: dict[str, Any], array: Array) -> NDArray[Any]:
    number = content["array"]
    if type(number) is not int:
        raise ValueError("it refers to an array without a number")
    return array(number)


def _names(content: dict[str, Any], array: Array) -> NDArray[Any]:
    texts = content["names"]
    if not all(isinstance(each, str) for each in texts):
        raise ValueError("it has names that are no text")
    return np.array(texts, dtype=object if content["objects"] else np.str_)


def _record(content: dict[str, Any], array: Array) -> Any:
    return RECORDS[content["record"]](*_value(content["values"], array))


def _random_state(content: dict[str, Any], array: Array) -> np.random.RandomState:
    state = np.random.RandomState()
    state.set_state(_value(content["random state"], array))
    return state


# By the key that tells what is meant.
DECODERS: dict[str, Callable[[dict[str, Any], Array], Any]] = {
    "selector": _selector,
    "array": _array,
    "names": _names,
    "float": lambda content, array: float(content["float"]),
    "scalar": lambda content, array: _value(content["scalar"], array)[()],
    "tuple": lambda content, array: tuple(_value(content["tuple"], array)),
    "dict": lambda content, array: _dictionary(content["dict"], array),
    "record": _record,
    "random state": _random_state,
}
