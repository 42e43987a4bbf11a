"""Where a data set is: in a local folder, in the cache, or at a public address."""

import os
from pathlib import Path
from typing import Literal, NamedTuple

from ufselect.data.catalogue import CataloguedSet, catalogued_sets, unknown_name
from ufselect.data.checksums import has_checksum
from ufselect.data.labelled import FOLDER_VARIABLE, data_folder
from ufselect.data.transfer import USUAL_PATIENCE, Patience, Progress, transfer

CACHE_VARIABLE = "UFSELECT_CACHE"


class DataUnavailableError(OSError):
    """The data set is not on this machine and could not be downloaded."""


class Whereabouts(NamedTuple):
    """Where a set is found, and its path there."""

    place: Literal["local", "cached", "absent"]
    path: Path | None


def cache_folder() -> Path:
    """Return the folder of downloaded data, which need not exist.

    It is named by ``UFSELECT_CACHE``, or else is ``ufselect`` in the user's cache.

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
    # The standard of the variable says that a relative path is to be ignored.
    caches = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (caches if caches.is_absolute() else Path.home() / ".cache") / "ufselect"


def local_folder(folder: Path | str | None = None) -> Path | None:
    """Return the folder given, or else that of ``UFSELECT_DATA``, if there is one."""
    if folder is None:
        return data_folder()
    if not Path(folder).is_dir():
        raise ValueError(f"{folder} is not a folder; name the folder of the .mat files")
    return Path(folder)


def local_names(folder: Path | str | None = None) -> list[str]:
    """Return the names of the sets in the local folder, catalogued or not."""
    place = local_folder(folder)
    return sorted(path.stem for path in place.glob("*.mat")) if place else []


def whereabouts(name: str, folder: Path | str | None = None) -> Whereabouts:
    """Return where a set is, without downloading it.

    A file in the local folder counts by its name alone; one in the cache only if it
    has the checksum of the catalogue.
    """
    place = local_folder(folder)
    if place is not None and name in local_names(place):
        return Whereabouts("local", place / f"{name}.mat")
    known = catalogued_sets().get(name)
    if known is None:
        raise unknown_name(name, local_names(folder))
    cached = cache_folder() / known.file_name
    if cached.is_file() and has_checksum(cached, known.checksum):
        return Whereabouts("cached", cached)
    return Whereabouts("absent", None)


def fetch(
    name: str,
    folder: Path | str | None = None,
    *,
    progress: Progress | None = None,
    patience: Patience = USUAL_PATIENCE,
) -> Path:
    """Return the path of a data set's file, downloaded if it has to be.

    The file is looked for in the local folder, then in the cache. A download is
    resumed where an earlier one stopped, and gets its name in the cache only after
    its checksum was found to be that of the catalogue.

    Parameters
    ----------
    name : str
        Name in the catalogue, or of a file ``<name>.mat`` in the local folder.

    folder : path, default=None
        Local folder; by default the one named by ``UFSELECT_DATA``. Its files are
        the user's own and are not compared with the catalogue.

    progress : callable, default=None
        Called with the bytes received and the bytes in all (None if not known).

    patience : Patience
        Timeouts, attempts and the delay between them.

    Returns
    -------
    path : Path
        The file, which :func:`~ufselect.data.read_labelled` reads.

    Raises
    ------
    DataUnavailableError
        If the set is not on this machine and no address gave it.

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
    found = whereabouts(name, folder)
    if found.path is not None:
        return found.path
    wanted = catalogued_sets()[name]
    target = cache_folder() / wanted.file_name
    if not wanted.addresses:
        raise DataUnavailableError(
            f"{name} has no public address; make {wanted.file_name} with X and Y from "
            f"{wanted.source} and set {FOLDER_VARIABLE} to its folder"
        )
    _make_folder(target.parent)
    reasons = transfer(wanted, target, patience, progress)
    if reasons:
        raise _gave_up(wanted, target, reasons)
    return target


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataUnavailableError(
            f"the cache folder {folder} cannot be made ({error.strerror}); set "
            f"{CACHE_VARIABLE} to one that can"
        ) from error


def _gave_up(
    wanted: CataloguedSet, target: Path, reasons: list[str]
) -> DataUnavailableError:
    return DataUnavailableError(
        f"{wanted.name} could not be downloaded from {', '.join(reasons)}; download it "
        f"by hand to {target}, where its checksum must be {wanted.checksum}, or set "
        f"{FOLDER_VARIABLE} to a folder with any {wanted.file_name}"
    )
