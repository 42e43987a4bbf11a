"""What a long work has reached, in a file from which it can go on."""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.data.replacing import replacing
from ufselect.data.tables.damage import LONGEST_REASON, READING_FAILS

Arrays = dict[str, NDArray[Any]]

# Under this name a file says what it belongs to.
KEY = "belongs_to"


class Checkpoint:
    """A file with arrays, written whole or not at all, that knows its owner.

    Parameters
    ----------
    path : Path
    inputs : iterable
        All that the work depends on: numbers, text and arrays. A file that was written
        for other inputs is refused.

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

    def __init__(self, path: Path, inputs: Iterable[Any]) -> None:
        self.path = path
        self.key = fingerprint(inputs)
        if not path.parent.is_dir():
            raise ValueError(
                f"checkpoint={str(path)!r} is in a folder that does not exist; make "
                f"{str(path.parent)!r} first."
            )

    def write(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Replace what the file holds."""
        named: dict[str, Any] = {KEY: np.array(self.key), **arrays}
        with replacing(self.path) as part, part.open("wb") as stream:
            np.savez(stream, **named)

    def read(self) -> Arrays | None:
        """Return what the file holds, or None if there is no file."""
        if not self.path.exists():
            return None
        try:
            with self.path.open("rb") as stream:
                arrays = dict(np.load(stream, allow_pickle=False))
        except (*READING_FAILS, MemoryError) as error:
            reason = " ".join(str(error).split())[:LONGEST_REASON]
            raise ValueError(
                f"checkpoint={str(self.path)!r} cannot be read ({reason}); delete it "
                "to start anew."
            ) from error
        if str(arrays.pop(KEY, "")) != self.key:
            raise ValueError(
                f"checkpoint={str(self.path)!r} belongs to another fit: X or the "
                "parameters were others; delete it or give another path."
            )
        return arrays

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
