"""Read matrices: NumPy, MATLAB up to version 7, Matrix Market."""

import csv
import struct
import sys
import zipfile
from collections.abc import Callable, Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp

from ufselect._sparse import check_sparse
from ufselect.data.tables.columns import assembled
from ufselect.data.tables.detection import Spool, check_size, compression_of, opened
from ufselect.data.tables.table import (
    File,
    Remedy,
    Request,
    Table,
    TableError,
    is_sparse,
    listed,
    place_of,
)

# HDF5, MATLAB and zip expand a byte to more than this only for constant data.
MAX_EXPANSION = 1100
# A larger NumPy array is memory-mapped.
MAX_BYTES_AT_ONCE = 1 << 28
USUAL = ("X", "x", "fea", "features", "data", "Data", "matrix", "A", "table")
FEATURE_NAMES = ("feature_names", "features", "names", "columns", "genes", "var_names")
SAMPLE_NAMES = ("sample_names", "samples", "index", "ids", "rows", "obs_names")
FEATURE_FILES = ("features", "genes")
SAMPLE_FILES = ("barcodes", "cells", "samples")
MATLAB_NUMBERS = {"double", "single", "logical", "sparse"}
MATLAB_NUMBERS |= {f"{sign}int{size}" for sign in ("", "u") for size in (8, 16, 32, 64)}
# MATLAB files up to version 7: header, byte orders, types of elements.
HEADER_BYTES = 128
BYTE_ORDERS = {b"IM": "<", b"MI": ">"}
MATRIX_ELEMENT = 14
DATA_ELEMENTS = {1, 2, 3, 4, 5, 6, 7, 9, 12, 13, 16, 17, 18}  # the rest is reserved


class Variable(NamedTuple):
    """Shape and kind of a variable, before it is read."""

    shape: tuple[int, ...]
    numeric: bool
    kind: str = ""


class MatrixReading(NamedTuple):
    """The variables of a file, and functions that read one as numbers or text."""

    variables: Mapping[str, Variable]
    numbers: Callable[[str], Any]
    text: Callable[[str], list[str]]


def floating(
    values: Any, request: Request, name: str, *, transpose: bool | None = False
) -> Any:
    """Return numbers as float64 or float32, sparse ones as CSR, maybe transposed."""
    if values.ndim != 2:
        raise TableError(
            f"{name} holds an array of shape {values.shape}, which is not a table; "
            "save an array with a row per sample and a column per feature"
        )
    if values.dtype.kind not in "fiub":
        raise TableError(
            f"{name} holds values of type {values.dtype}, which are not numbers; save "
            "them as floats"
        )
    kind = values.dtype
    if kind not in (np.float64, np.float32) or not kind.isnative:
        kind = request.dtype
    if is_sparse(values):
        try:
            check_sparse(values, name)
        except ValueError as error:
            raise TableError(str(error)) from error
        return sp.csr_array(values.T if transpose else values, dtype=kind)
    if transpose:
        return np.ascontiguousarray(values.T, dtype=kind)
    if isinstance(values, np.memmap) and values.dtype == kind:
        return values
    return np.ascontiguousarray(values, dtype=kind)


def text_of(values: Any) -> list[str]:
    """Return an array as text: bytes are UTF-8, whole numbers have no point.

    Examples
    --------
    >>> import numpy as np
    >>> text_of(np.array([b"a", b"b"])), text_of(np.array([1.0, 2.0]))
    (['a', 'b'], ['1', '2'])
    """
    cells = np.asarray(values).ravel()
    if cells.dtype.kind == "U":
        # Python does not check that the numbers in the array are characters.
        native = cells.astype(cells.dtype.newbyteorder("="))
        if native.nbytes and native.view(np.uint32).max() > sys.maxunicode:
            raise ValueError("it has text of invalid characters")
    return [_text(value) for value in cells.tolist()]


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def variable_parts(
    reading: MatrixReading, file: File, request: Request, notes: list[str]
) -> Table:
    """Read the table among variables, and the names and labels beside it."""
    key = chosen_variable(reading.variables, request.variable, file)
    notes.append(f"Variable {key!r} is the table.")
    name, numbers = f"{key!r} in {file.name}", reading.numbers(key)
    values = floating(numbers, request, name, transpose=request.transpose)
    n_samples, n_features = values.shape
    names, names_key = _usual_names(reading, FEATURE_NAMES, n_features, key)
    samples, samples_key = _usual_names(reading, SAMPLE_NAMES, n_samples, key)
    if request.id_column is not None:
        samples_key = request.id_column
        samples = _named_variable(reading, request.id_column, n_samples, file)
    labels, groups = (
        None if name is None else _named_variable(reading, name, n_samples, file)
        for name in (request.labels, request.groups)
    )
    columns = request._replace(labels=None, id_column=None, groups=None)
    return assembled(
        *(values, names, samples, file, columns, notes),
        details={"variable": key, "names": names_key, "samples": samples_key},
        id_column=samples_key,
        labels=labels,
        label_column=request.labels,
        groups=groups,
    )


