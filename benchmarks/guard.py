"""Is anything much slower than it was?

Ratios of ours to computations that do not depend on ufselect, in the same run, by
processor time with one thread, so that a busy machine matters little. Each may be at
most MARGIN times the usual one, which was measured on two quiet cores.

    python -m benchmarks.guard [--check] [--repeats 5] [NAME ...]
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.metrics import accuracy_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix
from sklearn.neighbors import kneighbors_graph
from threadpoolctl import threadpool_limits

from ufselect import MCFS, SCFS, AutoSelect
from ufselect.data import planted, read_table
from ufselect.evaluation import judge_by_k_means

MARGIN = 2.5


def wide_fit(folder):
    """Compare SCFS of many columns, by the Gram matrix of the samples, with k-means."""
    X = planted(n_samples=300, n_useful=100, n_noise=1900).table
    return (
        lambda seed: SCFS(n_clusters=3, random_state=seed).fit(X),
        lambda seed: KMeans(3, n_init=10, random_state=seed).fit(X),
    )


def tall_fit(folder):
    """Compare SCFS of many rows, by the Gram matrix of the features, with ten such."""
    X = planted(n_samples=20_000, n_useful=10, n_noise=90).table
    return (
        lambda seed: SCFS(n_clusters=3, random_state=seed).fit(X),
        lambda seed: [X.T @ X for _ in range(10)],
    )


def judging(folder):
    """Compare the judge of a selection with a loop over scikit-learn."""
    data = planted(n_samples=300, n_useful=40, n_noise=60)

    def loop(seed):
        for start in range(8):
            labels = KMeans(3, n_init=10, random_state=start).fit_predict(data.table)
            counts = contingency_matrix(data.classes, labels)
            accuracy_score(data.classes, counts.argmax(axis=0)[labels])
            normalized_mutual_info_score(data.classes, labels)

    return (
        lambda seed: judge_by_k_means(data.table, data.classes, seeds=range(8)),
        loop,
    )


def reading(folder):
    """Compare reading a table of text with numpy.loadtxt."""
    path = written(folder, np.random.default_rng(0).standard_normal((200, 1000)))
    return (
        lambda seed: read_table(path),
        lambda seed: np.loadtxt(path, delimiter=",", skiprows=1),
    )


def graph_method(folder):
    """Compare MCFS (neighbours, eigenvectors, least angles) with neighbours alone."""
    X = planted(n_samples=1000, n_useful=20, n_noise=180).table
    return lambda seed: MCFS(20, n_clusters=3).fit(X), lambda seed: kneighbors_graph(
        X, 5
    )


def auto_select(folder):
    """Compare AutoSelect with k-means."""
    X = planted(n_samples=200, n_useful=30, n_noise=970).table
    return (
        lambda seed: AutoSelect(random_state=seed).fit(X),
        lambda seed: KMeans(3, n_init=200, random_state=seed).fit(X),
    )


def select_command(folder):
    """Compare `ufselect select` with report with a process that reads and clusters."""
    path = written(folder, planted(n_samples=200, n_useful=30, n_noise=970).table)
    outputs = [f"--output={folder}/selected.csv", f"--report={folder}/page.html"]
    return (
        lambda seed: run("-m", "ufselect", "select", str(path), *outputs),
        lambda seed: run("-c", READ_AND_CLUSTER, str(path)),
    )


READ_AND_CLUSTER = """
import sys
import pandas
from sklearn.cluster import KMeans
KMeans(3, n_init=200, random_state=0).fit(pandas.read_csv(sys.argv[1]))
"""


def run(*arguments):
    """Run Python, with one thread."""
    single = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, *arguments]
    environment = {**os.environ, **single}
    subprocess.run(command, check=True, capture_output=True, env=environment)


def written(folder, values):
    """Write a table with names of columns; return its path."""
    path = folder / f"{values.shape[0]}x{values.shape[1]}.csv"
    names = [f"g{place}" for place in range(values.shape[1])]
    pd.DataFrame(values, columns=names).to_csv(path, index=False)
    return path


# With the usual ratio.
COMPARISONS = {
    "SCFS of a wide table": (wide_fit, 1.3),
    "SCFS of a tall table": (tall_fit, 3.5),
    "judging a selection": (judging, 0.15),
    "reading a CSV": (reading, 2.0),
    "MCFS": (graph_method, 3.9),
    "AutoSelect": (auto_select, 3.1),
    "ufselect select": (select_command, 2.3),
}


def used():
    """Return processor seconds of this process and of those it has waited for."""
    children = os.times()
    return time.process_time() + children.children_user + children.children_system


def ratio_of(ours, theirs, repeats):
    """Return the ratio of median times; the two take turns, once without a clock."""
    times = {ours: [], theirs: []}
    for repetition in range(-1, repeats):
        for function in (ours, theirs) if repetition % 2 else (theirs, ours):
            start = used()
            function(max(repetition, 0))
            if repetition >= 0:
                times[function].append(used() - start)
    return statistics.median(times[ours]) / statistics.median(times[theirs])


def main(arguments=None):
    """Print every ratio beside the most that it may be; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.guard")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(COMPARISONS))
    parser.add_argument("--check", action="store_true", help="fail if one is too slow")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args(arguments)
    slow = []
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        for name in options.names or COMPARISONS:
            prepare, usual = COMPARISONS[name]
            found = ratio_of(*prepare(Path(folder)), options.repeats)
            limit = MARGIN * usual
            print(f"{name:22} {found:6.3f}, usually {usual:5.3f}, at most {limit:.3f}")
            if found > limit:
                slow.append(name)
    if options.check and slow:
        print(f"much slower than usual: {', '.join(slow)}", file=sys.stderr)
    return int(options.check and bool(slow))


if __name__ == "__main__":
    sys.exit(main())
