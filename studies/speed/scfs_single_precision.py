"""What does SCFS gain by single precision, and does its result change?

``SCFS(n_clusters=c).fit`` of a float32 matrix compared with the same numbers as
float64; c is the number of classes. The note has the overlap of the best 100 columns,
over the seeds of the repetitions, and for comparison the overlap between different
seeds in double precision. The limit is that of products in double precision; in single
precision it is about half.

    python -m studies scfs_single_precision
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from studies.findings import Row, compared
from studies.measuring import interleaved, limit, scfs_operations
from studies.settings import Settings, find_set
from studies.speed.scfs_against_k_means import SETS
from ufselect import SCFS
from ufselect.data import read_labelled

DURATION = "4 minutes"
BEST = 100


def measure(settings: Settings) -> Iterator[Row]:
    """Yield a row for every data set."""
    for name in settings.names_of_sets(SETS, quick=("lymphoma", "Prostate-GE")):
        data = read_labelled(find_set(name))
        yield row_of(name, data.table, len(np.unique(data.classes)), settings)


def row_of(name: str, X: Any, c: int, settings: Settings) -> Row:
    """Return the times with both precisions on one data set."""
    single = X.astype(np.float32)
    double = single.astype(np.float64)
    iterations: list[int] = []
    best: dict[str, list[set[int]]] = {"single": [], "double": []}

    def fit(precision: str, table: Any, seed: int) -> None:
        selector = SCFS(n_clusters=c, random_state=seed).fit(table)
        best[precision].append(set(selector.order_[:BEST].tolist()))
        iterations.append(selector.n_iter_)

    functions = {
        "single": lambda seed: fit("single", single, seed),
        "double": lambda seed: fit("double", double, seed),
    }
    found = interleaved(functions, settings.repetitions(5), warm_up=False)
    pairs = zip(best["single"], best["double"], strict=True)
    same = [len(ours & theirs) for ours, theirs in pairs]
    other = [len(one & after) for one, after in pairwise(best["double"])]
    note = f"{spoken(same)} of {BEST} the same"
    return compared(
        f"{name}, {X.shape[0]} x {X.shape[1]}, c = {c}",
        found["single"],
        "float64",
        found["double"],
        limit=limit(scfs_operations(double, c, int(np.median(iterations)))),
        note=f"{note}; {spoken(other)} with another seed" if other else note,
    )


def spoken(counts: list[int]) -> str:
    """Return the extremes of some counts."""
    least, most = min(counts), max(counts)
    return str(least) if least == most else f"{least} to {most}"
