"""What does SCFS cost when X is not in memory?

Every figure is a ratio of two measurements made in this run, on planted clusters:

(a) the time of one fit of 400,000 x 200 in memory, memory-mapped, and on a Dask
    cluster of two single-threaded processes, and whether the results agree;
(b) the peak memory of the memory-mapped fit, over the size of the array;
(c) the growth of the memory-mapped fit from 100,000 to 800,000 rows;
(d) with ``--big``, a memory-mapped array of 10 GB in a process that may not
    allocate more than 2 GB.

    python -m studies scale [--parts abc] [--repeats 3] [--big] [--quick]

With ``--quick`` a tenth of the rows is fitted once.
Besides the seconds on the clock there are processor seconds, summed over all processes,
which hardly depend on what else the machine is doing. On the clock, BLAS may use all
processors in memory and mapped, and each worker of Dask has one thread.
For large sparse matrices see ``sparse_scale.py``.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ufselect import SCFS
from ufselect.matrix import RowBlockMatrix
from ufselect.report import text_table

DURATION = "15 minutes"
N_CLUSTERS = 8
BLOCK = 20_000
N_CHUNKS = 8
BIG_BYTES, BIG_LIMIT, BIG_ROOM = 10e9, 2e9, 12e9


def write(path, n, p):
    """Write planted clusters, a block of rows at a time: half the columns tell them."""
    random = np.random.default_rng(0)
    centres = np.zeros((N_CLUSTERS, p))
    centres[:, : p // 2] = random.standard_normal((N_CLUSTERS, p // 2))
    header = {"descr": "<f8", "fortran_order": False, "shape": (n, p)}
    with path.open("wb") as stream:
        np.lib.format.write_array_header_2_0(stream, header)
        for start in range(0, n, BLOCK):
            labels = random.integers(N_CLUSTERS, size=min(BLOCK, n - start))
            noise = random.standard_normal((len(labels), p))
            stream.write((centres[labels] + noise).data)


def mapped(path):
    return np.load(path, mmap_mode="r")


def fit(X, **settings):
    return SCFS(n_clusters=N_CLUSTERS, random_state=0, **settings).fit(X)


class Clock:
    """Seconds of the clock and of the processors since it was made."""

    def __init__(self, client=None):
        self.client = client
        self.start = self.now()

    def now(self):
        elsewhere = self.client.run(time.process_time) if self.client else {}
        processor = time.process_time() + sum(elsewhere.values())
        return time.perf_counter(), processor

    def __call__(self):
        return np.subtract(self.now(), self.start)


def read_rows(path, start, stop):
    return np.array(mapped(path)[start:stop])


def on_dask(path):
    """Return the rows as a Dask array, in the memory of the workers."""
    import dask.array as da
    from dask.delayed import delayed
    from distributed import wait

    n, p = mapped(path).shape
    bounds = np.linspace(0, n, N_CHUNKS + 1).astype(int).tolist()
    chunks = [
        da.from_delayed(delayed(read_rows)(path, *ends), (ends[1] - ends[0], p), float)
        for ends in pairwise(bounds)
    ]
    X = da.concatenate(chunks).persist()
    wait(X)
    return X


def interleaved(kinds, repeats):
    """Return the medians of both clocks and the last fit of each kind."""
    taken = {kind: [] for kind in kinds}
    fits = {}
    for repeat in range(repeats + 1):
        for kind, (X, client) in kinds.items():
            clock = Clock(client)
            fits[kind] = fit(X)
            if repeat:  # the first round warms up
                taken[kind].append(clock())
    return medians(taken), fits


def medians(taken):
    return {key: np.median(pairs, axis=0) for key, pairs in taken.items()}


def part_a(folder, repeats, shrink):
    from distributed import Client, LocalCluster

    path, n = Path(folder, "X.npy"), 400_000 // shrink
    write(path, n, 200)
    with (
        LocalCluster(2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        kinds = {
            "in memory": (np.array(mapped(path)), None),
            "memory-mapped": (mapped(path), None),
            "Dask, 2 workers": (on_dask(path), client),
        }
        found, fits = interleaved(kinds, repeats)
    print(f"(a) SCFS on {n:,} x 200, medians of {repeats} interleaved fits;")
    print("    memory-mapped is to stay within 1.5, Dask within 2\n")
    first = fits["in memory"]
    rows = []
    for kind, (clock, processor) in found.items():
        ratios = found[kind] / found["in memory"]
        scores = fits[kind].scores_
        apart = np.abs(scores - first.scores_).max() / first.scores_.max()
        same = set(fits[kind].order_[:100]) == set(first.order_[:100])
        rows.append(
            [
                kind,
                f"{clock:.1f}",
                f"{ratios[0]:.2f}",
                f"{processor:.1f}",
                f"{ratios[1]:.2f}",
                str(fits[kind].n_iter_),
                f"{apart:.0e}",
                "yes" if same else "NO",
            ]
        )
    header = ["", "seconds", "ratio", "processor s", "ratio", "iterations"]
    print(text_table([*header, "scores apart", "same top 100"], rows))
    print()


MEMORY_CODE = """
import json, resource, sys, threading, time
from pathlib import Path
import numpy as np
from ufselect import SCFS

def status(key):
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(x.split()[1] for x in lines if x.startswith(key)))

path, limit, n_clusters = json.loads(sys.argv[1])
X = np.load(path, mmap_mode="r")
SCFS(n_clusters=2).fit(np.random.default_rng(0).standard_normal((6000, 20)))
if limit:
    resource.setrlimit(resource.RLIMIT_DATA, (int(limit), int(limit)))
