"""Damage at random: bytes changed, cut, moved, and numbers made extreme."""

import gzip
import io
import struct
import zipfile

import numpy as np

EXTREME = (0, 1, 127, 2**15, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**63 - 1, 2**64 - 1)
WORDS = (b'"', b"\0", b"\xff\xfe", b",", b";", b"\t", b"\n", b"\r", b"nan", b"1e999")
WORDS += (b"#", b"-", b"'", b"=1+1", b"\xef\xbb\xbf", b"9" * 400, b'""', b"<a>", b"{")
MOST_CHANGES = 4


def damaged(content: bytes, random: np.random.Generator) -> bytes:
    """Return content with a few changes."""
    data = bytearray(content)
    for _ in range(random.integers(1, MOST_CHANGES + 1)):
        change = CHANGES[random.integers(len(CHANGES))]
        change(data, random)
    return bytes(data)


def damaged_inside(content: bytes, random: np.random.Generator) -> bytes:
    """Return content damaged under its compression, so that checksums are right."""
    if content.startswith(b"\x1f\x8b"):
        return gzip.compress(damaged(gzip.decompress(content), random), 1)
    if not content.startswith(b"PK"):
        return damaged(content, random)
    result = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as source,
        zipfile.ZipFile(result, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        members = source.infolist()
        hit = random.integers(len(members))
        for place, member in enumerate(members):
            inner = source.read(member)
            target.writestr(member, damaged(inner, random) if place == hit else inner)
    return result.getvalue()


def _place(data: bytearray, random: np.random.Generator) -> int:
    return int(random.integers(max(1, len(data))))


def _flip(data: bytearray, random: np.random.Generator) -> None:
    if data:
        data[_place(data, random)] ^= 1 << int(random.integers(8))


def _overwrite(data: bytearray, random: np.random.Generator) -> None:
    start, length = _place(data, random), int(random.integers(1, 40))
    fill = (b"\0", b"\xff", random.bytes(1))[random.integers(3)]
    data[start : start + length] = fill * length


def _cut_off(data: bytearray, random: np.random.Generator) -> None:
    del data[_place(data, random) :]


def _cut_out(data: bytearray, random: np.random.Generator) -> None:
    start = _place(data, random)
    del data[start : start + int(random.integers(1, 200))]


def _repeat(data: bytearray, random: np.random.Generator) -> None:
    start = _place(data, random)
    piece = data[start : start + int(random.integers(1, 200))]
    data[start:start] = piece * int(random.integers(1, 5))


def _extreme(data: bytearray, random: np.random.Generator) -> None:
    start, value = _place(data, random), EXTREME[random.integers(len(EXTREME))]
    size = (2, 4, 8)[random.integers(3)]
    order = ("little", "big")[random.integers(2)]
    data[start : start + size] = (value % 256**size).to_bytes(size, order)


def _word(data: bytearray, random: np.random.Generator) -> None:
    start = _place(data, random)
    data[start:start] = WORDS[random.integers(len(WORDS))]


def _special(data: bytearray, random: np.random.Generator) -> None:
    value = (np.nan, np.inf, -np.inf, 1e308, 5e-324)[random.integers(5)]
    start = 8 * (_place(data, random) // 8)
    data[start : start + 8] = struct.pack("<d", value)


CHANGES = (_flip, _flip, _overwrite, _cut_off, _cut_out, _repeat, _extreme, _extreme)
CHANGES += (_word, _special)
