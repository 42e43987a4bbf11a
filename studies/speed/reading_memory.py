"""How much memory does a CSV of gigabytes take, next to its array of numbers?

A table of random numbers is written to a temporary folder. In separate processes, it is
read by ufselect and by pandas, and the command ``ufselect select`` selects 50 of its
columns. The ratio is the peak memory of each process, including its imports, divided by
the size of the array of numbers; the note has the time in seconds.

    python -m studies reading_memory
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from studies.findings import Row
from studies.measuring import Spread
from studies.settings import Settings

DURATION = "10 minutes"
GIGABYTES, QUICK_GIGABYTES = 2.0, 0.1
WIDTH = 5500
LIMIT = 2.0
# Of a number as it is written here, with what divides it from the next.
BYTES = 18.6
READERS = {
    "read_table": "from ufselect.data import read_table; read_table({!r})",
    "pandas.read_csv": "import pandas; pandas.read_csv({!r})",
}


def write(path: Path, n_rows: int, width: int) -> None:
    """Write three clusters, of few numbers in ever other order: it must be quick."""
    random = np.random.default_rng(0)
    values = random.standard_normal(30_000)
    numbers = [[f"{value + shift:.15f}" for value in values] for shift in range(3)]
    n_useful = width // 10
    with path.open("w") as stream:
        stream.write(",".join(f"g{place}" for place in range(width)) + "\n")
        for row in range(n_rows):
            places = random.integers(len(values), size=width).tolist()
            shifted = [numbers[row % 3][place] for place in places[:n_useful]]
            others = [numbers[0][place] for place in places[n_useful:]]
            stream.write(",".join(shifted + others) + "\n")


def measured(arguments: Sequence[Any]) -> tuple[float, int]:
    """Return seconds and peak bytes of a process, at least as many as ours."""
    command = [sys.executable, *map(str, arguments)]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise ValueError(f"{' '.join(command)} failed")
    return time.perf_counter() - start, 1024 * usage.ru_maxrss


def commands(path: Path) -> dict[str, list[Any]]:
    """Return what to run, by what it is called."""
    found: dict[str, list[Any]] = {
        name: ["-c", code.format(str(path))] for name, code in READERS.items()
    }
    output = path.with_name("selected.csv")
    found["select --method MaxVariance"] = [
        *("-m", "ufselect", "select", path, "-k", 50, "-o", output),
        *("--method", "MaxVariance", "--quiet", "--json"),
    ]
    return found


def row_of(name: str, arguments: Sequence[Any], array: float) -> Row:
    """Return the memory of a process next to that of the array."""
    seconds, peak = measured(arguments)
    sizes = (peak / 1e6, array / 1e6, peak / array)
    ours, theirs, ratio = (Spread(value, value, value) for value in sizes)
    note = f"{seconds:.0f} s"
    target = None if name == "pandas.read_csv" else LIMIT
    return Row(
        *(name, "the array", ours, theirs, ratio), target=target, unit="MB", note=note
    )


def measure(settings: Settings) -> Iterator[Row]:
    """Yield a row for every process."""
    size = 1e9 * (QUICK_GIGABYTES if settings.quick else GIGABYTES)
    n_rows = max(2, int(size / BYTES / WIDTH))
    with tempfile.TemporaryDirectory() as folder:
        if shutil.disk_usage(folder).free < 1.2 * size:
            raise ValueError(f"there is no room for {size / 1e9:g} GB in {folder}")
        path = Path(folder, "table.csv")
        write(path, n_rows, WIDTH)
        for name, arguments in commands(path).items():
            what = f"{name}, {size / 1e9:g} GB of CSV"
            row = row_of(name, arguments, 8.0 * n_rows * WIDTH)
            yield replace(row, what=what)
