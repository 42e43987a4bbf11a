"""A table with fewer features is written, in the format it had or the name asks for."""

import csv
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ufselect.data.replacing import replacing
from ufselect.data.tables.cells import escaped, number, number_text
from ufselect.data.tables.detection import (
    OPENERS,
    SUFFIXES,
    format_by_name,
    is_standard,
    needed,
)
from ufselect.data.tables.table import (
    Names,
    Table,
    TableError,
    is_sparse,
    placed_names,
)

Destination = str | os.PathLike[str] | BinaryIO
# Formats that are read only, and what is written instead.
INSTEAD = {"10x": "mtx"}
# The names that ``ufselect.tl.select`` gives. Those of an earlier selection, also in
# the words of ufselect 0.1, would contradict the new ones.
KEY = "ufselect"
EARLIER = tuple(
    f"{KEY}{ending}" for ending in ("", "_rank", "_score", "_n_batches", "_selected")
)
ENCODING = {"encoding-type": "array", "encoding-version": "0.2.0"}


class ChosenColumns(NamedTuple):
    """Chosen features in the order of the file, with what belongs to the samples."""

    table: Table
    columns: NDArray[np.intp]
    values: Any
    names: Names
    scores: NDArray[Any] | None
    escape: bool

    @property
    def has_names(self) -> bool:
        """Whether the names come from the file, and are not made up."""
        return self.table.feature_names is not None

    @property
    def details(self) -> dict[str, Any]:
        """How the table was stored."""
        return self.table.origin.details

    def dense(self) -> NDArray[Any]:
        """Return the values as an array that is not sparse."""
        return np.asarray(
            self.values.toarray() if is_sparse(self.values) else self.values
        )


class WrittenColumn(NamedTuple):
    """A column to write: text, or numbers."""

    title: str
    cells: Any
    is_text: bool


def write_table(
    table: Table,
    selected_columns: ArrayLike,
    destination: Destination,
    *,
    scores: ArrayLike | None = None,
    escape_formulas: bool = True,
) -> None:
    r"""Write a table with the selected features only, all or nothing.

    The format is the one that the name of the destination promises, else that of the
    file the table was read from; so is the compression. Features keep their order,
    sample names and labels are kept, and a table whose rows were features is written
    that way. A file of that name is replaced only when the new one is complete.

    Parameters
    ----------
    table : Table
        What :func:`read_table` returned.
    selected_columns : array of int, or mask
        The features to write.
    destination : path, binary stream, or "-" for standard output
        Where to.
    scores : array of shape (n_features,), optional
        Scores of all features, higher is better. They are written to AnnData files
        only, which keep all features and get the columns ``ufselect``,
        ``ufselect_rank`` (1 is best) and ``ufselect_score`` in ``var``.
    escape_formulas : bool
        Whether names in a text file that a spreadsheet would take for a formula get
        an apostrophe in front.

    Examples
    --------
    >>> import sys
    >>> from io import BytesIO
    >>> from ufselect.data import read_table, write_table
    >>> table = read_table(BytesIO(b"id;a;b;c\nx;1;2;3\ny;4,5;5;6\n"))
    >>> result = BytesIO()
    >>> write_table(table, [2, 0], result)
    >>> print(result.getvalue().decode(), end="")
    id;a;c
    x;1;3
    y;4,5;6
    """
    columns = _places(np.asarray(selected_columns), table.shape[1])
    ranked = None if scores is None else np.asarray(scores)
    if ranked is not None and ranked.shape != (table.shape[1],):
        raise ValueError(
            f"scores have shape {ranked.shape} for {table.shape[1]} features; "
            "give one for each"
        )
    values, names = table.values[:, columns], table.names()[columns]
    chosen = ChosenColumns(table, columns, values, names, ranked, escape_formulas)
    if is_standard(destination):
        destination = sys.stdout.buffer
    if not isinstance(destination, (str, os.PathLike)):
        with tempfile.TemporaryDirectory(prefix="ufselect-") as folder:
            _write(chosen, Path(folder, "output"), None)
            with Path(folder, "output").open("rb") as source:
                shutil.copyfileobj(source, destination)
        return
    path = Path(destination)
    if path.is_dir():
        raise TableError(f"{path} is a folder; give the name of a file in it")
    if not path.parent.is_dir():
        raise TableError(f"there is no folder {path.parent}; make it first")
    try:
        with replacing(path) as part:
            _write(chosen, part, path)
    except OSError as error:
        raise TableError(
            f"{path} cannot be written ({error.strerror or error}); "
            "choose another place"
        ) from error


