"""A selector in a file: an archive of JSON and arrays, with a number of the format."""

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect._version import __version__
from ufselect.data.replacing import replacing
from ufselect.data.tables.isolation import reason_of
from ufselect.data.tables.matrices import checked_header
from ufselect.models.decoding import decoded
from ufselect.models.encoding import encoded
from ufselect.selectors.base import UnsupervisedSelector

FORMAT = "ufselect selector"
VERSION = 1
DESCRIPTION = "selector.json"
AnyPath = str | os.PathLike[str]


class ModelError(ValueError):
    """A file that is no selector, or one that cannot be kept: one sentence says why."""


def save_selector(selector: UnsupervisedSelector, path: AnyPath) -> None:
    """Write a selector, fitted or not, to a file that any program may open safely.

    The file is a zip archive of JSON and of ``.npy`` arrays. It takes its name when it
    is complete. Kept are the parameters and all that was learned; a ``checkpoint`` is
    not, for it names a file to write to.

    Parameters
    ----------
    selector : selector
        One of this package. What it contains may be selectors, too.
    path : path
        Where to; a file of that name is replaced.

    Raises
    ------
    ModelError
        If the selector, or something that it holds, is of a class that is not known.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from ufselect import LaplacianScore, load_selector, save_selector
    >>> selector = LaplacianScore(n_features_to_select=2).fit(load_iris().data)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_selector(selector, f"{folder}/iris.selector")
    ...     again = load_selector(f"{folder}/iris.selector")
    >>> again
    LaplacianScore(n_features_to_select=2)
    >>> again.transform(load_iris().data[:1])
    array([[1.4, 0.2]])
    """
    arrays: list[NDArray[Any]] = []
    try:
        content = encoded(selector, arrays)
    except TypeError as error:
        raise ModelError(str(error)) from None
    description = {
        "format": FORMAT,
        "version": VERSION,
        "written by": f"ufselect {__version__}",
        "selector": content,
    }
    target = Path(path)
    try:
        with replacing(target) as part, zipfile.ZipFile(part, "w") as archive:
            archive.writestr(DESCRIPTION, json.dumps(description, allow_nan=False))
            for number, array in enumerate(arrays):
                with archive.open(_member(number), "w", force_zip64=True) as stream:
                    np.lib.format.write_array(stream, array, allow_pickle=False)
    except OSError as error:
        raise ModelError(
            f"{target} cannot be written ({error.strerror or error}); choose another "
            "place"
        ) from error


def load_selector(path: AnyPath) -> UnsupervisedSelector:
    """Read a selector from a file that :func:`save_selector` wrote.

    Nothing in the file is run, whoever wrote it: classes and attributes are those of
    this package, all else is numbers and text. Memory is at most a few times the size
    of the file.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    selector : selector
        It has the parameters, the ranking and the names of the one that was saved.

    Raises
    ------
    ModelError
        With one sentence, if the file is damaged, of another kind, or newer.

    Examples
    --------
    >>> import tempfile
    >>> from ufselect import SCFS, load_selector, save_selector
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_selector(SCFS(alpha=0.5, random_state=0), f"{folder}/a.selector")
    ...     load_selector(f"{folder}/a.selector")
    SCFS(alpha=0.5, random_state=0)
    """
    name = str(path)
    if not Path(path).is_file():
        raise ModelError(f"{name} is not a file; name one that save_selector wrote")
    try:
        with zipfile.ZipFile(path) as archive:
            return _selector(archive, name)
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(
            f"{name} is no file of a selector, or is damaged ({reason_of(error)}); "
            "save the selector again"
        ) from error


def _selector(archive: zipfile.ZipFile, name: str) -> UnsupervisedSelector:
    for member in archive.infolist():
        # What is not compressed cannot become larger than the file.
        if member.compress_type != zipfile.ZIP_STORED:
            raise ValueError(f"{member.filename!r} is compressed")
    description = json.loads(archive.read(DESCRIPTION))
    if description["format"] != FORMAT:
        raise ValueError(f"its format is {str(description['format'])[:50]!r}")
    _check_version(description, name)
    return decoded(description["selector"], lambda number: _array(archive, number))


def _check_version(description: dict[str, Any], name: str) -> None:
    version = description["version"]
    if not isinstance(version, int) or version < 1:
        raise ValueError(f"its version is {str(version)[:50]!r}")
    if version > VERSION:
        raise ModelError(
            f"{name} is of version {version} of the format, written by "
            f"{str(description.get('written by'))[:50]}, but this is ufselect "
            f"{__version__}, which reads up to version {VERSION}; install a newer one"
        )


def _array(archive: zipfile.ZipFile, number: int) -> NDArray[Any]:
    member = archive.getinfo(_member(number))
    with archive.open(member) as stream:
        checked_header(stream, member.file_size, member.filename)
    with archive.open(member) as stream:
        array: NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
        stream.read()  # to the end, where the checksum is looked at
    return array


def _member(number: int) -> str:
    return f"arrays/{number}.npy"
