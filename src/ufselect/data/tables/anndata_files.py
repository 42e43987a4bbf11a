"""AnnData files (.h5ad), read and written with h5py alone."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from ufselect.data.tables.columns import place_of
from ufselect.data.tables.hdf5 import array_of, opened_hdf5, text_of
from ufselect.data.tables.matrices import floating, matrix_parts
from ufselect.data.tables.table import File, Parts, Request, TableError

SPARSE = {"csr_matrix": sp.csr_array, "csc_matrix": sp.csc_array}
SPARSE |= {"csr": sp.csr_array, "csc": sp.csc_array}


def read_anndata(file: File, request: Request, notes: list[str]) -> Parts:
    """Read ``X``, or the layer that was asked for, and the names of its axes."""
    with opened_hdf5(file.path, file.name) as content:
        for part in ("obs", "var"):
            if part not in content:
                raise TableError(
                    f"{file.name} has no {part!r}, so it is no AnnData file; "
                    "write it with anndata's write_h5ad"
                )
        values = floating(_matrix(content, file, request), request, file.name)
        samples, features = (
            _names(content[part], file.name) for part in ("obs", "var")
        )
        labels = _labels(content["obs"], file, request)
    if values.shape != (len(samples), len(features)):
        raise TableError(
            f"{file.name} has {values.shape[0]} x {values.shape[1]} values for "
            f"{len(samples)} observations and {len(features)} variables; "
            "export it again"
        )
    return _oriented(values, features, samples, labels, file, request, notes)


def _oriented(
    values: Any,
    features: list[str],
    samples: list[str],
    labels: list[str] | None,
    file: File,
    request: Request,
    notes: list[str],
) -> Parts:
    if request.transpose:
        raise TableError(
            f"{file.name} is AnnData, which always has samples in rows; "
            "leave --transpose out"
        )
    columns = request._replace(labels=None, id_column=None)
    parts = matrix_parts(values, features, samples, file, columns, notes)
    return Parts(
        parts.values,
        parts.feature_names,
        samples,
        id_column="obs_names",
        labels=labels,
        label_column=request.labels,
        positions=parts.positions,
    )


def _matrix(content: Any, file: File, request: Request) -> Any:
    layers = {"X": content["X"]} if "X" in content else {}
    layers |= dict(content["layers"]) if "layers" in content else {}
    if not layers:
        raise TableError(f"{file.name} has no matrix X and no layer; export it again")
    wanted = request.variable or ("X" if "X" in layers else next(iter(layers)))
    known = list(layers)
    return _array(layers[known[place_of(wanted, known, file.name, "layer")]], file.name)


def _array(item: Any, name: str) -> Any:
    if hasattr(item, "dtype"):
        return array_of(item, name)
    encoding = _attribute(item, "encoding-type", "h5sparse_format")
    shape = tuple(_attribute(item, "shape", "h5sparse_shape"))
    if encoding not in SPARSE:
        raise TableError(
            f"{name} holds a matrix of encoding {encoding!r}, not a known one"
        )
    entries = (array_of(item[part], name) for part in ("data", "indices", "indptr"))
    return SPARSE[encoding](tuple(entries), shape=shape)


def _attribute(item: Any, *names: str) -> Any:
    """Return an attribute under its present or its former name."""
    return next((item.attrs[name] for name in names if name in item.attrs), ())


def _names(frame: Any, name: str) -> list[str]:
    """Return the index of a frame of AnnData, of any version."""
    if hasattr(frame, "dtype"):  # before version 0.7
        return text_of(array_of(frame, name)[frame.dtype.names[0]])
    return _column(frame[frame.attrs["_index"]], name)


def _labels(frame: Any, file: File, request: Request) -> list[str] | None:
    if request.labels is None:
        return None
    if hasattr(frame, "dtype"):
        known = list(frame.dtype.names[1:])
        wanted = known[place_of(request.labels, known, file.name, "column of obs")]
        return text_of(array_of(frame, file.name)[wanted])
    known = [name for name in frame if name != "__categories"]
    wanted = known[place_of(request.labels, known, file.name, "column of obs")]
    return _column(frame[wanted], file.name)


def _column(item: Any, name: str) -> list[str]:
    """Return a column as text: plain, of categories, or with a mask of gaps."""
    if not hasattr(item, "dtype"):
        if "categories" in item:
            categories = _column(item["categories"], name)
            return _of_categories(array_of(item["codes"], name), categories)
        values = np.array(_column(item["values"], name), dtype=object)
        values[np.asarray(array_of(item["mask"], name), dtype=bool)] = ""
        return [str(value) for value in values]
    values = array_of(item, name)
    if "categories" in item.attrs:  # before version 0.7
        stored = item.file[item.attrs["categories"]]
        return _of_categories(values, text_of(array_of(stored, name)))
    return text_of(values)


def _of_categories(codes: Any, categories: list[str]) -> list[str]:
    return [categories[code] if code >= 0 else "" for code in codes.tolist()]
