"""MATLAB files: up to version 7 by SciPy, version 7.3 by h5py."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.io import loadmat, whosmat

from ufselect.data.tables.hdf5 import (
    MOST_EXPANSION,
    array_of,
    opened_hdf5,
    text_of,
)
from ufselect.data.tables.matlab_elements import check_types
from ufselect.data.tables.table import File, Parts, Request, TableError
from ufselect.data.tables.variables import Reading, Variable, variable_parts

HDF5 = b"MATLAB 7.3 MAT-file"
HDF5_MAGIC = b"\x89HDF\r\n\x1a\n"
NUMERIC = {"double", "single", "logical", "sparse"}
NUMERIC |= {f"{sign}int{size}" for sign in ("", "u") for size in (8, 16, 32, 64)}


def read_matlab(file: File, request: Request, notes: list[str]) -> Parts:
    """Read a matrix of a MATLAB file, of any version."""
    with file.path.open("rb") as stream:
        start = stream.read(len(HDF5))
    if start.startswith((HDF5, HDF5_MAGIC)):
        with opened_hdf5(file.path, file.name) as content:
            return variable_parts(_reading(content, file), file, request, notes)
    return variable_parts(_older(file), file, request, notes)


def _older(file: File) -> Reading:
    check_types(file.path, file.name)
    most = MOST_EXPANSION * file.path.stat().st_size
    variables = {}
    for name, shape, kind in whosmat(file.path):
        size = int(np.prod(shape, dtype=object))
        if size > most and kind != "sparse":
            raise TableError(
                f"{file.name} declares {name!r} of shape {shape}, which is more than "
                "the file holds; export it again"
            )
        variables[name] = Variable(shape, kind in NUMERIC)

    def load(name: str) -> Any:
        return loadmat(file.path, variable_names=[name])[name]

    return Reading(variables, load, lambda name: _strings(load(name)))


def _strings(values: Any) -> list[str]:
    """Return a vector of numbers, of characters, or of cells as text."""
    if values.dtype.kind == "O":
        cells = (np.asarray(cell).ravel() for cell in values.ravel())
        return [text_of(cell)[0] if cell.size else "" for cell in cells]
    if values.dtype.kind == "U":
        return [str(value).strip() for value in values.ravel()]
    return text_of(values)


def _reading(content: Any, file: File) -> Reading:
    variables = {
        name: Variable(_shape(content[name]), _kind(content[name]) in NUMERIC)
        for name in content
        if not name.startswith("#")
    }
    return Reading(
        variables,
        lambda name: _numbers(content[name], file.name),
        lambda name: _hdf5_strings(content, name, file.name),
    )


def _kind(item: Any) -> str:
    """Return the MATLAB class; files of other programs have plain numbers."""
    kind = item.attrs.get("MATLAB_class", b"")
    if not len(kind) and hasattr(item, "dtype"):
        return "double" if item.dtype.kind in "fiub" else "other"
    return kind.decode() if isinstance(kind, bytes) else str(kind)


def _shape(item: Any) -> tuple[int, ...]:
    """Return the shape in MATLAB, which stores columns first."""
    if "MATLAB_sparse" in item.attrs:
        return int(item.attrs["MATLAB_sparse"]), len(item["jc"]) - 1
    if not hasattr(item, "shape"):
        return ()
    return tuple(reversed(item.shape))


def _numbers(item: Any, name: str) -> Any:
    if "MATLAB_sparse" not in item.attrs:
        return array_of(item, name).T
    n_rows, n_columns = _shape(item)
    shape = n_rows, n_columns
    if "data" not in item:  # no entry at all
        return sp.csc_array(shape)
    entries = (array_of(item[part], name) for part in ("data", "ir", "jc"))
    return sp.csc_array(tuple(entries), shape=shape)


def _hdf5_strings(content: Any, name: str, file_name: str) -> list[str]:
    """Return a vector, or cells, each of which refers to an array of characters."""
    item = content[name]
    values = array_of(item, file_name)
    if values.dtype.kind != "O":
        return text_of(values)
    cells = (array_of(content[cell], file_name) for cell in values.ravel())
    return ["".join(map(chr, cell.ravel())) for cell in cells]
