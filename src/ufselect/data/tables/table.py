"""A user's table in memory: numbers, names, and what was done to get them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Names = NDArray[np.str_]
BLOCK_CELLS = 1 << 22


class TableError(ValueError):
    """A file that cannot be read or written as a table: one sentence says why."""


class Request(NamedTuple):
    """What the caller of :func:`read_table` asked for, as every reader gets it."""

    labels: str | None = None
    id_column: str | None = None
    drop: tuple[str, ...] = ()
    transpose: bool | None = None
    variable: str | None = None
    sheet: str | None = None
    header: bool | None = None
    dtype: Any = np.float64


class File(NamedTuple):
    """A file to read: where it is, how it is compressed, what messages call it."""

    path: Path
    compression: str | None
    name: str


@dataclass(frozen=True, eq=False)
class Origin:
    """Where a table came from and how it was stored, for writing it the same way.

    ``details`` belongs to the format: the delimiter of a text file, the name of a
    variable, the types of columns. ``positions`` are the features' places in the
    file, where some of its columns were left out. ``holder`` keeps a temporary copy
    of standard input on disk for as long as the table is in use.
    """

    path: Path
    name: str
    compression: str | None = None
    details: dict[str, Any] = field(default_factory=dict)
    positions: NDArray[np.intp] | None = None
    holder: Any = None


@dataclass(frozen=True, eq=False)
class Table:
    """Samples in rows, features in columns, and their names.

    Attributes
    ----------
    values : ndarray, memmap or csr_array of shape (n_samples, n_features)
        Floating-point numbers. Missing cells of a dense table are NaN.
    feature_names, sample_names : ndarray of str, or None
        None where the file has no such names.
    id_column : str or None
        Name of the column that the sample names come from, which may be empty.
    labels : ndarray of str, or None
        The column asked for as labels: for evaluation only, never for selection.
    label_column : str or None
        Its name.
    format : str
        One of ``text``, ``parquet``, ``feather``, ``excel``, ``npy``, ``npz``,
        ``mat``, ``mtx`` and ``h5ad``.
    notes : tuple of str
        A sentence for everything that was detected, changed or left out.
    origin : Origin
        What :func:`write_table` needs to write the table as it was stored.
    """

    values: Any
    feature_names: Names | None
    sample_names: Names | None
    id_column: str | None
    labels: Names | None
    label_column: str | None
    format: str
    notes: tuple[str, ...]
    origin: Origin

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples and number of features."""
        n_samples, n_features = self.values.shape
        return int(n_samples), int(n_features)

    def names(self) -> Names:
        """Return the names of the features, made up where the file has none.

        Features without a name are called by their place: ``x1``, ``x2``, ...
        """
        if self.feature_names is not None:
            return self.feature_names
        return as_names([f"x{place + 1}" for place in range(self.shape[1])])

    def incomplete(self) -> Names:
        """Return the names of the features with a value that is missing or infinite.

        Selectors refuse them: drop them, or fill them in.
        """
        bad = np.zeros(self.shape[1], dtype=bool)
        step = max(1, BLOCK_CELLS // max(1, self.shape[1]))
        for start in range(0, self.shape[0], step):
            block = self.values[start : start + step]
            if bool(sp.issparse(block)):
                entries = sp.coo_array(block)
                bad[entries.col[~np.isfinite(entries.data)]] = True
            else:
                bad |= ~np.isfinite(block).all(axis=0)
        return self.names()[bad]


@dataclass(frozen=True, eq=False)
class Parts:
    """What a reader finds in a file, before it is checked and becomes a table."""

    values: Any
    feature_names: Sequence[str] | None = None
    sample_names: Sequence[str] | None = None
    id_column: str | None = None
    labels: Sequence[str] | None = None
    label_column: str | None = None
    details: dict[str, Any] = field(default_factory=dict)
    positions: Sequence[int] | None = None


def as_names(names: Any) -> Names:
    """Return names as an array of str, empty ones included.

    Halves of characters, which no file of text can hold, become question marks.
    """
    texts = (str(name).encode("utf-8", "replace").decode() for name in names)
    return np.array(list(texts), dtype=np.str_)
