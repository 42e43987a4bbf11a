"""How fast is the judging of a ranking, next to a plain loop over scikit-learn?

Both judge the ranking by variance at k = 50, 100, .., 300: k-means with ten restarts
for every seed, then accuracy, four NMI, adjusted Rand index and purity. The plain loop
calls ``KMeans`` and scikit-learn's metrics for each seed, with one thread and, for one
seed, with the default number of threads (which, on a busy machine, wait for each
other). Ours uses one thread. Times are per seed; ours decreases with the number of
seeds, because distances between samples are computed once. The limit is the time of
assigning the samples to centres once in every restart. The note has the largest
difference between mean scores.

    python -m studies protocol_speed
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix
from threadpoolctl import threadpool_info, threadpool_limits

import ufselect
from studies.findings import Row, compared
from studies.measuring import Timing, interleaved, k_means_operations, limit, timed
from studies.settings import Settings, find_set
from ufselect.data import read_labelled
from ufselect.evaluation import judge_ranking

DURATION = "20 minutes"
SETS = ("lymphoma", "Prostate-GE", "ORL", "Isolet", "BASEHOCK")
SIZES = (50, 100, 150, 200, 250, 300)
RESTARTS = 10
NORMALISERS = ("geometric", "arithmetic", "max", "min")
# Those on which judging is to be four times as fast.
TARGETS = {"ORL": 0.25, "Isolet": 0.25}


def plain_scores(classes: Any, clusters: Any) -> list[float]:
    """Return the seven scores, as scikit-learn computes them."""
    counts = contingency_matrix(classes, clusters)
    matched = counts[linear_sum_assignment(counts, maximize=True)].sum()
    information = [
        normalized_mutual_info_score(classes, clusters, average_method=normaliser)
        for normaliser in NORMALISERS
    ]
    purity = counts.max(axis=0).sum() / counts.sum()
    rand = adjusted_rand_score(classes, clusters)
    return [matched / counts.sum(), *information, rand, purity]


def plain(
    table: Any, order: Any, classes: Any, sizes: Sequence[int], seeds: Sequence[int]
) -> Any:
    """Return what ``judge_ranking`` does, by a loop over scikit-learn."""
    n_clusters = len(np.unique(classes))
    scores = []
    for size in sizes:
        columns = table[:, np.sort(order[:size])]
        for seed in seeds:
            model = KMeans(n_clusters, n_init=RESTARTS, random_state=seed)
            model.fit(columns)
            scores.append(plain_scores(classes, model.labels_))
    return np.reshape(scores, (len(sizes), len(seeds), -1))


def ours(
    table: Any, order: Any, classes: Any, sizes: Sequence[int], seeds: Sequence[int]
) -> Any:
    """Return the scores, sizes x seeds x 7."""
    return judge_ranking(table, order, classes, sizes=sizes, seeds=seeds)


class Contender:
    """Judges with so many threads, and says how long it took per seed."""

    def __init__(
        self,
        judge: Callable[..., Any],
        threads: int | None,
        arguments: Sequence[Any],
        seeds: Sequence[int],
    ) -> None:
        self.judge, self.threads = judge, threads
        self.arguments, self.seeds = arguments, seeds
        self.scores: Any = None

    def __call__(self, repetition: int) -> Timing:
        """Return the times of one seed; all repetitions have the same seeds."""
        with threadpool_limits(limits=self.threads):
            spent = timed(self.work)
        return Timing(*(each / len(self.seeds) for each in spent))

    def work(self, _: int) -> None:
        """Judge."""
        self.scores = self.judge(*self.arguments, self.seeds)


def text_of(sizes: Sequence[int]) -> str:
    """Return the numbers of features in short."""
    return " to ".join(str(size) for size in sorted({sizes[0], sizes[-1]}))


def rows_of(name: str, settings: Settings) -> Iterator[Row]:
    """Yield a row against one thread and one against those of the default, if more."""
    data = read_labelled(find_set(name))
    table = data.table.toarray() if sp.issparse(data.table) else data.table
    order = ufselect.MaxVariance().fit(table).order_
    sizes = (100,) if settings.quick else SIZES
    arguments = (table, order, data.classes, sizes)
    seeds = range(4 if settings.quick else 10)
    contenders = {
        "ours": Contender(ours, 1, arguments, seeds),
        "the plain loop, 1 thread": Contender(plain, 1, arguments, seeds),
    }
    usual = max((each["num_threads"] for each in threadpool_info()), default=1)
    if usual > 1:
        name_of_usual = f"the plain loop, {usual} threads"
        contenders[name_of_usual] = Contender(plain, None, arguments, seeds[:1])
    found = interleaved(contenders, settings.repetitions(3), warm_up=False)
    single = contenders["the plain loop, 1 thread"].scores
    apart = np.abs((contenders["ours"].scores - single).mean(axis=1)).max()
    note = f"mean scores differ by {apart:.4f}"
    n_clusters = len(np.unique(data.classes))
    operations = sum(
        k_means_operations((len(table), size), n_clusters, RESTARTS) for size in sizes
    )
    for other in list(contenders)[1:]:
        yield compared(
            f"{name}, {len(seeds)} seeds, k = {text_of(sizes)}",
            found["ours"],
            other,
            found[other],
            target=TARGETS.get(name),
            limit=limit(operations, threads=1),
            note=note,
        )


def measure(settings: Settings) -> Iterator[Row]:
    """Yield one or two rows for every data set."""
    for name in settings.names_of_sets(SETS, quick=("lymphoma", "ORL")):
        yield from rows_of(name, settings)
