"""What will a fit of SCFS cost, and is the answer right?

Measures a few constants of this machine (BLAS, memory, disk, tasks of Dask), predicts
from them the fit of tall matrices at four sizes, memory-mapped and on two workers of
Dask, and prints prediction over measurement, which is to lie between 1/2 and 2. Then
it predicts what cannot be measured here: 100 workers. ``docs/scale.md`` explains the
terms.

    python benchmarks/cost_model.py [--repeats 3] [--quick]

Seconds are those of processors, one thread each and summed over processes, which
hardly depend on what else the machine is doing. The number of steps of a fit is
counted, not predicted, and so is the time for which a cluster exists meanwhile, for
its processes are never quite idle.
"""

import argparse
import math
import statistics
import tempfile
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scale import N_CHUNKS, Clock, Counted, fit, mapped, on_dask, write
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances_argmin
from threadpoolctl import threadpool_limits

from ufselect.matrix import RowBlockMatrix, as_matrix
from ufselect.matrix.base import PartialSummary, repeated
from ufselect.matrix.dask_rows import FAN_IN
from ufselect.report import text_table
from ufselect.solvers.rows import project_rows_to_simplex
from ufselect.solvers.soft_partition import SoftPartition

DURATION = "20 minutes"
C = 8
SIZES = [(100_000, 100), (400_000, 200), (100_000, 800), (1_000_000, 50)]
SETTINGS = {"max_iter": 1, "tol": 0.0}
# Not measurable here: what a network carries, in bytes per second.
NETWORK = 1e9
# A fit of hard data, for what is predicted only.
ASSUMED_STEPS, ASSUMED_ITERATIONS = 100, 10


def seconds(function, repeats=7):
    """Return the median of processor seconds; the first call warms up."""
    taken = []
    for _ in range(repeats + 1):
        start = time.process_time()
        function()
        taken.append(time.process_time() - start)
    return statistics.median(taken[1:])


class Constants(NamedTuple):
    """Seconds per unit of work, on one processor."""

    gram: float  # per multiplication and addition of X'X
    thin: float  # the same, of a product of X with C columns
    copy: float  # per value: copy, shift and scale
    check: float  # per value: minimum, maximum, mean and deviation
    median: float  # per value: share of the median in a sample
    project: float  # per membership: the rest of a step
    nearest: float  # per membership: the nearest centre
    k_means: float  # of a sample of 5000 in C dimensions, ten starts
    disk: float  # per byte that is read from a file in memory
    one_pass: float  # a pass over no data on Dask
    chunk: float  # a chunk of that pass
    idle: float  # per second on the clock: a cluster without work


def local_constants(folder):
    random = np.random.default_rng(0)
    n, p = 5000, 200
    X = random.standard_normal((n, p))
    thin, left = random.standard_normal((p, C)), random.random((n, C))
    points = random.standard_normal((n, C))
    matrix = RowBlockMatrix(X, np.ones(p), np.ones(p))
    path = Path(folder, "constant.npy")
    np.save(path, np.zeros(20_000_000))
    values, memberships = n * p, n * C

    def step():
        moved = left + 0.5 * points
        difference = project_rows_to_simplex(moved - points) - left
        return left.T @ difference, difference.T @ difference

    def read():
        with path.open("rb", buffering=0) as stream:
            while stream.read(8_000_000):
                pass

    return {
        "gram": seconds(lambda: X.T @ X) / (n * p * p),
        "thin": seconds(lambda: (X @ thin, X.T @ left)) / (4 * values * C),
        "copy": seconds(lambda: matrix.rows(slice(0, n))) / values,
        "check": seconds(lambda: (X.sum(), PartialSummary.of(X.copy()))) / values,
        "median": seconds(lambda: repeated(X)) / values,
        "project": seconds(step) / memberships,
        "nearest": seconds(lambda: pairwise_distances_argmin(points, thin[:C]))
        / memberships,
        "k_means": seconds(lambda: KMeans(C, n_init=10).fit(points), 3),
        "disk": seconds(read, 3) / 160e6,
    }


