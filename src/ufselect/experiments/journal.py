"""The journal that a killed run leaves beside its store.

SQLite takes the first damage in a journal for its end, and what comes after it for
nothing, without a word: all cells that were finished since would be gone.
"""

import struct
from collections.abc import Iterator
from pathlib import Path

HEADER, FRAME_HEADER = 32, 24
# The last bit of the first number says in which order bytes are summed up.
BIG_ENDIAN = 1
TWICE = 2
HIDDEN = "damage in its journal hides finished cells"


def journal_of(store: Path) -> bytes:
    """Return the journal of a store; there is none after a run that ended in peace."""
    try:
        return store.with_name(f"{store.name}-wal").read_bytes()
    except FileNotFoundError:
        return b""


def hides_cells(store: Path) -> bool:
    """Say whether SQLite would drop something that was committed.

    A run that writes meanwhile may be caught in the middle, but not twice.
    """
    return all(_committed_after_damage(journal_of(store)) for _ in range(TWICE))


def frames_of(journal: bytes, page_size: int) -> Iterator[bytes]:
    """Yield the frames, a header and a page each, that are of this use of the file.

    Those with another salt than the journal, or its first frame if that is damaged, are
    left from before the journal was begun anew.
    """
    step = FRAME_HEADER + page_size
    salts = {journal[16:24], journal[HEADER + 8 : HEADER + 16]}
    for start in range(HEADER, len(journal) - step + 1, step):
        if journal[start + 8 : start + 16] in salts:
            yield journal[start : start + step]


def _committed_after_damage(journal: bytes) -> bool:
    if len(journal) <= HEADER:
        return False
    order = ">" if journal[3] & BIG_ENDIAN else "<"
    sums = _sums(journal[:24], (0, 0), order)
    if struct.pack(">II", *sums) != journal[24:HEADER]:
        return True
    intact = True
    for frame in frames_of(journal, int.from_bytes(journal[8:12], "big")):
        current = frame[8:16] == journal[16:24]
        if intact:
            sums = _sums(frame[:8] + frame[FRAME_HEADER:], sums, order)
            intact = current and struct.pack(">II", *sums) == frame[16:FRAME_HEADER]
        # The last frame of a transaction says how long the file is then.
        if current and not intact and frame[4:8] != bytes(4):
            return True
    return False


def _sums(content: bytes, sums: tuple[int, int], order: str) -> tuple[int, int]:
    """Return the sums that the journal keeps of what it holds so far."""
    first, second = sums
    for one, other in struct.iter_unpack(f"{order}II", content):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + other + first) & 0xFFFFFFFF
    return first, second
