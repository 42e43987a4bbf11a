"""Where bytes come from: paths, streams, compressed or not, always seekable."""

import bz2
import gzip
import io
import lzma
import os
import shutil
import sys
import tempfile
import weakref
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO

from ufselect.data.tables.damage import damaged
from ufselect.data.tables.table import TableError

Source = str | os.PathLike[str] | BinaryIO

COMPRESSIONS = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
}
SUFFIXES = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz"}
OPENERS: dict[str | None, Callable[..., Any]] = {
    None: open,
    "gzip": gzip.open,
    "bzip2": bz2.open,
    "xz": lzma.open,
}
# What the decompressors raise for files that are cut off or damaged.
DAMAGED = (EOFError, OSError, lzma.LZMAError, zlib.error)


class Spool:
    """A temporary file that lives as long as this object."""

    def __init__(self, stream: IO[bytes]) -> None:
        folder = Path(tempfile.mkdtemp(prefix="ufselect-"))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.path = folder / "input"
        with self.path.open("wb") as target:
            shutil.copyfileobj(stream, target, 1 << 20)


def is_standard(source: Any) -> bool:
    """Tell whether a source or destination is a standard stream, written ``-``."""
    return isinstance(source, str) and source == "-"


def located(source: Source, name: str | None = None) -> tuple[Path, str, Spool | None]:
    """Return a file to read, what to call it, and what keeps it alive if anything."""
    if is_standard(source):
        source = sys.stdin.buffer
    if not isinstance(source, (str, os.PathLike)):
        spool = Spool(_binary(source))
        name = name or "standard input"
        _check_content(spool.path, name)
        return spool.path, name, spool
    path = Path(source)
    _check_file(path)
    _check_content(path, name or str(path))
    return path, name or str(path), None


def _binary(source: Any) -> BinaryIO:
    if not hasattr(source, "read") or isinstance(source, io.TextIOBase):
        raise TypeError(
            f"the source is of type {type(source).__name__}; give a path, or a file "
            "that was opened in binary mode"
        )
    stream: BinaryIO = source
    return stream


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise TableError(f"{path} is a folder; give the file in it that has the table")
    if not path.exists():
        raise TableError(f"there is no file {path}; check the name and the folder")
    if not os.access(path, os.R_OK):
        raise TableError(f"{path} may not be read; ask its owner for the permission")


def _check_content(path: Path, name: str) -> None:
    if path.stat().st_size == 0:
        raise TableError(f"{name} is empty; export the table again")


def compression_of(path: Path) -> str | None:
    """Return how a file is compressed, by its first bytes."""
    with path.open("rb") as stream:
        start = stream.read(6)
    for magic, compression in COMPRESSIONS.items():
        if start.startswith(magic):
            return compression
    return None


@contextmanager
def opened(path: Path, compression: str | None, name: str) -> Iterator[BinaryIO]:
    """Open a file for reading its bytes, decompressed, and say when it is damaged."""
    stream = OPENERS[compression](path, "rb")
    try:
        with stream:
            yield stream
    except DAMAGED as error:
        if compression is None:
            raise
        raise damaged(name, compression, error) from error