def chosen_variable(
    variables: Mapping[str, Variable], wanted: str | None, file: File
) -> str:
    """Return the name of the variable that is the table, by its name and shape.

    Examples
    --------
    >>> from pathlib import Path
    >>> file = File(Path("a.mat"), None, "a.mat")
    >>> labels, matrix = Variable((5, 1), True), Variable((5, 4), True)
    >>> chosen_variable({"Y": labels, "M": matrix}, None, file)
    'M'
    """
    if wanted is not None:
        return list(variables)[place_of(wanted, list(variables), file.name, "variable")]
    tables = [
        name
        for name, each in variables.items()
        if each.numeric and len(each.shape) == 2 and min(each.shape) > 0
    ]
    if not tables:
        kinds = [f"{n} ({each.kind or 'text'})" for n, each in variables.items()]
        held = f", only {listed(kinds)}" if kinds else ""
        raise TableError(
            f"{file.name} has no matrix of numbers{held}; save the matrix as a "
            "variable of its own"
        )
    for usual in USUAL:
        if usual in tables:
            return usual
    wide = [name for name in tables if min(variables[name].shape) > 1] or tables
    if len(wide) > 1:
        raise TableError(
            f"{file.name} has several matrices, {listed(wide)}; say which one with "
            f"--variable {wide[0]}",
            [Remedy(f"Read {each!r}", (f"--variable={each}",)) for each in wide],
        )
    return wide[0]


def _usual_names(
    reading: MatrixReading, usual: Sequence[str], length: int, table: str
) -> tuple[list[str] | None, str | None]:
    """Return the names in a variable with a usual name and the right length."""
    for key in usual:
        variable = reading.variables.get(key)
        if variable is None or variable.numeric or key == table:
            continue
        names = reading.text(key)
        if len(names) == length:
            return names, key
    return None, None


def _named_variable(
    reading: MatrixReading, wanted: str, length: int, file: File
) -> list[str]:
    """Return the variable asked for, which has a value for each sample."""
    known = list(reading.variables)
    values = reading.text(known[place_of(wanted, known, file.name, "variable")])
    if len(values) != length:
        raise TableError(
            f"{file.name} has {len(values)} values in {wanted!r} for {length} samples; "
            "give a variable with one for each, or transpose the table (--transpose)"
        )
    return values


def read_npy(file: File, request: Request, notes: list[str]) -> Table:
    """Read an array; a large one of floats is memory-mapped."""
    size = file.path.stat().st_size
    with file.path.open("rb") as stream:
        checked_header(stream, size, file.name)
    # If a mapped file shrinks, the process crashes: map large ones only.
    mode: Literal["r"] | None = "r" if size > MAX_BYTES_AT_ONCE else None
    values = np.load(file.path, mmap_mode=mode, allow_pickle=False)
    values = floating(values, request, file.name, transpose=request.transpose)
    if isinstance(values, np.memmap):
        notes.append("The array stays on disk (memory-mapped).")
    return assembled(values, None, None, file, request, notes)


