"""Elements of MATLAB files up to version 7, walked over before they are read.

SciPy looks up the type of an element in a table without asking whether it is in there,
and a type that is not ends the process. What is compressed has a checksum of its own.
"""

import struct
from pathlib import Path
from typing import BinaryIO

from ufselect.data.tables.table import TableError

HEADER = 128
BYTE_ORDERS = {b"IM": "<", b"MI": ">"}
MATRIX = 14
# 8, 10 and 11 are reserved.
DATA = {1, 2, 3, 4, 5, 6, 7, 9, 12, 13, 16, 17, 18}


def check_types(path: Path, name: str) -> None:
    """Refuse a file in which an element has a type that there is not."""
    with path.open("rb") as stream:
        order = BYTE_ORDERS.get(stream.read(HEADER)[-2:])
        # Version 4 has neither this header nor these elements.
        while order is not None and (tag := _tag(stream, order)) is not None:
            kind, size = tag
            end = stream.tell() + size
            if kind == MATRIX:
                _check_parts(stream, order, end, name)
            stream.seek(end)


def _check_parts(stream: BinaryIO, order: str, end: int, name: str) -> None:
    """Walk over a matrix; the parts of those in it follow as if they were its own."""
    while stream.tell() < end and (tag := _tag(stream, order)) is not None:
        kind, size = tag
        if kind == MATRIX:
            continue
        if kind not in DATA:
            raise TableError(
                f"{name} is cut off or damaged (at byte {stream.tell() - 8} there is "
                f"an element of type {kind}, which is none); copy, download or save "
                "it again"
            )
        stream.seek(-size % 8 + size, 1)


def _tag(stream: BinaryIO, order: str) -> tuple[int, int] | None:
    """Return the type of the next element and how many bytes follow its tag."""
    content = stream.read(8)
    if len(content) < 8:
        return None
    kind, size = struct.unpack(f"{order}II", content)
    # A small element has its size and its content in the tag.
    return (kind & 0xFFFF, 0) if kind >> 16 else (kind, size)