def nothing(block, rows, thin):
    return rows, (thin,)


def task_constants(client):
    """Return the processor seconds of a pass over no data, and of each chunk of it."""
    import dask.array as da

    clock = Clock(client)
    time.sleep(10)
    waited, spent = clock()
    idle, taken = spent / waited, []
    for n_chunks in (8, 40):
        matrix = as_matrix(da.zeros((n_chunks, 200), chunks=(1, 200)).persist())
        beside = matrix.beside(np.ones((n_chunks, C)))
        clock = Clock(client)
        for _ in range(20):
            beside, _ = matrix.over_rows(nothing, beside, np.ones((200, C)))
        waited, spent = clock()
        taken.append((spent - idle * waited) / 20)
    chunk = max(taken[1] - taken[0], 0.0) / 32
    one_pass = max(taken[0] - 8 * chunk, 0.0)
    return {"one_pass": one_pass, "chunk": chunk, "idle": idle}


def work(n, p, n_steps, n_iterations, at):
    """Return processor seconds of a tall fit: what rows take, and what the rest takes.

    Of these, rows are shared among the workers and the rest is not.
    """
    values = n * p
    rows = {
        "checks": values * at.check,
        "Gram": values * at.copy + n * p * p * at.gram,
        "start": 4 * values * C * at.thin + n * C * at.nearest,
        "steps": n_steps * (4 * values * C * at.thin + n * C * at.project),
    }
    sampled = min(n, 5000) * p * at.median
    one_w = (2 * p**3 / 3 + 16 * 2 * p * p * C) * at.gram
    axes = 9 * 2 * p * p * (C + 8) * at.thin
    return rows, {"client": sampled + at.k_means + axes + n_iterations * one_w}


def measured(X, client=None):
    """Return processor and clock seconds, steps and iterations of one fit."""
    with Counted(SoftPartition, "_project") as steps, threadpool_limits(1):
        clock = Clock(client)
        found = fit(X, **SETTINGS)
        waited, spent = clock()
        return spent, waited, steps.count, found.n_iter_


def passes_of(n_steps):
    # Checks, sample, Gram, scores, sample of them, nearest, first sums, last move.
    return n_steps + 8


def check(folder, client, at, repeats, sizes):
    rows = []
    for n, p in sizes:
        path = Path(folder, "X.npy")
        write(path, n, p)
        for kind in ("mapped", "Dask"):
            X = mapped(path) if kind == "mapped" else on_dask(path)
            where = None if kind == "mapped" else client
            runs = [measured(X, where) for _ in range(repeats)]
            taken, waited, steps, iterations = np.median(runs, axis=0)
            parts, rest = work(n, p, steps, iterations, at)
            expected = sum(parts.values()) + sum(rest.values())
            if kind == "Dask":
                expected += passes_of(steps) * (at.one_pass + N_CHUNKS * at.chunk)
                expected += at.idle * waited
            largest = max(parts, key=parts.get)
            rows.append(
                [
                    f"{n:,} x {p}",
                    kind,
                    f"{steps:.0f}",
                    f"{expected:.1f}",
                    f"{taken:.1f}",
                    f"{expected / taken:.2f}",
                    f"{largest} {parts[largest] / expected:.0%}",
                ]
            )
            print("  " + "  ".join(rows[-1]), flush=True)
            del X
    print()
    header = ["matrix", "where", "G steps", "predicted s", "measured s"]
    print(text_table([*header, "ratio", "most of it"], rows))