def _places(selected: NDArray[Any], width: int) -> NDArray[np.intp]:
    """Return the places of features that are given as places or as a mask."""
    if selected.dtype == bool:
        if selected.shape != (width,):
            raise ValueError(
                f"the mask has shape {selected.shape} for {width} features; "
                "give one truth value for each"
            )
        return np.flatnonzero(selected)
    places = np.unique(selected).astype(np.intp)
    if places.size and (places[0] < 0 or places[-1] >= width):
        raise ValueError(
            f"selected columns reach from {places[0]} to {places[-1]}, but the table "
            f"has columns 0 to {width - 1}"
        )
    return places


def _write(chosen: ChosenColumns, part: Path, final: Path | None) -> None:
    promised = format_by_name(final) if final else None
    stored = chosen.table.format
    kind = promised or INSTEAD.get(stored, stored)
    # What the name promises; without a known name, what the source had.
    if final is not None and final.suffix.lower() in SUFFIXES:
        compression = SUFFIXES[final.suffix.lower()]
    elif promised is not None or chosen.table.origin.compression == "zip":
        compression = None
    else:
        compression = chosen.table.origin.compression
    if kind == "text":
        suffixes = [each.lower() for each in final.suffixes] if final else []
        inner = (each for each in reversed(suffixes) if each not in SUFFIXES)
        _write_text(chosen, part, compression, next(inner, ""))
    elif kind == "mtx":
        _write_matrix_market(chosen, part, compression, final)
    else:
        WRITERS[kind](chosen, part)


def _columns(chosen: ChosenColumns) -> list[WrittenColumn]:
    """Return the columns of a file of columns, in their order in the original."""
    table, values = chosen.table, chosen.dense()
    id_title = table.id_column
    if chosen.details.get("transposed"):  # labels have no place
        samples = table.sample_names
        titles = placed_names(len(values)) if samples is None else samples
        columns = [
            WrittenColumn(str(t), values[i], False) for i, t in enumerate(titles)
        ]
        if not chosen.has_names:
            return columns
        title = "feature" if id_title is None else id_title
        return [WrittenColumn(title, chosen.names, True), *columns]
    positions = table.origin.positions
    places = chosen.columns if positions is None else positions[chosen.columns]
    id_place, label_place = chosen.details.get("places", (None, None))
    found: list[tuple[float, WrittenColumn]] = [
        (float(place), WrittenColumn(str(name), values[:, index], False))
        for index, (place, name) in enumerate(zip(places, chosen.names, strict=True))
    ]
    if table.sample_names is not None:
        title = "sample" if id_title is None else id_title
        column = WrittenColumn(title, table.sample_names, True)
        found.append((-1 if id_place is None else id_place, column))
    if table.labels is not None:
        title = "label" if table.label_column is None else table.label_column
        column = WrittenColumn(title, table.labels, True)
        found.append((np.inf if label_place is None else label_place, column))
    return [column for _, column in sorted(found, key=lambda pair: pair[0])]


def _write_text(
    chosen: ChosenColumns, path: Path, compression: str | None, suffix: str
) -> None:
    """Write text with the delimiter, the decimal sign and the header it had."""
    details = chosen.details if chosen.table.format == "text" else {}
    delimiter = details.get("delimiter", ",") or " "
    if suffix in (".tsv", ".tab"):
        delimiter = "\t"
    elif suffix == ".csv" and delimiter not in (",", ";"):
        delimiter = ","
    decimal = "." if delimiter == "," else details.get("decimal", ".")
    gap = "NA" if delimiter == " " else ""
    with (
        OPENERS[compression](path, "wb") as stream,
        TextIOWrapper(
            stream, encoding=details.get("encoding", "utf-8"), newline=""
        ) as text,
    ):
        writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
        for row in _text_rows(chosen, details, decimal):
            writer.writerow([cell or gap for cell in row] if gap else row)


