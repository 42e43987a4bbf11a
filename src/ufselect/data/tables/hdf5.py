"""Read files on HDF5: AnnData with anndata; 10x Genomics and MATLAB 7.3 with h5py."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ufselect.data.tables.columns import assembled
from ufselect.data.tables.detection import needed
from ufselect.data.tables.isolation import damage_errors
from ufselect.data.tables.matrices import (
    MATLAB_NUMBERS,
    MatrixReading,
    Variable,
    check_declared,
    floating,
    read_older_matlab,
    text_of,
    variable_parts,
)
from ufselect.data.tables.table import (
    File,
    OtherColumn,
    Request,
    Table,
    TableError,
    listed,
    place_of,
)

MAGIC = (b"MATLAB 7.3 MAT-file", b"\x89HDF\r\n\x1a\n")
# Places of gene names in 10x files of version 3 and 2.
GENE_NAMES = ("features/name", "gene_names", "features/id", "genes")


@contextmanager
def opened_hdf5(path: Path, name: str) -> Iterator[Any]:
    """Open an HDF5 file; refuse links to other files, wherever they are in it."""
    h5py = needed("h5py", name)
    with h5py.File(path, "r") as content:

        def outside(place: str, link: Any) -> str | None:
            return place if isinstance(link, h5py.ExternalLink) else None

        found = content.visititems_links(outside)  # stops at the first that is not None
        if found is not None:
            raise _refers_elsewhere(name, found)
        yield content


def is_elsewhere(item: Any) -> bool:
    """Tell whether the content of a dataset is in another file.

    A file from somebody else could read other files of yours.
    """
    return hasattr(item, "is_virtual") and bool(item.is_virtual or item.external)


def check_stored(item: Any, file: File) -> None:
    """Refuse a dataset, or a group with one, that this file does not hold."""
    if hasattr(item, "visititems"):
        item.visititems(
            lambda _, part: check_stored(part, file) if hasattr(part, "shape") else None
        )
    elif hasattr(item, "shape"):
        if is_elsewhere(item):
            raise _refers_elsewhere(file.name, item.name)
        stored, itemsize = item.id.get_storage_size(), item.dtype.itemsize
        check_declared(
            *(item.shape, itemsize, stored, file),
            lambda: f"{item.name!r} in {file.name}",
        )


def array_of(dataset: Any, file: File) -> Any:
    """Return the content of a dataset that is in this file and fits into it."""
    check_stored(dataset, file)
    return dataset[()]


def _refers_elsewhere(name: str, path: str) -> TableError:
    return TableError(
        f"{name} refers to another file for {path!r}; copy the numbers into one file"
    )


def kind_of_hdf5(file: File) -> str:
    """Tell AnnData, 10x Genomics and MATLAB apart by their groups."""
    with (
        damage_errors(file.name, "HDF5"),
        opened_hdf5(file.path, file.name) as content,
    ):
        if {"obs", "var"} <= set(content):
            return "h5ad"
        if {"row_attrs", "col_attrs"} <= set(content):
            raise TableError(
                f"{file.name} is a loom file; read it with anndata's read_loom and "
                "write it with write_h5ad"
            )
        return "10x" if _groups_of_10x(content) else "mat"


def read_anndata(file: File, request: Request, notes: list[str]) -> Table:
    """Read ``X`` or the layer asked for, ``obs``, and the names of its axes."""
    read = needed("anndata.io", file.name).read_elem
    with opened_hdf5(file.path, file.name) as content:
        _check_anndata(content, file.name)
        layers = {name: f"layers/{name}" for name in content.get("layers", ())}
        layers = ({"X": "X"} if "X" in content else {}) | layers
        layer = request.variable or next(iter(layers))
        place_of(layer, list(layers), file.name, "layer")
        parts = [content[part] for part in (layers[layer], "obs", "var")]
        for part in parts:
            check_stored(part, file)
        matrix, obs, var = map(read, parts)
    values = floating(matrix, request, file.name)
    known = list(map(str, obs.columns))
    asked = [
        None if name is None else place_of(name, known, file.name, "column of obs")
        for name in (request.labels, request.groups)
    ]
    labels, groups = (
        None if place is None else text_of(_cells_of(obs, place, "")) for place in asked
    )
    # Columns of obs come before the features.
    others = [
        OtherColumn(
            *(name, place - len(known), _cells_of(obs, place)),
            why="It is a column of obs.",
        )
        for place, name in enumerate(known)
        if place not in asked
    ]
    return _of_observations(
        *(values, text_of(var.index), text_of(obs.index), file, request, notes),
        details={"variable": layer},
        labels=labels,
        label_column=request.labels,
        groups=groups,
        others=others,
    )


def _check_anndata(content: Any, name: str) -> None:
    """Refuse an HDF5 file that is not AnnData, or of an old version."""
    for part in ("obs", "var"):
        if part not in content:
            raise TableError(
                f"{name} has no {part!r}, so it is not an AnnData file; write it with "
                "anndata's write_h5ad"
            )
        if "encoding-type" not in content[part].attrs:
            raise TableError(
                f"{name} was written by anndata before 0.7; read it with anndata's "
                "read_h5ad and write it with write_h5ad"
            )
    if "X" not in content and not len(content.get("layers", ())):
        raise TableError(f"{name} has no matrix X and no layer; export it again")
    # Anywhere, since there may be links to it.
    found = content.visititems(
        lambda place, item: place if is_elsewhere(item) else None
    )
    if found is not None:
        raise _refers_elsewhere(name, found)


def _cells_of(frame: Any, place: int, missing: str | None = None) -> NDArray[Any]:
    """Return a column of a data frame as objects."""
    column = frame.iloc[:, place]
    cells = column.astype(object).where(column.notna(), missing)
    return np.asarray(cells, dtype=object)


def _of_observations(
    values: Any,
    features: list[str],
    samples: list[str],
    file: File,
    request: Request,
    notes: list[str],
    **known: Any,
) -> Table:
    """Return the table of a matrix whose rows are observations."""
    if values.shape != (len(samples), len(features)):
        raise TableError(
            f"{file.name} has {values.shape[0]} x {values.shape[1]} values for "
            f"{len(samples)} observations and {len(features)} variables; "
            "export it again"
        )
    if request.transpose:
        raise TableError(
            f"{file.name} always has samples in rows; leave --transpose out"
        )
    columns = request._replace(labels=None, id_column=None, groups=None)
    known["id_column"] = "obs_names"
    return assembled(values, features, samples, file, columns, notes, **known)


def _groups_of_10x(content: Any) -> list[str]:
    """Return the groups of a 10x file: ``matrix``, or one per genome in version 2."""
    parts = {"barcodes", "data", "indices", "indptr", "shape"}
    return [
        name
        for name, group in content.items()
        if not hasattr(group, "dtype") and parts <= set(group)
    ]


def read_10x(file: File, request: Request, notes: list[str]) -> Table:
    """Read counts of Cell Ranger, which stores a cell per column."""
    for option in ("labels", "groups"):
        if getattr(request, option) is not None:
            raise TableError(
                f"{file.name} is a 10x Genomics file, which has no {option}; leave "
                f"--{option} out"
            )
    with opened_hdf5(file.path, file.name) as content:
        groups = _groups_of_10x(content)
        wanted = request.variable or groups[0]
        if len(groups) > 1 and request.variable is None:
            notes.append(
                f"Genome {wanted!r} was read; --variable reads {listed(groups[1:])}."
            )
        group = content[groups[place_of(wanted, groups, file.name, "genome")]]
        genes = next(each for each in GENE_NAMES if each in group)
        data, indices, indptr, shape, barcodes, names = (
            array_of(group[part], file)
            for part in ("data", "indices", "indptr", "shape", "barcodes", genes)
        )
    n_features, n_samples = map(int, shape)
    # CSC with a cell per column is CSR with a cell per row.
    values = sp.csr_array((data, indices, indptr), shape=(n_samples, n_features))
    values = floating(values, request, file.name)
    return _of_observations(
        values, text_of(names), text_of(barcodes), file, request, notes
    )


def read_matlab(file: File, request: Request, notes: list[str]) -> Table:
    """Read a matrix of a MATLAB file, of any version."""
    with file.path.open("rb") as stream:
        start = stream.read(32)
    if not start.startswith(MAGIC):
        return read_older_matlab(file, request, notes)
    with opened_hdf5(file.path, file.name) as content:
        variables = {}
        for name in content:
            if not name.startswith("#"):
                kind = _matlab_class(content[name])
                shape = _matlab_shape(content[name])
                variables[name] = Variable(shape, kind in MATLAB_NUMBERS, kind)
        reading = MatrixReading(
            variables,
            lambda name: _matlab_numbers(content[name], file),
            lambda name: _matlab_strings(content, name, file),
        )
        return variable_parts(reading, file, request, notes)


def _matlab_class(item: Any) -> str:
    """Return the MATLAB class; other programs write plain numbers."""
    kind = item.attrs.get("MATLAB_class", b"")
    if not len(kind) and hasattr(item, "dtype"):
        return "double" if item.dtype.kind in "fiub" else "other"
    return kind.decode() if isinstance(kind, bytes) else str(kind)


def _matlab_shape(item: Any) -> tuple[int, ...]:
    """Return the shape in MATLAB, which stores columns first."""
    if "MATLAB_sparse" in item.attrs:
        return int(item.attrs["MATLAB_sparse"]), len(item["jc"]) - 1
    return tuple(reversed(item.shape)) if hasattr(item, "shape") else ()


def _matlab_numbers(item: Any, file: File) -> Any:
    if "MATLAB_sparse" not in item.attrs:
        return array_of(item, file).T
    n_rows, n_columns = _matlab_shape(item)
    if "data" not in item:  # no entry at all
        return sp.csc_array((n_rows, n_columns))
    data, rows, starts = (array_of(item[part], file) for part in ("data", "ir", "jc"))
    return sp.csc_array((data, rows, starts), shape=(n_rows, n_columns))


def _matlab_strings(content: Any, name: str, file: File) -> list[str]:
    """Return a vector as text, or cells, which refer to arrays of characters."""
    values = array_of(content[name], file)
    if values.dtype.kind != "O":
        return text_of(values)
    cells = (array_of(content[cell], file) for cell in values.ravel())
    return ["".join(map(chr, cell.ravel())) for cell in cells]
