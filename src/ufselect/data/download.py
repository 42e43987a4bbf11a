"""Load a data set by its name: find or download it, read it, check it."""

import os
import socket
import ssl
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from http.client import IncompleteRead
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple
from urllib.parse import urljoin, urlsplit

import numpy as np

from ufselect._version import __version__
from ufselect._warn import warn
from ufselect.data.catalogue import (
    FOLDER_VARIABLE,
    CataloguedSet,
    LabelledSet,
    catalogued_sets,
    data_folder,
    has_checksum,
    read_labelled,
    unknown_name,
)
from ufselect.data.replacing import replacing

# Called with the bytes received and, if known, the bytes in all.
Progress = Callable[[int, int | None], None]

CACHE_VARIABLE = "UFSELECT_CACHE"
CHUNK_BYTES = 1 << 16
# The limit for sets whose size is not in the catalogue.
MAX_BYTES = 1 << 26
LOOPBACK = {"127.0.0.1", "::1", "localhost"}
# HTTP errors that may be gone at the next attempt.
PASSING_FAULTS = {408, 429, 500, 502, 503, 504}
# No such host, as when the machine is offline, or no valid certificate.
LASTING_FAULTS = (socket.gaierror, ssl.SSLError)


class DataUnavailableError(OSError):
    """The data set is not on this machine and could not be downloaded."""


class RefusedError(Exception):
    """An address does not have the file; another attempt would not help."""


class Timeouts(NamedTuple):
    """How long to wait for a download, in seconds, and how often to try.

    ``timeout`` limits the wait for an answer or a piece of content, ``longest`` all
    attempts at one address. Before an attempt is repeated, ``delay`` is waited, and
    twice as long each time.
    """

    timeout: float = 20.0
    longest: float = 900.0
    attempts: int = 3
    delay: float = 1.0


USUAL_TIMEOUTS = Timeouts()


class Location(NamedTuple):
    """Where a set is, and its path."""

    place: Literal["local", "cached", "absent"]
    path: Path | None


def cache_folder() -> Path:
    """Return the folder of downloaded data, which may not exist yet.

    ``UFSELECT_CACHE`` names it; by default it is ``ufselect`` in your cache folder.

    Examples
    --------
    >>> import os
    >>> os.environ["UFSELECT_CACHE"] = "downloads"
    >>> cache_folder().name
    'downloads'
    >>> del os.environ["UFSELECT_CACHE"]
    """
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named)
    # The standard of this variable says to ignore a relative path.
    caches = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (caches if caches.is_absolute() else Path.home() / ".cache") / "ufselect"


def local_folder(folder: Path | str | None = None) -> Path | None:
    """Return the folder given, or else that of ``UFSELECT_DATA`` or None."""
    if folder is None:
        return data_folder()
    if not Path(folder).is_dir():
        raise ValueError(f"{folder} is not a folder; name the folder of the .mat files")
    return Path(folder)


def local_names(folder: Path | str | None = None) -> list[str]:
    """Return the names of the sets in the local folder, catalogued or not."""
    place = local_folder(folder)
    return sorted(path.stem for path in place.glob("*.mat")) if place else []


def location_of(name: str, folder: Path | str | None = None) -> Location:
    """Return where a set is, without downloading it.

    A file in the local folder needs only the right name, one in the cache also the
    checksum of the catalogue.
    """
    place = local_folder(folder)
    if place is not None and name in local_names(place):
        return Location("local", place / f"{name}.mat")
    known = catalogued_sets().get(name)
    if known is None:
        raise unknown_name(name, local_names(folder))
    cached = cache_folder() / known.file_name
    if cached.is_file() and has_checksum(cached, known.checksum):
        return Location("cached", cached)
    return Location("absent", None)