def _text_rows(
    chosen: ChosenColumns, details: dict[str, Any], decimal: str
) -> Iterator[list[str]]:
    clean = escaped if chosen.escape else str
    columns = _columns(chosen)
    if details.get("header", True):
        yield [clean(column.title) for column in columns]
    if details.get("transposed") and chosen.table.labels is not None:
        title = chosen.table.label_column or "label"
        yield [clean(title), *map(clean, chosen.table.labels.tolist())]
    cells = []
    for column in columns:
        if column.is_text:
            cells.append(list(map(clean, column.cells.tolist())))
            continue
        texts = number_text(np.asarray(column.cells))
        swap = decimal != "."
        cells.append([text.replace(".", decimal) for text in texts] if swap else texts)
    yield from map(list, zip(*cells, strict=True))


def _arrow_table(chosen: ChosenColumns) -> Any:
    """Return a table of Arrow with the types that columns had, if values allow it."""
    arrow = needed("pyarrow", "the file")
    columns = _columns(chosen)
    types = chosen.details.get("types", {})
    arrays = []
    for column in columns:
        if column.is_text:
            array = arrow.array(column.cells.tolist())
        else:
            array = arrow.array(np.ascontiguousarray(column.cells), from_pandas=True)
        kind = types.get(column.title)
        if kind is not None and not arrow.types.is_dictionary(kind):
            # Values that no longer fit the type of the file keep their own.
            with suppress(arrow.ArrowInvalid, arrow.ArrowNotImplementedError):
                array = array.cast(kind)
        arrays.append(array)
    return arrow.table(arrays, names=[column.title for column in columns])


def _write_parquet(chosen: ChosenColumns, path: Path) -> None:
    parquet = needed("pyarrow.parquet", "Parquet")
    parquet.write_table(_arrow_table(chosen), path)


def _write_feather(chosen: ChosenColumns, path: Path) -> None:
    feather = needed("pyarrow.feather", "Feather")
    feather.write_feather(_arrow_table(chosen), str(path))


def _write_excel(chosen: ChosenColumns, path: Path) -> None:
    """Write a workbook; text is stored as text, never as a formula."""
    book = needed("openpyxl", "Excel").Workbook(write_only=True)
    cells = needed("openpyxl.cell.cell", "Excel")
    sheet = book.create_sheet(chosen.details.get("sheet", "selected"))

    def cell_of(value: Any) -> Any:
        if not isinstance(value, str):
            return None if np.isnan(value) else float(value)
        cell = cells.WriteOnlyCell(sheet, cells.ILLEGAL_CHARACTERS_RE.sub("", value))
        cell.data_type = "s"  # even if it begins with =
        return cell

    columns = _columns(chosen)
    if chosen.details.get("header", True):
        sheet.append([cell_of(column.title) for column in columns])
    if chosen.details.get("transposed") and chosen.table.labels is not None:
        labels = [chosen.table.label_column or "label", *chosen.table.labels.tolist()]
        sheet.append(list(map(cell_of, labels)))
    for row in range(len(columns[0].cells) if columns else 0):
        sheet.append([cell_of(column.cells[row]) for column in columns])
    book.save(path)


def _write_npy(chosen: ChosenColumns, path: Path) -> None:
    with path.open("wb") as stream:
        np.save(stream, chosen.dense(), allow_pickle=False)


def _write_npz(chosen: ChosenColumns, path: Path) -> None:
    """Write an archive: the table, names and labels; or a sparse matrix alone."""
    with path.open("wb") as stream:
        if is_sparse(chosen.values):
            sp.save_npz(stream, chosen.values)
        else:
            np.savez_compressed(stream, **_variables(chosen))


def _write_matlab(chosen: ChosenColumns, path: Path) -> None:
    """Write a MATLAB file of version 5, which all versions of MATLAB read."""
    from scipy.io import savemat  # takes half a second to import

    variables = {}
    for name, values in _variables(chosen).items():
        if values.ndim == 1:  # a column; text as cells, which may differ in length
            kind = object if values.dtype.kind == "U" else values.dtype
            values = values.astype(kind)[:, np.newaxis]
        variables[name] = values
    savemat(path, variables, appendmat=False, do_compression=True)


