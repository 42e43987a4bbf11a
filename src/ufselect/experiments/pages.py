"""Rows of an SQLite file read page by page, so that a lost page costs what is on it.

SQLite goes from the root of a table down to its rows, and not at all into a file that
is shorter than it should be. Here every page that there is gives the rows on it, also
those in the journal, as https://www.sqlite.org/fileformat2.html says. Whether a row is
what was written is for the caller to tell.
"""

import re
import struct
from collections.abc import Iterator
from contextlib import suppress
from enum import IntEnum
from typing import NamedTuple

from ufselect.experiments.journal import FRAME_HEADER, frames_of
from ufselect.experiments.row_format import (
    Row,
    Unreadable,
    length_of,
    types_of,
    values_of,
    varint,
    varint_before,
)

PAGE_SIZES = {2**power for power in range(9, 17)}
DEFAULT_PAGE_SIZE = 4096
# A page begins with its kind; these hold rows: of tables with and without a rowid.
TABLE_LEAF, INDEX_LEAF, INDEX_INTERIOR = 13, 10, 2
POINTERS_AT = {TABLE_LEAF: 8, INDEX_LEAF: 8, INDEX_INTERIOR: 12}
# The first page begins with the header of the file.
FILE_HEADER = 100
# The head of a row whose first value is a key, a text of 32 characters: its own length
# and the type of that text. Rows to which no page points are found by it.
HEAD = re.compile(rb"(?=[\x03-\x7f]\x4d)")
# By how many columns our tables without a rowid are known, judgements and scores.
WITHOUT_ROWID = (5, 6)


class Trust(IntEnum):
    """How sure it is that a row has not been deleted or moved."""

    LEFT_OVER = 0
    # Nor does a page point to it, but it may have lost the pointer.
    ON_A_DAMAGED_PAGE = 1
    POINTED_TO = 2


class Found(NamedTuple):
    """A row, and what is known of it."""

    values: Row
    trust: Trust
    # Newer rows have a greater one; 0 without a rowid.
    number: int


def rows_in(content: bytes, journal: bytes = b"") -> list[Found]:
    """Return the rows of all pages, of all tables and indexes, in no order."""
    declared = int.from_bytes(content[16:18], "big")
    sizes = {DEFAULT_PAGE_SIZE, 2**16 if declared == 1 else declared} & PAGE_SIZES
    readings = (list(_Pages(content, journal, size).rows()) for size in sorted(sizes))
    return max(readings, key=lambda found: sum(row.trust for row in found))


class _Pages:
    def __init__(self, content: bytes, journal: bytes, size: int) -> None:
        self.size = size
        self.pages = {
            number: content[start : start + size]
            for number, start in enumerate(range(0, len(content), size), start=1)
        }
        # What a newer page has replaced may be whole where that one is not.
        self.replaced = []
        for frame in frames_of(journal, size):
            number = int.from_bytes(frame[:4], "big")
            self.replaced.append(self.pages.pop(number, b""))
            self.pages[number] = frame[FRAME_HEADER:]

    def rows(self) -> Iterator[Found]:
        """Yield the rows of all pages, some of them twice."""
        for number, page in self.pages.items():
            found, damaged = self._pointed_to(page, FILE_HEADER if number == 1 else 0)
            yield from found
            trust = Trust.ON_A_DAMAGED_PAGE if damaged else Trust.LEFT_OVER
            yield from self._others(page, trust)
        for page in self.replaced:
            yield from self._others(page, Trust.LEFT_OVER)

    def _pointed_to(self, page: bytes, start: int) -> tuple[list[Found], bool]:
        """Return the rows a page points to, and whether there should be more."""
        try:
            kind, places = _pointers(page, start)
        except Unreadable:
            return [], True
        found = []
        for place in places:
            with suppress(Unreadable):
                found.append(self._cell(page, place, kind))
        return found, len(found) < len(places)

    def _cell(self, page: bytes, place: int, kind: int) -> Found:
        number = 0
        if kind == INDEX_INTERIOR:
            place += 4
        length, place = varint(page, place)
        if kind == TABLE_LEAF:
            number, place = varint(page, place)
        payload = self._payload(page, place, length, kind == TABLE_LEAF)
        return Found(values_of(payload), Trust.POINTED_TO, number)

    def _others(self, page: bytes, trust: Trust) -> Iterator[Found]:
        for match in HEAD.finditer(page):
            place = match.start()
            with suppress(Unreadable):
                types, head = types_of(page[place:])
                length = head + sum(map(length_of, types))
                with_rowid = len(types) not in WITHOUT_ROWID
                payload = self._payload(page, place, length, with_rowid)
                number = varint_before(page, place) if with_rowid else 0
                yield Found(values_of(payload), trust, number)

    def _payload(self, page: bytes, place: int, length: int, with_rowid: bool) -> bytes:
        """Return the bytes of a row, of which long ones go on in other pages."""
        if length > self.size * len(self.pages):
            raise Unreadable("longer than everything")
        here = self._length_here(length, with_rowid)
        payload = _exactly(page, place, here)
        following = page[place + here : place + here + 4]
        while len(payload) < length:
            more = self.pages.get(int.from_bytes(following, "big"), b"")
            payload += _exactly(more, 4, min(self.size - 4, length - len(payload)))
            following = more[:4]
        return payload

    def _length_here(self, length: int, with_rowid: bool) -> int:
        most = self.size - 35 if with_rowid else (self.size - 12) * 64 // 255 - 23
        if length <= most:
            return length
        least = (self.size - 12) * 32 // 255 - 23
        here = least + (length - least) % (self.size - 4)
        return here if here <= most else least


def _pointers(page: bytes, start: int) -> tuple[int, list[int]]:
    """Return the kind of a page, and where the rows on it begin."""
    kind = page[start] if start < len(page) else 0
    if kind not in POINTERS_AT:
        raise Unreadable("no page with rows")
    first = start + POINTERS_AT[kind]
    number = int.from_bytes(page[start + 3 : start + 5], "big")
    pointers = page[first : first + 2 * number]
    if len(pointers) < 2 * number:
        raise Unreadable("more rows than fit")
    return kind, [place for (place,) in struct.iter_unpack(">H", pointers)]


def _exactly(page: bytes, place: int, length: int) -> bytes:
    piece = page[place : place + length]
    if len(piece) < length:
        raise Unreadable("it goes on where there is nothing")
    return piece