def fetch(
    name: str,
    folder: Path | str | None = None,
    *,
    progress: Progress | None = None,
    timeouts: Timeouts = USUAL_TIMEOUTS,
) -> Path:
    """Return the path of the file of a data set; download it if necessary.

    The file may be in the local folder or in the cache. A download gets its name in
    the cache only after its checksum is verified.

    Parameters
    ----------
    name : str
        Name in the catalogue, or of a file ``<name>.mat`` in the local folder.

    folder : path, default=None
        Local folder; by default that of ``UFSELECT_DATA``. The checksums of its files
        are not compared with the catalogue.

    progress : callable, default=None
        Called with the bytes received and the bytes in all (None if unknown).

    timeouts : Timeouts
        Timeouts, attempts and the delay between them.

    Returns
    -------
    path : Path
        The file, which :func:`~ufselect.data.read_labelled` reads.

    Raises
    ------
    DataUnavailableError
        If the set is not on this machine and cannot be downloaded.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ufselect.data import fetch
    >>> with TemporaryDirectory() as folder:
    ...     Path(folder, "mine.mat").touch()
    ...     fetch("mine", folder).name
    'mine.mat'
    """
    found = location_of(name, folder)
    if found.path is not None:
        return found.path
    wanted = catalogued_sets()[name]
    target = cache_folder() / wanted.file_name
    if not wanted.addresses:
        raise DataUnavailableError(
            f"{name} has no public address; make {wanted.file_name} with X and Y from "
            f"{wanted.source} and set {FOLDER_VARIABLE} to its folder"
        )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataUnavailableError(
            f"the cache folder {target.parent} cannot be created ({error.strerror}); "
            f"set {CACHE_VARIABLE} to another folder"
        ) from error
    reasons = download(wanted, target, timeouts, progress)
    if reasons:
        raise DataUnavailableError(
            f"{name} could not be downloaded from {', '.join(reasons)}; download it by "
            f"hand to {target}, where its checksum must be {wanted.checksum}, or set "
            f"{FOLDER_VARIABLE} to a folder with any {wanted.file_name}"
        )
    return target


def load_set(
    name: str, folder: Path | str | None = None, *, progress: Progress | None = None
) -> LabelledSet:
    """Return a data set by its name in the catalogue, or in a local folder.

    :func:`fetch` finds or downloads the file. A set of the catalogue must have the
    shape and the number of classes given there. A local file that has them but another
    checksum is accepted with a warning: it may be another version of the data.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from scipy.io import savemat
    >>> from ufselect.data import load_set
    >>> with TemporaryDirectory() as folder:
    ...     savemat(Path(folder, "mine.mat"), {"X": [[1, 2], [3, 4]], "Y": [1, 2]})
    ...     load_set("mine", folder).table.shape
    (2, 2)
    """
    path = fetch(name, folder, progress=progress)
    data = read_labelled(path)
    known = catalogued_sets().get(name)
    if known is None:
        return data
    words = "{} samples, {} features and {} classes"
    found = words.format(*data.table.shape, len(np.unique(data.classes)))
    expected = words.format(known.n_samples, known.n_features, known.n_classes)
    if found != expected:
        raise ValueError(
            f"{path} has {found}, but {known.name} of the catalogue has {expected}; "
            "rename the file, or put the right one in its place"
        )
    if not has_checksum(path, known.checksum):
        warn(
            f"{path} is not the catalogued file of {known.name}: it has the same shape "
            "and number of classes, but another checksum",
        )
    return data


def download(
    wanted: CataloguedSet,
    target: Path,
    timeouts: Timeouts = USUAL_TIMEOUTS,
    progress: Progress | None = None,
) -> list[str]:
    """Download the file of a set; it gets its name only when it is verified.

    Returns an empty list, or the reason for each address if all of them failed.
    """
    reasons = []
    for address in wanted.addresses:
        deadline = time.monotonic() + timeouts.longest
        for attempt in range(timeouts.attempts):
            if attempt:
                time.sleep(timeouts.delay * 2 ** (attempt - 1))
            seconds_left = deadline - time.monotonic()
            receiver = _Receiver(wanted, progress)
            try:
                with replacing(target) as part:
                    with part.open("wb") as receiver.file:
                        _within(seconds_left, _request, address, receiver, timeouts)
                    if not has_checksum(part, wanted.checksum):
                        raise RefusedError("its checksum is not that of the catalogue")
                return []
            except RefusedError as error:
                reason = str(error)
                break
            except TimeoutError:
                reason = f"took longer than {timeouts.longest:g} seconds"
                break
            except OSError as error:
                reason, may_pass = _described(error, receiver, timeouts)
                if not may_pass:
                    break
        reasons.append(f"{address} ({' '.join(reason.split())})")
    return reasons


