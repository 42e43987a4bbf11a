"""A user's file of any known format becomes a table."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from ufselect.data.tables.detection import (
    TITLES,
    Source,
    Spool,
    compression_of,
    detect,
    located,
    opened,
)
from ufselect.data.tables.isolation import (
    EndedError,
    damaged,
    isolated,
    saying_when_damaged,
    saying_when_too_large,
)
from ufselect.data.tables.table import (
    File,
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
    "parquet": ("frames", "read_parquet"),
    "feather": ("frames", "read_feather"),
    "excel": ("frames", "read_excel"),
    "npy": ("matrices", "read_npy"),
    "npz": ("matrices", "read_npz"),
    "mat": ("hdf5", "read_matlab"),
    "mtx": ("matrices", "read_matrix_market"),
    "h5ad": ("hdf5", "read_anndata"),
    "10x": ("hdf5", "read_10x"),
}
LABEL_NAMES = {"class", "classes", "label", "labels", "target", "y", "diagnosis"}
LABEL_NAMES |= {"cluster", "clusters", "ground_truth", "outcome", "species"}
READ_COMPRESSED = {"text", "mtx"}
# Some damage to these ends the process of the library that reads them.
CRASHING = {"parquet", "feather", "mat", "mtx", "hdf5", "h5ad"}
# Of computing, before a process that reads one of them is taken to be in a loop.
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
    na_values: Sequence[str] = (),
    skip_rows: int = 0,
    name: str | None = None,
    isolate: bool = False,
) -> Table:
    r"""Read a table of numbers from a file, whatever its format.

    Text (comma, tab, semicolon, bar or white space between cells), Parquet, Feather,
    Excel, NumPy, MATLAB, Matrix Market, AnnData and 10x Genomics files are read, also
    compressed with gzip, bzip2, xz or zip. What a file is, is decided by its first
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
    na_values : sequence of str
        What text and sheets have for a missing value, beside the usual ``NA`` and
        the like: ``?``, ``-``, ``-99``.
    skip_rows : int
        Lines of text, or rows of a sheet, that come before the table.
    name : str, optional
        What notes and errors call the source, if not by its path.
    isolate : bool
        Whether Parquet, Feather, MATLAB, Matrix Market and files on HDF5 are read in
        a subprocess. Then damage that ends the library which reads them is one
        sentence instead of the end of this process. While the numbers come over, they
        take twice their memory. It is possible on Linux, and makes no difference
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
    Column 'id' holds sample names.
    """
    kind = np.dtype(dtype)
    if kind not in (np.float64, np.float32):
        raise ValueError(f"dtype is {kind}; choose float64 or float32")
    request = Request(
        labels,
        id_column,
        (drop,) if isinstance(drop, str) else tuple(drop),
        transpose,
        variable,
        sheet,
        header,
        kind,
        (na_values,) if isinstance(na_values, str) else tuple(na_values),
        skip_rows,
    )
    path, name, holder = located(source, name)
    return _read(File(path, compression_of(path, name), name), request, holder, isolate)


class _Found(NamedTuple):
    """What a file is, what it holds, and notes on how that was found."""

    kind: str
    parts: Parts
    notes: list[str]


def _read(file: File, request: Request, holder: Spool | None, isolate: bool) -> Table:
    kind, notes = detect(file)
    inner = file
    if file.compression is not None and kind not in READ_COMPRESSED:
        with saying_when_too_large(file.name), opened(*file) as stream:
            holder = Spool(stream)
        inner = File(holder.path, None, file.name)
    if isolate and kind in CRASHING:
        size = file.path.stat().st_size
        try:
            seconds = LEAST_SECONDS + SECONDS_PER_MEGABYTE * size // 10**6
            found = isolated(_found, kind, inner, request, seconds=seconds)
        except EndedError as error:
            raise damaged(file.name, TITLES[kind], error) from None
    else:
        found = _found(kind, inner, request)
    kind, parts, more = found
    notes += more
    n_samples, n_features = parts.values.shape
    if n_samples < 2:
        raise TableError(
            f"{file.name} has {n_samples or 'no'} row{'s' * (n_samples != 1)} of data, "
            "but selection needs two samples; if samples are in columns, transpose "
            "the table (--transpose)"
        )
    if n_features < 1:
        raise TableError(f"{file.name} has no numeric column to select from")
    notes += [
        f"Column {name!r} is a feature; if it holds labels, keep it out of the "
        f"selection (--labels {name})."
        for name in parts.feature_names or ()
        if name.lower() in LABEL_NAMES
    ]
    positions = parts.positions
    origin = Origin(
        inner.path,
        file.name,
        file.compression,
        parts.details,
        None if positions is None else np.asarray(positions, dtype=np.intp),
        holder,
    )
    features, samples, labels = (
        None if names is None else as_names(names)
        for names in (parts.feature_names, parts.sample_names, parts.labels)
    )
    return Table(
        parts.values,
        features,
        samples,
        parts.id_column,
        labels,
        parts.label_column,
        kind,
        tuple(notes),
        origin,
    )


def _found(kind: str, file: File, request: Request) -> _Found:
    if kind == "hdf5":
        kind = import_module("ufselect.data.tables.hdf5").kind_of_hdf5(file)
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
