"""What does SCFS cost when X is not in memory?

On planted clusters of 400,000 x 200: the time of a memory-mapped fit, and of one on a
Dask cluster of two single-threaded processes, divided by that in memory, and whether
the results agree; the memory of the memory-mapped fit divided by the size of the array,
without pages of the file, which the system may drop; and the ratio of the times of
memory-mapped fits of 800,000 and 100,000 rows, which is 8 for linear growth. With
``--sets big``, an array of 10 GB in a process with a memory limit of 2 GB.
For large sparse matrices see ``sparse_scale.py``.

    python -m studies scale [--sets big]
"""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from studies.findings import Row, compared
from studies.measuring import Spread, Timing, interleaved
from studies.settings import Settings
from ufselect import SCFS

DURATION = "15 minutes"
N_CLUSTERS, WIDTH = 8, 200
BLOCK, N_CHUNKS = 20_000, 8
BIG_BYTES, BIG_LIMIT, BIG_ROOM = 10e9, 2e9, 12e9


def written(folder: str, n: int) -> Path:
    """Write planted clusters, a block of rows at a time: half the columns tell them."""
    random = np.random.default_rng(0)
    centres = np.zeros((N_CLUSTERS, WIDTH))
    centres[:, : WIDTH // 2] = random.standard_normal((N_CLUSTERS, WIDTH // 2))
    header = {"descr": "<f8", "fortran_order": False, "shape": (n, WIDTH)}
    path = Path(folder, "X.npy")
    with path.open("wb") as stream:
        np.lib.format.write_array_header_2_0(stream, header)
        for start in range(0, n, BLOCK):
            labels = random.integers(N_CLUSTERS, size=min(BLOCK, n - start))
            noise = random.standard_normal((len(labels), WIDTH))
            stream.write((centres[labels] + noise).data)
    return path


def mapped(path: Path) -> Any:
    """Return the array of a file."""
    return np.load(path, mmap_mode="r")


def read_rows(path: Path, start: int, stop: int) -> Any:
    """Return some rows in memory."""
    return np.array(mapped(path)[start:stop])


def on_dask(path: Path) -> Any:
    """Return the rows as a Dask array, in the memory of the workers."""
    import dask.array as da
    from dask.delayed import delayed
    from distributed import wait

    bounds = np.linspace(0, len(mapped(path)), N_CHUNKS + 1).astype(int).tolist()
    chunks = [
        da.from_delayed(delayed(read_rows)(path, a, b), (b - a, WIDTH), float)
        for a, b in pairwise(bounds)
    ]
    X = da.concatenate(chunks).persist()
    wait(X)
    return X


def storages(folder: str, n: int, repeats: int) -> Iterator[Row]:
    """Yield the times of fits of data that are mapped or on a cluster."""
    from distributed import Client, LocalCluster

    path, fits = written(folder, n), {}
    with (
        LocalCluster(2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        data = {
            "in memory": read_rows(path, 0, n),
            "memory-mapped": mapped(path),
            "Dask, 2 workers": on_dask(path),
        }

        def fit(kind: str, repetition: int) -> Timing:
            def used() -> float:
                workers = client.run(time.process_time).values()
                return time.process_time() + sum(workers)

            start, before = time.perf_counter(), used()
            fits[kind] = SCFS(n_clusters=N_CLUSTERS, random_state=0).fit(data[kind])
            return Timing(time.perf_counter() - start, used() - before)

        taken = interleaved({kind: partial(fit, kind) for kind in data}, repeats)
    first = fits.pop("in memory")
    for (kind, other), target in zip(fits.items(), (1.5, 2.0), strict=True):
        apart = np.abs(other.scores_ - first.scores_).max() / first.scores_.max()
        same = set(other.order_[:100]) == set(first.order_[:100])
        note = f"scores {apart:.0e} apart, {'the same' if same else 'ANOTHER'} top 100"
        ours, theirs = taken[kind], taken["in memory"]
        what = f"{kind}, {n:,} x {WIDTH}"
        yield compared(what, ours, "in memory", theirs, target=target, note=note)


MEMORY_CODE = """
import json, resource, sys, threading, time
from pathlib import Path
import numpy as np
from ufselect import SCFS

def own():
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(x.split()[1] for x in lines if x.startswith("RssAnon")))

path, limit, n_clusters = json.loads(sys.argv[1])
X = np.load(path, mmap_mode="r")
SCFS(n_clusters=2).fit(np.random.default_rng(0).standard_normal((6000, 20)))
if limit:
    resource.setrlimit(resource.RLIMIT_DATA, (int(limit), int(limit)))
before = peak = own()
done = threading.Event()

def watch():
    global peak
    while not done.wait(0.005):
        peak = max(peak, own())

watcher = threading.Thread(target=watch)
watcher.start()
start = time.perf_counter()
selector = SCFS(n_clusters=n_clusters, random_state=0).fit(X)
seconds = time.perf_counter() - start
done.set()
watcher.join()
half = X.shape[1] // 2
found = int(np.sum(selector.order_[:half] < half))
print(json.dumps([X.nbytes, peak - before, seconds, selector.n_iter_, found]))
"""


def memory(path: Path, limit: float | None = None) -> Row:
    """Return the memory of a fit of a mapped array, in a process of its own."""
    arguments = json.dumps([str(path), limit, N_CLUSTERS])
    command = [sys.executable, "-c", MEMORY_CODE, arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    size, own, seconds, iterations, found = json.loads(done.stdout.splitlines()[-1])
    sizes = (own / 1e6, size / 1e6, own / size)
    ours, theirs, ratio = (Spread(value, value, value) for value in sizes)
    note = f"{seconds:.0f} s, {iterations} iterations, {found} of the best "
    note += f"{WIDTH // 2} features are planted"
    return Row(
        *("memory of a memory-mapped fit", "the array", ours, theirs, ratio),
        target=0.25,
        unit="MB",
        note=note,
    )


def growth(path: Path, n: int, repeats: int) -> Row:
    """Return the time of eight times the rows, in equally many passes."""
    X = mapped(path)

    def fit(rows: int, repetition: int) -> None:
        # No tolerance: the same number of passes, whatever the rows say.
        options = {"max_iter": 2, "tol": 0.0, "random_state": 0}
        SCFS(n_clusters=N_CLUSTERS, **options).fit(X[:rows])

    sizes = {rows: partial(fit, rows) for rows in (n // 4, 2 * n)}
    taken = interleaved(sizes, repeats, warm_up=False)
    what, other = (f"memory-mapped, {rows:,} rows" for rows in (2 * n, n // 4))
    return compared(what, taken[2 * n], other, taken[n // 4])


def measure(settings: Settings) -> Iterator[Row]:
    """Yield times and memory of fits of data that are not in memory."""
    with tempfile.TemporaryDirectory() as folder:
        if settings.sets == ("big",):
            if shutil.disk_usage(folder).free < BIG_ROOM:
                raise ValueError(f"{folder} has no room for {BIG_ROOM / 1e9:.0f} GB")
            yield memory(written(folder, int(BIG_BYTES / 8 / WIDTH)), BIG_LIMIT)
            return
        n, repeats = settings.count(400_000, 40_000), settings.repetitions(3)
        yield from storages(folder, n, repeats)
        yield memory(Path(folder, "X.npy"))
        yield growth(written(folder, 2 * n), n, repeats)