class _Receiver:
    """Writes what an address sends to a file, up to the size of the set."""

    file: BinaryIO

    def __init__(self, wanted: CataloguedSet, progress: Progress | None) -> None:
        self.wanted, self.progress = wanted, progress
        self.received = 0
        self.total = wanted.size

    def check(self, response: Any) -> None:
        """Refuse an unsafe redirect, or an answer that announces another size."""
        if response.is_redirect:
            _check_redirect(response.url, response.headers["Location"])
        elif response.ok:
            length = response.headers.get("Content-Length", "")
            self.total = int(length) if length.isdigit() else self.wanted.size
            if self.wanted.size not in (None, self.total):
                raise RefusedError(
                    f"has {self.total} bytes instead of {self.wanted.size}"
                )

    def write(self, chunk: bytes) -> None:
        """Write a piece of content."""
        self.received += len(chunk)
        most = self.wanted.size or MAX_BYTES
        if self.received > most:
            raise RefusedError(f"sends more than {most} bytes")
        self.file.write(chunk)
        if self.progress is not None:
            self.progress(self.received, self.total)

    def flush(self) -> None:
        """Do nothing; the file is flushed when it is closed."""

    def cut_off(self) -> str:
        """Return the message for content that is cut off."""
        return f"the connection ended before all {self.total} bytes had come"


def _request(address: str, receiver: _Receiver, timeouts: Timeouts) -> None:
    """Make one attempt to download from an address."""
    import pooch  # slow to import, and needed for downloads only

    if not _is_safe(address):
        raise RefusedError("is not an https address")
    responses: list[Any] = []

    def look_at(response: Any, **options: Any) -> None:
        responses.append(response)
        receiver.check(response)

    headers = {"User-Agent": f"ufselect/{__version__}", "Accept-Encoding": "identity"}
    fetch_content = pooch.HTTPDownloader(
        chunk_size=CHUNK_BYTES,
        timeout=timeouts.timeout,
        headers=headers,
        # Called for a redirect, too, before it is followed.
        hooks={"response": look_at},
    )
    try:
        fetch_content(address, receiver, None)
    finally:
        for response in responses:
            response.close()
    if receiver.total is not None and receiver.received < receiver.total:
        raise ConnectionError(receiver.cut_off())


def _check_redirect(address: str, location: str) -> None:
    """Refuse redirects, except to https, or from this machine to itself."""
    try:
        goal = urljoin(address, location)
        from_here = urlsplit(address).hostname in LOOPBACK
        safe = _is_safe(goal) if from_here else urlsplit(goal).scheme == "https"
    except ValueError as error:
        raise RefusedError(f"redirects to a malformed address: {error}") from error
    if not safe:
        raise RefusedError(f"redirects to {goal}, which is not https")


def _is_safe(address: str) -> bool:
    parts = urlsplit(address)
    # Tests run a server on this machine, where nobody can listen in.
    is_here = parts.scheme == "http" and parts.hostname in LOOPBACK
    return parts.scheme == "https" or is_here


def _within(seconds: float, function: Callable[..., None], *arguments: Any) -> None:
    """Call a function; raise TimeoutError if it takes longer than some seconds.

    The timeout of a socket starts again with every byte. After a timeout the thread
    ends with its next write, since the file is closed by then.
    """
    outcome: Future[None] = Future()

    def call() -> None:
        try:
            function(*arguments)
            outcome.set_result(None)
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            outcome.set_exception(error)

    threading.Thread(target=call, daemon=True).start()
    outcome.result(timeout=seconds)


def _described(
    error: Exception, receiver: _Receiver, timeouts: Timeouts
) -> tuple[str, bool]:
    """Return why a download failed, and whether another attempt may help."""
    response = getattr(error, "response", None)
    if response is not None:
        reason = f"HTTP {response.status_code} {response.reason}"
        return reason, response.status_code in PASSING_FAULTS
    # The error of requests is about its connection pool; the cause is the last one.
    cause: BaseException = error
    while cause.__context__ is not None:
        cause = cause.__context__
    if isinstance(cause, TimeoutError):
        return f"no answer within {timeouts.timeout:g} seconds", True
    if isinstance(cause, IncompleteRead):
        return receiver.cut_off(), True
    return str(cause) or type(cause).__name__, not isinstance(cause, LASTING_FAULTS)
