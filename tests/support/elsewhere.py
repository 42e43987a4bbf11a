"""Arrays out-of-core: on Dask, and in files of several formats."""

import itertools
from contextlib import contextmanager

import numpy as np
import pytest
import scipy.sparse as sp

from ufselect.matrix.arrays import RowSource

_counter = itertools.count()


def in_memory(data):
    """Return the numbers of any such array as a dense array in memory."""
    if isinstance(data, RowSource):
        data = data.source
    if getattr(data, "numblocks", ())[1:] == (1,):
        # Not every version of Dask puts sparse arrays together.
        chunks = [chunk.compute(scheduler="synchronous") for chunk in data.blocks]
        return np.concatenate([in_memory(chunk) for chunk in chunks])
    if hasattr(data, "compute"):
        data = data.compute(scheduler="synchronous")
    if hasattr(data, "to_memory"):
        data = data.to_memory()
    return data.toarray() if sp.issparse(data) else np.asarray(data)


@contextmanager
def one_thread():
    """Use Dask's synchronous scheduler, which is fastest for small arrays."""
    try:
        import dask
    except ImportError:
        yield
        return
    with dask.config.set(scheduler="synchronous"):
        yield


def on_dask(array, chunks):
    da = pytest.importorskip("dask.array")
    return da.from_array(np.array(array), chunks=chunks)


def with_unknown_chunks(array, folder):
    """Return a Dask array with unknown chunk sizes, as after a filter of rows."""
    padded = np.repeat(array, 2, axis=0)
    wanted = on_dask(np.arange(len(padded)) % 2 == 0, 6)
    return on_dask(padded, (6, -1))[wanted]


def with_an_empty_chunk(array, folder):
    da = pytest.importorskip("dask.array")
    half = len(array) // 2
    nothing = on_dask(array[:0], (1, -1))
    parts = [nothing, on_dask(array[:half], 5), nothing, on_dask(array[half:], 4)]
    return da.concatenate([*parts, nothing])


def of_sparse_chunks(array, container, chunk_rows=7):
    dense = on_dask(array, (chunk_rows, -1))
    meta = container(np.zeros((0, 0), array.dtype))
    return dense.map_blocks(container, dtype=array.dtype, meta=meta)


def in_zarr(array, folder, chunks):
    zarr = pytest.importorskip("zarr")
    path = folder / f"{next(_counter)}.zarr"
    stored = zarr.open_array(
        path, mode="w", shape=array.shape, chunks=chunks, dtype=array.dtype
    )
    stored[:] = array
    return stored


def in_hdf5(array, folder, chunks=None):
    h5py = pytest.importorskip("h5py")
    path = folder / f"{next(_counter)}.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("X", data=array, chunks=chunks)
    return h5py.File(path)["X"]


def backed(values, folder):
    """Return X of a backed AnnData, which stays in its file."""
    anndata = pytest.importorskip("anndata")
    path = folder / f"{next(_counter)}.h5ad"
    anndata.AnnData(values).write_h5ad(path)
    return anndata.read_h5ad(path, backed="r").X


def whole(array):
    return np.round(3 * array)


# For each place, from an array and a folder to the same numbers there; a few places
# hold rounded ones.
ELSEWHERE = {
    "Dask": lambda array, folder: on_dask(array, (7, -1)),
    "Dask in one chunk": lambda array, folder: on_dask(array, -1),
    "Dask uneven": lambda array, folder: on_dask(array, ((1, len(array) - 4, 3), -1)),
    "Dask by single rows": lambda array, folder: on_dask(array, (1, -1)),
    "Dask by columns": lambda array, folder: on_dask(array, (6, 4)),
    "Dask float32": lambda array, folder: on_dask(array.astype(np.float32), (7, -1)),
    "Dask int": lambda array, folder: on_dask(whole(array).astype(np.int16), (7, -1)),
    "Dask bool": lambda array, folder: on_dask(array > 0, (7, -1)),
    "Dask unknown": with_unknown_chunks,
    "Dask empty chunks": with_an_empty_chunk,
    "Dask CSR": lambda array, folder: of_sparse_chunks(array, sp.csr_matrix),
    "Dask CSR array": lambda array, folder: of_sparse_chunks(array, sp.csr_array),
    "Dask CSC": lambda array, folder: of_sparse_chunks(array, sp.csc_matrix),
    "Zarr": lambda array, folder: in_zarr(array, folder, (4, array.shape[1])),
    "Zarr by columns": lambda array, folder: in_zarr(array, folder, (9, 3)),
    "Zarr in one chunk": lambda array, folder: in_zarr(array, folder, array.shape),
    "Zarr int": lambda array, folder: in_zarr(
        whole(array).astype(np.int32), folder, (4, 5)
    ),
    "HDF5": lambda array, folder: in_hdf5(array, folder),
    "HDF5 chunked": lambda array, folder: in_hdf5(array, folder, (3, 2)),
    "HDF5 float32": lambda array, folder: in_hdf5(array.astype(np.float32), folder),
    "HDF5 bool": lambda array, folder: in_hdf5(array > 0, folder),
    "backed": backed,
    "backed CSR": lambda array, folder: backed(sp.csr_matrix(array), folder),
}
