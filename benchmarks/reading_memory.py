"""How much memory does a CSV of gigabytes take, next to its array of numbers?

A table of random numbers is written to a temporary folder. In processes of their own,
it is read by ufselect and by pandas, and the whole command ``ufselect select`` chooses
50 of its columns. Printed is the peak of the memory of each process over the bytes of
the array of numbers (imports included), and the time next to that of pandas.

    python benchmarks/reading_memory.py [--gigabytes 2] [--columns 5500]
        [--methods MaxVariance,SCFS]
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from ufselect.report import text_table

LIMIT = 3.0
# Of a number as it is written here, with what divides it from the next.
BYTES = 18.6
READERS = {
    "read_table": "from ufselect.data import read_table; read_table({!r})",
    "pandas.read_csv": "import pandas; pandas.read_csv({!r})",
}


def write(path, n_rows, width):
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


def measured(arguments):
    """Return seconds and peak bytes of a process, at least as many as ours."""
    command = [sys.executable, *map(str, arguments)]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    return time.perf_counter() - start, 1024 * usage.ru_maxrss


def commands(path, methods):
    found = {name: ["-c", code.format(str(path))] for name, code in READERS.items()}
    output = path.with_name("selected.csv")
    for method in methods:
        found[f"select --method {method}"] = [
            *("-m", "ufselect", "select", path, "-k", 50, "-o", output),
            *("--method", method, "--quiet", "--json"),
        ]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gigabytes", type=float, default=2.0)
    parser.add_argument("--columns", type=int, default=5500)
    parser.add_argument("--methods", default="MaxVariance")
    options = parser.parse_args()
    size = options.gigabytes * 1e9
    n_rows = max(2, int(size / BYTES / options.columns))
    with tempfile.TemporaryDirectory() as folder:
        if shutil.disk_usage(folder).free < 1.2 * size:
            print(f"There is no room for {options.gigabytes:g} GB in {folder}.")
            return
        path = Path(folder, "table.csv")
        write(path, n_rows, options.columns)
        print(
            f"{n_rows} x {options.columns} numbers, {path.stat().st_size / 1e9:.2f} GB "
            f"of CSV, {n_rows * options.columns * 8 / 1e9:.2f} GB as an array",
            flush=True,
        )
        array = 8 * n_rows * options.columns
        results = {}
        for name, arguments in commands(path, options.methods.split(",")).items():
            spent, peak = results[name] = measured(arguments)
            print(f"  {name}: {spent:.0f} s, {peak / array:.2f}", flush=True)
    seconds = results["pandas.read_csv"][0]
    rows = [
        [
            name,
            f"{peak / array:.2f}",
            "yes" if peak < LIMIT * array else "no",
            f"{spent / seconds:.1f}",
        ]
        for name, (spent, peak) in results.items()
    ]
    columns = ["process", "memory / array", f"under {LIMIT:g}x", "time / read_csv"]
    print("\n" + text_table(columns, rows))


if __name__ == "__main__":
    main()
