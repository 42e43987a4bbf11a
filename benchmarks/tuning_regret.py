"""What is lost by choosing without labels, and does any criterion beat no choice?

Three things are chosen, for every set alone: the sparsity (beta) of SCFS, its number of
clusters, and the method. A criterion sees X and the 100 best columns of each candidate.
Printed is the mean gap, in accuracy and geometric NMI (percent), of what it picks to
the best candidate (the oracle, which knows the labels) and to the fixed default (SCFS
as it comes). Criteria were developed on one half of the sets and are reported on the
other.

    python benchmarks/tuning_regret.py [--repetitions 3] [--jobs 2] [--sets a,b]
        [--quick]
"""

import time
import warnings

import numpy as np
from halves import Judged, cell, parse_options, studied_halves
from scipy.stats import rankdata
from sklearn.cluster import KMeans

from ufselect import (
    MCFS,
    SCFS,
    SPEC,
    Consensus,
    LaplacianScore,
    MaxVariance,
    RandomSelection,
)
from ufselect.evaluation import clustering_agreement, selection_stability
from ufselect.evaluation.criteria import CRITERIA
from ufselect.report import markdown_table

DURATION = "40 minutes"
N_FEATURES = 100
DEFAULT = "SCFS"

# Criteria look at so many samples at most; refits for stability at half of them.
MOST_SAMPLES = 400
N_SUBSAMPLES = 4


def candidates(table):
    """Return what there is to choose from, by the question it answers."""
    default = SCFS(random_state=0).fit(table)
    kind = default.standardize_
    path = {
        f"beta x {factor:g}": SCFS(
            beta=factor * default.beta_,
            init=default.memberships_,
            standardize=False if kind == "none" else kind,
        )
        for factor in (0.2, 0.5, 2.0, 4.0)
    }
    clusters = {
        f"{number} clusters": SCFS(n_clusters=number, random_state=0)
        for number in (3, 5, 12, 20)
    }
    methods = {
        "LS": LaplacianScore(),
        "SPEC": SPEC(),
        "MCFS": MCFS(n_features_to_select=N_FEATURES),
        "variance": MaxVariance(),
        "SCFS and LS": Consensus(random_state=0),
    }
    known = {DEFAULT: SCFS(random_state=0)}
    return {
        "beta": known | path,
        "clusters": known | clusters,
        "method": known | methods,
    }


def prediction_strength(columns, random_state):
    """Return how well clusters of one half of the samples predict those of the other.

    The least, over clusters of the second half, of the share of pairs of its samples
    that the centres of the first half put together too (Tibshirani and Walther, 2005).
    """
    order = np.random.RandomState(random_state).permutation(len(columns))
    first, second = np.array_split(columns[order], 2)
    own = KMeans(3, n_init=5, random_state=0).fit_predict(second)
    told = KMeans(3, n_init=5, random_state=0).fit(first).predict(second)
    shares = []
    for label in np.unique(own):
        others = told[own == label]
        pairs = len(others) * (len(others) - 1)
        together = sum(np.bincount(others) * (np.bincount(others) - 1))
        shares.append(together / pairs if pairs else 0.0)
    return min(shares)


