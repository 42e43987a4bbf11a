"""Measurement of time and memory, always of two programs in the same run.

Repetitions are interleaved, so that other load on the machine affects both programs
equally, and ratios are computed within repetitions. The lower limit of a time is that
of the unavoidable matrix products at the BLAS speed of this machine. Most of the
remaining time is due to products of less favourable shapes and to passes over memory.
"""

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy
import scipy.sparse as sp
import sklearn
from threadpoolctl import threadpool_info, threadpool_limits

import ufselect

# Given the number of the repetition, which serves as a seed. One that has measured
# itself, in another process, returns its Timing.
Timed = Callable[[int], Any]


class Timing(NamedTuple):
    """Seconds of one call, by the clock and of all processors."""

    clock: float
    processor: float


class Spread(NamedTuple):
    """The median of some repetitions, the least and the most of them."""

    median: float
    least: float
    most: float


def used_by_processors() -> float:
    """Return seconds used by this process and by those it has waited for."""
    children = os.times()
    return time.process_time() + children.children_user + children.children_system


def timed(function: Timed, repetition: int = 0) -> Timing:
    """Return how long one call takes."""
    start, used = time.perf_counter(), used_by_processors()
    result = function(repetition)
    if isinstance(result, Timing):
        return result
    return Timing(time.perf_counter() - start, used_by_processors() - used)


def interleaved(
    functions: Mapping[str, Timed], repeats: int, *, warm_up: bool = True
) -> dict[str, list[Timing]]:
    """Return the times of functions that take turns, first one way, then the other.

    Warming up, each is called once before: that loads modules and fills caches.
    """
    if warm_up:
        for function in functions.values():
            function(0)
    timings: dict[str, list[Timing]] = {name: [] for name in functions}
    for repetition in range(repeats):
        names = list(functions)
        for name in names if repetition % 2 == 0 else reversed(names):
            timings[name].append(timed(functions[name], repetition))
    return timings


def spread(values: Sequence[float]) -> Spread:
    """Return median, least and most."""
    return Spread(statistics.median(values), min(values), max(values))


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> Spread:
    """Return the ratio of medians, and the extremes of ratios within repetitions.

    The first always lies between the others.
    """
    pairs = [own / other for own, other in zip(ours, theirs, strict=True)]
    middle = statistics.median(ours) / statistics.median(theirs)
    return Spread(middle, min(pairs), max(pairs))


MEMORY_CODE = """
import json, sys
from pathlib import Path

def status(key):
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line.split()[1] for line in lines if line.startswith(key)))

arguments = json.loads(sys.argv[1])
{prepare}
Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
before = status("VmRSS")
{call}
print(json.dumps([before, status("VmHWM")]))
"""


class Memory(NamedTuple):
    """Bytes of a process: before a call, and at the peak of the call."""

    before: int
    peak: int


def peak_memory(prepare: str, call: str, arguments: Any = None) -> Memory:
    """Return the memory of code in a process of its own (of Linux).

    ``prepare`` is run first and does not count, ``call`` does; both see ``arguments``.
    """
    code = MEMORY_CODE.format(prepare=prepare, call=call)
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(arguments)],
        check=True,
        capture_output=True,
        text=True,
    )
    return Memory(*json.loads(done.stdout.splitlines()[-1]))


# A product of this size takes milliseconds, and BLAS is as fast on it as it gets.
SIDE = 1000


def product_speed(threads: int | None = None, repeats: int = 7) -> float:
    """Return the operations per second of a matrix product, the best of some."""
    left = np.random.default_rng(0).standard_normal((SIDE, SIDE))
    with threadpool_limits(threads, user_api="blas"):
        left @ left
        taken = []
        for _ in range(repeats):
            start = time.perf_counter()
            left @ left
            taken.append(time.perf_counter() - start)
    return 2 * SIDE**3 / min(taken)


def load() -> float | None:
    """Return how many processes wanted to run during the last minute, if known."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def describe_machine() -> dict[str, Any]:
    """Return what a reader must know of the machine, ready for JSON."""
    busy = load()
    libraries = [each for each in threadpool_info() if each["user_api"] == "blas"]
    names = {f"{each['internal_api']} {each['version']}" for each in libraries}
    return {
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "blas": ", ".join(sorted(names)),
        "blas_threads": max((each["num_threads"] for each in libraries), default=1),
        "gigaflops": round(product_speed() / 1e9, 1),
        "gigaflops_of_one_thread": round(product_speed(threads=1) / 1e9, 1),
        "load_before": None if busy is None else round(busy, 1),
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
            "ufselect": ufselect.__version__,
        },
    }


def sentence(machine: dict[str, Any]) -> str:
    """Return the description in words."""
    versions = ", ".join(f"{name} {it}" for name, it in machine["versions"].items())
    busy = machine["load_before"]
    load = "" if busy is None else f"; {busy:g} processes wanted to run before it"
    return (
        f"{machine['cores']} cores, {machine['system']}, {machine['blas']}, "
        f"threads of BLAS: {machine['blas_threads']}, a matrix product at "
        f"{machine['gigaflops']:g} GFlop/s ({machine['gigaflops_of_one_thread']:g} "
        f"with one thread){load}; {versions}"
    )


def limit(operations: float, threads: int | None = None) -> float:
    """Return the seconds of so many additions and multiplications."""
    return operations / product_speed(threads)


def scfs_operations(X: Any, n_clusters: int, n_iterations: int) -> float:
    """Return what a fit of SCFS by any exact solver needs.

    The smaller Gram matrix, half of it by symmetry, and per cluster and iteration one
    product, formed either with a known ``X X'`` or with X twice. That of a sparse X
    counts only what is stored, and no Gram matrix.
    """
    n, p = X.shape
    once = 0 if sp.issparse(X) else n * p * min(n, p)
    return once + iteration_operations(X, n_clusters) * n_iterations


def iteration_operations(X: Any, n_clusters: int) -> float:
    """Return those of a product of X X' with as many columns as there are clusters."""
    n, p = X.shape
    stored = X.nnz if sp.issparse(X) else n * p
    return float(n_clusters * min(2 * n * n, 4 * stored))


def distance_operations(shape: tuple[int, int]) -> float:
    """Return those of the distances of all pairs of samples, each pair once."""
    n, p = shape
    return float(n * n * p)


def k_means_operations(shape: tuple[int, int], n_clusters: int, n_init: int) -> float:
    """Return those of assigning the samples to centres once in every restart."""
    n, p = shape
    return 2.0 * n * p * n_clusters * n_init