def checked_header(stream: IO[bytes], size: int, name: str) -> Variable:
    """Return shape and kind; refuse objects, and arrays larger than the file."""
    version = np.lib.format.read_magic(stream)
    read = (
        np.lib.format.read_array_header_1_0
        if version == (1, 0)
        else np.lib.format.read_array_header_2_0
    )
    shape, _, kind = read(stream)
    if kind.hasobject:
        raise TableError(
            f"{name} holds Python objects (a pickle), which can run any program; save "
            "the numbers with astype(float)"
        )
    declared = int(np.prod(shape, dtype=object)) * kind.itemsize
    if declared > size - stream.tell():
        raise TableError(
            f"{name} declares an array of shape {shape}, which is more than it holds; "
            "it is cut off or damaged, so copy or save it again"
        )
    return Variable(shape, kind.kind in "fiub")


def read_npz(file: File, request: Request, notes: list[str]) -> Table:
    """Read an archive of arrays, or a sparse matrix saved by SciPy."""
    variables = {}
    with zipfile.ZipFile(file.path) as archive:
        for member in archive.infolist():
            key, dot, _ = member.filename.rpartition(".npy")
            if dot:
                packed = MAX_EXPANSION * (member.compress_size + 1024)
                check_size(member.file_size, member.compress_size, file)
                with archive.open(member) as stream:
                    variables[key] = checked_header(
                        stream, min(member.file_size, packed), f"{key!r} in {file.name}"
                    )
    if set(variables) >= {"data", "shape", "format"}:
        matrix, transpose = sp.load_npz(file.path), request.transpose
        values = floating(matrix, request, file.name, transpose=transpose)
        return assembled(values, None, None, file, request, notes)
    with np.load(file.path, allow_pickle=False) as arrays:
        reading = MatrixReading(
            variables, arrays.__getitem__, lambda key: text_of(arrays[key])
        )
        return variable_parts(reading, file, request, notes)


def read_older_matlab(file: File, request: Request, notes: list[str]) -> Table:
    """Read a matrix of a MATLAB file of version 4 to 7."""
    from scipy.io import loadmat, whosmat  # take half a second to import

    check_matlab_elements(file.path, file.name)
    most = MAX_EXPANSION * file.path.stat().st_size
    variables = {}
    for name, shape, kind in whosmat(file.path):
        if int(np.prod(shape, dtype=object)) > most and kind != "sparse":
            raise TableError(
                f"{file.name} declares {name!r} of shape {shape}, which is more than "
                "the file holds; export it again"
            )
        variables[name] = Variable(shape, kind in MATLAB_NUMBERS, kind)

    def load(name: str) -> Any:
        shape, _, kind = variables[name]
        size = 0 if kind == "sparse" else int(np.prod(shape, dtype=object))
        check_size(np.dtype(np.float64).itemsize * size, file.path.stat().st_size, file)
        return loadmat(file.path, variable_names=[name])[name]

    reading = MatrixReading(variables, load, lambda name: _matlab_strings(load(name)))
    return variable_parts(reading, file, request, notes)


def _matlab_strings(values: Any) -> list[str]:
    """Return a vector of numbers, characters or cells as text."""
    if values.dtype.kind == "O":
        cells = (np.asarray(cell).ravel() for cell in values.ravel())
        return [text_of(cell)[0] if cell.size else "" for cell in cells]
    if values.dtype.kind == "U":
        return [str(value).strip() for value in values.ravel()]
    return text_of(values)


def check_matlab_elements(path: Path, name: str) -> None:
    """Refuse a file with an element of an unknown type, which crashes SciPy.

    Compressed elements need no check: they have a checksum.
    """
    with path.open("rb") as stream:
        order = BYTE_ORDERS.get(stream.read(HEADER_BYTES)[-2:])
        # Version 4 has neither this header nor these elements.
        while order is not None and (tag := _matlab_tag(stream, order)) is not None:
            kind, size = tag
            end = stream.tell() + size
            # The parts of matrices in a matrix follow as if they were its own.
            while kind == MATRIX_ELEMENT and stream.tell() < end:
                if (tag := _matlab_tag(stream, order)) is None:
                    break
                part, part_size = tag
                if part == MATRIX_ELEMENT:
                    continue
                if part not in DATA_ELEMENTS:
                    raise TableError(
                        f"{name} is cut off or damaged (at byte {stream.tell() - 8} "
                        f"there is an element of the unknown type {part}); copy, "
                        "download or save it again"
                    )
                stream.seek(-part_size % 8 + part_size, 1)
            stream.seek(end)


