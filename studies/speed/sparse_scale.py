"""Do SCFS and the graph methods handle a large sparse matrix, and at what cost?

The matrix has 50,000 samples and 20,000 features, with 1 % of its values stored; as a
dense array it would take 8 GB, the memory limit of the whole run. Each method has its
own process, whose peak of resident memory includes the data and the libraries. Times
are also given as multiples of the time of the neighbour search alone, measured in the
same run; both depend on other load on the machine.

    python -m studies sparse_scale [--samples 50000] [--features 20000]
        [--density 0.01] [--methods LS SPEC MCFS SCFS] [--quick]

SCFS needs no neighbours; if it is the only method, they are not searched. A method that
would exceed the memory limit raises an error before it starts; this error is reported
with its time.
"""

import argparse
import json
import os
import subprocess
import sys

from ufselect.report import text_table

DURATION = "30 minutes"
LIMIT_GIGABYTES = 8.0

PREAMBLE = """
import json, resource, sys, time
import numpy as np
import scipy.sparse as sp

n, p, density = json.loads(sys.argv[1])
random = np.random.default_rng(0)
per_row = max(1, round(density * p))
columns = random.integers(0, p, size=(n, per_row), dtype=np.int32)
columns.sort(axis=1)
starts = np.arange(0, n * per_row + 1, per_row, dtype=np.int32)
values = random.random(n * per_row)
X = sp.csr_array((values, columns.ravel(), starts), shape=(n, p))
X.sum_duplicates()
del columns, values
"""

CALLS = {
    "neighbour search": "from ufselect.solvers.neighbours import nearest_neighbours\n"
    "call = lambda X: nearest_neighbours(X, 5)",
    "LS": "from ufselect import LaplacianScore\ncall = LaplacianScore(100).fit",
    "SPEC": "from ufselect import SPEC\ncall = SPEC(100).fit",
    "SPEC phi=3": "from ufselect import SPEC\ncall = SPEC(100, phi=3).fit",
    "MCFS": "from ufselect import MCFS\ncall = MCFS().fit",
    "SCFS": "from ufselect import SCFS\ncall = SCFS(100, random_state=0).fit",
    "MCFS 20 features": "from ufselect import MCFS\ncall = MCFS(20, n_clusters=3).fit",
}

TIMING = """
start = time.perf_counter()
said = ""
try:
    call(X)
except ValueError as error:
    said = str(error)
seconds = time.perf_counter() - start
# Linux counts in units of 1024 bytes.
peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([seconds, peak, X.nnz, said]))
"""


def measured(name, shape):
    """Return seconds, peak bytes, number of stored values and the refusal, if any."""
    code = PREAMBLE + CALLS[name] + TIMING
    single = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    result = subprocess.run(
        [sys.executable, "-c", code, json.dumps(shape)],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **single},
    )
    return json.loads(result.stdout.splitlines()[-1])


def main(arguments):
    parser = argparse.ArgumentParser(
        prog="python -m studies sparse_scale", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--samples", type=int, default=50_000)
    parser.add_argument("--features", type=int, default=20_000)
    parser.add_argument("--density", type=float, default=0.01)
    names = [name for name in CALLS if name != "neighbour search"]
    parser.add_argument("--methods", nargs="+", choices=names, default=names)
    parser.add_argument("--quick", action="store_true", help="2000 x 2000")
    options = parser.parse_args(arguments)
    if options.quick:
        options.samples = options.features = 2000
    shape = (options.samples, options.features, options.density)
    rows, search = [], None
    searching = [] if options.methods == ["SCFS"] else ["neighbour search"]
    for name in [*searching, *options.methods]:
        seconds, peak, n_stored, said = measured(name, shape)
        search = seconds if name == "neighbour search" else search
        fits = "yes" if peak <= 1e9 * LIMIT_GIGABYTES else "NO"
        ratio = "refused" if said else f"{seconds / search:.2f}" if search else ""
        rows.append([name, f"{seconds:.1f}", ratio, f"{peak / 1e9:.2f}", fits])
        print(
            "  " + "  ".join(rows[-1]) + (f"\n    {said}" if said else ""), flush=True
        )
    print(f"\n{shape[0]} x {shape[1]}, {n_stored} values stored\n")
    limit = f"within {LIMIT_GIGABYTES:.0f} GB"
    print(text_table(["", "seconds", "x neighbour search", "peak GB", limit], rows))
