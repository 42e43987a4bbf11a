"""How fast is SCFS, and how much memory does it take?

Every figure is a ratio of two measurements made in this run:

(a) one iteration of the paper solver as published (p x p inverse, n x n matrix of
    ones) against ours, on Prostate-GE;
(b) the growth of ``SCFS().fit`` with p and with n, and its time as a multiple of
    ``KMeans(n_clusters=8, n_init=10)`` on the same matrix;
(c) the peak memory of a fit as a multiple of the size of X, and for the sparse
    scMouseBladder2100 (2100 x 20670) in total.

    python benchmarks/scfs_speed.py [--parts abc]
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from ufselect import SCFS
from ufselect.data import data_folder, read_labelled
from ufselect.matrix import as_matrix
from ufselect.numerics.scfs_exact import sample_products
from ufselect.numerics.scfs_paper import fit_paper
from ufselect.numerics.soft_clustering import indicator
from ufselect.numerics.starts import start_memberships
from ufselect.report import text_table

REPEATS = 3


def seconds(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def published_iteration(X, G, alpha, beta, gamma):
    """Do one iteration exactly as the formulas of the paper are written."""
    n, p = X.shape
    ones = np.ones((n, n))
    W = np.linalg.inv(alpha * X.T @ X + beta * np.eye(p)) @ (alpha * X.T @ G)
    M = (X @ X.T + n * gamma * ones) @ G
    G = G * (2 * M + alpha * X @ W) / (M @ G.T @ G + G @ G.T @ M + alpha * G)
    np.diag(1 / (2 * np.linalg.norm(W, axis=1) + 2e-16))
    return G


def part_a():
    folder = data_folder()
    if folder is None:
        print("(a) skipped: set UFSELECT_DATA to the folder of the .mat files")
        return
    X = read_labelled(folder / "Prostate-GE.mat").table
    matrix = as_matrix(X)
    G = indicator(start_memberships("k-means", matrix, 2, np.random.RandomState(0)))
    total = float(np.sum(X**2))
    iterations = 20

    def ours():
        products = sample_products(matrix, total)
        fit_paper(
            G,
            products,
            matrix,
            alpha=1.0,
            beta=1.0,
            gamma=1e6,
            max_iter=iterations,
            tol=0.0,
            report=lambda iteration, objective: False,
        )

    ours()
    own = statistics.median(seconds(ours) for _ in range(REPEATS)) / iterations
    theirs = seconds(lambda: published_iteration(X, G, 1.0, 1.0, 1e6))
    print(f"(a) one paper-solver iteration on Prostate-GE {X.shape}")
    print(f"    as published {theirs:.2f} s, ours {1e3 * own:.1f} ms (Gram matrix and")
    print(f"    objective included): {theirs / own:.0f} times faster\n")


def fit_and_k_means_seconds(n, p):
    """Return medians of interleaved repetitions on standard normal data."""
    X = np.random.default_rng(0).standard_normal((n, p))
    fits, k_means = [], []
    for seed in range(REPEATS):
        fits.append(seconds(lambda seed=seed: SCFS(random_state=seed).fit(X)))
        model = KMeans(n_clusters=8, n_init=10, random_state=seed)
        k_means.append(seconds(lambda model=model: model.fit(X)))
    return statistics.median(fits), statistics.median(k_means)


def growth(before, after):
    """Return the exponent of growth between two pairs of length and seconds."""
    if before == after:
        return ""
    return f"{np.log(after[1] / before[1]) / np.log(after[0] / before[0]):.2f}"


def part_b():
    print("(b) SCFS().fit on standard normal data, default settings (c = 8);")
    print("    an exponent of 1 is linear growth\n")
    SCFS().fit(np.random.default_rng(0).standard_normal((50, 60)))
    for side, shapes in (
        ("p", [(100, 1_000), (100, 5_000), (100, 20_000)]),
        ("n", [(1_000, 100), (10_000, 100), (20_000, 100), (100_000, 100)]),
    ):
        rows, first, previous = [], None, None
        for n, p in shapes:
            fit, k_means = fit_and_k_means_seconds(n, p)
            now = (p if side == "p" else n, fit)
            first, previous = first or now, previous or now
            growths = [growth(first, now), growth(previous, now)]
            rows.append([f"{n} x {p}", f"{fit:.2f}", *growths, f"{fit / k_means:.2f}"])
            previous = now
        print(
            text_table(
                [
                    "shape",
                    "seconds",
                    f"exponent in {side} from first",
                    "from previous",
                    "x KMeans(n_init=10)",
                ],
                rows,
            )
        )
        print()


MEMORY_CODE = """
import json, sys
import numpy as np
from pathlib import Path
from ufselect import SCFS
from ufselect.data import data_folder, read_labelled

def status(key):
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(x.split()[1] for x in lines if x.startswith(key)))

what = json.loads(sys.argv[1])
if isinstance(what, str):
    X = read_labelled(data_folder() / f"{what}.mat").table
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
else:
    X = np.random.default_rng(0).standard_normal(what)
    size = X.nbytes
SCFS(n_clusters=2).fit(np.random.default_rng(0).standard_normal((30, 20)))
Path("/proc/self/clear_refs").write_text("5")
before = status("VmRSS")
SCFS(random_state=0).fit(X)
print(json.dumps([size, status("VmHWM") - before, status("VmHWM")]))
"""


def memory(what):
    """Return the size of X, the peak above the input and the peak in total."""
    result = subprocess.run(
        [sys.executable, "-c", MEMORY_CODE, json.dumps(what)],
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(result.stdout)


def part_c():
    print("(c) peak resident memory of SCFS().fit\n")
    rows = []
    for shape in ((100, 200_000), (500, 40_000), (4_000, 5_000), (200_000, 100)):
        size, above, _ = memory(shape)
        name = f"{shape[0]} x {shape[1]} dense"
        rows.append([name, f"{size / 1e6:.0f}", f"{above / size:.2f}", ""])
    if data_folder() is not None:
        size, above, total = memory("scMouseBladder2100")
        rows.append(
            [
                "2100 x 20670 sparse",
                f"{size / 1e6:.0f}",
                f"{above / size:.2f}",
                f"{total / 1e9:.2f}",
            ]
        )
    header = ["matrix", "X in MB", "peak above X / X", "total GB"]
    print(text_table(header, rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", default="abc")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    for letter, part in (("a", part_a), ("b", part_b), ("c", part_c)):
        if letter in options.parts:
            part()


if __name__ == "__main__":
    try:
        main()
    except ValueError as error:
        raise SystemExit(str(error)) from None
