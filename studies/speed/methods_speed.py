"""How fast are the methods, next to other packages that have them?

LS, SPEC, MCFS, UDFS and NDFS are compared with skfeature-chappers and ITMO_FS, each in
its own process with one thread, by processor time. A peer that exceeds the time limit
counts with the limit, so that the true ratio is at most the printed one; the note has
the error of a peer that fails. For MCFS, others use least angle regression without
removal of features; ours uses the path of the elastic net, with up to twice as many
steps.

fastcan has none of these methods. With principal components as targets, as its manual
proposes for data without labels, it greedily selects columns that explain them; our
REFS greedily selects columns that reconstruct all others. As the problems differ, there
is no target, and the note has the share of the variance that the columns of each
explain. scikit-learn has only the variance of columns.

The limit is the time of the distances of all pairs of samples, which all of these
methods need; for the variance, of the squares, and for a greedy selection, of one
product with all columns per selected column.

Peers are installed in their own environment, ``.peers``, which is created if it is
missing; ``--peers`` names the interpreter of another one.

    python -m studies methods_speed [--peers PYTHON]
"""

import json
import os
import statistics
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

from studies.findings import Row, compared
from studies.measuring import Timing, distance_operations, interleaved, limit
from studies.settings import Settings, find_set
from ufselect.data import read_labelled

DURATION = "20 minutes"
SETS = ("lymphoma", "Prostate-GE", "ORL", "Isolet", "COIL20")
METHODS = ("variance", "LS", "SPEC", "MCFS", "columns one by one", "UDFS", "NDFS")
N_FEATURES = 100
PEERS = Path(__file__).parents[2] / ".peers"
PACKAGES = ("ITMO_FS", "skfeature-chappers", "fastcan", "scikit-learn")
# Of a choice one by one, at most as many as there are samples.
N_ONE_BY_ONE = 20
# Processor seconds after which a peer is stopped; what takes longer than SHORT is timed
# once.
LIMIT, SHORT = 60.0, 5.0

PREAMBLE = """
import json, resource, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
import scipy.io
limit = int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
chosen = None
content = scipy.io.loadmat(sys.argv[1])
X = np.ascontiguousarray(content["X"], dtype=float)
c, k = len(np.unique(content["Y"])), int(sys.argv[2])
"""

# Everybody is timed alike: several times if that is quick, the first time counts too.
TIMING = """
clocks, used = [], []
while (len(clocks) < 3 and sum(clocks) < 5) or sum(clocks) < 0.3:
    start, before = time.perf_counter(), time.process_time()
    result = call()
    clocks.append(time.perf_counter() - start)
    used.append(time.process_time() - before)
explained = None
if chosen is not None:
    centred = X - X.mean(axis=0)
    basis = np.linalg.qr(centred[:, chosen(result)])[0]
    explained = float(np.sum((basis.T @ centred) ** 2) / np.sum(centred**2))
print(json.dumps([clocks, used, explained]))
"""

