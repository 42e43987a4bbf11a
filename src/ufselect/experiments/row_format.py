"""The bytes of one row of an SQLite file: lengths and types first, then the values."""

import struct
from typing import Any

Row = tuple[Any, ...]

# Bytes of an integer by its type.
INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
REAL = 7
FIRST_TEXT = 12


class Unreadable(ValueError):
    """What is there is no row."""


def varint(content: bytes, place: int) -> tuple[int, int]:
    """Return a number of one to nine bytes, and where it ends."""
    value = 0
    for position, byte in enumerate(content[place : place + 9], start=1):
        if position == 9:
            return (value << 8) | byte, place + 9
        value = (value << 7) | (byte & 0x7F)
        if byte < 0x80:
            return value, place + position
    raise Unreadable("a number without an end")


def varint_before(content: bytes, place: int) -> int:
    """Return the number that ends at a place: all bytes but its last are above 127."""
    start = max(0, place - 1)
    while start > 0 and content[start - 1] > 0x7F:
        start -= 1
    return varint(content, start)[0]


def types_of(payload: bytes) -> tuple[list[int], int]:
    """Return the types of the values of a row, and where the values begin."""
    head, place = varint(payload, 0)
    types = []
    while place < head:
        kind, place = varint(payload, place)
        types.append(kind)
    if place != head:
        raise Unreadable("types beyond their end")
    return types, head


def values_of(payload: bytes) -> Row:
    """Return the values of a row."""
    types, place = types_of(payload)
    if place + sum(map(length_of, types)) != len(payload):
        raise Unreadable("longer or shorter than its values")
    values = []
    for kind in types:
        end = place + length_of(kind)
        values.append(_value(kind, payload[place:end]))
        place = end
    return tuple(values)


def length_of(kind: int) -> int:
    """Return how many bytes a value of a type takes."""
    if kind >= FIRST_TEXT:
        return (kind - FIRST_TEXT) // 2
    return 8 if kind == REAL else INTEGERS.get(kind, 0)


def _value(kind: int, content: bytes) -> Any:
    if kind in INTEGERS:
        return int.from_bytes(content, "big", signed=True)
    if kind == REAL:
        return struct.unpack(">d", content)[0]
    if kind >= FIRST_TEXT:
        return _text(content) if kind % 2 else content
    return {8: 0, 9: 1}.get(kind)


def _text(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise Unreadable("a text that is none") from error
