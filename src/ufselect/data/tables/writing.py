"""A table with fewer features is written, in the format it had or the name asks for."""

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ufselect.data.replacing import replacing
from ufselect.data.tables import (
    anndata_writing,
    arrow_writing,
    excel_writing,
    matrix_writing,
    text_writing,
)
from ufselect.data.tables.choice import Choice, choice
from ufselect.data.tables.detection import format_by_name
from ufselect.data.tables.sources import SUFFIXES, is_standard
from ufselect.data.tables.table import Table, TableError

PLAIN_WRITERS = {
    "parquet": arrow_writing.write_parquet,
    "feather": arrow_writing.write_feather,
    "excel": excel_writing.write_excel,
    "npy": matrix_writing.write_npy,
    "npz": matrix_writing.write_npz,
    "mat": matrix_writing.write_matlab,
}
Destination = str | os.PathLike[str] | BinaryIO


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
    chosen = choice(table, selected_columns)
    ranked = None if scores is None else np.asarray(scores)
    if ranked is not None and ranked.shape != (table.shape[1],):
        raise ValueError(
            f"scores have shape {ranked.shape} for {table.shape[1]} features; "
            "give one for each"
        )
    if is_standard(destination):
        destination = sys.stdout.buffer
    if isinstance(destination, (str, os.PathLike)):
        _to_path(chosen, Path(destination), ranked, escape_formulas)
    else:
        _to_stream(chosen, destination, ranked, escape_formulas)


def _to_stream(
    chosen: Choice, stream: BinaryIO, scores: NDArray[Any] | None, safe: bool
) -> None:
    with tempfile.TemporaryDirectory(prefix="ufselect-") as folder:
        part = Path(folder, "output")
        _write(chosen, part, None, scores, safe)
        with part.open("rb") as source:
            shutil.copyfileobj(source, stream)


def _to_path(
    chosen: Choice, path: Path, scores: NDArray[Any] | None, safe: bool
) -> None:
    """Write beside the destination, and take its name at the end."""
    if path.is_dir():
        raise TableError(f"{path} is a folder; give the name of a file in it")
    if not path.parent.is_dir():
        raise TableError(f"there is no folder {path.parent}; make it first")
    try:
        with replacing(path) as part:
            _write(chosen, part, path, scores, safe)
    except OSError as error:
        raise TableError(
            f"{path} cannot be written ({error.strerror or error}); "
            "choose another place"
        ) from error


def _write(
    chosen: Choice,
    part: Path,
    final: Path | None,
    scores: NDArray[Any] | None,
    safe: bool,
) -> None:
    kind = (format_by_name(final) if final else None) or chosen.table.format
    compression = _compression(chosen, final)
    if kind == "text":
        suffix = _inner_suffix(final)
        text_writing.write_text(chosen, part, compression, suffix, safe)
    elif kind == "mtx":
        matrix_writing.write_matrix_market(chosen, part, compression, final)
    elif kind == "h5ad":
        anndata_writing.write_anndata(chosen, part, scores)
    else:
        PLAIN_WRITERS[kind](chosen, part)


def _compression(chosen: Choice, final: Path | None) -> str | None:
    """Return what the name promises; without a known name, what the source had."""
    if final is not None and final.suffix.lower() in SUFFIXES:
        return SUFFIXES[final.suffix.lower()]
    if final is not None and format_by_name(final) is not None:
        return None
    return chosen.table.origin.compression


def _inner_suffix(final: Path | None) -> str:
    suffixes = [each.lower() for each in final.suffixes] if final else []
    return next((each for each in reversed(suffixes) if each not in SUFFIXES), "")
