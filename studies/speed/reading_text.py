"""How fast is text read, and in how much memory, next to pandas?

Tables of several shapes are written to a temporary folder and read in separate
processes, by ufselect and by ``pandas.read_csv`` with its defaults. The time of
ufselect includes the detection of the delimiter, the header and so on. The note has the
memory of both, without the imports, divided by that of the array of numbers. Numbers
have 16 or 17 digits, which pandas by default does not round correctly: rows without
pyarrow also have pandas with ``float_precision="round_trip"``. The limit is the time in
which NumPy finds the line ends of the file, since all of its bytes must be read once.

    python -m studies reading_text
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from studies.findings import Row, compared
from studies.measuring import Timing, interleaved
from studies.settings import Settings

DURATION = "3 minutes"
SHAPES = [(102, 5_966), (500, 20_000), (200_000, 12), (20_000, 50)]
QUICK = 0.1  # of the rows
TARGET = 1.2
CODE = """
import re, sys, time
from pathlib import Path
{imports}
def peak():  # the one of getrusage begins with that of the process before
    status = Path("/proc/self/status").read_text()
    return 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", status)[1])
before, start, used = peak(), time.perf_counter(), time.process_time()
values = {call}
print(time.perf_counter() - start, time.process_time() - used)
print(peak() - before, values.nbytes)
"""
OURS = """
import pyarrow.csv, pandas
from ufselect.data import read_table
from ufselect.data.tables import frames, text
"""
READERS = {
    "ufselect": CODE.format(imports=OURS, call="read_table(sys.argv[1]).values"),
    "pandas": CODE.format(
        imports="import pandas", call="pandas.read_csv(sys.argv[1]).to_numpy()"
    ),
    "ufselect without pyarrow": CODE.format(
        imports=f"{OURS}\ntext._arrow_csv = lambda: None",
        call="read_table(sys.argv[1]).values",
    ),
    "pandas, exact": CODE.format(
        imports="import pandas",
        call="pandas.read_csv(sys.argv[1], float_precision='round_trip').to_numpy()",
    ),
}


def write(path: Path, n_rows: int, width: int, missing: float) -> None:
    """Write random numbers, some of them missing."""
    random = np.random.default_rng(0)
    with path.open("w") as stream:
        stream.write(",".join(f"g{place}" for place in range(width)) + "\n")
        for _ in range(n_rows):
            row = [repr(value) for value in random.standard_normal(width).tolist()]
            for place in np.flatnonzero(random.random(width) < missing):
                row[place] = "NA"
            stream.write(",".join(row) + "\n")


class Reader:
    """Reads a file in a process of its own, and remembers the memory it took."""

    def __init__(self, name: str, path: Path) -> None:
        self.command = [sys.executable, "-c", READERS[name], str(path)]
        self.memory = 0.0

    def __call__(self, repetition: int) -> Timing:
        """Return how long the process says that it read."""
        done = subprocess.run(self.command, capture_output=True, text=True, check=True)
        clock, processor, peak, size = map(float, done.stdout.split())
        self.memory = max(self.memory, peak / size)
        return Timing(clock, processor)


def seconds_of_a_look(path: Path) -> float:
    """Return how long it takes to find the ends of lines, the best of some."""
    content = np.fromfile(path, np.uint8)
    taken = []
    for _ in range(3):
        start = time.perf_counter()
        np.count_nonzero(content == ord("\n"))
        taken.append(time.perf_counter() - start)
    return min(taken)


def rows_of(
    shape: tuple[int, int], missing: float, settings: Settings, folder: str
) -> Iterator[Row]:
    """Yield the times of a shape and the memory, with and without pyarrow."""
    path = Path(folder, "table.csv")
    n_rows = max(2, int(shape[0] * (QUICK if settings.quick else 1)))
    write(path, n_rows, shape[1], missing)
    readers = {name: Reader(name, path) for name in READERS}
    found = interleaved(readers, settings.repetitions(3), warm_up=False)
    pairs = [
        ("ufselect", "pandas", "pandas.read_csv", TARGET),
        ("ufselect without pyarrow", "pandas, exact", "pandas, exact", None),
    ]
    for name, other, against, target in pairs:
        ours, theirs = readers[name].memory, readers[other].memory
        yield compared(
            f"{n_rows} x {shape[1]}, {missing:.0%} missing, {name}",
            found[name],
            against,
            found[other],
            target=target,
            limit=seconds_of_a_look(path),
            note=f"memory {ours:.1f} times the array, of pandas {theirs:.1f}",
        )


def measure(settings: Settings) -> Iterator[Row]:
    """Yield rows for every shape, without and with missing numbers."""
    with tempfile.TemporaryDirectory() as folder:
        for shape in SHAPES:
            for missing in (0.0, 0.05):
                yield from rows_of(shape, missing, settings, folder)
