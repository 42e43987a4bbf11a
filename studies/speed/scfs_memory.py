"""How much memory does SCFS take above its input?

The peak of resident memory of ``SCFS().fit`` in addition to that of the process with X,
divided by the size of X. The last set, scMouseBladder2100, is sparse; its note has the
memory of the whole process.

    python -m studies scfs_memory
"""

from collections.abc import Iterator
from typing import Any

from studies.findings import Row
from studies.measuring import Spread, peak_memory
from studies.settings import Settings, find_set
from ufselect.data import data_folder, read_labelled

DURATION = "2 minutes"
SHAPES = [(100, 200_000), (500, 40_000), (4_000, 5_000), (200_000, 100)]
SPARSE = "scMouseBladder2100"

PREPARE = """
import numpy as np
from ufselect import SCFS
from ufselect.data import read_labelled

if isinstance(arguments, str):
    X = read_labelled(Path(arguments)).table
else:
    X = np.random.default_rng(0).standard_normal(arguments)
SCFS(n_clusters=2).fit(np.random.default_rng(0).standard_normal((30, 20)))
"""


def row_of(what: str, arguments: Any, size: float) -> Row:
    """Return the memory of a fit next to the bytes of X."""
    memory = peak_memory(PREPARE, "SCFS(random_state=0).fit(X)", arguments)
    own, total = (memory.peak - memory.before) / 1e6, memory.peak / 1e9
    sizes = (own, size / 1e6, own / (size / 1e6))
    ours, theirs, ratio = (Spread(value, value, value) for value in sizes)
    note = f"{total:.2f} GB in total" if isinstance(arguments, str) else ""
    return Row(what, "X itself", ours, theirs, ratio, unit="MB", note=note)


def measure(settings: Settings) -> Iterator[Row]:
    """Yield the memory of dense shapes and of a sparse set."""
    for n, p in SHAPES[::3] if settings.quick else SHAPES:
        yield row_of(f"{n} x {p} dense", [n, p], 8 * n * p)
    if data_folder() is not None:
        path = find_set(SPARSE)
        X = read_labelled(path).table
        size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
        yield row_of(f"{X.shape[0]} x {X.shape[1]} sparse", str(path), size)