Path("/proc/self/clear_refs").write_text("5")
before, resident = status("RssAnon"), status("VmRSS")
peak, done = before, threading.Event()

def watch():
    global peak
    while not done.wait(0.005):
        peak = max(peak, status("RssAnon"))

watcher = threading.Thread(target=watch)
watcher.start()
start, processor = time.perf_counter(), time.process_time()
selector = SCFS(n_clusters=n_clusters, random_state=0).fit(X)
seconds, processor = time.perf_counter() - start, time.process_time() - processor
done.set()
watcher.join()
found = int(np.sum(selector.order_[: X.shape[1] // 2] < X.shape[1] // 2))
print(json.dumps({
    "size": X.nbytes, "seconds": seconds, "processor": processor, "found": found,
    "own": peak - before, "own in total": peak, "resident": status("VmHWM") - resident,
    "resident in total": status("VmHWM"), "iterations": selector.n_iter_}))
"""


def memory(path, limit=None):
    """Return what a fit of a mapped array took, in a process of its own."""
    what = json.dumps([str(path), limit, N_CLUSTERS])
    command = [sys.executable, "-c", MEMORY_CODE, what]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def print_memory(found):
    size = found["size"]
    for key, words in (
        ("own", "own (anonymous) memory, the highest of looks every 5 ms"),
        ("resident", "resident memory, which counts pages of the file that the"),
    ):
        above, total = found[key], found[f"{key} in total"]
        print(f"    {words}" + ("\n    system may drop" if key == "resident" else ""))
        print(f"      above that before the fit: {above / 1e6:.0f} MB,", end=" ")
        print(f"{above / size:.1%} of the array; in total {total / 1e6:.0f} MB")


def part_b(folder, repeats, shrink):
    path, n = Path(folder, "X.npy"), 400_000 // shrink
    write(path, n, 200)
    found = memory(path)
    print(f"(b) peak memory of the memory-mapped fit of {n:,} x 200, an array of")
    print(f"    {found['size'] / 1e6:.0f} MB; own memory is to stay under 25 %\n")
    print_memory(found)
    print()


class Counted:
    """Counts the calls of a method, as long as it is entered."""

    def __init__(self, kind, name):
        self.kind, self.name, self.count = kind, name, 0

    def __enter__(self):
        self.original = original = getattr(self.kind, self.name)

        def counted(*arguments):
            self.count += 1
            return original(*arguments)

        setattr(self.kind, self.name, counted)
        return self

    def __exit__(self, *error):
        setattr(self.kind, self.name, self.original)


def part_c(folder, repeats, shrink):
    path = Path(folder, "X.npy")
    sizes = [n // shrink for n in (100_000, 200_000, 400_000, 800_000)]
    write(path, sizes[-1], 200)
    X = mapped(path)
    taken = {n: [] for n in sizes}
    passes = {}
    for _ in range(repeats):
        for n in sizes:
            with Counted(RowBlockMatrix, "over_rows") as counter:
                clock = Clock()
                # No tolerance: the same number of passes, whatever the rows say.
                fit(X[:n], max_iter=2, tol=0.0)
                taken[n].append(clock())
            passes[n] = counter.count
    print(f"(c) growth of the memory-mapped fit with n, p = 200, medians of {repeats};")
    print("    max_iter=2 and tol=0, so that every row takes part in equally many")
    print("    passes; an exponent of 1 is linear growth\n")
    found = medians(taken)
    rows = []
    for n in sizes:
        exponents = ["", ""]
        if n > sizes[0]:
            growth = np.log(found[n] / found[sizes[0]]) / np.log(n / sizes[0])
            exponents = [f"{each:.2f}" for each in growth]
        clock, processor = found[n]
        rows.append(
            [
                f"{n}",
                str(passes[n]),
                f"{clock:.1f}",
                exponents[0],
                f"{processor:.1f}",
                exponents[1],
            ]
        )
    header = ["rows", "passes", "seconds", "exponent", "processor s", "exponent"]
    print(text_table(header, rows))
    print()


def part_d(folder, repeats, shrink):
    room = shutil.disk_usage(folder).free
    if room < BIG_ROOM:
        print(f"(d) skipped: {folder} has {room / 1e9:.0f} GB of room, not 12")
        return
    path = Path(folder, "big.npy")
    clock = Clock()
    write(path, int(BIG_BYTES / 8 / 200), 200)
    print(f"(d) {BIG_BYTES / 8 / 200:,.0f} x 200, written in {clock()[0]:.0f} s; the")
    print(
        f"    process may not allocate more than {BIG_LIMIT / 1e9:.0f} GB", flush=True
    )
    found = memory(path, BIG_LIMIT)
    path.unlink()
    print(f"    fitted in {found['seconds']:.0f} s ({found['processor']:.0f} processor")
    print(f"    seconds), {found['iterations']} iterations; of the best 100 features")
    print(f"    {found['found']} are among the 100 that tell the clusters\n")
    print_memory(found)


def main(arguments):
    parser = argparse.ArgumentParser(
        prog="python -m studies scale", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--parts", default="abc")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--big", action="store_true", help="also fit 10 GB")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    options = parser.parse_args(arguments)
    repeats, shrink = (1, 10) if options.quick else (options.repeats, 1)
    warnings.simplefilter("ignore", ConvergenceWarning)
    parts = {"a": part_a, "b": part_b, "c": part_c, "d": part_d}
    for letter in options.parts + "d" * options.big:
        with tempfile.TemporaryDirectory() as folder:
            parts[letter](folder, repeats, shrink)
