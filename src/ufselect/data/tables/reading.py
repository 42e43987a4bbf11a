"""Read a table from a file of any known format."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import DTypeLike

from ufselect.data.tables.columns import by_place
from ufselect.data.tables.detection import (
    FORMATS,
    MAX_EXPANSION_RATIO,
    MIN_LARGE_BYTES,
    OPEN_FILES,
    Source,
    Spool,
    compression_of,
    detect,
    located,
    needed,
    opened,
)
from ufselect.data.tables.frames import read_excel, read_feather, read_parquet
from ufselect.data.tables.isolation import (
    EndedError,
    available_bytes,
    damage_errors,
    damaged,
    isolated,
    memory_errors,
)
from ufselect.data.tables.suspects import (
    LABEL_NAMES,
    label_columns,
    without_suspects,
)
from ufselect.data.tables.table import (
    File,
    Remedy,
    Request,
    Table,
    TableError,
    several,
)
from ufselect.data.tables.text import read_text

# Computing time after which a reader is taken to be in an endless loop.
MIN_SECONDS = 10
SECONDS_PER_MEGABYTE = 5
# Copies of the content that a library and its reader hold at once.
READING_COPIES = 4
Reader = Callable[[File, Request, list[str]], Table]
# Of formats that are read without SciPy; the others are in `reader_of`.
READERS: dict[str, Reader] = {
    "text": read_text,
    "parquet": read_parquet,
    "feather": read_feather,
    "excel": read_excel,
}


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
    use: Sequence[str] = (),
    groups: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    allow_large: bool = False,
    name: str | None = None,
    isolate: bool = False,
) -> Table:
    r"""Read a table of numbers from a file of any known format.

    Text (comma, tab, semicolon, bar or white space between cells), Parquet, Feather,
    Excel, NumPy, MATLAB, Matrix Market, AnnData and 10x Genomics files are read, also
    compressed with gzip, bzip2, xz or zip. The first bytes of a file decide its
    format, then its name.

    Parameters
    ----------
    source : path, binary stream, or "-" for standard input
        The file.
    labels : str, optional
        Column with the classes of the samples, for evaluation only. In MATLAB files
        and NumPy archives it is another variable, in AnnData a column of ``obs``. In
        text without a header columns are called x1, x2, ...
    id_column : str, optional
        Column with the names of the samples. By default it is the first column, if
        that has no name or one like ``id``, or is text without repeated values.
    drop : sequence of str
        Columns to leave out.
    transpose : bool, optional
        Whether the rows of the file are features. By default this is detected: rows of
        a text table are features if its first column has a name for features (gene,
        probe, ID_REF, ...) or holds gene or probe identifiers, and rows of a Matrix
        Market file are features if a features.tsv beside it has one name per row.
    variable : str, optional
        Name of the variable in a MATLAB file or NumPy archive, or of the layer of
        AnnData, if it is not the only or usual one.
    sheet : str, optional
        Name of the sheet of a workbook, if it is not the first.
    header : bool, optional
        Whether the first row of text or of a sheet names the columns. By default this
        is detected.
    dtype : float64 or float32
        Type of the numbers read from text and from other types.
    na_values : sequence of str
        Further words for a missing value in text and sheets, such as ``?``, ``-`` or
        ``-99``; ``NA`` and the like are known.
    skip_rows : int
        Lines of text, or rows of a sheet, that come before the table.
    use : sequence of str
        Columns to take as features even if they seem to hold labels, count or date
        the samples, or are mostly missing. By default such columns of text, Excel,
        Parquet and Feather files are left out with a note.
    groups : str, optional
        Column that says which samples belong together, such as those of one patient.
        It is not a feature. Name it as you name ``labels``.
    delimiter : str, optional
        Sign between the cells of text; ``tab`` and ``space`` are understood. By default
        it is detected.
    decimal : {".", ","}, optional
        Decimal sign of numbers in text that are read differently with another sign,
        such as ``1,853``. By default other numbers of the table decide, and such a
        column is refused if none does. A column whose own cells leave no doubt is read
        as it is written.
    thousands : {",", ".", " ", "'"}, optional
        Thousands sign of such numbers. A comma implies decimal points, a point decimal
        commas.
    allow_large : bool
        Whether a file may expand to more than half of the free memory, or to more than
        100 times its size. Otherwise it is refused before it does.
    name : str, optional
        Name of the source in notes and errors; by default its path.
    isolate : bool
        Whether to read Parquet, Feather, MATLAB, Matrix Market, ``.npz`` and HDF5 files
        in a subprocess. A damaged file that crashes the library then raises an error
        and does not end your process. For a moment the numbers take twice their
        memory. Only Linux can do so; elsewhere it has no effect.

    Returns
    -------
    Table
        The numbers, the names, and a note on everything that was detected.

    Raises
    ------
    TableError
        One sentence says what is wrong, where, and what to do.
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
    if decimal not in (None, ".", ",") or thousands not in (None, *",. '"):
        raise ValueError(
            f"decimal={decimal!r} and thousands={thousands!r}: the decimal sign is a "
            "point or a comma, the thousands sign ',', '.', a blank or an apostrophe"
        )
    if decimal is not None and decimal == thousands:
        raise ValueError(f"decimal and thousands are both {decimal!r}; choose one")
    request = Request(
        *(labels, id_column, several(drop), transpose, variable, sheet, header, kind),
        *(several(na_values), skip_rows, several(use), groups),
        *(delimiter, decimal, thousands),
    )
    path, name, holder = located(source, name, allow_large)
    file = File(path, compression_of(path, name), name, allow_large)
    return _read(file, request, holder, isolate)


