"""What a long work has reached, in a file from which it can go on."""

import hashlib
import io
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

# Under this name a file says what it belongs to.
KEY = "belongs_to"

# A file begins with these words and the digest of all that follows.
OPENING = b"ufselect checkpoint sha256 "


class Checkpoint:
    """A file with arrays, written whole or not at all, that knows its owner.

    Parameters
    ----------
    path : Path
    inputs : iterable
        All that the work depends on: numbers, text and arrays. A file that was written
        for other inputs is refused.
    names : collection of str
        What a file has to hold.

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
                f"checkpoint={str(path)!r} is in a folder that does not exist; make "
                f"{str(path.parent)!r} first."
            )

    def write(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Replace what the file holds."""
        named: dict[str, Any] = {KEY: np.array(self.key), **arrays}
        content = io.BytesIO()
        np.savez(content, **named)
        digest = hashlib.sha256(content.getbuffer()).hexdigest().encode()
        with replacing(self.path) as part, part.open("wb") as stream:
            stream.write(OPENING + digest + b"\n")
            stream.write(content.getbuffer())

    def read(self) -> Arrays | None:
        """Return what the file holds, or None if there is no file.

        Raises an error if it holds anything else than was written, or lacks a name.
        """
        if not self.path.exists():
            return None
        try:
            arrays = self._content()
        except Exception as error:  # NumPy trusts a file, and fails in many ways
            raise ValueError(
                f"checkpoint={str(self.path)!r} cannot be read ({reason_of(error)}); "
                "delete it to start anew."
            ) from error
        if str(arrays.pop(KEY, "")) != self.key:
            raise ValueError(
                f"checkpoint={str(self.path)!r} belongs to another fit: X or the "
                "parameters were others; delete it or give another path."
            )
        if missing := sorted(set(self.names) - set(arrays)):
            raise ValueError(
                f"checkpoint={str(self.path)!r} cannot be read (it has no "
                f"{', '.join(missing)}); delete it to start anew."
            )
        return arrays

    def _content(self) -> Arrays:
        # A pipe would wait for a writer for ever, and a device never ends.
        if not stat.S_ISREG(self.path.stat().st_mode):
            raise ValueError("it is not a file")
        with self.path.open("rb") as stream:
            opening = stream.readline(len(OPENING) + 65)
            if not opening.startswith(OPENING):
                raise ValueError("it is not a checkpoint of this version")
            start = stream.tell()
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
            if opening[len(OPENING) :].strip() != digest.encode():
                raise ValueError("it was damaged or changed after it was written")
            stream.seek(start)
            with zipfile.ZipFile(stream) as archive:
                # What was not compressed takes no more memory than it does on disk.
                if any(each.compress_type for each in archive.infolist()):
                    raise ValueError("it is compressed, which a checkpoint never is")
            stream.seek(start)
            return dict(np.load(stream, allow_pickle=False))

    def remove(self) -> None:
        """Delete the file, once nobody needs it."""
        self.path.unlink(missing_ok=True)


def fingerprint(inputs: Iterable[Any]) -> str:
    """Return a text that is the same for the same inputs and no others.

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
