"""The catalogue of public research data with classes."""

import hashlib
import os
import tomllib
from collections.abc import Iterable
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ufselect._names import similar
from ufselect.data.tables.reading import read_table

FOLDER_VARIABLE = "UFSELECT_DATA"


class CataloguedSet(NamedTuple):
    """A public data set: its shape, its file's checksum, and addresses of the file.

    ``checksum`` is ``sha256:<digest>`` or ``git-blob:<id>``. ``addresses`` is empty
    if no public file has that checksum; you then have to get the data from ``source``
    and put them into a folder.
    """

    name: str
    domain: str
    n_samples: int
    n_features: int
    n_classes: int
    checksum: str
    source: str
    addresses: tuple[str, ...] = ()
    size: int | None = None

    @property
    def file_name(self) -> str:
        """Name of the file, in the cache and in a folder of data."""
        return f"{self.name}.mat"


def catalogued_sets() -> dict[str, CataloguedSet]:
    """Return the catalogue: every set by its name.

    Examples
    --------
    >>> from ufselect.data import catalogued_sets
    >>> lung = catalogued_sets()["lung"]
    >>> lung.n_samples, lung.n_features, lung.n_classes
    (203, 3312, 5)
    """
    return {
        row["name"]: CataloguedSet(**{**row, "addresses": tuple(row["addresses"])})
        for row in _rows()
    }


def _rows() -> Any:
    text = files("ufselect.data").joinpath("catalogue.toml").read_text("utf-8")
    return tomllib.loads(text)["set"]


def unknown_name(name: str, local_names: Iterable[str] = ()) -> ValueError:
    """Return the error for a name that is neither in the catalogue nor a local file."""
    near = " or ".join(similar(name, sorted({*catalogued_sets(), *local_names})))
    remedy = f"did you mean {near}?" if near else "ufselect datasets lists the names"
    return ValueError(f"there is no data set {name!r}; {remedy}")


def has_checksum(path: Path, checksum: str) -> bool:
    """Tell whether a file has a checksum of the catalogue.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "empty")
    ...     path.touch()
    ...     has_checksum(path, "git-blob:e69de29bb2d1d6434b8b29ae775ad8c2e48c5391")
    True
    """
    kind, _, expected = checksum.partition(":")
    if kind == "sha256":
        digest = hashlib.sha256()
    else:
        # Git identifies a file by the SHA-1 of this header and its content.
        header = f"blob {path.stat().st_size}\0".encode()
        digest = hashlib.sha1(header, usedforsecurity=False)
    with path.open("rb") as file:
        hashlib.file_digest(file, lambda: digest)
    return digest.hexdigest() == expected


class LabelledSet(NamedTuple):
    """A table (dense float array or CSR) and its classes, for evaluation only."""

    name: str
    table: Any
    classes: NDArray[np.intp]


def data_folder() -> Path | None:
    """Return the folder of research data, or None if there is none.

    The environment variable ``UFSELECT_DATA`` names it; in a source checkout it can be
    ``../shared/data``, too.
    """
    named = os.environ.get(FOLDER_VARIABLE)
    if named:
        folder = Path(named)
        if not folder.is_dir():
            raise ValueError(
                f"{FOLDER_VARIABLE}={named} is not a folder; set it to the folder of "
                "the .mat files, or unset it"
            )
        return folder
    beside = Path(__file__).resolve().parents[4] / "shared" / "data"
    return beside if beside.is_dir() else None


def read_labelled(path: Path) -> LabelledSet:
    """Read a MATLAB file with a matrix ``X`` (samples in rows) and labels ``Y``."""
    if not path.is_file():
        raise ValueError(
            f"{path} is not a file; set {FOLDER_VARIABLE} to the folder of the data"
        )
    table = read_table(path, variable="X", labels="Y", isolate=True)
    # Methods compute in float64.
    make = sp.csr_array if sp.issparse(table.values) else np.ascontiguousarray
    labels: Any = table.labels
    with suppress(ValueError):
        labels = labels.astype(np.float64)
    classes = np.unique(labels, return_inverse=True)[1]
    return LabelledSet(path.stem, make(table.values, dtype=np.float64), classes)
