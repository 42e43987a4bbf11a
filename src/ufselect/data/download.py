"""Load a data set by its name: find or download it, read it, check it."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple

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
from ufselect.data.tables.isolation import reason_of

# Called with the bytes received and, if known, the bytes in all.
Progress = Callable[[int, int | None], None]

CACHE_VARIABLE = "UFSELECT_CACHE"
CHUNK_BYTES = 1 << 16
HEADERS = {"User-Agent": f"ufselect/{__version__}", "Accept-Encoding": "identity"}
# Seconds to wait for an answer or a piece of content.
TIMEOUT = 20.0
# How often an address that fails is tried again.
RETRIES = 1
# The limit for sets whose size is not in the catalogue.
MAX_BYTES = 1 << 26


class DataUnavailableError(OSError):
    """The data set is not on this machine and could not be downloaded."""


class RefusedError(Exception):
    """An address does not have the file; another attempt would not help."""


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
    reasons = download(wanted, target, progress)
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
    wanted: CataloguedSet, target: Path, progress: Progress | None = None
) -> list[str]:
    """Download the file of a set; it gets its name only when it is verified.

    Returns an empty list, or the reason for each address if all of them failed.
    """
    import pooch  # slow to import, and needed for downloads only

    pooch.get_logger().setLevel("WARNING")

    def receive(address: str, part: str, _: Any) -> None:
        get = pooch.HTTPDownloader(
            progressbar=_Received(wanted.size, progress),
            chunk_size=CHUNK_BYTES,
            timeout=TIMEOUT,
            headers=HEADERS,
        )
        get(address, part, None)
        if not has_checksum(Path(part), wanted.checksum):
            raise RefusedError("its checksum is not that of the catalogue")

    target.unlink(missing_ok=True)  # a damaged one
    reasons = []
    for address in wanted.addresses:
        files = pooch.create(
            path=target.parent,
            base_url="",
            registry={target.name: None},
            urls={target.name: address},
            retry_if_failed=RETRIES,
        )
        try:
            files.fetch(target.name, downloader=receive)
            return []
        except (RefusedError, OSError, ValueError) as error:  # those of requests, too
            reasons.append(f"{address} ({_reason(error)})")
    return reasons


class _Received:
    """Counts received bytes, and refuses more or fewer than there should be.

    Pooch sets ``total`` (0 if unknown) and calls the methods, as those of tqdm.
    """

    total = 0

    def __init__(self, size: int | None, progress: Progress | None) -> None:
        self.size, self.progress, self.n_bytes = size, progress, 0

    def update(self, n_bytes: int) -> None:
        """Count a chunk, of which the last may be shorter."""
        if self.size is not None and self.total not in (0, self.size):
            raise RefusedError(f"has {self.total} bytes instead of {self.size}")
        self.n_bytes += n_bytes
        most = self.total or self.size or MAX_BYTES
        if self.n_bytes >= most + CHUNK_BYTES:
            raise RefusedError(f"sends more than {most} bytes")
        if self.progress is not None:
            self.progress(min(self.n_bytes, most), self.total or self.size)

    def reset(self) -> None:
        """Stop to report; Pooch counts the complete content once more."""
        self.n_bytes, self.progress = 0, None

    def close(self) -> None:
        """Do nothing."""


def _reason(error: BaseException) -> str:
    """Return why a download failed, in one line."""
    response = getattr(error, "response", None)
    if response is not None:
        return f"HTTP {response.status_code} {response.reason}"
    # The error of requests is about its pool of connections; the first one says why.
    while error.__context__ is not None:
        error = error.__context__
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return reason_of(error)
