"""NumPy, MATLAB and Matrix Market files are written with the variables they had."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.io import mmwrite, savemat

from ufselect.data.tables.cells import number
from ufselect.data.tables.choice import Choice
from ufselect.data.tables.matrices import is_sparse
from ufselect.data.tables.matrix_market import candidates
from ufselect.data.tables.sources import OPENERS


def write_npy(chosen: Choice, path: Path) -> None:
    """Write the numbers alone."""
    with path.open("wb") as stream:
        np.save(stream, chosen.dense(), allow_pickle=False)


def write_npz(chosen: Choice, path: Path) -> None:
    """Write an archive: the table, names and labels; or a sparse matrix alone."""
    with path.open("wb") as stream:
        if is_sparse(chosen.values):
            sp.save_npz(stream, chosen.values)
        else:
            arrays = _variables(chosen)
            np.savez_compressed(stream, **{name: arrays[name] for name in arrays})


def write_matlab(chosen: Choice, path: Path) -> None:
    """Write a MATLAB file of version 5, which all versions of MATLAB read."""
    variables = {
        name: _cells(values) if values.ndim == 1 else values
        for name, values in _variables(chosen).items()
    }
    savemat(path, variables, appendmat=False, do_compression=True)


def _variables(chosen: Choice) -> dict[str, Any]:
    """Return the table and what belongs to it, under the names they had."""
    table, details = chosen.table, chosen.details
    result = {details.get("variable") or "X": chosen.values}
    if chosen.has_names:
        result[details.get("names") or "feature_names"] = chosen.names
    if table.sample_names is not None:
        result[details.get("samples") or "sample_names"] = table.sample_names
    if table.labels is not None:
        result[table.label_column or "labels"] = _numbers_or_text(table.labels)
    return result


def _numbers_or_text(texts: Any) -> Any:
    """Return labels as numbers if that is what they all are."""
    values = [number(text) for text in texts.tolist()]
    if any(value is None or np.isnan(value) for value in values):
        return texts
    return np.array(values)


def _cells(values: Any) -> Any:
    """Return a vector as a column; text as cells, which may differ in length."""
    kind = object if values.dtype.kind == "U" else values.dtype
    return values.astype(kind)[:, np.newaxis]


def write_matrix_market(
    chosen: Choice, path: Path, compression: str | None, final: Path | None
) -> None:
    """Write a matrix, and names into files beside its final place."""
    values = chosen.values.T if chosen.details.get("turned") else chosen.values
    plain = path.with_name(f"{path.name}.plain.mtx")
    try:
        mmwrite(plain, values)
        with plain.open("rb") as source, OPENERS[compression](path, "wb") as target:
            shutil.copyfileobj(source, target)
    finally:
        plain.unlink(missing_ok=True)
    if final is not None and chosen.has_names:
        _write_names(final, "features", chosen.names.tolist())
    if final is not None and chosen.table.sample_names is not None:
        _write_names(final, "barcodes", chosen.table.sample_names.tolist())


def _write_names(final: Path, kind: str, names: Sequence[str]) -> None:
    path = candidates(final, kind)[0]
    path.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
