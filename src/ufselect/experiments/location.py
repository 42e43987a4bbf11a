"""Where the data sets of a plan are, and which are not to be had."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ufselect.data import DataUnavailableError, fetch


@dataclass(frozen=True)
class Located:
    """The files of the sets that are there, and a reason for each that is not."""

    paths: Mapping[str, Path]
    absent: Mapping[str, str]

    def fingerprints(self) -> dict[str, str]:
        """Return a hash of the content of each file."""
        return {
            name: hashlib.sha256(path.read_bytes()).hexdigest()
            for name, path in self.paths.items()
        }


def locate(sets: Iterable[str], folder: Path | None = None) -> Located:
    """Find each set in the folder, in the cache or at its public address."""
    paths, absent = {}, {}
    for name in sets:
        try:
            paths[name] = fetch(name, folder)
        except DataUnavailableError as error:
            absent[name] = str(error)
    return Located(paths, absent)
