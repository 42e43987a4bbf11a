"""How fast are the methods, next to other packages that have them?

(a) LS, SPEC, MCFS, UDFS and NDFS on Prostate-GE, Isolet and COIL20, against
    skfeature-chappers and ITMO_FS, each in a process of its own with one thread. A peer
    that does not finish within the limit is counted at the limit, so that the ratio
    is a lower bound; one that is not installed is reported as absent, one that fails
    with its reason.
(b) UDFS, NDFS, JELSR, GLSPFS and SPUFS on arcene (p = 10,000), as a multiple of one
    ``X @ X.T`` plus one ``eigh`` of n x n per iteration.

    python benchmarks/methods_speed.py [--peers PYTHON] [--limit 120] [--parts ab]

``--peers`` names the interpreter of an environment in which the peers are installed.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import warnings

import numpy as np
from scipy.linalg import eigh

import ufselect
from ufselect.data import data_folder, read_labelled
from ufselect.report import text_table

SETS = ("Prostate-GE", "Isolet", "COIL20")
METHODS = ("LS", "SPEC", "MCFS", "UDFS", "NDFS")
N_FEATURES = 100
REPEATS = 3

PREAMBLE = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
import scipy.io
content = scipy.io.loadmat(sys.argv[1])
X = np.ascontiguousarray(content["X"], dtype=float)
c, k = len(np.unique(content["Y"])), int(sys.argv[2])
"""

# Everybody is timed alike: several times if that is quick, the first time counts too.
TIMING = """
seconds = []
while len(seconds) < int(sys.argv[3]) and sum(seconds) < 5:
    start = time.perf_counter()
    call()
    seconds.append(time.perf_counter() - start)
print(json.dumps(seconds))
"""

CALLS = {
    "ufselect": {
        "LS": "from ufselect import LaplacianScore\n"
        "call = lambda: LaplacianScore(k).fit(X)",
        "SPEC": "from ufselect import SPEC\ncall = lambda: SPEC(k).fit(X)",
        "MCFS": "from ufselect import MCFS\n"
        "call = lambda: MCFS(k, n_clusters=c).fit(X)",
        "UDFS": "from ufselect import UDFS\n"
        "call = lambda: UDFS(k, n_clusters=c).fit(X)",
        "NDFS": "from ufselect import NDFS\n"
        "call = lambda: NDFS(k, n_clusters=c, random_state=0).fit(X)",
    },
    "skfeature-chappers": {
        "LS": "from skfeature.function.similarity_based import lap_score\n"
        "call = lambda: lap_score.lap_score(X.copy(), mode='raw')",
        "SPEC": "from skfeature.function.similarity_based import SPEC\n"
        "call = lambda: SPEC.spec(X.copy(), mode='raw')",
        "MCFS": "from skfeature.function.sparse_learning_based import MCFS\n"
        "call = lambda: MCFS.mcfs("
        "X.copy(), n_selected_features=k, mode='raw', n_clusters=c)",
        "UDFS": "from skfeature.function.sparse_learning_based import UDFS\n"
        "call = lambda: UDFS.udfs(X.copy(), mode='raw', n_clusters=c)",
        "NDFS": "from skfeature.function.sparse_learning_based import NDFS\n"
        "call = lambda: NDFS.ndfs(X.copy(), mode='raw', n_clusters=c)",
    },
    "ITMO_FS": {
        "SPEC": "from ITMO_FS.filters.sparse import SPEC\n"
        "call = lambda: SPEC(k, k=c).run(X)",
        "MCFS": "from ITMO_FS.filters.sparse import MCFS\n"
        "call = lambda: MCFS(k, k=c).run(X)",
        "UDFS": "from ITMO_FS.filters.sparse import UDFS\n"
        "call = lambda: UDFS(k, c=c).run(X)",
        "NDFS": "from ITMO_FS.filters.sparse import NDFS\n"
        "call = lambda: NDFS(k, c=c).run(X)",
    },
}


def seconds_of(package, method, path, python, repeats, limit):
    """Return the median seconds of a call, None at the limit, or what went wrong."""
    if method not in CALLS[package]:
        return "has none"
    code = PREAMBLE + CALLS[package][method] + TIMING
    arguments = [python, "-c", code, str(path), str(N_FEATURES), str(repeats)]
    single = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    try:
        result = subprocess.run(
            arguments,
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
            env={**os.environ, **single},
        )
    except subprocess.TimeoutExpired:
        return None
    if result.returncode:
        reason = result.stderr.strip().splitlines()[-1]
        return "absent" if "ModuleNotFoundError" in reason else f"failed: {reason[:50]}"
    return statistics.median(json.loads(result.stdout.splitlines()[-1]))


def cell(peer, own, limit):
    if peer is None:
        return f"> {limit:.0f} s (> {limit / own:.0f}x)"
    if isinstance(peer, str):
        return peer
    return f"{peer:.2f} s ({peer / own:.1f}x)"


def part_a(folder, peers_python, limit):
    rows = []
    for name in SETS:
        path = folder / f"{name}.mat"
        for method in METHODS:
            own = seconds_of("ufselect", method, path, sys.executable, REPEATS, 600)
            if not isinstance(own, float):
                raise SystemExit(f"ufselect: {method} on {name}: {own}")
            peers = [
                seconds_of(package, method, path, peers_python, REPEATS, limit)
                for package in list(CALLS)[1:]
            ]
            cells = [cell(peer, own, limit) for peer in peers]
            rows.append([f"{name} {method}", f"{own:.2f} s", *cells])
            print("  " + "  ".join(rows[-1]), flush=True)
    print(f"\n(a) {N_FEATURES} features; in brackets, times as long as ufselect\n")
    print(text_table(["data, method", *CALLS], rows))


def part_b(folder):
    X = read_labelled(folder / "arcene.mat").table
    unit = statistics.median(unit_seconds(X) for _ in range(REPEATS))
    rows = []
    for name in ("UDFS", "NDFS", "JELSR", "GLSPFS", "SPUFS"):
        method = ufselect.all_selectors()[name]
        known = {"n_features_to_select": N_FEATURES, "n_clusters": 2, "random_state": 0}
        accepted = method().get_params()
        selector = method(**{key: known[key] for key in known if key in accepted})
        start = time.perf_counter()
        selector.fit(X)
        seconds = time.perf_counter() - start
        ratio = seconds / (selector.n_iter_ * unit)
        rows.append([name, f"{seconds:.2f}", f"{selector.n_iter_}", f"{ratio:.1f}"])
    print(f"\n(b) arcene {X.shape}: X @ X.T plus eigh takes {1e3 * unit:.0f} ms\n")
    header = ["method", "seconds", "iterations", "times that, per iteration"]
    print(text_table(header, rows))


def unit_seconds(X):
    start = time.perf_counter()
    eigh(X @ X.T)
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--limit", type=float, default=120.0, metavar="SECONDS")
    parser.add_argument("--parts", default="ab")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    folder = data_folder()
    if folder is None:
        raise SystemExit("no data: set UFSELECT_DATA to the folder of the .mat files")
    if "a" in options.parts:
        part_a(folder, options.peers, options.limit)
    if "b" in options.parts:
        part_b(folder)


if __name__ == "__main__":
    np.seterr(all="ignore")
    try:
        main()
    except ValueError as error:
        raise SystemExit(str(error)) from None
