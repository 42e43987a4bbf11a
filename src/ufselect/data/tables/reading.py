"""A user's file of any known format becomes a table."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike

from ufselect.data.tables.apart import EndedError
from ufselect.data.tables.apart import apart as in_a_child
from ufselect.data.tables.damage import (
    damaged,
    saying_when_damaged,
    saying_when_too_large,
)
from ufselect.data.tables.detection import TITLES, detect, kind_of_hdf5
from ufselect.data.tables.sources import Source, Spool, compression_of, located, opened
from ufselect.data.tables.table import (
    File,
    Names,
    Origin,
    Parts,
    Request,
    Table,
    TableError,
    as_names,
)

# Modules are named, not imported: some need packages that may not be installed.
READERS = {
    "text": ("text", "read_text"),
    "parquet": ("arrow", "read_parquet"),
    "feather": ("arrow", "read_feather"),
    "excel": ("excel", "read_excel"),
    "npy": ("numpy_files", "read_npy"),
    "npz": ("numpy_files", "read_npz"),
    "mat": ("matlab", "read_matlab"),
    "mtx": ("matrix_market", "read_matrix_market"),
    "h5ad": ("anndata_files", "read_anndata"),
}
LABEL_NAMES = {"class", "classes", "label", "labels", "target", "y", "diagnosis"}
LABEL_NAMES |= {"cluster", "clusters", "ground_truth", "outcome", "species"}
READ_COMPRESSED = {"text", "mtx"}
# Some damage to these ends the process of the library that reads them.
ENDING = {"parquet", "feather", "mat", "mtx", "hdf5", "h5ad"}
# Of computing, before a process that reads one of them is taken to be in a circle.
LEAST_SECONDS = 10
SECONDS_PER_MEGABYTE = 5
Reader = Callable[[File, Request, list[str]], Parts]


def read_table(
    source: Source,
    *,
    labels: str | None = None,
    id_column: str | None = None,
    drop: Sequence[str] = (),
    transpose: bool | None = None,
    variable: str | None = None,
    sheet: str | None = None,
    header: bool | None = None,
    dtype: DTypeLike = np.float64,
    name: str | None = None,
    apart: bool = False,
) -> Table:
    r"""Read a table of numbers from a file, whatever its format.

    Text (comma, tab, semicolon, bar or white space between cells), Parquet, Feather,
    Excel, NumPy, MATLAB, Matrix Market and AnnData are read; text and Matrix Market
    also compressed with gzip, bzip2 or xz. What a file is, is decided by its first
    bytes and then by its name.

    Parameters
    ----------
    source : path, binary stream, or "-" for standard input
        The file.
    labels : str, optional
        Column with the classes of the samples, for evaluation only. In MATLAB files
        and NumPy archives it is another variable, in AnnData a column of ``obs``. In
        text without a header columns are called x1, x2, ...
    id_column : str, optional
        Column with the names of the samples. Without it the first column is taken if
        it has no name or one like ``id``, or if it is text and has no value twice.
    drop : sequence of str
        Columns to leave out.
    transpose : bool, optional
        Whether the rows of the file are features. By default that is decided: rows of
        a text table are features if its first column is called as only features are
        (gene, probe, ID_REF, ...) or holds gene or probe identifiers, and rows of a
        Matrix Market file are features if a features.tsv beside it says so.
    variable : str, optional
        Name of the variable in a MATLAB file or NumPy archive, or of the layer of
        AnnData, if it is not the only or usual one.
    sheet : str, optional
        Name of the sheet of a workbook, if it is not the first.
    header : bool, optional
        Whether the first row of text or of a sheet names the columns. By default that
        is decided.
    dtype : float64 or float32
        Type of the numbers read from text and from other types.
    name : str, optional
        What notes and errors call the source, if not by its path.
    apart : bool
        Whether Parquet, Feather, MATLAB, Matrix Market and AnnData are read in a
        process of their own. Then damage that ends the library which reads them is
        one sentence instead of the end of this process. While the numbers come over,
        they take twice their memory. It is possible on Linux, and makes no difference
        elsewhere.

    Returns
    -------
    Table
        The numbers, the names, and a note on everything that was decided.

    Raises
    ------
    TableError
        With one sentence that says what is wrong, where, and what to do.
    ImportError
        If the format needs a package that is not installed.

    Examples
    --------
    >>> from io import BytesIO
    >>> from ufselect.data import read_table
    >>> file = BytesIO(b"id,height,width,kind\na,1.5,2,x\nb,2.5,NA,y\n")
    >>> table = read_table(file, labels="kind")
    >>> table.values
    array([[1.5, 2. ],
           [2.5, nan]])
    >>> table.feature_names.tolist(), table.sample_names.tolist()
    (['height', 'width'], ['a', 'b'])
    >>> print(*table.notes, sep="\n")
    Text with commas, a header.
    Column 'id' names the rows and is no feature.
    """
    request = Request(
        labels,
        id_column,
        _several(drop),
        transpose,
        variable,
        sheet,
        header,
        _floating(dtype),
    )
    path, name, holder = located(source, name)
    return _read(File(path, compression_of(path), name), request, holder, apart)


def _several(drop: Sequence[str]) -> tuple[str, ...]:
    return (drop,) if isinstance(drop, str) else tuple(drop)


def _floating(dtype: DTypeLike) -> Any:
    kind = np.dtype(dtype)
    if kind not in (np.float64, np.float32):
        raise ValueError(f"dtype is {kind}; choose float64 or float32")
    return kind


class _Found(NamedTuple):
    """What a file is, what it holds, and notes on how that was found."""

    kind: str
    parts: Parts
    notes: list[str]


def _read(file: File, request: Request, holder: Spool | None, apart: bool) -> Table:
    kind, notes = detect(file)
    inner = file
    if file.compression is not None and kind not in READ_COMPRESSED:
        with saying_when_too_large(file.name), opened(*file) as stream:
            holder = Spool(stream)
        inner = File(holder.path, None, file.name)
    alone = apart and kind in ENDING
    kind, parts, more = (_survived if alone else _found)(kind, inner, request)
    notes += more
    _check_shape(parts.values, file.name)
    _note_on_labels(parts, notes)
    origin = Origin(
        inner.path,
        file.name,
        file.compression,
        parts.details,
        None if parts.positions is None else np.asarray(parts.positions, dtype=np.intp),
        holder,
    )
    return _table(parts, kind, notes, origin)


def _survived(kind: str, file: File, request: Request) -> _Found:
    """Return what a file holds, found by a process that may be lost."""
    try:
        most = LEAST_SECONDS + SECONDS_PER_MEGABYTE * file.path.stat().st_size // 10**6
        found: _Found = in_a_child(_found, kind, file, request, seconds=most)
    except EndedError as error:
        raise damaged(file.name, TITLES[kind], error) from None
    return found


def _found(kind: str, file: File, request: Request) -> _Found:
    if kind == "hdf5":
        kind = kind_of_hdf5(file)
    # No library reads text, so that what fails there is no damage.
    reading = (
        saying_when_too_large(file.name)
        if kind == "text"
        else saying_when_damaged(file.name, TITLES[kind])
    )
    notes: list[str] = []
    module, function = READERS[kind]
    reader: Reader = getattr(import_module(f"ufselect.data.tables.{module}"), function)
    with reading:
        return _Found(kind, reader(file, request, notes), notes)


def _table(parts: Parts, kind: str, notes: list[str], origin: Origin) -> Table:
    return Table(
        parts.values,
        _names(parts.feature_names),
        _names(parts.sample_names),
        parts.id_column,
        _names(parts.labels),
        parts.label_column,
        kind,
        tuple(notes),
        origin,
    )


def _note_on_labels(parts: Parts, notes: list[str]) -> None:
    """Say when a feature has the name of labels, which selection must not see."""
    suspects = [
        each for each in parts.feature_names or () if each.lower() in LABEL_NAMES
    ]
    notes += [
        f"Column {name!r} is a feature; if it holds labels, keep it out of the "
        f"selection (--labels {name})."
        for name in suspects
    ]


def _names(names: Sequence[str] | None) -> Names | None:
    return None if names is None else as_names(names)


def _check_shape(values: Any, name: str) -> None:
    n_samples, n_features = values.shape
    if n_samples < 2:
        raise TableError(
            f"{name} has {n_samples or 'no'} row{'s' * (n_samples != 1)} of data, but "
            "selection needs two samples; if samples are in columns, turn the table "
            "(--transpose)"
        )
    if n_features < 1:
        raise TableError(f"{name} has no numeric column to select from")
    assert sp.issparse(values) or values.ndim == 2
