"""Do a million single cells fit, in 3 GB and in a time that grows with their number?

The cells are generated in blocks and written to an AnnData file: 2,000 genes, one value
in twenty stored, ten types of cells that differ in half of the genes. From that file,
which stays on disk, ``SCFS``, ``LaplacianScore`` and ``tl.select`` select 200 genes,
each in its own process with one thread, from a quarter of the cells and from all. The
targets are an exponent of 1.05 of the time in the number of cells, and a peak memory of
the whole process of 3 GB.

The note has the number of passes over the file, the time of a pass, and an estimate for
ten million cells on a Dask cluster of sixteen workers that read as fast as this
process, without the transfer of sums, a few megabytes in each pass.

    python -m studies cells_scale [--quick] [--sets 1000000]

``--sets`` is the number of cells, by default 200,000.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from studies.findings import Row, compared
from studies.measuring import Spread, Timing
from studies.settings import Settings

DURATION = "5 minutes"
N_GENES, PER_CELL, N_KINDS, BLOCK = 2000, 100, 10, 20_000
LIMIT_MEGABYTES, LARGEST_EXPONENT = 3000.0, 1.05
MANY_CELLS, N_WORKERS = 10_000_000, 16

FITS = {
    "SCFS": "SCFS(200, n_clusters=10, random_state=0).fit(cells.X)",
    "LaplacianScore": "LaplacianScore(200).fit(cells.X)",
    "tl.select": "tl.select(cells, n_features=200)",
}

CODE = """
import json, resource, sys, time, warnings
import anndata
import numpy as np
from ufselect import SCFS, LaplacianScore, tl
from ufselect.matrix.arrays import RowSource

warnings.simplefilter("ignore")
rows_read, reading = 0, 0.0
read = RowSource.__getitem__

def counted(source, key):
    global rows_read, reading
    start = time.perf_counter()
    piece = read(source, key)
    reading += time.perf_counter() - start
    rows_read += piece.shape[0]
    return piece

RowSource.__getitem__ = counted
cells = anndata.read_h5ad(sys.argv[1], backed="r")
start, used = time.perf_counter(), time.process_time()
{fit}
taken = time.perf_counter() - start, time.process_time() - used
# Linux counts in units of 1024 bytes.
peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([*taken, peak, rows_read / cells.shape[0], reading]))
"""


def block_of_cells(random: np.random.Generator, n_cells: int) -> sp.csr_array:
    """Return cells of ten kinds, as normalised logarithms of counts."""
    profiles = np.random.default_rng(0).gamma(1.0, size=(N_KINDS, N_GENES))
    profiles[:, N_GENES // 2 :] = profiles[0, N_GENES // 2 :]
    sums = np.cumsum(profiles / profiles.sum(axis=1, keepdims=True), axis=1)
    # One search for all kinds: each has an interval of its own.
    kinds = random.integers(N_KINDS, size=(n_cells, 1))
    drawn = kinds + random.random((n_cells, PER_CELL)) * (1 - 1e-9)
    steps = (sums + np.arange(N_KINDS)[:, np.newaxis]).ravel()
    genes = np.searchsorted(steps, drawn) - kinds * N_GENES
    values = np.ones(genes.size, np.float32)
    starts = np.arange(0, genes.size + 1, PER_CELL)
    counts = sp.csr_array(
        (values, np.minimum(genes, N_GENES - 1).ravel(), starts), (n_cells, N_GENES)
    )
    counts.sum_duplicates()
    return counts.log1p()


def written(folder: str, n_cells: int) -> Path:
    """Write cells to an AnnData file, a block at a time."""
    import h5py
    import pandas as pd
    from anndata.io import sparse_dataset, write_elem

    path, random = Path(folder, f"{n_cells}.h5ad"), np.random.default_rng(1)
    with h5py.File(path, "w") as file:
        file.attrs.update({"encoding-type": "anndata", "encoding-version": "0.1.0"})
        for name, size in {"obs": n_cells, "var": N_GENES}.items():
            names = pd.RangeIndex(size).astype(str)
            write_elem(file, name, pd.DataFrame(index=names))
        for start in range(0, n_cells, BLOCK):
            block = block_of_cells(random, min(BLOCK, n_cells - start))
            if start:
                sparse_dataset(file["X"]).append(block)
            else:
                write_elem(file, "X", block)
    return path


def fitted(method: str, path: Path) -> tuple[Timing, float, float, float]:
    """Return times, peak bytes, passes over the file and seconds of reading."""
    single = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", CODE.replace("{fit}", FITS[method]), str(path)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **single},
    )
    clock, used, peak, passes, reading = json.loads(done.stdout.splitlines()[-1])
    return Timing(clock, used), peak, passes, reading


def prediction(
    n_cells: int, before: Timing, after: Timing, passes: float, reading: float
) -> str:
    """Return what a block costs, and what that makes of many cells on a cluster."""
    per_cell = (after.processor - before.processor) / (0.75 * n_cells)
    more = per_cell * (MANY_CELLS - n_cells)
    return (
        f"{passes:.1f} passes, {after.processor / passes:.1f} s each; "
        f"{1000 * per_cell * BLOCK / passes:.0f} ms a pass for {BLOCK:,} cells more; "
        f"{reading:.0f} of {after.clock:.0f} s reading; {MANY_CELLS // 10**6} million "
        f"cells: {(after.processor + more) / 60:.0f} minutes, with {N_WORKERS} workers "
        f"{(after.processor + more / N_WORKERS) / 60:.0f}"
    )


def measure(settings: Settings) -> Iterator[Row]:
    """Yield growth of times and peaks of memory, method by method."""
    n_cells = (
        int(settings.sets[0]) if settings.sets else settings.count(200_000, 20_000)
    )
    with tempfile.TemporaryDirectory() as folder:
        small, large = (written(folder, n) for n in (n_cells // 4, n_cells))
        for method in FITS:
            before, peak_before, *_ = fitted(method, small)
            after, peak, passes, reading = fitted(method, large)
            exponent = np.log(after.processor / before.processor) / np.log(4)
            yield compared(
                f"{method}, {n_cells:,} cells",
                [after],
                f"{n_cells // 4:,} cells",
                [before],
                target=4**LARGEST_EXPONENT,
                judged_by="processor",
                note=f"exponent {exponent:.2f}; "
                + prediction(n_cells, before, after, passes, reading),
            )
            yield memory(method, n_cells, peak, peak_before)


def memory(method: str, n_cells: int, peak: float, before: float) -> Row:
    """Return the row of a peak, and how much of it came with more cells."""
    sizes: list[Any] = [peak / 1e6, LIMIT_MEGABYTES, peak / 1e6 / LIMIT_MEGABYTES]
    ours, theirs, ratio = (Spread(value, value, value) for value in sizes)
    grown = (peak - before) / (0.75 * n_cells)
    return Row(
        *(f"memory of {method}, {n_cells:,} cells", "3 GB", ours, theirs, ratio),
        target=1.0,
        unit="MB",
        note=f"{before / 1e6:.0f} MB for a quarter: {grown:.0f} bytes for a cell more",
    )
