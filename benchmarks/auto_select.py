"""Is what AutoSelect decides any good, and what does it cost?

Three parts, in one run:

* quality: accuracy and geometric NMI of k-means on what ``AutoSelect()`` selects, over
  both halves of the labelled sets (see tuning_regret.py), beside SCFS as it comes, at
  the same number of features and as the mean over 50, 100, 200 and 300; and beside
  consensus, random, variance and all features. Labels judge, and nothing else.
* planted: the number of features it chooses, next to the true one.
* cost: its time as a multiple of a default fit of SCFS.

    python benchmarks/auto_select.py [--repetitions 4] [--jobs 2] [--sets a,b]
        [--quick]
"""

import statistics
import time
import warnings

import numpy as np
from halves import Judged, cell, parse_options, studied_halves

from ufselect import SCFS, AutoSelect, Consensus, MaxVariance, RandomSelection
from ufselect.data import GEOMETRIES, data_folder, planted, read_labelled
from ufselect.report import markdown_table

DURATION = "40 minutes"
SEEDS = range(2)
NUMBERS = (50, 100, 200, 300)
FORMS = {
    "tall": {"n_samples": 60, "n_useful": 15, "n_noise": 35},
    "wide": {"n_samples": 40, "n_useful": 15, "n_noise": 135},
    "few in use": {"n_samples": 90, "n_useful": 10, "n_noise": 90},
    "many": {"n_samples": 100, "n_useful": 50, "n_noise": 950},
}
COSTLY = ("Prostate-GE", "Isolet", "COIL20")


def quality(path, repetitions):
    """Return the name of a set, what was decided, and the score of each column."""
    warnings.simplefilter("ignore")
    judged = Judged(path, repetitions)
    n_features = judged.table.shape[1]
    automatic = [AutoSelect(random_state=seed).fit(judged.table) for seed in SEEDS]
    numbers = [selector.n_selected_ for selector in automatic]
    others = {
        "SCFS": [SCFS(random_state=seed) for seed in SEEDS],
        "SCFS and LS": [Consensus(random_state=seed) for seed in SEEDS],
        "variance": [MaxVariance()] * len(SEEDS),
        "random": [RandomSelection(random_state=seed) for seed in SEEDS],
    }
    chosen = [np.flatnonzero(selector.get_support()) for selector in automatic]
    scores = {"AutoSelect": np.mean([judged.score(one) for one in chosen], axis=0)}
    for name, selectors in others.items():
        orders = [one.fit(judged.table).order_ for one in selectors]
        same = [judged.score(o[:k]) for o, k in zip(orders, numbers, strict=True)]
        scores[name] = np.mean(same, axis=0)
        if name == "SCFS":
            fixed = [judged.score(order[:k]) for order in orders for k in NUMBERS]
            scores["SCFS, 50 to 300"] = np.mean(fixed, axis=0)
    scores["all features"] = judged.score(np.arange(n_features))
    clusters = "/".join(str(selector.n_clusters_) for selector in automatic)
    decided = [clusters, "/".join(map(str, numbers))]
    print(f"  {judged.name} done", flush=True)
    return judged.name, decided, scores


def print_quality(half, results):
    columns = list(results[0][2])
    rows = [
        [name, *decided, *(cell(scores[column]) for column in columns)]
        for name, decided, scores in results
    ]
    means = [np.mean([scores[c] for *_, scores in results], axis=0) for c in columns]
    rows.append(["mean", "", "", *map(cell, means)])
    print(f"\n### Half for {half}\n")
    print(
        "ACC/NMI in percent; clusters and features as decided for two seeds; other "
        "columns at the same number of features unless they say otherwise\n"
    )
    print(markdown_table(["set", "clusters", "features", *columns], rows))


def print_planted(forms):
    rows = []
    for form in forms:
        sizes = FORMS[form]
        for geometry in GEOMETRIES:
            data = planted(geometry, seed=1, **sizes)
            selector = AutoSelect(random_state=0).fit(data.table)
            hits = int(data.informative[selector.get_support()].sum())
            rows.append(
                [
                    f"{geometry}, {form}",
                    str(sizes["n_useful"]),
                    str(selector.n_selected_),
                    str(hits),
                ]
            )
    near = sum(0.5 <= int(row[2]) / int(row[1]) <= 2.0 for row in rows)
    print("\n### Planted columns\n")
    print(markdown_table(["design", "useful", "selected", "of these useful"], rows))
    print(f"\nWithin a factor of two: {near} of {len(rows)}")


def seconds(selector, table):
    start = time.perf_counter()
    selector.fit(table)
    return time.perf_counter() - start


def print_cost(names, repeats):
    print("\n### Cost, as a multiple of a default fit (medians, interleaved)\n")
    rows = []
    for name in names:
        table = read_labelled(data_folder() / f"{name}.mat").table
        times = [
            (seconds(SCFS(random_state=s), table), seconds(AutoSelect(), table))
            for s in range(repeats)
        ]
        ratios = [mine / default for default, mine in times]
        spread = f"{min(ratios):.1f} to {max(ratios):.1f}"
        rows.append([name, f"{statistics.median(ratios):.1f}", spread])
    print(markdown_table(["set", "ratio", "spread"], rows))


def main():
    options = parse_options(__doc__, 4)
    warnings.simplefilter("ignore")
    start = time.perf_counter()
    for half, results in studied_halves(quality, options):
        print_quality(half, results)
    print_planted(list(FORMS)[:2] if options.quick else FORMS)
    print_cost(["colon"] if options.quick else COSTLY, 1 if options.quick else 5)
    print(f"\n{(time.perf_counter() - start) / 60:.1f} minutes")


if __name__ == "__main__":
    main()
