"""Is a consensus of five runs of SCFS within eight times ten runs of k-means?

``Consensus([SCFS(n_clusters=c)] * 5)``, whose members have different seeds, compared
with ``KMeans(n_clusters=c, n_init=10)`` and with one fit of SCFS on the same matrix; c
is the number of classes. With two workers, BLAS uses half of the cores in each; their
processes are already running, and their processor time is not measured. The prepared
matrix and its Gram matrices are computed once per worker. The limit is that of five
fits with the same number of iterations as the single fit and one Gram matrix.

    python -m studies scfs_consensus
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from studies.findings import Row, compared
from studies.measuring import Timing, interleaved, limit, scfs_operations
from studies.settings import Settings, find_set
from studies.speed.scfs_against_k_means import SETS
from ufselect import SCFS, Consensus
from ufselect.data import read_labelled

DURATION = "8 minutes"
MEMBERS = 5
TARGET = 8.0
WORKERS = 2


def consensus(c: int, n_jobs: int, seed: int) -> Consensus:
    """Return the same method so many times, each with a seed of its own."""
    members = [SCFS(n_clusters=c) for _ in range(MEMBERS)]
    return Consensus(members, n_jobs=n_jobs, random_state=seed)


def measure(settings: Settings) -> Iterator[Row]:
    """Yield rows for every data set."""
    consensus(2, WORKERS, 0).fit(np.random.default_rng(0).standard_normal((30, 40)))
    for name in settings.names_of_sets(SETS, quick=("lymphoma", "Prostate-GE")):
        data = read_labelled(find_set(name))
        yield from rows_of(name, data.table, len(np.unique(data.classes)), settings)


def rows_of(name: str, X: Any, c: int, settings: Settings) -> Iterator[Row]:
    """Yield what a consensus takes with one worker and with two."""
    iterations: list[int] = []

    def fit(seed: int) -> None:
        iterations.append(SCFS(n_clusters=c, random_state=seed).fit(X).n_iter_)

    functions = {
        "KMeans": lambda seed: KMeans(c, n_init=10, random_state=seed).fit(X),
        "SCFS": fit,
        "one worker": lambda seed: consensus(c, 1, seed).fit(X),
        "two workers": lambda seed: consensus(c, WORKERS, seed).fit(X),
    }
    found = interleaved(functions, settings.repetitions(3), warm_up=False)
    operations = scfs_operations(X, c, MEMBERS * int(np.median(iterations)))
    for who, target in (("one worker", None), ("two workers", TARGET)):
        row = compared(
            f"{name}, {X.shape[0]} x {X.shape[1]}, c = {c}, {who}",
            found[who],
            f"KMeans({c}, n_init=10)",
            found["KMeans"],
            target=target,
            limit=limit(operations),
            note=f"{clock_ratio(found[who], found['SCFS']):.1f} fits of SCFS",
        )
        yield row if who == "one worker" else replace(row, processor_ratio=None)


def clock_ratio(ours: list[Timing], theirs: list[Timing]) -> float:
    """Return the ratio of median times."""
    medians = [np.median([each.clock for each in some]) for some in (ours, theirs)]
    return float(medians[0] / medians[1])
