"""Read matrices: NumPy, MATLAB up to version 7, Matrix Market."""

import csv
import math
import zipfile
from collections.abc import Callable, Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

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
# Usual names of the table, of feature names and of sample names.
USUAL = ("X", "x", "fea", "features", "data", "Data", "matrix", "A", "table")
FEATURE_NAMES = ("feature_names", "features", "names", "columns", "genes", "var_names")
SAMPLE_NAMES = ("sample_names", "samples", "index", "ids", "rows", "obs_names")
FEATURE_FILES = ("features", "genes")
SAMPLE_FILES = ("barcodes", "cells", "samples")
# Arrays of a sparse matrix in an archive, in any of SciPy's formats.
SPARSE_PARTS = {"_is_array", "format", "shape", "data"}
SPARSE_PARTS |= {"indices", "indptr", "row", "col", "offsets"}
MATLAB_NUMBERS = {"double", "single", "logical", "sparse"}
MATLAB_NUMBERS |= {f"{sign}int{size}" for sign in ("", "u") for size in (8, 16, 32, 64)}


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


def too_large(name: str, shape: Sequence[int]) -> TableError:
    """Return the error for an array that declares more than its file holds."""
    return TableError(
        f"{name} declares an array of shape {tuple(shape)}, which is more than it "
        "holds; it is cut off or damaged, so copy or save it again"
    )


def check_declared(
    shape: Sequence[int],
    itemsize: int,
    stored: int,
    file: File,
    name: Callable[[], str],
) -> None:
    """Refuse an array whose stored bytes cannot hold it, or that does not fit here.

    ``name()`` returns its name, for which HDF5 may have to search the whole file.
    """
    declared = math.prod(map(int, shape)) * itemsize
    if declared > MAX_EXPANSION * (stored + 1024):
        raise too_large(name(), shape)
    check_size(declared, stored, file)


def text_of(values: Any) -> list[str]:
    """Return an array as text: bytes are UTF-8, whole numbers have no point.

    Examples
    --------
    >>> import numpy as np
    >>> text_of(np.array([b"a", b"b"])), text_of(np.array([1.0, 2.0]))
    (['a', 'b'], ['1', '2'])
    """
    return [_text(value) for value in np.asarray(values).ravel().tolist()]


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
    key, others = chosen_variable(reading.variables, request.variable, file)
    more = f"; --variable reads {listed(others)}" if others else ""
    notes.append(f"Variable {key!r} is the table{more}.")
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
) -> tuple[str, list[str]]:
    """Return the name of the variable that is the table, and of other matrices.

    The table is the only matrix, or has a usual name and no other matrix is as large.

    Examples
    --------
    >>> from pathlib import Path
    >>> file = File(Path("a.mat"), None, "a.mat")
    >>> labels, matrix = Variable((5, 1), True), Variable((5, 4), True)
    >>> chosen_variable({"Y": labels, "M": matrix}, None, file)
    ('M', [])
    """
    if wanted is not None:
        place = place_of(wanted, list(variables), file.name, "variable")
        return list(variables)[place], []
    numeric = {
        name: each.shape
        for name, each in variables.items()
        if each.numeric and len(each.shape) == 2 and min(each.shape) > 0
    }
    if not numeric:
        kinds = [f"{n} ({each.kind or 'text'})" for n, each in variables.items()]
        held = f", only {listed(kinds)}" if kinds else ""
        raise TableError(
            f"{file.name} has no matrix of numbers{held}; save the matrix as a "
            "variable of its own"
        )
    wide = {n: shape for n, shape in numeric.items() if min(shape) > 1} or numeric
    usual = next((name for name in USUAL if name in wide), None)
    alike = [n for n in wide if usual is None or wide[n] == wide[usual]]
    if len(alike) > 1:
        raise TableError(
            f"{file.name} has several matrices, {listed(alike)}; say which one with "
            f"--variable {alike[0]}",
            [Remedy(f"Read {each!r}", (f"--variable={each}",)) for each in alike],
        )
    return alike[0], [name for name in wide if name != alike[0]]


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
    if math.prod(shape) * kind.itemsize > size - stream.tell():
        raise too_large(name, shape)
    return Variable(shape, kind.kind in "fiub")