CALLS = {
    "ufselect": {
        "variance": "from ufselect import MaxVariance\n"
        "call = lambda: MaxVariance(k).fit(X)",
        "columns one by one": "from ufselect import REFS\n"
        f"call = lambda: REFS({N_ONE_BY_ONE}).fit(X)\n"
        f"chosen = lambda result: result.order_[:{N_ONE_BY_ONE}]",
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
    "fastcan": {
        "columns one by one": "from fastcan import FastCan\n"
        "from sklearn.decomposition import PCA\n"
        f"n = {N_ONE_BY_ONE}\n"
        "call = lambda: FastCan(n, verbose=0).fit(X, PCA(n).fit_transform(X))\n"
        "chosen = lambda result: result.indices_",
    },
    "scikit-learn": {
        "variance": "from sklearn.feature_selection import VarianceThreshold\n"
        "call = lambda: VarianceThreshold().fit(X)",
    },
}


class PeerError(Exception):
    """Why there is no time of a peer."""


class Contender:
    """A method of a package, timed in a process of its own."""

    def __init__(self, package: str, method: str, path: Path, python: str) -> None:
        code = PREAMBLE + CALLS[package][method] + TIMING
        limit = str(int(LIMIT))
        self.command = [python, "-c", code, str(path), str(N_FEATURES), limit]
        self.late = False
        self.explained: float | None = None

    def __call__(self, repetition: int) -> Timing:
        """Return how long a call takes, from a few of them."""
        single = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        environment = {**os.environ, **single}
        done = subprocess.run(
            self.command, capture_output=True, text=True, check=False, env=environment
        )
        if done.returncode < 0:  # by a signal: that of the limit
            self.late = True
            return Timing(LIMIT, LIMIT)
        if done.returncode:
            reason = done.stderr.strip().splitlines()[-1]
            absent = "ModuleNotFoundError" in reason
            raise PeerError("not installed" if absent else f"fails: {reason[:60]}")
        clocks, used, self.explained = json.loads(done.stdout.splitlines()[-1])
        # Where its use is limited, the processor's clock goes in ticks of milliseconds.
        return Timing(statistics.median(clocks), statistics.mean(used))


def row_of(name: str, method: str, peer: str, python: str, repeats: int) -> Row:
    """Return ours next to a peer, or why there is nothing to compare."""
    what, path = f"{method} on {name}", find_set(name)
    # The peer first: if it fails there is nothing to compare.
    theirs = Contender(peer, method, path, python)
    ours = Contender("ufselect", method, path, sys.executable)
    functions = {peer: theirs, "ours": ours}
    try:
        found = interleaved(functions, 1, warm_up=False)
        if max(timings[0].processor for timings in found.values()) < SHORT:
            more = interleaved(functions, repeats - 1, warm_up=False)
            found = {key: found[key] + more[key] for key in found}
    except PeerError as error:
        return Row(what, peer, note=str(error))
    return compared(
        *(what, found["ours"], peer, found[peer]),
        target=None if peer == "fastcan" else 1.0,
        limit=limit(operations(method, shape_of(path)), threads=1),
        judged_by="processor",
        note=note_of(ours, theirs),
    )


def shape_of(path: Path) -> tuple[int, int]:
    """Return the numbers of samples and of columns in a file."""
    n, p = read_labelled(path).table.shape
    return n, p


def operations(method: str, shape: tuple[int, int]) -> float:
    """Return the additions and multiplications that a method cannot do without."""
    n, p = shape
    if method == "variance":
        return 2.0 * n * p
    if method == "columns one by one":
        return 2.0 * n * p * N_ONE_BY_ONE
    return distance_operations(shape)


def note_of(ours: Contender, theirs: Contender) -> str:
    """Return what else there is to say."""
    if theirs.late:
        return f"not measured: more than {LIMIT:.0f} s; the ratio is at most this"
    if ours.explained is None or theirs.explained is None:
        return ""
    return (
        f"explain {ours.explained:.0%} of the variance, theirs {theirs.explained:.0%}"
    )


def measure(settings: Settings) -> Iterator[Row]:
    """Yield a row for every data set, method and peer that has it."""
    python = settings.peers or peers_python()
    methods = METHODS[:5] if settings.quick else METHODS
    for name in settings.names_of_sets(SETS, quick=("lymphoma", "Prostate-GE")):
        for method in methods:
            for peer in (each for each in list(CALLS)[1:] if method in CALLS[each]):
                yield row_of(name, method, peer, python, settings.repetitions(3))


def peers_python(folder: Path = PEERS) -> str:
    """Return the interpreter of the environment, which is made if it is missing.

    A package that cannot be installed is missed where it is used.
    """
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.is_file():
        print(f"installing {', '.join(PACKAGES)} into {folder}", file=sys.stderr)
        venv.create(folder, with_pip=True)
        for package in PACKAGES:
            command = [str(python), "-m", "pip", "install", "--quiet", package]
            subprocess.run(command, check=False)
    return str(python)