def _matlab_tag(stream: BinaryIO, order: str) -> tuple[int, int] | None:
    """Return the type of the next element and the number of bytes after its tag."""
    content = stream.read(8)
    if len(content) < 8:
        return None
    kind, size = struct.unpack(f"{order}II", content)
    # A small element has its size and its content in the tag.
    return (kind & 0xFFFF, 0) if kind >> 16 else (kind, size)


def read_matrix_market(file: File, request: Request, notes: list[str]) -> Table:
    """Read a matrix, sparse or not; files of names beside it tell what rows are."""
    from scipy.io import mmread  # takes half a second to import

    spool = None
    if file.compression is not None:
        # SciPy's reader of streams can crash the process.
        with opened(file) as stream:
            spool = Spool(stream, file.name)
    path = file.path if spool is None else spool.path
    _check_matrix_market(path, file.name)
    matrix = mmread(path)
    features, samples = (
        names_beside(file.path, kinds) for kinds in (FEATURE_FILES, SAMPLE_FILES)
    )
    transpose, (n_rows, n_columns) = request.transpose, matrix.shape
    if transpose is None:
        # Whether the names fit only if rows are features.
        fits = n_rows != n_columns if samples is None else len(samples) == n_columns
        transpose = features is not None and len(features) == n_rows and fits
    values = floating(matrix, request, file.name, transpose=transpose)
    if transpose:
        notes.append("The table was transposed: its columns are samples.")
    if len(samples or []) != values.shape[0]:
        samples = None
    if len(features or []) != values.shape[1]:
        features = None
    if features is not None:
        notes.append("Feature names come from a file beside the matrix.")
    details = {"transposed": transpose}
    return assembled(values, features, samples, file, request, notes, details=details)


def _check_matrix_market(path: Path, name: str) -> None:
    """Refuse files that crash SciPy's reader, and with it the process."""
    from scipy.io import mminfo

    last = b""
    with path.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            last = chunk[-1:]
            if b"\0" in chunk:
                raise ValueError("it has NUL bytes")
    if last not in b"0123456789. \t\r\n":
        raise ValueError(f"it ends with {last!r}, not with a number")
    n_rows, n_columns, n_entries, layout, _, _ = mminfo(path)
    size = path.stat().st_size
    shortest = 2 if layout == "array" else 4
    if shortest * n_entries > size + 4 or n_rows + n_columns > 1000 * size:
        raise TableError(
            f"{name} declares {n_rows} x {n_columns} with {n_entries} entries, which "
            "is more than it holds; it is cut off or damaged, so copy it again"
        )


def names_beside(path: Path, kinds: Sequence[str]) -> list[str] | None:
    """Return the names in a file beside a matrix.

    The second column counts if there is one: 10x Genomics has identifiers in the first
    and gene symbols in the second.
    """
    for candidate in (each for kind in kinds for each in name_files(path, kind)):
        if candidate.is_file():
            name = str(candidate)
            file = File(candidate, compression_of(candidate, name), name)
            with (
                opened(file) as stream,
                TextIOWrapper(stream, encoding="utf-8") as text,
            ):
                rows = [row for row in csv.reader(text, delimiter="\t") if row]
            return [row[1] if len(row) > 1 else row[0] for row in rows]
    return None


def name_files(path: Path, kind: str) -> list[Path]:
    """Return where the names may be: files with the same prefix, or with none.

    Examples
    --------
    >>> from pathlib import Path
    >>> [path.name for path in name_files(Path("GSM1_matrix.mtx.gz"), "genes")[:2]]
    ['GSM1_genes.tsv', 'GSM1_genes.tsv.gz']
    """
    stem = path.name.split(".mtx")[0]
    before = stem.removesuffix("matrix")
    if before and before[-1] not in "_-.":
        before += "_"
    return [
        path.with_name(f"{start}{kind}{ending}")
        for start in dict.fromkeys((before, ""))
        for ending in (".tsv", ".tsv.gz", ".txt", ".txt.gz")
    ]
