"""NumPy's own files: arrays mapped from disk, and archives of arrays; no pickles."""

import zipfile
from typing import IO

import numpy as np
import scipy.sparse as sp

from ufselect.data.tables.hdf5 import MOST_EXPANSION, text_of
from ufselect.data.tables.matrices import floating, matrix_parts, transposed
from ufselect.data.tables.table import File, Parts, Request, TableError
from ufselect.data.tables.variables import Reading, Variable, variable_parts

SPARSE = {"data", "shape", "format"}


def read_npy(file: File, request: Request, notes: list[str]) -> Parts:
    """Read an array; one of floats stays on disk and is mapped into memory."""
    with file.path.open("rb") as stream:
        checked_header(stream, file.path.stat().st_size, file.name)
    values = np.load(file.path, mmap_mode="r", allow_pickle=False)
    values = floating(values, request, file.name)
    if request.transpose:
        values = transposed(values)
    if isinstance(values, np.memmap):
        notes.append("The array stays on disk and is mapped into memory.")
    return matrix_parts(values, None, None, file, request, notes)


def checked_header(stream: IO[bytes], size: int, name: str) -> Variable:
    """Return shape and kind; refuse objects, and more than the file can hold."""
    version = np.lib.format.read_magic(stream)
    read = (
        np.lib.format.read_array_header_1_0
        if version == (1, 0)
        else np.lib.format.read_array_header_2_0
    )
    shape, _, kind = read(stream)
    if kind.hasobject:
        raise TableError(
            f"{name} holds Python objects (a pickle), which may run programs and are "
            "not read; save the numbers with astype(float)"
        )
    declared = int(np.prod(shape, dtype=object)) * kind.itemsize
    if declared > size - stream.tell():
        raise TableError(
            f"{name} declares an array of shape {shape}, which is more than it holds; "
            "it is cut off or damaged, so copy or save it again"
        )
    return Variable(shape, kind.kind in "fiub")


def read_npz(file: File, request: Request, notes: list[str]) -> Parts:
    """Read an archive of arrays, or a sparse matrix that SciPy saved."""
    with zipfile.ZipFile(file.path) as archive:
        variables = _variables(archive, file.name)
    if set(variables) >= SPARSE:
        values = floating(sp.load_npz(file.path), request, file.name)
        values = transposed(values) if request.transpose else values
        return matrix_parts(values, None, None, file, request, notes)
    with np.load(file.path, allow_pickle=False) as arrays:
        reading = Reading(
            variables, arrays.__getitem__, lambda key: text_of(arrays[key])
        )
        return variable_parts(reading, file, request, notes)


def _variables(archive: zipfile.ZipFile, name: str) -> dict[str, Variable]:
    """Return what the archive says of every array; refuse what it cannot hold."""
    found = {}
    for member in archive.infolist():
        if not member.filename.endswith(".npy"):
            continue
        key = member.filename.removesuffix(".npy")
        size = min(member.file_size, MOST_EXPANSION * (member.compress_size + 1024))
        with archive.open(member) as stream:
            found[key] = checked_header(stream, size, f"{key!r} in {name}")
    return found
