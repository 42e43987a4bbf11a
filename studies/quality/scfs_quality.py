"""How good are the selections of SCFS, with one setting for all data and no labels?

Prints, for every labelled set in the data folder, accuracy and geometric NMI of
k-means on the selected columns, mean over k = 50, 100, .., 300, and the same for
random columns, columns of largest variance and all columns. Labels are used for these
two numbers and, where a column says so, for the number of clusters; never for tuning.

    python -m studies scfs_quality [--repetitions 2] [--jobs 2] [--sets a,b]
        [--quick]
"""

import argparse
import time
import warnings

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning

import ufselect
from studies.settings import SMALL, research_data
from ufselect.data import read_labelled
from ufselect.evaluation import judge_by_k_means
from ufselect.report import text_table

DURATION = "15 minutes"
NUMBERS = (50, 100, 150, 200, 250, 300)

# Whatever depends on chance is drawn this often, so that luck averages out.
DRAWS = range(3)


def orders(table, n_classes):
    """Return the rankings to judge, by the name of their column."""
    rankings = {
        "random": [
            ufselect.RandomSelection(random_state=seed).fit(table).order_
            for seed in DRAWS
        ],
        "variance": [ufselect.MaxVariance().fit(table).order_],
    }
    models = {
        "SCFS c=classes": {"n_clusters": n_classes},
        "SCFS c=8": {"n_clusters": 8},
        "paper solver": {
            "n_clusters": n_classes,
            "solver": "paper",
            "alpha": 1.0,
            "beta": 1.0,
        },
    }
    for name, parameters in models.items():
        rankings[name] = [
            ufselect.SCFS(random_state=seed, **parameters).fit(table).order_
            for seed in DRAWS
        ]
    if "LaplacianScore" in ufselect.all_selectors():
        selector = ufselect.all_selectors()["LaplacianScore"]
        rankings["Laplacian score"] = [selector().fit(table).order_]
    return rankings


def judge_set(path, repetitions):
    """Return the mean scores of one data set, by column."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    data = read_labelled(path)
    dense = data.table.toarray() if sp.issparse(data.table) else data.table
    start = time.perf_counter()
    rankings = orders(data.table, data.classes.max() + 1)

    def judge(columns):
        seeds = range(repetitions)
        return judge_by_k_means(columns, data.classes, seeds=seeds).mean(axis=0)

    scores = {
        name: np.mean(
            [judge(dense[:, np.sort(o[:k])]) for o in several for k in NUMBERS], axis=0
        )
        for name, several in rankings.items()
    }
    scores["all features"] = judge(dense)
    seconds = time.perf_counter() - start
    print(f"  {data.name} {dense.shape} done in {seconds:.0f} s", flush=True)
    return data.name, scores


def print_table(results):
    columns = list(results[0][1])
    rows = [
        [name, *(f"{100 * acc:.1f}/{100 * nmi:.1f}" for acc, nmi in scores.values())]
        for name, scores in results
    ]
    values = np.array([[scores[name] for name in columns] for _, scores in results])
    means = 100 * values.mean(axis=0)
    beats = (values > values[:, [columns.index("random")]]).sum(axis=0)
    rows.append(["mean", *(f"{acc:.1f}/{nmi:.1f}" for acc, nmi in means)])
    rows.append(["beats random", *(f"{acc}/{nmi}" for acc, nmi in beats)])
    print("\nACC/NMI in percent, mean over k = 50..300 (labels set c where named)\n")
    print(text_table(["data set", *columns], rows))
    print()
    for ours in ("SCFS c=classes", "SCFS c=8"):
        acc, nmi = means[columns.index(ours)]
        for other in ("random", "variance", "paper solver", "Laplacian score"):
            if other in columns:
                other_acc, other_nmi = means[columns.index(other)]
                print(
                    f"{ours} minus {other}: "
                    f"ACC {acc - other_acc:+.1f}, NMI {nmi - other_nmi:+.1f}"
                )
        wins = beats[columns.index(ours)][0]
        print(f"{ours} beats random in ACC on {wins} of {len(results)} sets")


def main(arguments):
    parser = argparse.ArgumentParser(
        prog="python -m studies scfs_quality", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--repetitions", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sets", help="names separated by commas; default: all")
    parser.add_argument("--quick", action="store_true", help="two small sets, once")
    options = parser.parse_args(arguments)
    if options.quick:
        options.repetitions, options.sets = 1, options.sets or SMALL
    folder = research_data()
    paths = sorted(folder.glob("*.mat"), key=lambda path: -path.stat().st_size)
    if options.sets:
        paths = [path for path in paths if path.stem in options.sets.split(",")]
    if not paths:
        raise ValueError(f"no such data sets in {folder}: {options.sets or '*.mat'}")
    start = time.perf_counter()
    results = Parallel(n_jobs=options.jobs)(
        delayed(judge_set)(path, options.repetitions) for path in paths
    )
    print_table(sorted(results, key=lambda result: result[0].lower()))
    print(f"\n{(time.perf_counter() - start) / 60:.1f} minutes")
