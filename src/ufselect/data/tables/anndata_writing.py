"""AnnData files are copied whole, with columns of ``var`` that say what was chosen."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.data.tables.choice import Choice
from ufselect.data.tables.hdf5 import opened_hdf5
from ufselect.data.tables.table import TableError

# The names that ``ufselect.tl.select`` gives. Those of an earlier selection, also in
# the words of ufselect 0.1, would contradict the new ones.
KEY = "ufselect"
EARLIER = tuple(
    f"{KEY}{ending}" for ending in ("", "_rank", "_score", "_n_batches", "_selected")
)
ENCODING = {"encoding-type": "array", "encoding-version": "0.2.0"}


def write_anndata(chosen: Choice, path: Path, scores: NDArray[Any] | None) -> None:
    """Copy the file and add ``ufselect``, ``_rank`` and ``_score`` to ``var``.

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
        columns = _columns(chosen, file["var"], scores)
        for name in EARLIER:
            _remove_column(file["var"], name)
        if KEY in file.get("uns", ()):
            del file["uns"][KEY]
        for name, values in columns.items():
            _add_column(file["var"], name, values)


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
    if scores is None:
        return {KEY: selected}
    score = np.full(length, np.nan)
    score[places] = scores
    rank = np.zeros(length, dtype=np.int64)
    order = np.argsort(-np.asarray(scores), kind="stable")
    rank[places[order]] = np.arange(1, n_features + 1)
    return {KEY: selected, f"{KEY}_rank": rank, f"{KEY}_score": score}


def _remove_column(var: Any, name: str) -> None:
    """Remove a column of an earlier run, which would contradict the new ones."""
    if name in var:
        del var[name]
        var.attrs["column-order"] = _ordered([n for n in _order(var) if n != name])


def _add_column(var: Any, name: str, values: NDArray[Any]) -> None:
    """Add a column as AnnData does."""
    var.create_dataset(name, data=values).attrs.update(ENCODING)
    var.attrs["column-order"] = _ordered([*_order(var), name])


def _order(var: Any) -> list[str]:
    return [_text(each) for each in var.attrs.get("column-order", [])]


def _ordered(names: list[str]) -> NDArray[Any]:
    # An empty list of strings is stored as numbers, which is what AnnData does too.
    return np.array(names, dtype=object) if names else np.array([])


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
