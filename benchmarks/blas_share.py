"""What share of the time of a fit is spent inside BLAS?

SCFS with the number of classes as c, on ORL, on COIL20 and on random numbers of the
size of ORL. The fit runs again and again in a process of its own with one thread, while
py-spy looks fifty times a second at where it is, in compiled code too. Inside BLAS
is what happens in functions of the library that NumPy and SciPy take it from, LAPACK on
top of it included. The ratio is what is left: at most 40 % is to be spent elsewhere.
Being looked at slows a fit down, wherever it is; shares are not changed by that.

    python -m benchmarks blas_share
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from measuring import Timing
from outcomes import Row, compared
from running import run_alone
from settings import Settings, find_set

DURATION = "1 minute"
SETS = ("ORL", "COIL20", "random")
TARGET = 0.4
RATE = 50
# As libraries with BLAS in them are called.
LIBRARIES = re.compile(r"openblas|mkl|blis|accelerate|libblas|liblapack", re.IGNORECASE)

# Whatever is seen below this function is a fit.
ENTRANCE = "the_fits_that_are_looked_at"
CODE = f"""
import json, sys, time, warnings
from pathlib import Path
import numpy as np
from ufselect import SCFS
from ufselect.data import read_labelled

path, seconds = json.loads(sys.argv[1])
warnings.simplefilter("ignore")
if path is None:
    X, c = np.random.default_rng(0).standard_normal((400, 1024)), 40
else:
    data = read_labelled(Path(path))
    X, c = data.table, len(np.unique(data.classes))

def {ENTRANCE}():
    start, count = time.process_time(), 0
    while time.process_time() - start < seconds:
        SCFS(n_clusters=c, random_state=count).fit(X)
        count += 1
    return count, time.process_time() - start

SCFS(n_clusters=c, random_state=0).fit(X)
count, spent = {ENTRANCE}()
print(json.dumps([count, spent, *X.shape, c]))
"""


class Looked(NamedTuple):
    """How often a fit was looked at, how often inside BLAS, and its seconds."""

    n_looks: int
    n_inside: int
    seconds: float
    what: str


def counts(stacks: str) -> tuple[int, int]:
    """Return the looks at fits, and those inside BLAS, from what py-spy writes.

    A line is a stack, outermost function first, and how often it was seen.
    """
    looks = inside = 0
    for line in stacks.splitlines():
        stack, _, count = line.rpartition(" ")
        _, entrance, below = stack.partition(ENTRANCE)
        if entrance:
            looks += int(count)
            inside += int(count) * bool(LIBRARIES.search(below))
    return looks, inside


def look(name: str, seconds: float, spy: str) -> Looked:
    """Look at fits in a process of its own for so many seconds."""
    path = None if name == "random" else str(find_set(name))
    single = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        stacks = Path(folder, "stacks.txt")
        spying = ["record", "--native", "--rate", RATE, "-f", "raw", "-o", stacks, "--"]
        fits = [sys.executable, "-c", CODE, json.dumps([path, seconds])]
        done = subprocess.run(
            [str(part) for part in (spy, *spying, *fits)],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, **single},
        )
        found = stacks.read_text("utf-8")
    answer = next(line for line in done.stdout.splitlines() if line.startswith("["))
    n_fits, spent, n, p, c = json.loads(answer)
    return Looked(*counts(found), spent / n_fits, f"{name}, {n} x {p}, c = {c}")


def row_of(name: str, settings: Settings, spy: str) -> Row:
    """Return what is spent elsewhere, next to the whole fit."""
    seconds = 2.0 if settings.quick else 5.0
    looks = [look(name, seconds, spy) for _ in range(settings.repetitions(3))]
    elsewhere = [
        each.seconds * (1 - each.n_inside / max(each.n_looks, 1)) for each in looks
    ]
    total = sum(each.n_looks for each in looks)
    share = sum(each.n_inside for each in looks) / max(total, 1)
    return compared(
        f"outside BLAS, {looks[0].what}",
        [Timing(value, 0.0) for value in elsewhere],
        "the whole fit",
        [Timing(each.seconds, 0.0) for each in looks],
        target=TARGET,
        note=f"{share:.0%} inside, of {total} looks",
    )


def measure(settings: Settings) -> Iterator[Row]:
    """Yield a row for every data set."""
    beside = Path(sys.executable).with_name("py-spy")
    spy = str(beside) if beside.is_file() else shutil.which("py-spy")
    if spy is None:
        raise ValueError("blas_share needs py-spy: pip install py-spy")
    for name in settings.names_of_sets(SETS, quick=("ORL", "random")):
        yield row_of(name, settings, spy)


if __name__ == "__main__":
    run_alone(__file__)
