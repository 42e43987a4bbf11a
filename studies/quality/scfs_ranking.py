"""Why is a lower objective of SCFS not always a better ranking?

First, with labels: the published grid of alpha and beta on two sets of lung tumours,
where the published algorithm ranks better than the exact solver if labels choose the
weights for every number of features. Rows differ in solver, scaling and intercept, and
divide the grid of the published algorithm by whether the exact solver keeps more than
one feature.

Second, without labels: the default weights, except for beta, which is a share of the
smallest value at which W = 0, on all sets of moderate size. "covariance" ranks features
by their covariance with the clusters of the default fit, the limit of both solvers for
large beta.

All numbers are ACC / NMI in percent of k-means on 50, 100, ..., 300 features.

    python -m studies scfs_ranking [--quick]
"""

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from studies.settings import find_set, research_data
from ufselect import SCFS, MaxVariance
from ufselect.data import read_labelled
from ufselect.evaluation import judge_ranking
from ufselect.matrix import as_matrix
from ufselect.solvers import scfs
from ufselect.solvers.preparation import preparation_kind, prepare
from ufselect.solvers.ridge import row_norms
from ufselect.solvers.soft_partition import indicator

DURATION = "20 minutes"
TUMOURS = ("lung", "lung_bhattacharjee1543")
GRID = (1e-4, 1e-2, 1.0, 1e2, 1e4)
SIZES = (50, 100, 150, 200, 250, 300)
SHARES = (0.005, 0.05, 0.2, 0.5, 0.8)
METRICS = ("accuracy", "nmi_geometric")
LARGEST = 6_000_000

VARIANTS: dict[str, dict[str, Any]] = {
    "published": {"solver": "paper", "standardize": False},
    "published, scaled": {"solver": "paper", "standardize": True},
    "exact, the same X": {"standardize": False, "fit_intercept": False},
    "exact, intercept": {"standardize": False},
    "exact, intercept, scaled": {"standardize": True},
}


def judge_of(
    X: Any, classes: Any, units: bool | str = False
) -> Callable[[Any], np.ndarray]:
    """Return what judges an order of the features, for every number of them."""
    cache: dict[tuple[int, ...], np.ndarray] = {}
    sizes = [size for size in SIZES if size < X.shape[1]]
    more = {"metrics": METRICS, "cache": cache, "standardize": units}

    def judge(order: Any) -> np.ndarray:
        found = judge_ranking(X, order, classes, sizes=sizes, seeds=range(3), **more)
        return 100 * found.mean(axis=1)

    return judge


def on_the_grid(name: str) -> Iterator[tuple[str, list[np.ndarray]]]:
    """Yield the scores of every variant at the points that have a ranking."""
    data = read_labelled(find_set(name))
    X = np.asarray(data.table, dtype=float)
    X = X - min(X.min(), 0.0)
    n_clusters, judge = len(np.unique(data.classes)), judge_of(X, data.classes)
    fits: dict[str, dict[tuple[float, float], SCFS]] = defaultdict(dict)
    for (variant, settings), weights in product(
        VARIANTS.items(), product(GRID, repeat=2)
    ):
        alpha, beta = weights
        selector = SCFS(n_clusters=n_clusters, alpha=alpha, beta=beta, random_state=0)
        try:
            fits[variant][weights] = selector.set_params(**settings).fit(X)
        except ValueError:
            continue  # W = 0, which the count of points shows
    exact = fits["exact, the same X"]
    kept = {w: np.count_nonzero(fit.coef_.any(axis=1)) for w, fit in exact.items()}
    for variant in VARIANTS:
        scores = {w: judge(fit.order_) for w, fit in fits[variant].items()}
        yield variant, list(scores.values())
        if variant == "published":
            few = [scores[w] for w in scores if kept.get(w, 0) <= 1]
            yield "  exact keeps at most one", few
            yield (
                "  exact keeps more",
                [scores[w] for w in scores if kept.get(w, 0) > 1],
            )


def without_labels(name: str) -> dict[str, np.ndarray] | None:
    """Return mean scores by share of beta, and of what to compare them with."""
    data = read_labelled(find_set(name))
    X, classes = data.table, data.classes
    if X.shape[0] * X.shape[1] > LARGEST or X.shape[1] <= SIZES[0]:
        return None
    matrix = as_matrix(X.astype(float))
    summary = matrix.summary()
    kind = preparation_kind("auto", matrix, summary)
    judge = judge_of(X, classes, kind)
    random = np.random.RandomState(0)
    orders = [random.permutation(X.shape[1]) for _ in range(3)]
    found = {"random": np.mean([judge(order) for order in orders], axis=0)}
    found["variance"] = judge(MaxVariance().fit(X).order_)
    everything = {"sizes": [X.shape[1]], "seeds": range(3), "metrics": METRICS}
    order = np.arange(X.shape[1])
    scores = judge_ranking(X, order, classes, **everything, standardize=kind)
    found["all features"] = 100 * scores.mean(axis=1)
    usual = scfs.AUTO_BETA
    for share in SHARES:
        scfs.AUTO_BETA = share
        fit = SCFS(random_state=0).fit(X)
        found[f"beta at {share:g}"] = judge(fit.order_)
        if share == usual:
            G = indicator(fit.memberships_)
    scfs.AUTO_BETA = usual
    prepared = prepare(matrix, summary, kind, 1.0).centred
    covariance = row_norms(prepared.transpose_dot(G - G.mean(axis=0)))
    found["covariance"] = judge(np.argsort(-covariance, kind="stable"))
    found["published"] = judge(SCFS(solver="paper", random_state=0).fit(X).order_)
    return {method: scores.mean(axis=0) for method, scores in found.items()}


def main(arguments: Sequence[str]) -> None:
    """Print both tables."""
    warnings.simplefilter("ignore")
    quick = "--quick" in arguments
    for name in TUMOURS[:1] if quick else TUMOURS:
        print(f"{name}: labels choose the weights for every number of features")
        print(f"{'':28} points   best        mean")
        for variant, scores in on_the_grid(name):
            best = np.max(scores, axis=0).mean(axis=0)
            mean = np.mean(scores, axis=(0, 1))
            numbers = f"{best[0]:.1f} / {best[1]:.1f} {mean[0]:.1f} / {mean[1]:.1f}"
            print(f"{variant:28} {len(scores):3}    {numbers}", flush=True)
    folder = research_data()
    names = sorted(path.stem for path in folder.glob("*.mat"))
    tables = [without_labels(name) for name in (("SRBCT", "Yale") if quick else names)]
    used = [table for table in tables if table is not None]
    print(f"\nNo labels used to choose: means of {len(used)} sets")
    for method in used[0]:
        mean = np.mean([table[method] for table in used], axis=0)
        print(f"{method:28} {mean[0]:.1f} / {mean[1]:.1f}")