def stability(selector, table, size):
    """Return the stability of the selection between halves of the samples."""
    best = []
    for seed in range(N_SUBSAMPLES):
        rows = np.random.RandomState(seed).permutation(table.shape[0])
        half = table[np.sort(rows[: min(table.shape[0], MOST_SAMPLES) // 2])]
        copy = selector.__class__(**selector.get_params())
        if getattr(copy, "init", None) is not None and not isinstance(copy.init, str):
            copy.set_params(init="k-means", random_state=0)
        try:
            best.append(copy.fit(half).order_[:size])
        except ValueError:  # such as more clusters than samples
            continue
    if len(best) < 2:
        return 0.0
    return selection_stability(best, table.shape[1]).value


def opinions(judged, fitted, size):
    """Return, for each criterion, its value for every candidate."""
    rows = np.random.RandomState(0).permutation(judged.table.shape[0])[:MOST_SAMPLES]
    some = judged.table[np.sort(rows)]
    dense = some.toarray() if hasattr(some, "toarray") else some
    judges = {name: make(dense) for name, make in CRITERIA.items()}
    values = {name: [] for name in (*judges, "all columns", "strength", "stability")}
    for selector in fitted:
        columns = np.sort(selector.order_[:size])
        for name, judge in judges.items():
            values[name].append(judge(columns))
        agreed = clustering_agreement(dense, columns, 8, seeds=range(2), n_init=3)
        values["all columns"].append(agreed.mutual_information)
        values["strength"].append(
            np.mean([prediction_strength(dense[:, columns], s) for s in range(3)])
        )
        values["stability"].append(stability(selector, judged.table, size))
    ranks = {name: rankdata(seen) for name, seen in values.items()}
    for joint in [("neighbours", "reconstruction"), tuple(values)]:
        name = "all of these" if len(joint) > 2 else " + ".join(joint)
        values[name] = np.sum([ranks[part] for part in joint], axis=0)
    return values


def study(path, repetitions):
    """Return, per question, the scores of all candidates and what criteria pick."""
    warnings.simplefilter("ignore")
    start = time.perf_counter()
    judged = Judged(path, repetitions)
    size = min(N_FEATURES, judged.table.shape[1] // 2)
    results, fits = {}, {}
    for question, choice in candidates(judged.table).items():
        for name, selector in choice.items():
            if name not in fits:
                fits[name] = selector.fit(judged.table)
        fitted = [fits[name] for name in choice]
        scores = np.array([judged.score(one.order_[:size]) for one in fitted])
        picks = {
            name: int(np.argmax(seen))
            for name, seen in opinions(judged, fitted, size).items()
        }
        results[question] = scores, picks
    yardsticks = {
        "random": judged.score(
            RandomSelection(random_state=0).fit(judged.table).order_[:size]
        ),
        "variance": judged.score(MaxVariance().fit(judged.table).order_[:size]),
        "all features": judged.score(np.arange(judged.table.shape[1])),
    }
    seconds = time.perf_counter() - start
    print(f"  {judged.name} done in {seconds:.0f} s", flush=True)
    return judged.name, results, yardsticks


def gaps(results, question):
    """Return rows of the table of one question: gaps to the oracle and the default."""
    scores = [found[question][0] for _, found, _ in results]
    rows = {
        "no choice: the default": [each[0] for each in scores],
        "a choice at random": [each.mean(axis=0) for each in scores],
    }
    for name in results[0][1][question][1]:
        rows[name] = [
            each[found[question][1][name]]
            for each, (_, found, _) in zip(scores, results, strict=True)
        ]
    oracle = np.mean([each.max(axis=0) for each in scores], axis=0)
    default = np.mean(rows["no choice: the default"], axis=0)
    lines = []
    for name, values in rows.items():
        mean = np.mean(values, axis=0)
        lines.append([name, cell(mean), cell(mean - oracle), cell(mean - default)])
    return [*lines, ["the oracle", cell(oracle), "-", cell(oracle - default)]]


def beside(results):
    """Return the mean scores of what every choice should beat."""
    found = [yardsticks for *_, yardsticks in results]
    return ", ".join(
        f"{name} {cell(np.mean([each[name] for each in found], axis=0))}"
        for name in found[0]
    )


def main():
    options = parse_options(__doc__, 3)
    start = time.perf_counter()
    for half, results in studied_halves(study, options):
        print(f"\n### Half for {half}: {', '.join(name for name, *_ in results)}\n")
        print("Beside them, at the same number of features: " + beside(results) + ".")
        for question in results[0][1]:
            print(f"\nChoice of {question}, ACC/NMI in percent (labels judge only)\n")
            header = ["criterion", "mean", "to the oracle", "to the default"]
            print(markdown_table(header, gaps(results, question)))
    print(f"\n{(time.perf_counter() - start) / 60:.1f} minutes")


if __name__ == "__main__":
    main()
