"""How fast is the judging of a ranking, next to a plain loop over scikit-learn?

Both judge the ranking by variance at k = 50, 100, .., 300: k-means with ten restarts
for every seed, then accuracy, four NMI, adjusted Rand index and purity. The plain loop
calls ``KMeans`` and scikit-learn's metrics seed by seed, with one thread and, for one
seed and once, with the threads it takes by default (which, on a busy machine, wait for
each other). Ours runs with one. Repetitions are interleaved; printed are medians of the
time per seed, and the largest difference between mean scores.

    python benchmarks/protocol_speed.py [--seeds 10] [--repeats 3] [--sets a,b]
        [--one-thread]

The more seeds, the less ours takes for each: the distances between samples are
computed once.
"""

import argparse
import statistics
import time
import warnings

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix
from threadpoolctl import threadpool_limits

import ufselect
from ufselect.data import data_folder, read_labelled
from ufselect.evaluation import judge_ranking
from ufselect.report import text_table

SETS = ("lymphoma", "Prostate-GE", "ORL", "Isolet", "BASEHOCK")
SIZES = (50, 100, 150, 200, 250, 300)
NORMALISERS = ("geometric", "arithmetic", "max", "min")


def plain_scores(classes, clusters):
    counts = contingency_matrix(classes, clusters)
    matched = counts[linear_sum_assignment(counts, maximize=True)].sum()
    information = [
        normalized_mutual_info_score(classes, clusters, average_method=normaliser)
        for normaliser in NORMALISERS
    ]
    purity = counts.max(axis=0).sum() / counts.sum()
    rand = adjusted_rand_score(classes, clusters)
    return [matched / counts.sum(), *information, rand, purity]


def plain(table, order, classes, sizes, seeds):
    n_clusters = len(np.unique(classes))
    scores = []
    for size in sizes:
        columns = table[:, np.sort(order[:size])]
        for seed in seeds:
            model = KMeans(n_clusters, n_init=10, random_state=seed).fit(columns)
            scores.append(plain_scores(classes, model.labels_))
    return np.reshape(scores, (len(sizes), len(seeds), -1))


def ours(table, order, classes, sizes, seeds):
    return judge_ranking(table, order, classes, sizes=sizes, seeds=seeds)


CONTENDERS = {
    "ours": (ours, 1),
    "plain, 1 thread": (plain, 1),
    "plain, default": (plain, None),
}


def seconds_and_scores(judge, threads, arguments, seeds):
    with threadpool_limits(limits=threads):
        start = time.perf_counter()
        scores = judge(*arguments, seeds)
        return time.perf_counter() - start, scores


def compare(data, size, seeds, repeats):
    """Return the median seconds of the contenders and the difference of the scores."""
    table = data.table.toarray() if sp.issparse(data.table) else data.table
    order = ufselect.MaxVariance().fit(table).order_
    arguments = (table, order, data.classes, (size,))
    seconds = {name: [] for name in CONTENDERS}
    scores = {}
    for repeat in range(repeats):
        for name, (judge, threads) in CONTENDERS.items():
            if threads is None and repeat:
                continue
            some = seeds if threads else seeds[:1]
            spent, scores[name] = seconds_and_scores(judge, threads, arguments, some)
            seconds[name].append(spent / len(some))
    apart = np.abs(scores["ours"] - scores["plain, 1 thread"]).mean(axis=1).max()
    return {name: statistics.median(many) for name, many in seconds.items()}, apart


def row(name, size, seconds, apart):
    own = seconds["ours"]
    others = [
        f"{1e3 * value:.0f} ms ({value / own:.1f}x)" for value in list(seconds.values())
    ]
    return [name, str(size), f"{1e3 * own:.1f} ms", *others[1:], f"{apart:.4f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument(
        "--one-thread", action="store_true", help="leave out the default threads"
    )
    options = parser.parse_args()
    if options.one_thread:
        CONTENDERS.pop("plain, default")
    warnings.simplefilter("ignore", ConvergenceWarning)
    folder = data_folder()
    if folder is None:
        raise SystemExit("no data: set UFSELECT_DATA to the folder of the .mat files")
    rows = []
    for name in options.sets.split(","):
        data = read_labelled(folder / f"{name}.mat")
        totals = dict.fromkeys(CONTENDERS, 0.0)
        most = 0.0
        for size in SIZES:
            seconds, apart = compare(data, size, range(options.seeds), options.repeats)
            totals = {key: totals[key] + seconds[key] for key in totals}
            most = max(most, apart)
            rows.append(row(name, size, seconds, apart))
            print("  " + "  ".join(rows[-1]), flush=True)
        rows.append(row(name, "all", totals, most))
    print(
        f"\n{options.seeds} seeds, time per seed; in brackets, times as long as ours\n"
    )
    print(text_table(["data", "k", *CONTENDERS, "mean score apart"], rows))


if __name__ == "__main__":
    try:
        main()
    except ValueError as error:
        raise SystemExit(str(error)) from None