def far(n, p, n_workers, chunks_per_worker, at):
    """Return seconds on a cluster for the parts of a fit, with steps assumed."""
    n_chunks = n_workers * chunks_per_worker
    tasks = at.one_pass + n_chunks * at.chunk
    depth = math.ceil(math.log(n_chunks, FAN_IN))
    sums = 8 * (p * C + 2 * C * C + C)
    travel = (depth * FAN_IN * sums + math.log2(n_workers) * sums) / NETWORK
    product = 4 * n * p * C * at.thin / n_workers
    one_step = product + n * C * at.project / n_workers + tasks + travel
    parts, _ = work(n, p, 0, 0, at)
    start = (parts["checks"] + parts["start"]) / n_workers + 6 * tasks
    if p <= 4096:
        gram = parts["Gram"] / n_workers + depth * FAN_IN * 8 * p * p / NETWORK
        one_w = (2 * p**3 / 3 + 16 * 2 * p * p * C) * at.gram
    else:
        # Axes by products of C + 8 columns, and a Gram matrix of the working set only.
        start += 9 * (1 + 8 / C) * (product + tasks + travel)
        active = 1000
        gram = 2 * n * active * active * at.gram / n_workers
        gram += depth * FAN_IN * 8 * active * active / NETWORK
        one_w = one_step + 2 * active**3 / 3 * at.gram
    total = start + gram + ASSUMED_STEPS * one_step + ASSUMED_ITERATIONS * one_w
    return {
        "product": product,
        "tasks": tasks,
        "sums travel": travel,
        "G step": one_step,
        "from disk": 8 * n * p / n_workers * at.disk,
        "Gram": gram,
        "start": start,
        "W step": one_w,
        "fit, minutes": total / 60,
    }


def print_far(at):
    shapes = [(10**8, 10**3), (10**6, 10**5)]
    columns = [far(n, p, 100, 4, at) for n, p in shapes]
    print("\npredicted for 100 workers of one thread, 4 chunks each, c = 8, seconds;")
    print(f"a fit is {ASSUMED_ITERATIONS} iterations with {ASSUMED_STEPS} G steps, and")
    print(f"the network is assumed to carry {NETWORK / 1e9:.0f} GB/s\n")
    rows = [[key, *(f"{column[key]:.2g}" for column in columns)] for key in columns[0]]
    print(text_table(["", "10^8 x 10^3", "10^6 x 10^5"], rows))


def print_constants(at):
    print("constants of one processor\n")
    rows = [
        ["X'X", f"{1e-9 / at.gram:.1f}", "10^9 multiplications and additions / s"],
        ["X times 8 columns", f"{1e-9 / at.thin:.1f}", "10^9 operations / s"],
        ["copy, shift, scale", f"{1e9 * at.copy:.2f}", "ns / value"],
        ["statistics of columns", f"{1e9 * at.check:.2f}", "ns / value"],
        ["median of a sample", f"{1e9 * at.median:.1f}", "ns / value"],
        ["projection of a step", f"{1e9 * at.project:.1f}", "ns / membership"],
        ["nearest centre", f"{1e9 * at.nearest:.1f}", "ns / membership"],
        ["k-means of the sample", f"{at.k_means:.2f}", "s"],
        ["reading a cached file", f"{1e-9 / at.disk:.1f}", "GB / s"],
        ["a pass on Dask", f"{1e3 * at.one_pass:.0f}", "ms, all processes"],
        ["each chunk of it", f"{1e3 * at.chunk:.1f}", "ms, all processes"],
        ["2 workers without work", f"{1e3 * at.idle:.0f}", "ms / s, all processes"],
    ]
    print(text_table(["", "", "unit"], rows))
    print(flush=True)


def main():
    from distributed import Client, LocalCluster

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="one small size, once")
    options = parser.parse_args()
    sizes, repeats = SIZES, options.repeats
    if options.quick:
        sizes, repeats = [(20_000, 100)], 1
    warnings.simplefilter("ignore", ConvergenceWarning)
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        with threadpool_limits(1):
            at = Constants(**local_constants(folder), **task_constants(client))
        print_constants(at)
        check(folder, client, at, repeats, sizes)
    print_far(at)


if __name__ == "__main__":
    main()
