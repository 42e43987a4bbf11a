"""Read files built on HDF5 with h5py: AnnData, 10x Genomics, MATLAB 7.3."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ufselect.data.tables.columns import assembled
from ufselect.data.tables.detection import check_size, needed
from ufselect.data.tables.isolation import damage_errors
from ufselect.data.tables.matrices import (
    MATLAB_NUMBERS,
    MAX_EXPANSION,
    MatrixReading,
    Variable,
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
SPARSE = {"csr_matrix": sp.csr_array, "csc_matrix": sp.csc_array}
SPARSE |= {"csr": sp.csr_array, "csc": sp.csc_array}
# In larger files, only the columns of obs that are asked for are read.
MAX_OBS_CELLS = 2_000_000
# Places of gene names in 10x files of version 3 and 2.
GENE_NAMES = ("features/name", "gene_names", "features/id", "genes")


@contextmanager
def opened_hdf5(path: Path, name: str) -> Iterator[Any]:
    """Open an HDF5 file; refuse links to other files, wherever they are in it."""
    h5py = needed("h5py", name)
    with h5py.File(path, "r") as file:

        def outside(place: str, link: Any) -> str | None:
            return place if isinstance(link, h5py.ExternalLink) else None

        found = file.visititems_links(outside)  # stops at the first that is not None
        if found is not None:
            raise _refers_elsewhere(name, found)
        yield file


def array_of(dataset: Any, file: File) -> Any:
    """Return the content of a dataset that is in this file and fits into it.

    Without this check, a file from somebody else could read other files of yours.
    """
    if dataset.is_virtual or dataset.external:
        raise _refers_elsewhere(file.name, dataset.name)
    declared = int(np.prod(dataset.shape, dtype=object)) * dataset.dtype.itemsize
    stored = dataset.id.get_storage_size()
    if declared > MAX_EXPANSION * (stored + 1024):
        raise TableError(
            f"{file.name} declares an array of shape {dataset.shape}, which is more "
            "than the file holds; export it again"
        )
    check_size(declared, stored, file)
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
    """Read ``X`` or the layer asked for, and the names of its axes."""
    with opened_hdf5(file.path, file.name) as content:
        for part in ("obs", "var"):
            if part not in content:
                raise TableError(
                    f"{file.name} has no {part!r}, so it is not an AnnData file; "
                    "write it with anndata's write_h5ad"
                )
        layer, matrix = _layer(content, file, request)
        values = floating(matrix, request, file.name)
        samples, columns = _frame(content["obs"], file)
        features, _ = _frame(content["var"], file)
        known, asked = list(columns), (request.labels, request.groups)
        labels, groups = (
            None
            if each is None
            else columns[known[place_of(each, known, file.name, "column of obs")]]()
            for each in asked
        )
        # Columns of obs come before the features, if they are not too many.
        others = []
        if len(samples) * len(columns) <= MAX_OBS_CELLS:
            why = "It is a column of obs."
            others = [
                OtherColumn(name, place, np.array(texts, dtype=object), why=why)
                for place, (name, cells) in enumerate(columns.items(), -len(columns))
                if name not in asked and len(texts := cells()) == len(samples)
            ]
    return _cells(
        *(values, features, samples, file, request, notes),
        details={"variable": layer},
        labels=labels,
        label_column=request.labels,
        groups=groups,
        others=others,
    )


def _cells(
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


def _layer(content: Any, file: File, request: Request) -> tuple[str, Any]:
    """Return the name of a layer, or X, and its matrix."""
    layers = {"X": content["X"]} if "X" in content else {}
    layers |= dict(content["layers"]) if "layers" in content else {}
    if not layers:
        raise TableError(f"{file.name} has no matrix X and no layer; export it again")
    wanted = request.variable or ("X" if "X" in layers else next(iter(layers)))
    wanted = list(layers)[place_of(wanted, list(layers), file.name, "layer")]
    item = layers[wanted]
    if hasattr(item, "dtype"):
        return wanted, array_of(item, file)
    encoding = _attribute(item, "encoding-type", "h5sparse_format")
    shape = tuple(_attribute(item, "shape", "h5sparse_shape"))
    if encoding not in SPARSE:
        raise TableError(
            f"{file.name} holds a matrix of the unknown encoding {encoding!r}; write "
            "it with anndata's write_h5ad"
        )
    return wanted, SPARSE[encoding](_entries(item, file), shape=shape)


def _entries(item: Any, file: File, *parts: str) -> tuple[Any, ...]:
    """Return the arrays of a sparse matrix."""
    wanted = parts or ("data", "indices", "indptr")
    return tuple(array_of(item[part], file) for part in wanted)


def _attribute(item: Any, *names: str) -> Any:
    """Return an attribute by its current or its former name."""
    return next((item.attrs[name] for name in names if name in item.attrs), ())


def _frame(
    frame: Any, file: File
) -> tuple[list[str], dict[str, Callable[[], list[str]]]]:
    """Return the index of a frame of AnnData, and functions that read its columns.

    Columns with unknown encodings are left out.
    """
    if hasattr(frame, "dtype"):  # before version 0.7
        rows = array_of(frame, file)
        index, *names = rows.dtype.names
        kinds = {n: frame.file.get(f"uns/{n}_categories") for n in names}
        return text_of(rows[index]), {
            name: partial(_old_column, rows[name], kinds[name], file) for name in names
        }
    index = frame.attrs["_index"]
    names = [n for n in frame if n not in (index, "__categories")]
    known = [name for name in names if _is_column(frame[name])]
    columns: dict[str, Callable[[], list[str]]] = {
        name: partial(_column, frame[name], file) for name in known
    }
    return _column(frame[index], file), columns


def _old_column(values: Any, categories: Any, file: File) -> list[str]:
    """Return a column from before version 0.7, with its categories, if it has any."""
    if categories is None:
        return text_of(values)
    return _categorical(values, text_of(array_of(categories, file)))


def _categorical(codes: Any, categories: list[str]) -> list[str]:
    return [categories[code] if code >= 0 else "" for code in codes.tolist()]


def _is_column(item: Any) -> bool:
    if hasattr(item, "dtype"):
        return item.ndim == 1 and item.dtype.kind in "biufSO"
    return {"categories", "codes"} <= set(item) or {"values", "mask"} <= set(item)


def _column(item: Any, file: File) -> list[str]:
    """Return a column as text: plain, categorical, or with a mask of missing values."""
    if hasattr(item, "dtype"):
        values = array_of(item, file)
        if "categories" not in item.attrs:
            return text_of(values)
        stored = item.file[item.attrs["categories"]]  # before version 0.7
        categories = text_of(array_of(stored, file))
    elif "categories" in item:
        categories = _column(item["categories"], file)
        values = array_of(item["codes"], file)
    else:
        texts = np.array(_column(item["values"], file), dtype=object)
        texts[np.asarray(array_of(item["mask"], file), dtype=bool)] = ""
        return [str(text) for text in texts]
    return _categorical(values, categories)


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
    with opened_hdf5(file.path, file.name) as content:
        groups = _groups_of_10x(content)
        wanted = request.variable or groups[0]
        if len(groups) > 1 and request.variable is None:
            notes.append(
                f"Genome {wanted!r} was read; --variable reads {listed(groups[1:])}."
            )
        group = content[groups[place_of(wanted, groups, file.name, "genome")]]
        n_features, n_samples = map(int, array_of(group["shape"], file))
        # CSC with a cell per column is CSR with a cell per row.
        values = sp.csr_array(_entries(group, file), shape=(n_samples, n_features))
        values = floating(values, request, file.name)
        samples = text_of(array_of(group["barcodes"], file))
        named = next(each for each in GENE_NAMES if each in group)
        features = text_of(array_of(group[named], file))
    for option, asked in (("labels", request.labels), ("groups", request.groups)):
        if asked is not None:
            raise TableError(
                f"{file.name} is a 10x Genomics file, which has no {option}; leave "
                f"--{option} out"
            )
    return _cells(values, features, samples, file, request, notes)


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
    entries = _entries(item, file, "data", "ir", "jc")
    return sp.csc_array(entries, shape=(n_rows, n_columns))


def _matlab_strings(content: Any, name: str, file: File) -> list[str]:
    """Return a vector as text, or cells, which refer to arrays of characters."""
    values = array_of(content[name], file)
    if values.dtype.kind != "O":
        return text_of(values)
    cells = (array_of(content[cell], file) for cell in values.ravel())
    return ["".join(map(chr, cell.ravel())) for cell in cells]
