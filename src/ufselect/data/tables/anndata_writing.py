"""AnnData files are copied whole, with columns of ``var`` that say what was chosen."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.data.tables.choice import Choice
from ufselect.data.tables.hdf5 import opened_hdf5
from ufselect.data.tables.table import TableError

ENCODING = {"encoding-type": "array", "encoding-version": "0.2.0"}


def write_anndata(chosen: Choice, path: Path, scores: NDArray[Any] | None) -> None:
    """Copy the file and add ``ufselect_selected``, ``_score`` and ``_rank`` to ``var``.

    The best rank is 1; features that were left out have no score and rank 0.
    """
    origin = chosen.table.origin
    if chosen.table.format != "h5ad":
        raise TableError(
            f"{origin.name} is no AnnData file, so the result cannot be written as "
            ".h5ad; choose .csv or .parquet"
        )
    shutil.copyfile(origin.path, path)
    with opened_hdf5(path, origin.name, "r+") as file:
        for name, values in _columns(chosen, file["var"], scores).items():
            _set_column(file["var"], name, values)


def _columns(
    chosen: Choice, var: Any, scores: NDArray[Any] | None
) -> dict[str, NDArray[Any]]:
    if hasattr(var, "dtype"):
        raise TableError(
            f"{chosen.table.origin.name} was written by an AnnData older than 0.7; "
            "read it and write it again with a newer one"
        )
    n_features = chosen.table.shape[1]
    positions = chosen.table.origin.positions
    places = np.arange(n_features) if positions is None else positions
    length = len(var[var.attrs["_index"]])
    selected = np.zeros(length, dtype=bool)
    selected[places[chosen.columns]] = True
    result: dict[str, NDArray[Any]] = {"ufselect_selected": selected}
    if scores is not None:
        result["ufselect_score"] = np.full(length, np.nan)
        result["ufselect_score"][places] = scores
        result["ufselect_rank"] = np.zeros(length, dtype=np.int64)
        order = np.argsort(-np.asarray(scores), kind="stable")
        result["ufselect_rank"][places[order]] = np.arange(1, n_features + 1)
    return result


def _set_column(var: Any, name: str, values: NDArray[Any]) -> None:
    """Add a column as AnnData does, or put it in the place of an earlier one."""
    if name in var:
        del var[name]
    dataset = var.create_dataset(name, data=values)
    dataset.attrs.update(ENCODING)
    known = [_text(each) for each in var.attrs.get("column-order", [])]
    if name not in known:
        var.attrs["column-order"] = np.array([*known, name], dtype=object)


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
