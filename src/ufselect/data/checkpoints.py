"""Checkpoints: the state of a long fit in a file, from which it can continue."""

import hashlib
import stat
import zipfile
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.data.replacing import replacing
from ufselect.data.tables.isolation import reason_of

Arrays = dict[str, NDArray[Any]]

# The entry that says to which fit a file belongs.
KEY = "belongs_to"

# A file begins with these words and the digest of what follows.
OPENING = b"ufselect checkpoint sha256 "
DIGEST_LENGTH = 64


class Checkpoint:
    """A file with the arrays of one fit, written completely or not at all.

    Parameters
    ----------
    path : Path
    inputs : iterable
        All that the fit depends on: numbers, text and arrays. A file that was written
        for other inputs is refused.
    names : collection of str
        Arrays that a file has to hold.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = Checkpoint(Path(folder, "fit.npz"), [7, "exact"])
    ...     before = place.read()
    ...     place.write({"reached": np.arange(3)})
    ...     after = place.read()
    >>> before, after
    (None, {'reached': array([0, 1, 2])})
    """

    def __init__(
        self, path: Path, inputs: Iterable[Any], names: Collection[str] = ()
    ) -> None:
        self.path, self.names = path, names
        self.key = fingerprint(inputs)
        if not path.parent.is_dir():
            raise ValueError(
                f"checkpoint={str(path)!r} is in a folder that does not exist; create "
                f"{str(path.parent)!r} first."
            )

    def write(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Replace the content of the file."""
        named: dict[str, Any] = {KEY: np.array(self.key), **arrays}
        write_arrays(self.path, OPENING, named)

    def read(self) -> Arrays | None:
        """Return the arrays of the file, or None if there is no file.

        Raises an error if the file is damaged, of another fit, or lacks an array.
        """
        if not self.path.exists():
            return None
        try:
            arrays = read_arrays(self.path, OPENING)
        except Exception as error:  # on a damaged file NumPy fails in many ways
            raise ValueError(
                f"checkpoint={str(self.path)!r} cannot be read ({reason_of(error)}); "
                "delete it to start again."
            ) from error
        if str(arrays.pop(KEY, "")) != self.key:
            raise ValueError(
                f"checkpoint={str(self.path)!r} belongs to a fit with another X or "
                "other parameters; delete it or give another path."
            )
        if missing := sorted(set(self.names) - set(arrays)):
            raise ValueError(
                f"checkpoint={str(self.path)!r} cannot be read (it has no "
                f"{', '.join(missing)}); delete it to start again."
            )
        return arrays

    def remove(self) -> None:
        """Delete the file when the fit is done."""
        self.path.unlink(missing_ok=True)


def write_arrays(path: Path, opening: bytes, arrays: Mapping[str, Any]) -> None:
    """Write arrays to a file that begins with ``opening`` and a digest of the rest."""
    with replacing(path) as part, part.open("w+b") as stream:
        stream.write(opening + b"0" * DIGEST_LENGTH + b"\n")
        np.savez(stream, **arrays)
        stream.seek(len(opening) + DIGEST_LENGTH + 1)
        digest = hashlib.file_digest(stream, "sha256").hexdigest().encode()
        stream.seek(len(opening))
        stream.write(digest)


def read_arrays(path: Path, opening: bytes) -> Arrays:
    """Read a file of :func:`write_arrays`; ValueError if it is damaged.

    This takes no more memory than the file: compressed arrays, and arrays that declare
    more than they hold, are refused.
    """
    from ufselect.data.tables.matrices import checked_header

    # Reading a pipe would wait forever, and a device never ends.
    if not stat.S_ISREG(path.stat().st_mode):
        raise ValueError("it is not a file")
    arrays: Arrays = {}
    with path.open("rb") as stream:
        found = stream.readline(len(opening) + DIGEST_LENGTH + 1)
        if not found.startswith(opening):
            raise ValueError(f"it does not begin with {opening.decode().strip()!r}")
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
        if found[len(opening) :].strip() != digest.encode():
            raise ValueError("it was damaged or changed after it was written")
        with zipfile.ZipFile(stream) as archive:
            for member in archive.infolist():
                if member.compress_type != zipfile.ZIP_STORED:
                    raise ValueError(f"{member.filename!r} is compressed")
                with archive.open(member) as part:
                    checked_header(part, member.file_size, member.filename)
                with archive.open(member) as part:
                    name = member.filename.removesuffix(".npy")
                    arrays[name] = np.lib.format.read_array(part, allow_pickle=False)
    return arrays


def fingerprint(inputs: Iterable[Any]) -> str:
    """Return a digest of inputs.

    Examples
    --------
    >>> fingerprint([1, "a"]) == fingerprint([1, "a"])
    True
    >>> fingerprint([1, "a"]) == fingerprint([1, np.zeros(2)])
    False
    """
    digest = hashlib.sha256()
    for value in inputs:
        if isinstance(value, np.ndarray):
            digest.update(f"{value.dtype}{value.shape}".encode())
            digest.update(np.ascontiguousarray(value).tobytes())
        else:
            digest.update(repr(value).encode())
        digest.update(b"\0")
    return digest.hexdigest()
