"""Which rankings are worth combining, and does a consensus beat SCFS alone?

Prints accuracy and geometric NMI (percent) of k-means on the best columns of several
consensus rankings, mean over 50, 100, 200 and 300 columns, on both halves of the
labelled sets (see tuning_regret.py). What is best on the half for development may be
luck; it has to hold on the other. Labels judge, and nothing else.

    python benchmarks/consensus.py [--repetitions 4] [--jobs 2] [--sets a,b]
        [--quick]
"""

import time
import warnings

import numpy as np
from halves import Judged, cell, parse_options, studied_halves

from ufselect import MCFS, SCFS, LaplacianScore, MaxVariance, RandomSelection
from ufselect.matrix.sharing import SharedResults, shared_results
from ufselect.numerics.rank_aggregation import combined_scores, ranks_of
from ufselect.report import markdown_table

DURATION = "15 minutes"
NUMBERS = (50, 100, 200, 300)

MEMBERS = {
    "SCFS": lambda: SCFS(random_state=0),
    "SCFS, other seed": lambda: SCFS(random_state=1),
    "SCFS c=3": lambda: SCFS(n_clusters=3, random_state=0),
    "SCFS c=5": lambda: SCFS(n_clusters=5, random_state=0),
    "SCFS c=12": lambda: SCFS(n_clusters=12, random_state=0),
    "SCFS, features scaled": lambda: SCFS(standardize="features", random_state=0),
    "SCFS, samples scaled": lambda: SCFS(standardize="samples", random_state=0),
    "SCFS, nothing scaled": lambda: SCFS(standardize=False, random_state=0),
    "LS": lambda: LaplacianScore(),
    "MCFS": lambda: MCFS(n_features_to_select=100),
    "variance": lambda: MaxVariance(),
    "random": lambda: RandomSelection(random_state=0),
}
CLUSTERS = ("SCFS c=3", "SCFS c=5", "SCFS", "SCFS c=12")
PREPARATIONS = tuple(name for name in MEMBERS if name.endswith("scaled"))
TEAMS = {
    "two seeds": ("SCFS", "SCFS, other seed"),
    "four numbers of clusters": CLUSTERS,
    "5, 8, 12 clusters": CLUSTERS[1:],
    "three preparations": PREPARATIONS,
    "SCFS, LS": ("SCFS", "LS"),
    "two seeds, LS": ("SCFS", "SCFS, other seed", "LS"),
    "four numbers of clusters, LS": (*CLUSTERS, "LS"),
    "three preparations, LS": (*PREPARATIONS, "LS"),
    "SCFS, MCFS": ("SCFS", "MCFS"),
    "SCFS, MCFS, LS": ("SCFS", "MCFS", "LS"),
    "SCFS, variance": ("SCFS", "variance"),
}


def study(path, repetitions):
    """Return the mean score of every member and of every team on one set."""
    warnings.simplefilter("ignore")
    judged = Judged(path, repetitions)
    with shared_results(SharedResults()):
        scores = {
            name: make().fit(judged.table).scores_ for name, make in MEMBERS.items()
        }
    rankings = dict(scores)
    for team, names in TEAMS.items():
        ranks = ranks_of(np.array([scores[name] for name in names]))
        for combine in ("log-rank", "mean-rank"):
            rankings[f"{team} ({combine})"] = combined_scores(ranks, combine)
    print(f"  {judged.name} ranked", flush=True)
    means = {name: mean_score(judged, ranking) for name, ranking in rankings.items()}
    return means | {"all features": judged.score(np.arange(judged.table.shape[1]))}


def mean_score(judged, scores):
    order = np.argsort(-scores, kind="stable")
    return np.mean([judged.score(order[:k]) for k in NUMBERS], axis=0)


def main():
    options = parse_options(__doc__, 4)
    start = time.perf_counter()
    columns = dict(studied_halves(study, options))
    means = {
        half: {name: np.mean([one[name] for one in found], axis=0) for name in found[0]}
        for half, found in columns.items()
    }
    first = next(iter(means.values()))
    # The best for development first.
    names = sorted(first, key=lambda name: -first[name].sum())
    rows = [[name, *(cell(half[name]) for half in means.values())] for name in names]
    print("\nACC/NMI in percent, mean over 50, 100, 200 and 300 columns\n")
    print(markdown_table(["ranking", *means], rows))
    print(f"\n{(time.perf_counter() - start) / 60:.1f} minutes")


if __name__ == "__main__":
    main()
