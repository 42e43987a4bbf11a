"""How fast is text read, and in how much memory, next to pandas?

Tables of several shapes are written to a temporary folder and read in a process of
their own, by ufselect and by pandas. Printed are ratios: time against pandas, and
memory above that of the imports against the array of numbers.

    python benchmarks/reading_text.py [--megabytes 40]
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from ufselect.report import text_table

WIDTHS = {"wide": 20_000, "square": 1_000, "tall": 20}
CODE = """
import re, sys, time
from pathlib import Path
{imports}
def peak():  # the one of getrusage begins with that of the process before
    status = Path("/proc/self/status").read_text()
    return 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", status)[1])
before, start = peak(), time.perf_counter()
values = {call}
print(time.perf_counter() - start, peak() - before, values.nbytes)
"""
READERS = {
    "ufselect": CODE.format(
        imports="from ufselect.data import read_table",
        call="read_table(sys.argv[1]).values",
    ),
    "pandas": CODE.format(
        imports="import pandas", call="pandas.read_csv(sys.argv[1]).to_numpy()"
    ),
}


def write(path, n_rows, width, missing):
    random = np.random.default_rng(0)
    with path.open("w") as stream:
        stream.write(",".join(f"g{place}" for place in range(width)) + "\n")
        for _ in range(n_rows):
            row = [repr(value) for value in random.standard_normal(width).tolist()]
            for place in np.flatnonzero(random.random(width) < missing):
                row[place] = "NA"
            stream.write(",".join(row) + "\n")


def measured(reader, path):
    command = [sys.executable, "-c", READERS[reader], str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [float(number) for number in done.stdout.split()]


def row_of(shape, missing, megabytes, folder):
    width = WIDTHS[shape]
    path = Path(folder, "table.csv")
    write(path, max(2, int(megabytes * 1e6 / 19.6 / width)), width, missing)
    ours, theirs = measured("ufselect", path), measured("pandas", path)
    return [
        shape,
        f"{missing:.0%}",
        f"{ours[0] / theirs[0]:.2f}",
        f"{ours[1] / ours[2]:.1f}",
        f"{theirs[1] / theirs[2]:.1f}",
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=40)
    megabytes = parser.parse_args().megabytes
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            row_of(shape, missing, megabytes, folder)
            for shape in WIDTHS
            for missing in (0.0, 0.05)
        ]
    columns = ["shape", "missing", "time / pandas", "memory / array", "of pandas"]
    print(text_table(columns, rows))


if __name__ == "__main__":
    main()
