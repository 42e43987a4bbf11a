"""Which steps bring SCFS to a low objective soonest?

What the exact solver does, against the same with one thing done otherwise. Everything
begins at the same start; a time is that of the processors until the objective is
within a ten-thousandth of where the solver as it is ends. A variant that ends above
that has no time, and its note says how far above.

    python -m benchmarks scfs_steps
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from measuring import Spread, Timing, used_by_processors
from outcomes import Row, compared
from running import run_alone
from settings import Settings, find_set

from ufselect import SCFS
from ufselect.data import read_labelled
from ufselect.solvers import group_lasso, scfs, soft_partition
from ufselect.solvers.group_lasso import GroupLasso
from ufselect.solvers.scfs import Alternation
from ufselect.solvers.soft_partition import SoftPartition

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
    inner = Alternation.fit

    def fit(*arguments: Any, report: Callable[[int, float], bool], **more: Any) -> Any:
        def told(iteration: int, value: float) -> bool:
            trace.seconds.append(used_by_processors() - start)
            trace.values.append(value)
            return report(iteration, value)

        return inner(*arguments, report=told, **more)

    with patch.object(Alternation, "fit", fit):
        SCFS(n_clusters=n_clusters, random_state=seed).fit(X)
    return trace


def without_following() -> AbstractContextManager[Any]:
    """Let the partition see fitted values where they are, not where they would go."""
    inner = SoftPartition.descend

    def descend(
        self: SoftPartition, alpha: float, V: Any, hat: Any, **more: Any
    ) -> float:
        if hat is not None:
            V = hat(self.shifted(self.BtP, self.q)) / np.sqrt(self.q)
        return inner(self, alpha, V, None, **more)

    return patch.object(SoftPartition, "descend", descend)


def gradients_for_coefficients() -> AbstractContextManager[Any]:
    """Find W by accelerated proximal gradient steps alone."""
    stack = ExitStack()
    stack.enter_context(patch.object(scfs, "makes_gram", lambda shape: False))
    stack.enter_context(patch.object(GroupLasso, "_side", lambda self: "neither"))
    return stack


def reweighted_for_coefficients() -> AbstractContextManager[Any]:
    """Find W by reweighted ridge steps: Newton steps of a single product."""
    stack = ExitStack()
    stack.enter_context(patch.object(scfs, "FEW_CG_STEPS", 1))
    stack.enter_context(patch.object(group_lasso, "MAX_CG_STEPS", 1))
    return stack


def lowest_of_segment() -> AbstractContextManager[Any]:
    """Search every segment for its lowest point, also when a full step gains."""
    return patch.object(soft_partition, "ENDS", np.zeros(2))


def all_features_at_once() -> AbstractContextManager[Any]:
    """Let every feature into the working set that may belong there."""
    return patch.object(group_lasso, "LEAST_GROWTH", 10**9)


VARIANTS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    AS_IT_IS: nullcontext,
    "W stays while the clusters move": without_following,
    "W by accelerated gradient steps": gradients_for_coefficients,
    "W by reweighted ridge steps": reweighted_for_coefficients,
    "the lowest point of every segment": lowest_of_segment,
    "no small working set": all_features_at_once,
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
