"""Uploaded tables and their names.

A name that comes from a browser is shown, and never used as a path.
"""

import errno
import secrets
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

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
# A form is a little larger than the file in it.
FORM_BYTES = 10_000


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
        Size of all tables together that are kept or on their way.
    given : path, optional
        A table that is there from the start.
    in_use : callable, optional
        Returns the identities of tables that are not to be deleted.
    """

    def __init__(
        self,
        folder: Path,
        max_bytes: int,
        given: Path | None = None,
        in_use: Callable[[], Collection[str]] = tuple,
    ) -> None:
        self.folder = folder
        self.max_bytes = max_bytes
        self.in_use = in_use
        self._bytes_on_their_way = 0
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
        if size > self.max_bytes + FORM_BYTES:
            raise Refusal(
                413,
                f"{shown_name(name)} is larger than {size_in_words(self.max_bytes)}; "
                "give it on the command line (ufselect serve FILE), or allow more "
                "(--max-upload)",
            )

    @contextmanager
    def expecting(self, name: str) -> Iterator[Callable[[int], None]]:
        """Yield a function that counts the bytes of a table as they come.

        It deletes the oldest tables that are not in use until all are within the limit,
        and refuses what is beyond it. What is counted is forgotten in the end.
        """
        if not ending(name):
            raise Refusal(
                415,
                f"{shown_name(name)} has an unknown file extension; it must be one of "
                f"{KNOWN}",
            )
        counted = 0

        def count(size: int) -> None:
            nonlocal counted
            counted += size
            self._bytes_on_their_way += size
            self.check_size(counted, name)
            if not self._make_space():
                raise Refusal(
                    413,
                    f"{shown_name(name)} and the tables in use are larger than "
                    f"{size_in_words(self.max_bytes)} together; wait until other runs "
                    "and uploads end, or allow more (--max-upload)",
                )

        try:
            yield count
        except OSError as error:
            raise _not_stored(name, error) from error
        finally:
            self._bytes_on_their_way -= counted

    def store(self, name: str, content: IO[bytes]) -> Source:
        """Store a table; of what is not complete nothing stays."""
        folder = self.folder / secrets.token_urlsafe(9)
        folder.mkdir()
        path = folder / f"table{ending(name)}"
        try:
            with path.open("wb") as file:
                shutil.copyfileobj(content, file)
            size = path.stat().st_size
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        source = Source(folder.name, shown_name(name), path, size)
        self._sources[source.identity] = source
        return source

    def _make_space(self) -> bool:
        """Delete the oldest tables beyond the limit; tell whether all are within it."""
        in_use = {GIVEN, *self.in_use()}
        kept = [each for each in self._sources.values() if each.identity != GIVEN]
        excess = sum(each.size for each in kept) + self._bytes_on_their_way
        excess -= self.max_bytes + FORM_BYTES
        for source in kept:
            if excess > 0 and source.identity not in in_use:
                excess -= source.size
                del self._sources[source.identity]
                shutil.rmtree(source.path.parent, ignore_errors=True)
        return excess <= 0


def _not_stored(name: str, error: OSError) -> Refusal:
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