def _variables(chosen: ChosenColumns) -> dict[str, Any]:
    """Return the table and what belongs to it, under the names they had."""
    table, details = chosen.table, chosen.details
    result = {details.get("variable") or "X": chosen.values}
    if chosen.has_names:
        result[details.get("names") or "feature_names"] = chosen.names
    if table.sample_names is not None:
        result[details.get("samples") or "sample_names"] = table.sample_names
    if table.labels is not None:
        numbers = [number(text) for text in table.labels.tolist()]
        text = any(value is None or np.isnan(value) for value in numbers)
        labels = table.labels if text else np.array(numbers)
        result[table.label_column or "labels"] = labels
    return result


def _write_matrix_market(
    chosen: ChosenColumns, path: Path, compression: str | None, final: Path | None
) -> None:
    """Write a matrix, and names into files beside its final place."""
    from scipy.io import mmwrite  # takes half a second to import

    from ufselect.data.tables.matrices import name_files

    values = chosen.values.T if chosen.details.get("transposed") else chosen.values
    plain = path.with_name(f"{path.name}.plain.mtx")
    try:
        mmwrite(plain, values)
        with plain.open("rb") as source, OPENERS[compression](path, "wb") as target:
            shutil.copyfileobj(source, target)
    finally:
        plain.unlink(missing_ok=True)
    samples = chosen.table.sample_names
    features = chosen.names if chosen.has_names else None
    for kind, names in (("features", features), ("barcodes", samples)):
        if final is not None and names is not None:
            text = "".join(f"{name}\n" for name in names.tolist())
            name_files(final, kind)[0].write_text(text, encoding="utf-8")


def _write_anndata(chosen: ChosenColumns, path: Path) -> None:
    """Copy the file and add ``ufselect``, ``_rank`` and ``_score`` to ``var``.

    The best rank is 1; features that were left out have no score and rank 0.
    """
    from ufselect.data.tables.hdf5 import opened_hdf5

    table, origin = chosen.table, chosen.table.origin
    if table.format != "h5ad":
        raise TableError(
            f"{origin.name} is no AnnData file, so the result cannot be written as "
            ".h5ad; choose .csv or .parquet"
        )
    shutil.copyfile(origin.path, path)
    with opened_hdf5(path, origin.name, "r+") as file:
        var = file["var"]
        if hasattr(var, "dtype"):
            raise TableError(
                f"{origin.name} was written by an AnnData older than 0.7; "
                "read it and write it again with a newer one"
            )
        order = [
            each.decode() if isinstance(each, bytes) else str(each)
            for each in var.attrs.get("column-order", [])
        ]
        for name in EARLIER:
            if name in var:
                del var[name]
        if KEY in file.get("uns", ()):
            del file["uns"][KEY]
        length = len(var[var.attrs["_index"]])
        columns = _anndata_columns(chosen, length)
        for name, values in columns.items():
            var.create_dataset(name, data=values).attrs.update(ENCODING)
        order = [*(name for name in order if name not in EARLIER), *columns]
        var.attrs["column-order"] = np.array(order, dtype=object)


def _anndata_columns(chosen: ChosenColumns, length: int) -> dict[str, NDArray[Any]]:
    n_features = chosen.table.shape[1]
    positions = chosen.table.origin.positions
    places = np.arange(n_features) if positions is None else positions
    selected = np.zeros(length, dtype=bool)
    selected[places[chosen.columns]] = True
    if chosen.scores is None:
        return {KEY: selected}
    score = np.full(length, np.nan)
    score[places] = chosen.scores
    rank = np.zeros(length, dtype=np.int64)
    order = np.argsort(-chosen.scores, kind="stable")
    rank[places[order]] = np.arange(1, n_features + 1)
    return {KEY: selected, f"{KEY}_rank": rank, f"{KEY}_score": score}


WRITERS = {
    "parquet": _write_parquet,
    "feather": _write_feather,
    "excel": _write_excel,
    "npy": _write_npy,
    "npz": _write_npz,
    "mat": _write_matlab,
    "h5ad": _write_anndata,
}
