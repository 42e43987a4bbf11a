"""Uploaded tables and their names.

A name that comes from a browser is shown, and never used as a path.
"""

import errno
import secrets
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException

from ufselect.data.tables.detection import EXTENSIONS, KNOWN, SUFFIXES, split_name

MAX_NAME_LENGTH = 150
# Ends of names that are taken, with and without compression.
KNOWN_ENDINGS = [*EXTENSIONS, *SUFFIXES]
# Workbooks with macros are read, and written without them.
WRITTEN_AS = {".xlsm": ".xlsx"}
# The name of the file that was given on the command line.
GIVEN = "given"
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class Refusal(HTTPException):
    """A request that is not granted: a status of HTTP, and a sentence with the remedy.

    Examples
    --------
    >>> str(Refusal(413, "the file is too large"))
    '413: the file is too large'
    """


def ending(name: str) -> str:
    """Return the end of a name that says a format, and its compression, or nothing.

    Examples
    --------
    >>> ending("My genes.TSV.gz"), ending("genes.doc"), ending("../csv")
    ('.tsv.gz', '', '')
    """
    found = split_name(name)[1].lower()
    return "" if found in SUFFIXES else found


def stored_name(name: str) -> str:
    """Return what an uploaded table is called here, of which only the end is theirs.

    Examples
    --------
    >>> stored_name("../../My genes.csv")
    'table.csv'
    """
    found = ending(name)
    if not found:
        raise Refusal(
            415,
            f"{shown_name(name)} has an unknown file extension; it must be one of "
            f"{KNOWN}",
        )
    return f"table{found}"


def selected_name(source: str, wanted: str = "") -> str:
    """Return what the table with the chosen features is called here.

    Examples
    --------
    >>> selected_name("genes.csv.gz"), selected_name("genes.csv", ".parquet")
    ('selected.csv.gz', 'selected.parquet')
    """
    found = wanted or ending(source)
    return f"selected{WRITTEN_AS.get(found, found)}"


def shown_name(name: str) -> str:
    r"""Return a name to show: without folders, in one line, and not too long.

    Examples
    --------
    >>> shown_name("C:\\data\\my\ngenes.csv"), shown_name("../")
    ('mygenes.csv', 'table')
    """
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    plain = "".join(letter for letter in last if letter.isprintable()).strip()
    if len(plain) > MAX_NAME_LENGTH:
        plain = "\N{HORIZONTAL ELLIPSIS}" + plain[-MAX_NAME_LENGTH:]
    return plain.strip(".") or "table"


def suggested_name(name: str, written: str) -> str:
    """Return what a browser may call a result.

    Examples
    --------
    >>> suggested_name("my genes.csv.gz", "ranking.csv")
    'my genes.ranking.csv'
    """
    stem = split_name(shown_name(name))[0] or "table"
    return f"{stem}.{Path(written).name}"


@dataclass(frozen=True)
class Source:
    """A table to select from: what it is called, where it is, and how large."""

    identity: str
    name: str
    path: Path
    size: int


class Uploads:
    """Takes tables and finds them again.

    Parameters
    ----------
    folder : path
        Every table gets a folder in it.
    max_bytes : int
        Size of the largest table that is taken, and of all that are kept for later.
    given : path, optional
        A table that is there from the start.
    """

    def __init__(self, folder: Path, max_bytes: int, given: Path | None = None) -> None:
        self.folder = folder
        self.max_bytes = max_bytes
        self._sources: dict[str, Source] = {}
        if given is not None:
            size = given.stat().st_size
            source = Source(GIVEN, str(given), given.absolute(), size)
            self._sources[GIVEN] = source

    def find(self, identity: Any) -> Source:
        """Return the table of this name, if it is still kept."""
        if not isinstance(identity, str) or identity not in self._sources:
            raise Refusal(404, "this file is no longer kept; choose it again")
        return self._sources[identity]

    def check_size(self, size: int, name: str) -> None:
        """Refuse what is larger than the limit."""
        if size > self.max_bytes:
            raise Refusal(
                413,
                f"{shown_name(name)} is larger than {size_in_words(self.max_bytes)}; "
                "give it on the command line (ufselect serve FILE), or allow more "
                "(--max-upload)",
            )

    async def receive(
        self,
        name: str,
        pieces: AsyncIterator[bytes],
        write: Callable[..., Awaitable[Any]],
    ) -> Source:
        """Store a table that comes in pieces; of what is not complete nothing stays.

        ``write`` calls a function that may take its time.
        """
        identity, stored = secrets.token_urlsafe(9), stored_name(name)
        folder = self.folder / identity
        folder.mkdir()
        path, complete = folder / stored, False
        try:
            with path.open("wb") as file:
                size = 0
                async for piece in pieces:
                    size += len(piece)
                    self.check_size(size, name)
                    await write(file.write, piece)
                await write(file.flush)
            complete = True
        except OSError as error:
            raise _unwritten(name, error) from error
        finally:
            if not complete:
                shutil.rmtree(folder, ignore_errors=True)
        source = Source(identity, shown_name(name), path, size)
        self._sources[identity] = source
        return source

    def forget(self, in_use: Collection[str]) -> None:
        """Delete the oldest tables until all are within the limit, but none in use."""
        kept = [each for each in self._sources.values() if each.identity != GIVEN]
        for source in kept[:-1]:
            total = sum(each.size for each in kept)
            if total <= self.max_bytes:
                return
            if source.identity not in in_use:
                kept.remove(source)
                del self._sources[source.identity]
                shutil.rmtree(source.path.parent, ignore_errors=True)


def _unwritten(name: str, error: OSError) -> Refusal:
    shown = shown_name(name)
    if error.errno in FULL:
        return Refusal(
            507,
            f"the disk has no space left for {shown}; free some, or give the file on "
            "the command line (ufselect serve FILE)",
        )
    return Refusal(500, f"{shown} could not be stored ({error.strerror or error})")


def size_in_words(size: float) -> str:
    """Return a size in words.

    Examples
    --------
    >>> size_in_words(999), size_in_words(2.5e6), size_in_words(2 * 10**9)
    ('999 bytes', '2.5 MB', '2 GB')
    """
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"
