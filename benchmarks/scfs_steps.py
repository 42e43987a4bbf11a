"""Which steps bring SCFS to a low objective soonest?

What the exact solver does, against the same with one thing done otherwise. Everything
begins at the same start; a time is that of the processors until the objective is
within a ten-thousandth of where the solver as it is ends. A variant that ends above
that has no time, and its note says how far above.

    python -m benchmarks scfs_steps
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from itertools import pairwise
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from measuring import Spread, Timing, used_by_processors
from outcomes import Row, compared
from running import run_alone
from settings import Settings, find_set

from ufselect import SCFS
from ufselect.data import read_labelled
from ufselect.numerics import row_sparse, scfs_exact, soft_clustering
from ufselect.numerics.partitions import SoftPartition
from ufselect.numerics.row_sparse import RowSparseRegression
from ufselect.numerics.rows import row_norms
from ufselect.numerics.scfs_exact import ExactProblem
from ufselect.numerics.simplex import project_rows_to_simplex
from ufselect.selectors import scfs

DURATION = "6 minutes"
SETS = ("lymphoma", "ORL", "COIL20", "Isolet", "Prostate-GE")
LEVEL = 1e-4
AS_IT_IS = "as it is"


class Trace(NamedTuple):
    """Seconds of the processors and the objective, after each iteration."""

    seconds: list[float]
    values: list[float]

    def time_to(self, level: float) -> float | None:
        """Return when the objective was first at most this, if ever."""
        for seconds, value in zip(self.seconds, self.values, strict=True):
            if value <= level:
                return seconds
        return None


def traced(X: Any, n_clusters: int, seed: int) -> Trace:
    """Return how a fit goes."""
    trace, start = Trace([], []), used_by_processors()
    inner = scfs.fit_exact

    def fit(*arguments: Any, report: Callable[[int, float], bool], **more: Any) -> Any:
        def told(iteration: int, value: float) -> bool:
            trace.seconds.append(used_by_processors() - start)
            trace.values.append(value)
            return report(iteration, value)

        return inner(*arguments, report=told, **more)

    with patch.object(scfs, "fit_exact", fit):
        SCFS(n_clusters=n_clusters, random_state=seed).fit(X)
    return trace


def without_following() -> AbstractContextManager[Any]:
    """Let the partition see W where it is, not where it would go."""
    stack = ExitStack()
    for name in ("feature_response", "sample_response"):
        stack.enter_context(
            patch.object(RowSparseRegression, name, lambda self, penalty: None)
        )
    return stack


def gradients_for_coefficients() -> AbstractContextManager[Any]:
    """Find W by accelerated proximal gradient steps alone."""

    def regression(self: ExactProblem, n_targets: int) -> RowSparseRegression:
        return RowSparseRegression(self.regressors, n_targets, form="first-order")

    return patch.object(ExactProblem, "regression", regression)


def reweighted_for_coefficients() -> AbstractContextManager[Any]:
    """Find W by reweighted ridge steps: Newton steps of a single product."""
    return patch.multiple(row_sparse, ROUGH_PRODUCTS=1, MOST_PRODUCTS=1)


def lowest_of_segment() -> AbstractContextManager[Any]:
    """Search every segment for its lowest point, also when a full step gains."""
    return patch.object(soft_clustering, "good_step", soft_clustering.best_step)


def all_features_at_once() -> AbstractContextManager[Any]:
    """Let every feature into the working set that may belong there."""
    return patch.object(row_sparse, "GROWTH", 10**9)


def extrapolated() -> AbstractContextManager[Any]:
    """Extrapolate the memberships after Anderson, every few iterations."""
    refine, seen = scfs_exact.refine_partition, list[np.ndarray]()

    def extrapolating(partition: SoftPartition, alpha: float, **more: Any) -> float:
        length = refine(partition, alpha, **more)
        seen.append(partition.memberships.copy())
        if len(seen) == 4:
            aim = project_rows_to_simplex(anderson(seen))
            seen.clear()
            jump(partition, aim, alpha)
        return length

    return patch.object(scfs_exact, "refine_partition", extrapolating)


def anderson(seen: Sequence[np.ndarray]) -> np.ndarray:
    """Return the combination of points whose steps cancel best."""
    steps = np.stack([(b - a).ravel() for a, b in pairwise(seen)])
    gram = steps @ steps.T
    gram.flat[:: len(gram) + 1] += 1e-10 * np.trace(gram)
    weights = np.linalg.solve(gram, np.ones(len(gram)))
    weights /= weights.sum()
    return np.tensordot(weights, np.stack(seen[1:]), axes=1)


def jump(partition: SoftPartition, aim: np.ndarray, alpha: float) -> None:
    """Go towards other memberships as far as that lowers the function."""

    def towards(memberships: np.ndarray, slope: Any, length: float) -> np.ndarray:
        return aim - memberships

    with (
        patch("ufselect.numerics.partitions.projected", towards),
        patch("ufselect.numerics.row_partition.projected", towards),
    ):
        change = partition.propose(soft_clustering.slope_at(partition.sums, alpha), 0.0)
    segment = soft_clustering.Segment(partition.sums, change, alpha)
    partition.move(soft_clustering.good_step(segment)[0])


def until_order_settles() -> AbstractContextManager[Any]:
    """Stop when two iterations in turn leave the first hundred features the same."""
    follow, tops = RowSparseRegression.follow, list[frozenset[int]]()

    def following(self: RowSparseRegression, *arguments: Any) -> None:
        follow(self, *arguments)
        norms = row_norms(self.full_coef())
        tops.append(frozenset(np.argsort(-norms, kind="stable")[:100].tolist()))

    inner = scfs.fit_exact

    def fit(*arguments: Any, report: Callable[[int, float], bool], **more: Any) -> Any:
        tops.clear()

        def told(iteration: int, value: float) -> bool:
            settled = len(tops) > 2 and tops[-1] == tops[-2] == tops[-3]
            return report(iteration, value) or settled

        return inner(*arguments, report=told, **more)

    stack = ExitStack()
    stack.enter_context(patch.object(RowSparseRegression, "follow", following))
    stack.enter_context(patch.object(scfs, "fit_exact", fit))
    return stack


VARIANTS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    AS_IT_IS: nullcontext,
    "W stays while the clusters move": without_following,
    "W by accelerated gradient steps": gradients_for_coefficients,
    "W by reweighted ridge steps": reweighted_for_coefficients,
    "the lowest point of every segment": lowest_of_segment,
    "no small working set": all_features_at_once,
    "memberships extrapolated (Anderson)": extrapolated,
    "stopped when the first 100 settle": until_order_settles,
}


def measure(settings: Settings) -> Iterator[Row]:
    """Yield a row for every data set and variant."""
    for name in settings.names_of_sets(SETS, quick=("lymphoma",)):
        data = read_labelled(find_set(name))
        n_clusters = len(np.unique(data.classes))
        traces: dict[str, list[Trace]] = {variant: [] for variant in VARIANTS}
        for seed in range(settings.repetitions(3)):
            for variant, context in VARIANTS.items():
                with context():
                    traces[variant].append(traced(data.table, n_clusters, seed))
        yield from rows_of(name, traces)


def rows_of(name: str, traces: dict[str, list[Trace]]) -> Iterator[Row]:
    """Yield how every variant compares with the solver as it is."""
    ours = traces.pop(AS_IT_IS)
    levels = [(1 + LEVEL) * trace.values[-1] for trace in ours]
    own = [trace.time_to(level) for trace, level in zip(ours, levels, strict=True)]
    for variant, theirs in traces.items():
        pairs = [
            (Timing(first, first), Timing(second, second))
            for first, second in zip(
                own,
                [
                    each.time_to(level)
                    for each, level in zip(theirs, levels, strict=True)
                ],
                strict=True,
            )
            if first is not None and second is not None
        ]
        note = note_on(ours, theirs, len(pairs))
        if not pairs:
            yield Row(name, variant, ours=middle(own), note=note)
            continue
        mine, other = zip(*pairs, strict=True)
        yield compared(name, mine, variant, other, note=note)


def middle(seconds: Sequence[float | None]) -> Spread:
    """Return the spread of the times."""
    known = [each for each in seconds if each is not None]
    return Spread(float(np.median(known)), min(known), max(known))


def note_on(ours: list[Trace], theirs: list[Trace], reached: int) -> str:
    """Return how a variant ended."""
    ends = [b.values[-1] / a.values[-1] - 1 for a, b in zip(ours, theirs, strict=True)]
    whole = [b.seconds[-1] / a.seconds[-1] for a, b in zip(ours, theirs, strict=True)]
    return (
        f"{reached} of {len(ours)} starts get there; whole fit {np.median(whole):.2f} "
        f"of the time, ends {100 * np.median(ends):+.3f} %"
    )


if __name__ == "__main__":
    run_alone(__file__)
