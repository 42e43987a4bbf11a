"""Checks of a TOML table: every refusal names the key and what could stand there."""

import difflib
from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import Any, TypeVar

Number = TypeVar("Number", int, float)


def refuse_unknown_keys(
    content: Mapping[str, Any], known: Iterable[str], where: str
) -> None:
    """Refuse a key that means nothing, with the one that was probably meant."""
    for key in content:
        if key not in known:
            raise ValueError(
                f"unknown key {where}{key}; it could be {nearest_words(key, known)}"
            )


def nearest_words(word: str, known: Iterable[str]) -> str:
    """Return the likely meanings of a word, or all that there are."""
    choices = list(known)
    return ", ".join(difflib.get_close_matches(word, choices) or sorted(choices))


def text_at(
    content: Mapping[str, Any], key: str, default: str | None = None, where: str = ""
) -> str:
    """Return the text at a key."""
    value = content.get(key, default)
    if value is None:
        raise ValueError(f"{where}{key} is missing; it must be a text")
    if not isinstance(value, str):
        raise ValueError(f"{where}{key} is {value!r}; it must be a text")
    return value


def integer_at(
    content: Mapping[str, Any], key: str, default: int, *, least: int, where: str = ""
) -> int:
    """Return the whole number at a key."""
    value = content.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(
            f"{where}{key} is {value!r}; it must be a whole number of at least {least}"
        )
    return value


def limit_at(
    content: Mapping[str, Any], key: str, example: str, read: Callable[[str], Number]
) -> Number | None:
    """Return a size or a time above 0, or None where none is given."""
    value = content.get(key)
    if value is None:
        return None
    try:
        if isinstance(value, bool) or not 0 < (limit := read(str(value))) < inf:
            raise ValueError
    except ValueError:
        raise ValueError(f"{key} is {value!r}; write it like {example}") from None
    return limit


def list_at(content: Mapping[str, Any], key: str, kind: type) -> list[Any]:
    """Return the list at a key, which has at least one item, all of a kind."""
    value = content.get(key)
    if value is None:
        raise ValueError(f"{key} is missing; it must be a list with at least one item")
    if not isinstance(value, list) or not value:
        raise ValueError(
            f"{key} is {value!r}; it must be a list with at least one item"
        )
    for item in value:
        if not isinstance(item, kind) or isinstance(item, bool):
            raise ValueError(
                f"{key} has {item!r}, which is not of type {kind.__name__}"
            )
    return value


def choices_at(
    content: Mapping[str, Any],
    key: str,
    known: list[str],
    default: list[str],
    where: str = "",
) -> list[str]:
    """Return the list at a key, all of whose items are known."""
    value = list_at({key: default, **content}, key, str)
    for item in value:
        if item not in known:
            raise ValueError(
                f"{where}{key} has {item!r}; it could be {nearest_words(item, known)}"
            )
    return value
