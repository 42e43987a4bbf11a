"""The machine on which something was measured, and what its BLAS can do."""

import os
import platform
import time
from typing import Any

import numpy as np
import scipy
import sklearn
from threadpoolctl import threadpool_info, threadpool_limits

import ufselect

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
