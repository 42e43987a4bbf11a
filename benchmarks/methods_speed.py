"""How fast are the methods, next to other packages that have them?

LS, SPEC, MCFS, UDFS and NDFS on Prostate-GE, Isolet and COIL20, against
skfeature-chappers and ITMO_FS, each in a process of its own with one thread. A peer
that does not finish in time is counted at the limit, so that the ratio is at most what
is printed; the note says what went wrong with one that fails. Peers live in an
environment of their own, ``.peers``, which is made when it is missing; ``--peers``
names the interpreter of another.

    python -m benchmarks methods_speed [--peers PYTHON]
"""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from measuring import Timing, interleaved
from outcomes import Row, compared
from peers import peers_python
from running import run_alone
from settings import Settings, find_set

DURATION = "40 minutes"
SETS = ("Prostate-GE", "Isolet", "COIL20")
METHODS = ("LS", "SPEC", "MCFS", "UDFS", "NDFS")
N_FEATURES = 100
# Seconds after which a peer is stopped; what takes longer than SHORT is timed once.
LIMIT, SHORT = 120.0, 5.0

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
clocks, used = [], []
while len(clocks) < 3 and sum(clocks) < 5:
    start, before = time.perf_counter(), time.process_time()
    call()
    clocks.append(time.perf_counter() - start)
    used.append(time.process_time() - before)
print(json.dumps([clocks, used]))
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


class PeerError(Exception):
    """Why there is no time of a peer."""


def timing_of(package: str, method: str, path: Path, python: str) -> Timing:
    """Return the medians of a few calls in a process of their own."""
    if method not in CALLS[package]:
        raise PeerError("has none")
    code = PREAMBLE + CALLS[package][method] + TIMING
    single = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            [python, "-c", code, str(path), str(N_FEATURES)],
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
            env={**os.environ, **single},
        )
    except subprocess.TimeoutExpired:
        return Timing(LIMIT, LIMIT)
    if done.returncode:
        reason = done.stderr.strip().splitlines()[-1]
        absent = "ModuleNotFoundError" in reason
        raise PeerError("not installed" if absent else f"fails: {reason[:60]}")
    return Timing(*map(statistics.median, json.loads(done.stdout.splitlines()[-1])))


def row_of(name: str, method: str, peer: str, python: str, repeats: int) -> Row:
    """Return ours next to a peer, or why there is nothing to compare."""
    what, path = f"{method} on {name}", find_set(name)
    functions = {
        "ours": lambda _: timing_of("ufselect", method, path, sys.executable),
        peer: lambda _: timing_of(peer, method, path, python),
    }
    try:
        found = interleaved(functions, 1, warm_up=False)
        late = found[peer][0].clock >= LIMIT
        if max(timings[0].clock for timings in found.values()) < SHORT:
            more = interleaved(functions, repeats - 1, warm_up=False)
            found = {key: found[key] + more[key] for key in found}
    except PeerError as error:
        return Row(what, peer, note=str(error))
    note = f"stopped after {LIMIT:.0f} s: the ratio is at most this" if late else ""
    return compared(what, found["ours"], peer, found[peer], target=1.0, note=note)


def measure(settings: Settings) -> Iterator[Row]:
    """Yield a row for every data set, method and peer."""
    python = settings.peers or peers_python()
    methods = METHODS[:3] if settings.quick else METHODS
    for name in settings.names_of_sets(SETS, quick=("Prostate-GE",)):
        for method in methods:
            for peer in list(CALLS)[1:]:
                yield row_of(name, method, peer, python, settings.repetitions(3))


if __name__ == "__main__":
    run_alone(__file__)
