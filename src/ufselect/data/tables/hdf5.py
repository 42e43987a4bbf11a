"""HDF5 files, on which AnnData and newer MATLAB files are built."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ufselect.data.tables.packages import needed
from ufselect.data.tables.table import TableError

# No compressor of HDF5 makes more of one byte, but for constant data.
MOST_EXPANSION = 1100


@contextmanager
def opened_hdf5(path: Path, name: str, mode: str = "r") -> Iterator[Any]:
    """Open an HDF5 file."""
    with needed("h5py", name).File(path, mode) as file:
        refuse_links(file, name)
        yield file


def array_of(dataset: Any, name: str) -> Any:
    """Return what a dataset holds, if the file is large enough to hold it."""
    _refuse_other_files(dataset, name)
    declared = int(np.prod(dataset.shape, dtype=object)) * dataset.dtype.itemsize
    if declared > MOST_EXPANSION * (dataset.id.get_storage_size() + 1024):
        raise TableError(
            f"{name} declares an array of shape {dataset.shape}, which is more than "
            "the file holds; export it again"
        )
    return dataset[()]


def _refuse_other_files(dataset: Any, name: str) -> None:
    """Refuse numbers of other files of this machine, to which HDF5 can refer.

    Who opens a file from somebody else would otherwise show what is in their own.
    """
    if dataset.is_virtual or dataset.external:
        raise _refers_elsewhere(name, dataset.name)


def refuse_links(group: Any, name: str) -> None:
    """Refuse links to other files, wherever they are in a file."""
    external = needed("h5py", name).ExternalLink

    def outside(path: str, link: Any) -> str | None:
        return path if isinstance(link, external) else None

    found = group.visititems_links(outside)  # stops at the first that is not None
    if found is not None:
        raise _refers_elsewhere(name, found)


def _refers_elsewhere(name: str, path: str) -> TableError:
    return TableError(
        f"{name} refers to another file for {path!r}; copy the numbers into one file"
    )


def text_of(values: Any) -> list[str]:
    """Return an array of HDF5 as text: bytes are UTF-8, whole numbers have no point.

    Examples
    --------
    >>> import numpy as np
    >>> text_of(np.array([b"a", b"b"])), text_of(np.array([1.0, 2.0]))
    (['a', 'b'], ['1', '2'])
    """
    cells = np.asarray(values).ravel()
    if cells.dtype.kind == "U":
        _check_characters(cells)
    return [_text(value) for value in cells.tolist()]


def _check_characters(cells: Any) -> None:
    """Refuse numbers that are no characters: Python trusts NumPy to have none."""
    native = cells.astype(cells.dtype.newbyteorder("="))
    if native.nbytes and native.view(np.uint32).max() > sys.maxunicode:
        raise ValueError("text in it has characters that there are not")


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
