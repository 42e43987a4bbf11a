"""Write a table with fewer features, in its own or in another format."""

import csv
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from dataclasses import replace
from datetime import date, time
from io import BytesIO, TextIOWrapper
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ufselect.data.replacing import not_written, replacing
from ufselect.data.tables.detection import (
    OPENERS,
    SUFFIXES,
    format_by_name,
    is_standard,
    needed,
)
from ufselect.data.tables.layout import escaped
from ufselect.data.tables.table import (
    Table,
    TableError,
    cell_text,
    is_sparse,
    number_text,
    placed_names,
)
from ufselect.data.tables.writing_matrices import (
    dense,
    write_anndata,
    write_matlab,
    write_matrix_market,
    write_npy,
    write_npz,
)

Destination = str | os.PathLike[str] | BinaryIO
# Formats that are only read, and the format to write instead.
INSTEAD = {"10x": "mtx"}
# The largest sheet, and the longest cell.
EXCEL_SHAPE = (1_048_576, 16_384)
EXCEL_CHARACTERS = 32_767


def write_table(
    table: Table,
    selected_columns: ArrayLike,
    destination: Destination,
    *,
    scores: ArrayLike | None = None,
    escape_formulas: bool = True,
    only_features: bool = False,
    write_filled: bool = False,
    subset: bool = True,
    overwrite: bool = True,
) -> None:
    r"""Write a table with the selected features.

    The name of the destination decides format and compression, or else the file that
    the table was read from. Columns keep their order. Columns that are not features are
    kept: sample names, labels, text. A table whose rows were features is written that
    way. An existing file is replaced only when the new one is complete.

    Parameters
    ----------
    table : Table
        What :func:`read_table` returned.
    selected_columns : array of int, or mask
        The features to write.
    destination : path, binary stream, or "-" for standard output
        Where to write.
    scores : array of shape (n_features,), optional
        Scores of all features, higher is better. AnnData files get them in ``var``, as
        ``ufselect_rank`` (1 is best) and ``ufselect_score``, beside ``ufselect``, which
        marks the selected features.
    escape_formulas : bool
        Whether to put an apostrophe before names that a spreadsheet would take for a
        formula (text files only).
    only_features : bool
        Whether to write only sample names and selected features.
    write_filled : bool
        Whether to write the values that were filled in. By default these cells are
        missing again.
    subset : bool
        Whether AnnData files keep the selected features only. Otherwise they keep all,
        and ``var`` marks the selected ones.
    overwrite : bool
        Whether an existing file may be replaced.

    Examples
    --------
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
    chosen = _chosen(table, columns, only_features, write_filled)

    def write(part: Path, final: Path | None) -> None:
        kind, compression = _format(table, final)
        if kind == "h5ad":
            write_anndata(
                table, columns, ranked, part, write_filled=write_filled, subset=subset
            )
        elif kind == "text":
            _write_text(chosen, part, compression, final, escape_formulas)
        elif kind == "mtx":
            write_matrix_market(chosen, part, compression, final, overwrite)
        else:
            WRITERS[kind](chosen, part)

    if is_standard(destination):
        destination = sys.stdout.buffer
    if not isinstance(destination, (str, os.PathLike)):
        with tempfile.TemporaryDirectory(prefix="ufselect-") as folder:
            write(Path(folder, "output"), None)
            with Path(folder, "output").open("rb") as source:
                shutil.copyfileobj(source, destination)
        return
    path = Path(destination)
    if path.is_dir():
        raise TableError(f"{path} is a folder; give the name of a file in it")
    if not path.parent.is_dir():
        raise TableError(f"there is no folder {path.parent}; create it first")
    try:
        with replacing(path, overwrite=overwrite) as part:
            write(part, path)
    except OSError as error:
        raise TableError(not_written(path, error)) from error


def _chosen(
    table: Table, columns: NDArray[np.intp], only_features: bool, write_filled: bool
) -> Table:
    """Return the table that is to be written."""
    values, cells = table.values[:, columns], table.filled_cells
    if cells is not None and not write_filled:
        # Put back what cells held before they were filled in.
        places = np.searchsorted(columns, cells.columns)
        inside = np.isin(cells.columns, columns)
        values = sp.lil_array(values) if is_sparse(values) else np.array(values)
        values[cells.rows[inside], places[inside]] = cells.values[inside]
        values = sp.csr_array(values) if is_sparse(values) else values
    names = table.feature_names
    others = [] if only_features else [o for o in table.others if o.written]
    return replace(
        table,
        values=values,
        feature_names=None if names is None else names[columns],
        labels=None if only_features else table.labels,
        groups=None if only_features else table.groups,
        others=tuple(each.for_features(columns) for each in others),
        origin=replace(table.origin, positions=table.places[columns]),
    )


def _places(selected: NDArray[Any], width: int) -> NDArray[np.intp]:
    """Return the places of the selected features, given as places or as a mask."""
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


def _format(table: Table, final: Path | None) -> tuple[str, str | None]:
    """Return format and compression, by the name or else by the source."""
    promised = format_by_name(final) if final else None
    kind = promised or INSTEAD.get(table.format, table.format)
    if final is not None and final.suffix.lower() in SUFFIXES:
        return kind, SUFFIXES[final.suffix.lower()]
    if promised is not None or table.origin.compression == "zip":
        return kind, None
    return kind, table.origin.compression


def _columns(table: Table) -> list[tuple[str, NDArray[Any]]]:
    """Return titles and cells of all columns, in their original order."""
    values, names = dense(table), table.names()
    found: list[tuple[float, str, NDArray[Any]]]
    if table.origin.details.get("transposed"):
        samples = table.sample_names
        titles = placed_names(len(values)) if samples is None else samples
        found = [(np.inf, str(t), row) for t, row in zip(titles, values, strict=True)]
        if table.feature_names is not None:
            title = "feature" if table.id_column is None else table.id_column
            found.append((-1, title, names))
        found += [(o.place, o.name, o.cells) for o in table.others if o.of_features]
    else:
        places = table.places.tolist()
        found = list(zip(places, names.tolist(), values.T, strict=True))
        found += [(o.place, o.name, o.cells) for o in table.other_columns()]
    found.sort(key=lambda column: column[0])
    return [(title, cells) for _, title, cells in found]


def _rows_above(table: Table) -> list[list[Any]]:
    """Return the rows of labels and groups of a transposed table."""
    if not table.origin.details.get("transposed"):
        return []
    gap = [""] * sum(o.of_features for o in table.others)
    return [
        [other.name, *gap, *other.cells.tolist()]
        for other in table.other_columns()
        if not other.of_features and other.role != "sample names"
    ]


def _write_text(
    table: Table, path: Path, compression: str | None, final: Path | None, escape: bool
) -> None:
    """Write text with its original delimiter, decimal sign and header."""
    details = table.origin.details if table.format == "text" else {}
    suffixes = [each.lower() for each in final.suffixes] if final else []
    inner = [each for each in suffixes if each not in SUFFIXES]
    delimiter = details.get("delimiter", ",") or " "
    if inner[-1:] in ([".tsv"], [".tab"]):
        delimiter = "\t"
    elif inner[-1:] == [".csv"] and delimiter not in (",", ";"):
        delimiter = ","
    decimal = "." if delimiter == "," else details.get("decimal", ".")
    gap = "NA" if delimiter == " " else ""
    clean = escaped if escape else str

    def text_of(cell: Any) -> str:
        if isinstance(cell, float):
            return cell_text(cell).replace(".", decimal)
        return "" if cell is None else clean(str(cell))

    def texts_of(cells: NDArray[Any]) -> list[str]:
        if cells.dtype.kind in "UO":
            return list(map(text_of, cells.tolist()))
        texts = number_text(cells)
        return [t.replace(".", decimal) for t in texts] if decimal != "." else texts

    columns = _columns(table)
    header = [[title for title, _ in columns]] if details.get("header", True) else []
    rows = (list(map(text_of, row)) for row in [*header, *_rows_above(table)])
    with (
        OPENERS[compression](path, "wb") as stream,
        TextIOWrapper(stream, details.get("encoding", "utf-8"), newline="") as text,
    ):
        writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
        texts = [texts_of(cells) for _, cells in columns]
        for row in chain(rows, zip(*texts, strict=True)):
            writer.writerow([cell or gap for cell in row] if gap else row)


def _arrow_table(table: Table) -> Any:
    """Return an Arrow table, with the original types where the values fit."""
    arrow = needed("pyarrow", "the file")
    columns = _columns(table)
    types = table.origin.details.get("types", {})
    arrays = []
    for title, cells in columns:
        if cells.dtype.kind in "UO":
            array = arrow.array(cells.tolist())
        else:
            array = arrow.array(np.ascontiguousarray(cells), from_pandas=True)
        kind = types.get(title)
        if kind is not None and not arrow.types.is_dictionary(kind):
            # Values that do not fit the original type keep their own.
            with suppress(arrow.ArrowInvalid, arrow.ArrowNotImplementedError):
                array = array.cast(kind)
        arrays.append(array)
    return arrow.table(arrays, names=[title for title, _ in columns])


def _write_parquet(table: Table, path: Path) -> None:
    parquet = needed("pyarrow.parquet", "Parquet")
    parquet.write_table(_arrow_table(table), path)


def _write_feather(table: Table, path: Path) -> None:
    feather = needed("pyarrow.feather", "Feather")
    feather.write_feather(_arrow_table(table), str(path))


def _write_excel(table: Table, path: Path) -> None:
    """Write a workbook; text is never stored as a formula."""
    book = needed("openpyxl", "Excel").Workbook(write_only=True)
    parts = needed("openpyxl.cell.cell", "Excel")
    columns, rows = _columns(table), _rows_above(table)
    if table.origin.details.get("header", True):
        rows.insert(0, [title for title, _ in columns])
    texts: list[Any] = [cells for _, cells in columns if cells.dtype.kind in "UO"]
    longest = max((len(str(t)) for each in (*texts, *rows) for t in each), default=0)
    height = max((len(cells) for _, cells in columns), default=0)
    shape = len(rows) + height, len(columns)
    if longest > EXCEL_CHARACTERS or any(np.greater(shape, EXCEL_SHAPE)):
        raise TableError(
            f"a sheet holds {EXCEL_SHAPE[0]} rows, {EXCEL_SHAPE[1]} columns and "
            f"{EXCEL_CHARACTERS} characters in a cell, but the result has {shape[0]}, "
            f"{shape[1]} and {longest}; write .csv or .parquet"
        )
    sheet = book.create_sheet(table.origin.details.get("sheet", "selected"))

    def cell_of(value: Any) -> Any:
        if value is None or isinstance(value, (bool, date, time)):
            return value
        kind = "s"  # text, even if it begins with =
        if isinstance(value, (int, float, np.number)) and not np.isinf(value):
            if np.isnan(value) or float(f"{value:.16g}") == value:
                return None if np.isnan(value) else float(value)
            kind = "n"  # openpyxl rounds floats to 16 digits
        text = parts.ILLEGAL_CHARACTERS_RE.sub("", str(value))
        cell = parts.WriteOnlyCell(sheet, text)
        cell.data_type = kind
        return cell

    for row in chain(rows, zip(*(column for _, column in columns), strict=True)):
        sheet.append(list(map(cell_of, row)))
    # In memory first: on a full disk an archive fails again when it is closed.
    content = BytesIO()
    book.save(content)
    path.write_bytes(content.getvalue())


WRITERS = {
    "parquet": _write_parquet,
    "feather": _write_feather,
    "excel": _write_excel,
    "npy": write_npy,
    "npz": write_npz,
    "mat": write_matlab,
}
