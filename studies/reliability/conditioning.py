"""Are selections from badly conditioned data the same if theory says they must be?

Each table is compared with its well-conditioned equivalent: the same numbers in another
unit (a power of two, so that no digit changes), far from zero (the equivalent is the
shifted table minus the offset, which is exact), with linearly dependent columns, with
as many clusters as samples, and with one column. Then in single precision; the notes
have its effect on the ranking.

    python -m studies conditioning
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from studies.findings import Outcome
from studies.reliability.fuzzed_matrices import SELECTORS
from studies.reliability.promises import asked, require, require_ranking
from studies.settings import Settings

DURATION = "17 minutes"
SHAPE, N_CLUSTERS = (24, 16), 3

# About 1e-100 to 1e100.
POWERS = [-332, -100, -20, 20, 100, 332]
OFFSETS = [1e2, 1e4, 1e6, 1e8]

# Two rankings may differ by as much in the shares of their scores.
CLOSE = 1e-6

# Those that need not find the same in another unit, or far from zero, and why.
NOT_OF_UNITS = {"SCFS, as published": "gamma is in the units of X, as printed"}
NOT_OF_OFFSETS = {
    "SCFS, as published": "has no intercept",
    "SCFS, one cluster": "has no intercept",
    "SPEC, phi 1": "is a share of all squares, that of the mean included",
    "SPEC, phi 3": "is a share of all squares, that of the mean included",
    "MFFS, one shift": "shifts all columns by the same amount",
}

Table = np.ndarray


class Compared(NamedTuple):
    """How a fit ended, and how far its scores are from those of the equivalent."""

    end: str
    distance: float


def planted(seed: int) -> Table:
    """Return clusters in half of the columns, rounded to sixteen binary places.

    With so few digits, moving the table by 1e8 loses none.
    """
    random = np.random.RandomState(seed)
    X = random.standard_normal(SHAPE)
    X[:, ::2] += 4.0 * random.permutation(np.arange(SHAPE[0]) % N_CLUSTERS)[:, None]
    return np.round(X * 2.0**16) / 2.0**16


def fitted(selector: Any, X: Any, n_clusters: int = N_CLUSTERS) -> Any:
    """Return the fitted selector, or its refusal."""
    one = clone(selector)
    if "n_clusters" in one.get_params() and one.n_clusters > 1:
        one.set_params(n_clusters=n_clusters)
    end = asked(lambda: one.fit(X), (ConvergenceWarning,))
    if not isinstance(end, Exception):
        require_ranking(one, X)
    return end


def shares(scores: Table) -> Table:
    """Return scores as shares of their range, in which units do not matter."""
    return (scores - scores.min()) / (np.ptp(scores) or 1.0)


def distance(first: Table, second: Table) -> float:
    """Return the largest difference of two scores, as a share of their range."""
    return float(np.abs(shares(first) - shares(second)).max())


def compared(selector: Any, X: Any, equivalent: Any) -> Compared:
    """Return how far two tables that should not differ are told apart."""
    ends = fitted(selector, X), fitted(selector, equivalent)
    refused = [isinstance(end, Exception) for end in ends]
    require(refused[0] == refused[1], "both are refused, or neither")
    if all(refused):
        return Compared("refused", 0.0)
    apart = distance(ends[0].scores_, ends[1].scores_)
    require(apart <= CLOSE, f"scores are the same, but are {apart:.1g} apart")
    return Compared("answered", apart)


def swept(
    what: str, attempt: Callable[[str, Table], Compared], names: Any, seeds: range
) -> Outcome:
    """Return what became of one condition over selectors and tables."""
    ends: dict[str, int] = {"answered": 0, "refused": 0, "lost": 0}
    worst, said = 0.0, ""
    for name in names:
        for seed in seeds:
            try:
                end, apart = attempt(name, planted(seed))
                worst = max(worst, apart)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is a loss
                end, said = "lost", f"; {name}: {type(error).__name__}: {error}"
            ends[end] += 1
    note = f"scores differ by {worst:.1g} of their range at most{said}"
    return Outcome(what, sum(ends.values()), *ends.values(), note)


def in_unit(power: int, convert: Callable[[Table], Any]) -> Any:
    """Return the comparison of a table with itself times a power of two."""
    return lambda name, X: compared(
        SELECTORS[name], convert(X * 2.0**power), convert(X)
    )


def far_from_zero(offset: float, convert: Callable[[Table], Any]) -> Any:
    """Return the comparison of a table with itself moved by an offset."""
    return lambda name, X: compared(SELECTORS[name], convert(X + offset), X)


def dependent(name: str, X: Table) -> Compared:
    """Fit a table of which a third of the columns are sums and copies of others."""
    more = np.column_stack([X, X[:, :4], X[:, 4:8] + X[:, 8:12], 3.0 * X[:, :1]])
    end = fitted(SELECTORS[name], more)
    return Compared("refused" if isinstance(end, Exception) else "answered", 0.0)


def all_clusters(name: str, X: Table) -> Compared:
    """Fit as many clusters as there are samples."""
    end = fitted(SELECTORS[name], X[:6], n_clusters=6)
    return Compared("refused" if isinstance(end, Exception) else "answered", 0.0)


def one_column(name: str, X: Table) -> Compared:
    """Fit a single column."""
    end = fitted(SELECTORS[name], X[:, :1])
    return Compared("refused" if isinstance(end, Exception) else "answered", 0.0)


def single_precision(name: str, seeds: range) -> Outcome:
    """Return how much of the best ten columns single precision keeps."""
    kept, apart, lost = [], 0.0, 0
    for seed in seeds:
        single = planted(seed).astype(np.float32)
        low = fitted(SELECTORS[name], single)
        high = fitted(SELECTORS[name], single.astype(np.float64))
        both = np.intersect1d(low.order_[:10], high.order_[:10])
        kept.append(len(both))
        apart = max(apart, distance(low.scores_, high.scores_))
        lost += len(both) < 9
    note = f"{np.mean(kept):.3g} of the best 10 kept, scores differ by {apart:.1g}"
    tried = len(seeds)
    return Outcome(f"{name} in float32", tried, tried - lost, 0, lost, note)


def measure(settings: Settings) -> Iterator[Outcome]:
    """Yield one outcome per condition, and one per selector in single precision."""
    seeds = range(settings.seed, settings.seed + settings.count(4, 1))
    scaled = [name for name in SELECTORS if name not in NOT_OF_UNITS]
    moved = [name for name in SELECTORS if name not in NOT_OF_OFFSETS]
    forms = {"dense": np.asarray, "sparse": sp.csr_array}
    for kind, convert in forms.items():
        for power in POWERS:
            what = f"{kind}, times {2.0**power:.0e}"
            yield swept(what, in_unit(power, convert), scaled, seeds)
        for offset in OFFSETS:
            what = f"{kind}, plus {offset:.0e}"
            yield swept(what, far_from_zero(offset, convert), moved, seeds)
    yield swept("columns that are copies and sums", dependent, SELECTORS, seeds)
    yield swept("as many clusters as samples", all_clusters, SELECTORS, seeds)
    yield swept("one column", one_column, SELECTORS, seeds)
    for name in SELECTORS:
        yield single_precision(name, seeds)