def read_npz(file: File, request: Request, notes: list[str]) -> Table:
    """Read an archive of arrays, or a sparse matrix saved by SciPy."""
    variables = {}
    with zipfile.ZipFile(file.path) as archive:
        for member in archive.infolist():
            key, dot, _ = member.filename.rpartition(".npy")
            if dot:
                check_size(member.file_size, member.compress_size, file)
                packed = MAX_EXPANSION * (member.compress_size + 1024)
                size, name = min(member.file_size, packed), f"{key!r} in {file.name}"
                with archive.open(member) as stream:
                    variables[key] = checked_header(stream, size, name)
    with np.load(file.path, allow_pickle=False) as arrays:
        read: Callable[[str], Any] = arrays.__getitem__
        if set(variables) >= {"data", "shape", "format"}:
            matrix = sp.load_npz(file.path)
            rest = [name for name in variables if name not in SPARSE_PARTS]
            variables = {name: variables[name] for name in rest}
            variables["X"] = Variable(matrix.shape, True)
            read = {"X": matrix}.__getitem__
        reading = MatrixReading(variables, read, lambda key: text_of(arrays[key]))
        return variable_parts(reading, file, request, notes)


def read_older_matlab(file: File, request: Request, notes: list[str]) -> Table:
    """Read a matrix of a MATLAB file of version 4 to 7."""
    from scipy.io import loadmat, whosmat  # take half a second to import

    variables = {
        name: Variable(shape, kind in MATLAB_NUMBERS, kind)
        for name, shape, kind in whosmat(file.path)
    }

    def load(name: str) -> Any:
        shape, _, kind = variables[name]
        if kind != "sparse":
            size = file.path.stat().st_size
            check_declared(shape, 1, size, file, lambda: f"{name!r} in {file.name}")
            check_size(8 * math.prod(map(int, shape)), size, file)
        return loadmat(file.path, variable_names=[name])[name]

    reading = MatrixReading(variables, load, lambda name: _matlab_strings(load(name)))
    return variable_parts(reading, file, request, notes)


def _matlab_strings(values: Any) -> list[str]:
    """Return a vector of numbers, characters or cells as text."""
    if values.dtype.kind == "O":
        cells = (np.asarray(cell).ravel() for cell in values.ravel())
        return [text_of(cell)[0] if cell.size else "" for cell in cells]
    return [text.strip() for text in text_of(values)]


def read_matrix_market(file: File, request: Request, notes: list[str]) -> Table:
    """Read a matrix, sparse or not; files of names beside it tell what rows are."""
    from scipy.io import mminfo, mmread  # take half a second to import

    spool = None
    if file.compression is not None:
        # SciPy's reader of streams can crash the process.
        with opened(file) as stream:
            spool = Spool(stream, file.name)
    path = file.path if spool is None else spool.path
    _check_numbers_end(path)
    n_rows, n_columns, n_entries, layout, _, _ = mminfo(path)
    size, shortest = path.stat().st_size, 2 if layout == "array" else 4
    if shortest * n_entries > size + 4 or n_rows + n_columns > 1000 * size:
        raise too_large(file.name, (n_rows, n_columns))
    matrix = mmread(path)
    features, samples = (
        names_beside(file.path, kinds) for kinds in (FEATURE_FILES, SAMPLE_FILES)
    )
    transpose = request.transpose
    if transpose is None:
        # As in files of 10x Genomics, even if as many samples would fit.
        fits = samples is None or len(samples) == n_columns
        transpose = features is not None and len(features) == n_rows and fits
    values = floating(matrix, request, file.name, transpose=transpose)
    if transpose:
        notes.append("The table was transposed: its columns are samples.")
    found, lengths = (samples, features), values.shape
    samples, features = (
        names if names is not None and len(names) == length else None
        for names, length in zip(found, lengths, strict=True)
    )
    if (samples, features) != found:
        notes.append(
            "A file of names beside the matrix does not fit it, so it is not used."
        )
    if features is not None:
        notes.append("Feature names come from a file beside the matrix.")
    details = {"transposed": transpose}
    return assembled(values, features, samples, file, request, notes, details=details)


def _check_numbers_end(path: Path) -> None:
    """Refuse NUL bytes and a number that is cut off, which crash SciPy's reader."""
    last = b""
    with path.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            last = chunk[-1:]
            if b"\0" in chunk:
                raise ValueError("it has NUL bytes")
    if last not in b"0123456789. \t\r\n":
        raise ValueError(f"it ends with {last!r}, not with a number")


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