def _read(file: File, request: Request, holder: Spool | None, isolate: bool) -> Table:
    kind, notes = detect(file)
    form, inner = FORMATS[kind], file
    if file.compression is not None and not form.read_compressed:
        with memory_errors(file.name), opened(file) as stream:
            holder = Spool(stream, file.name, named=form.on_hdf5)
        inner = file._replace(path=holder.path, compression=None)
    elif OPEN_FILES in file.path.parents and form.on_hdf5:
        with file.path.open("rb") as plain:
            holder = Spool(plain, file.name, named=True)
        inner = file._replace(path=holder.path)
    if isolate and form.crashing:
        if kind == "h5ad":
            needed("anndata", file.name)  # imported here, it serves the writing, too
        size = file.path.stat().st_size
        most = READING_COPIES * max(MAX_EXPANSION_RATIO * size, MIN_LARGE_BYTES)
        try:
            found = isolated(
                *(_found, kind, inner, request),
                seconds=MIN_SECONDS + SECONDS_PER_MEGABYTE * size // 10**6,
                memory=None
                if file.allow_large
                else min(most, available_bytes() or most),
            )
        except EndedError as error:
            raise damaged(file.name, form.title, error) from None
    else:
        found = _found(kind, inner, request)
    n_samples, n_features = found.shape
    if n_samples < 2:
        raise TableError(
            f"{file.name} has {n_samples or 'no'} row{'s' * (n_samples != 1)} of data, "
            "but selection needs two samples; if samples are in columns, transpose "
            "the table (--transpose)",
            [Remedy("Transpose the table", ("--transpose",))] * (n_features > 1),
        )
    if n_features < 1:
        raise TableError(f"{file.name} has no numeric column to select from")
    table = replace(
        found,
        notes=(*notes, *found.notes),
        group_column=request.groups,
        origin=replace(
            found.origin,
            compression=file.compression,
            holder=holder,
            use=(*request.use, *by_place(request).use),
        ),
    )
    if form.of_columns:
        return without_suspects(table)
    return replace(table, suspected_labels=tuple(label_columns(table, LABEL_NAMES)))


def _found(kind: str, file: File, request: Request) -> Table:
    if kind == "hdf5":
        from ufselect.data.tables.hdf5 import kind_of_hdf5

        kind = kind_of_hdf5(file)
    # Text is read by code of our own: an error there does not mean damage.
    reading = (
        memory_errors(file.name)
        if kind == "text"
        else damage_errors(file.name, FORMATS[kind].title)
    )
    notes: list[str] = []
    reader = reader_of(kind)
    with reading:
        table = reader(file, request, notes)
    return replace(table, format=kind, notes=tuple(notes))


def reader_of(kind: str) -> Reader:
    """Return the reader of a format."""
    if kind in READERS:
        return READERS[kind]
    from ufselect.data.tables import hdf5, matrices

    readers: dict[str, Reader] = {
        "npy": matrices.read_npy,
        "npz": matrices.read_npz,
        "mtx": matrices.read_matrix_market,
        "mat": hdf5.read_matlab,
        "h5ad": hdf5.read_anndata,
        "10x": hdf5.read_10x,
    }
    return readers[kind]
