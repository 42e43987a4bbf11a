"""Methods and parameters by name, as the command line gives them."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ufselect.cli.usage import UsageError

if TYPE_CHECKING:
    from ufselect import UnsupervisedSelector

# Parameters that have an option of their own.
OPTIONS = {
    "n_features_to_select": "-k",
    "n_clusters": "--clusters",
    "random_state": "--seed",
}


def named_selector(
    name: str, parameters: Sequence[tuple[str, str]] = ()
) -> "UnsupervisedSelector":
    """Return the method of this name, upper or lower case, with parameters.

    Examples
    --------
    >>> named_selector("scfs", [("alpha", "0.5")])
    SCFS(alpha=0.5)
    """
    from ufselect import all_selectors
    from ufselect.experiments.plan_checks import nearest_words

    methods = {each.lower(): each for each in all_selectors()}
    if name.lower() not in methods:
        near = nearest_words(name.lower(), methods).split(", ")
        meant = ", ".join(methods[each] for each in near)
        raise UsageError(f"there is no method {name!r}; it could be {meant}")
    selector = all_selectors()[methods[name.lower()]]()
    return with_parameters(selector, parameters)


def with_parameters(selector: Any, parameters: Sequence[tuple[str, str]]) -> Any:
    """Return the selector with parameters, all of which it must know."""
    from ufselect.experiments.plan_checks import nearest_words

    title, known = type(selector).__name__, selector.get_params()
    for name, _ in parameters:
        if name in OPTIONS:
            raise UsageError(f"{name} has an option of its own: use {OPTIONS[name]}")
        if name not in known:
            others = [each for each in known if each not in OPTIONS]
            raise UsageError(
                f"{title} has no parameter {name!r}; it could be "
                f"{nearest_words(name, others)}"
            )
    return checked(
        selector.set_params(**{name: literal(value) for name, value in parameters})
    )


def checked(selector: Any) -> Any:
    """Return a selector whose parameters are valid; say so before data is read."""
    from ufselect.tuning.fits import checked_selector

    try:
        return checked_selector(selector, "ufselect")
    except ValueError as error:
        raise UsageError(str(error).rstrip(".")) from error


def literal(text: str) -> Any:
    """Return what a text means in JSON or in TOML; other text is taken as it is.

    Examples
    --------
    >>> [literal(text) for text in ("0.5", "null", "[1, 2]", "inf", "exact")]
    [0.5, None, [1, 2], inf, 'exact']
    """
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        content: Mapping[str, Any] = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return content["value"] if len(content) == 1 else text
