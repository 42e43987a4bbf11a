"""Does every small table, however unusual, get a result or a clear error message?

A result must be finite, keep the contract of a selector (or of a metric), leave its
input unchanged, and be the same, bit for bit, on a second call. A refusal is an error
message of one sentence that was written for the case. Everything else counts as lost:
another exception, a NaN, a NumPy warning. Tables are those of ``matrices.py``: two to
fourteen rows, all types and containers, scales from 1e-300 to 1e300, offsets up to
1e16, repeated, constant and collinear columns, ties, empty rows, missing values, and
sparse matrices with explicit zeros, duplicates and unsorted indices.

    python -m studies fuzzed_matrices
"""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from studies.findings import Outcome
from studies.reliability.matrices import tables
from studies.reliability.promises import End, fuzz_question, fuzz_selector
from studies.reliability.questions import MAY_BE_INFINITE, QUESTIONS
from studies.settings import Settings
from ufselect import (
    GLSPFS,
    MFFS,
    SCFS,
    SPEC,
    SPFS,
    AutoSelect,
    Consensus,
    LaplacianScore,
    StabilitySelection,
    UnsupervisedSelector,
    all_selectors,
)

DURATION = "17 minutes"
# Together more than twenty thousand; selectors around selectors take ten times as long.
OF_A_SELECTOR, OF_A_METRIC, OF_MANY_FITS = 340, 330, 120
OF_EACH_QUICKLY = 5


def made(method: type[UnsupervisedSelector], **parameters: Any) -> UnsupervisedSelector:
    """Return a selector with a seed, few clusters and few iterations."""
    known = {"random_state": 0, "n_clusters": 2, "max_iter": 20, **parameters}
    names = method().get_params()
    return method(**{name: value for name, value in known.items() if name in names})


SELECTORS: dict[str, UnsupervisedSelector] = {
    **{name: made(method) for name, method in all_selectors().items()},
    "SCFS, as published": made(SCFS, solver="paper"),
    "SCFS, one cluster": made(SCFS, n_clusters=1),
    "LaplacianScore, heat": made(LaplacianScore, weights="heat"),
    "SPFS, group lasso": made(SPFS, strategy="group-lasso"),
    "SPEC, phi 1": made(SPEC, phi=1),
    "SPEC, phi 3": made(SPEC, phi=3),
    "SPEC, exponent 4": made(SPEC, exponent=4.0),
    "GLSPFS, LLE": made(GLSPFS, local="lle"),
    "GLSPFS, LTSA": made(GLSPFS, local="ltsa"),
    "MFFS, one shift": made(MFFS, shift="table"),
}
AROUND: dict[str, UnsupervisedSelector] = {
    "AutoSelect": made(AutoSelect, n_clusters="auto"),
    "AutoSelect, distinct": made(
        AutoSelect, n_features_to_select=0.5, max_correlation=0.9
    ),
    "Consensus": made(Consensus, n_clusters=[2, 3]),
    "StabilitySelection": made(StabilitySelection, n_subsamples=3),
}

Attempt = Callable[[Any, st.DataObject], End]


def measure(settings: Settings) -> Iterator[Outcome]:
    """Yield one outcome for every selector and every metric."""
    for name, selector in {**SELECTORS, **AROUND}.items():
        long = OF_MANY_FITS if name in AROUND else OF_A_SELECTOR
        count = settings.count(long, OF_EACH_QUICKLY)
        yield fuzzed(name, fitting(selector), count, settings.seed)
    for name in QUESTIONS:
        count = settings.count(OF_A_METRIC, OF_EACH_QUICKLY)
        yield fuzzed(name, asking(name), count, settings.seed)


def fitting(selector: UnsupervisedSelector) -> Attempt:
    """Return the attempt to fit a selector."""
    return lambda X, data: fuzz_selector(selector, X)


def asking(name: str) -> Attempt:
    """Return the attempt to have a question answered."""
    infinite = name.split()[0] in MAY_BE_INFINITE

    def attempt(X: Any, data: st.DataObject) -> End:
        return fuzz_question(QUESTIONS[name](data.draw, X), X, infinite=infinite)

    return attempt


def fuzzed(what: str, attempt: Attempt, count: int, first: int) -> Outcome:
    """Return the outcome of so many tables; the note says how the first was lost."""
    ends: Counter[str] = Counter()
    notes: list[str] = []

    @seed(first)
    @hypothesis_settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(X=tables(), data=st.data())
    def one(X: Any, data: st.DataObject) -> None:
        try:
            ends[attempt(X, data)] += 1
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a loss
            ends["lost"] += 1
            notes.append(f"{type(error).__name__}: {error}")

    one()
    return Outcome(
        what,
        ends.total(),
        ends["answered"],
        ends["refused"],
        ends["lost"],
        notes[0] if notes else "",
    )
