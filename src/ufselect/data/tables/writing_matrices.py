"""Write matrices: NumPy, MATLAB, Matrix Market, AnnData."""

import csv
import re
import warnings
from contextlib import suppress
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ufselect.data.replacing import write_whole
from ufselect.data.tables.detection import OPENERS, needed
from ufselect.data.tables.matrices import SPARSE_PARTS, name_files, text_of
from ufselect.data.tables.table import (
    Table,
    TableError,
    is_sparse,
    number_text,
    unique_names,
)

# Names that mean something to ``numpy.savez`` or ``scipy.sparse.load_npz``.
RESERVED = ("file", "allow_pickle", *SPARSE_PARTS)
# Names of columns, as in ``ufselect.tl.select``. Those of an earlier selection are
# deleted, since they would contradict the new ones.
KEY = "ufselect"
EARLIER = tuple(
    f"{KEY}{ending}" for ending in ("", "_rank", "_score", "_n_batches", "_selected")
)


def dense(table: Table) -> NDArray[Any]:
    """Return the values as a dense array."""
    values = table.values
    return np.asarray(values.toarray() if is_sparse(values) else values)


def write_npy(table: Table, path: Path) -> None:
    """Write the values alone."""
    with path.open("wb") as stream:
        np.save(stream, dense(table), allow_pickle=False)


def write_npz(table: Table, path: Path) -> None:
    """Write the table, names and labels; a sparse table as SciPy does."""
    variables = _variables(table)
    if is_sparse(table.values):
        del variables[next(iter(variables))]  # the table
        parts = BytesIO()
        sp.save_npz(parts, table.values, compressed=False)
        parts.seek(0)
        variables |= np.load(parts, allow_pickle=False)
    with path.open("wb") as stream:
        np.savez_compressed(stream, **variables)


def write_matlab(table: Table, path: Path) -> None:
    """Write a MATLAB file of version 5, which all versions of MATLAB read."""
    from scipy.io import savemat  # takes half a second to import

    variables = _variables(table)
    # A name in MATLAB is a letter, and then letters, digits and underscores.
    clean = (re.sub(r"\W", "_", name, flags=re.ASCII) for name in variables)
    names = [name if name[:1].isalpha() else f"x{name}" for name in clean]
    columns = {}
    for name, values in zip(unique_names(names, []), variables.values(), strict=True):
        if values.ndim == 1:  # a column; text as cells, which may differ in length
            kind = object if values.dtype.kind == "U" else values.dtype
            values = values.astype(kind)[:, np.newaxis]
        columns[name] = values
    savemat(path, columns, appendmat=False, do_compression=True)


def _variables(table: Table) -> dict[str, Any]:
    """Return the table, names and labels, under their names if those are free."""
    details = table.origin.details
    result = {details.get("variable") or "X": table.values}
    if table.feature_names is not None:
        result[details.get("names") or "feature_names"] = table.feature_names
    if table.sample_names is not None:
        result[details.get("samples") or "sample_names"] = table.sample_names
    others = [each for each in table.other_columns() if each.role != "sample names"]
    taken = [*result, *RESERVED]
    names = unique_names([*taken, *(each.name for each in others)], [])[len(taken) :]
    cells = (_stored(each.cells) for each in others)
    return result | dict(zip(names, cells, strict=True))


def _stored(cells: NDArray[Any]) -> NDArray[Any]:
    """Return cells as numbers if their text is that of numbers, else as text."""
    if cells.dtype.kind not in "UO":
        return cells
    texts = text_of(["" if cell is None else cell for cell in cells.tolist()])
    with suppress(ValueError):
        numbers = np.array(texts, dtype=np.float64)
        if number_text(numbers) == texts:
            return numbers
    return np.array(texts)


def write_matrix_market(
    table: Table,
    path: Path,
    compression: str | None,
    final: Path | None,
    overwrite: bool,
) -> None:
    """Write a matrix, and its names into files beside it."""
    from scipy.io import mmwrite  # takes half a second to import

    # With names, a row per feature, as in files of 10x Genomics.
    in_rows = table.origin.details.get("transposed") or table.feature_names is not None
    values = table.values.T if in_rows else table.values
    with OPENERS[compression](path, "wb") as stream:
        mmwrite(stream, values)
    samples = table.sample_names
    for kind, names in (("features", table.feature_names), ("barcodes", samples)):
        if final is not None and names is not None:
            text = StringIO()
            writer = csv.writer(text, delimiter="\t", lineterminator="\n")
            writer.writerows([name] for name in names.tolist())
            write_whole(
                name_files(final, kind)[0], text.getvalue(), overwrite=overwrite
            )


def write_anndata(
    table: Table,
    columns: NDArray[np.intp],
    scores: NDArray[Any] | None,
    path: Path,
    *,
    write_filled: bool,
    subset: bool,
) -> None:
    """Write the selected features of an AnnData file, or mark them in ``var``.

    The best rank is 1; features that were left out have rank 0 and no score.
    """
    origin = table.origin
    if table.format != "h5ad":
        raise TableError(
            f"{origin.name} is not an AnnData file, so the result cannot be written as "
            ".h5ad; choose .csv or .parquet"
        )
    anndata = needed("anndata", origin.name)
    with warnings.catch_warnings():
        # Warnings about old encodings and repeated names do not matter here.
        warnings.simplefilter("ignore")
        data = anndata.read_h5ad(origin.path)
        places = table.places
        rows = np.arange(data.n_obs) if origin.rows is None else origin.rows
        if write_filled and (cells := table.filled_cells) is not None:
            layer = origin.details["variable"]
            matrix = data.X if layer == "X" else data.layers[layer]
            at = rows[cells.rows], places[cells.columns]
            matrix[at] = table.values[cells.rows, cells.columns]
        data.var = data.var.drop(columns=[*EARLIER], errors="ignore")
        selected = np.zeros(data.n_vars, dtype=bool)
        selected[places[columns]] = True
        data.var[KEY] = selected
        if scores is not None:
            rank = np.zeros(data.n_vars, dtype=np.int64)
            order = np.argsort(-scores, kind="stable")
            rank[places[order]] = np.arange(1, len(places) + 1)
            score = np.full(data.n_vars, np.nan)
            score[places] = scores
            data.var[f"{KEY}_rank"], data.var[f"{KEY}_score"] = rank, score
        data.uns.pop(KEY, None)
        if subset:
            data = data[rows, selected]
        data.write_h5ad(path)
