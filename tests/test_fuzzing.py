"""Any small table gets an answer that keeps the contract, or one sentence.

The long profiles of this are the studies ``fuzzed_matrices`` and ``fuzz``.
"""

import sys
import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from studies.reliability.fuzzed_matrices import AROUND, SELECTORS, asking
from studies.reliability.matrices import tables
from studies.reliability.promises import fuzz_selector
from studies.reliability.questions import QUESTIONS
from ufselect import SCFS
from ufselect.data import TableError

# The same tables in every run: a failure is the fault of the change it came with.
seldom = settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    database=None,
    # Looking for a simpler table takes minutes; do so where it fails.
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)

# Once found by search, and kept.
# The sum of the columns is zero, and so is their product with a vector of ones.
OPPOSITE_COLUMNS = np.array([[0.0, 0.0], [1.0, -1.0], [3.0, -3.0]])
# A single cluster without an intercept has nothing to predict.
CENTRED_COLUMN = np.array([[1.0], [-1.0]])
# Scaled to unit length, all rows are equal.
PROPORTIONAL_ROWS = np.array([[1.0], [1.0], [1.0], [1.0], [2.0]])
# Shifted to be non-negative, one row is zero; Eq. (11) makes its G smaller and smaller.
ZERO_ROW = np.array([[0, 0, 0, 0, 0, 610946, 0, -263139, 866293, 67320]], float).T


@pytest.mark.parametrize("name", SELECTORS)
@settings(seldom, max_examples=20)
@given(X=tables(), n_clusters=st.integers(1, 4))
@example(X=OPPOSITE_COLUMNS, n_clusters=2)
@example(X=CENTRED_COLUMN, n_clusters=1)
@example(X=PROPORTIONAL_ROWS, n_clusters=2)
@example(X=ZERO_ROW, n_clusters=3)
def test_any_table_is_ranked_or_refused(name, X, n_clusters):
    selector = clone(SELECTORS[name])
    if "n_clusters" in selector.get_params():
        selector.set_params(n_clusters=n_clusters)

    assert fuzz_selector(selector, X) in {"answered", "refused"}


@pytest.mark.parametrize("name", AROUND)
@settings(seldom, max_examples=6)  # one table may take many fits
@given(X=tables())
@example(X=OPPOSITE_COLUMNS)
@example(X=CENTRED_COLUMN)
@example(X=PROPORTIONAL_ROWS)
@example(X=ZERO_ROW)
def test_selectors_around_selectors_rank_or_refuse_any_table(name, X):
    assert fuzz_selector(AROUND[name], X) in {"answered", "refused"}


@st.composite
def matrices(draw):
    """Return a small matrix with repeated rows and columns and constant columns."""
    n, p = draw(st.integers(2, 15)), draw(st.integers(1, 12))
    # Rounded: what underflows has tests of its own.
    number = st.floats(-1e6, 1e6).map(lambda value: round(value, 9))
    number |= st.integers(-3, 3).map(float)
    X = draw(arrays(np.float64, (n, p), elements=number))
    X = X[draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n) | st.just(...))]
    for column in draw(st.lists(st.integers(0, p - 1), max_size=3)):
        X[:, column] = X[:, 0] if draw(st.booleans()) else X[0, column]
    return X


@settings(max_examples=20, deadline=None, derandomize=True)
@given(
    X=matrices(),
    n_clusters=st.integers(1, 4),
    init=st.sampled_from(["k-means", "fuzzy", "random"]),
    standardize=st.sampled_from([False, "features", "samples", "auto"]),
    fit_intercept=st.booleans(),
)
def test_scfs_descends_to_a_soft_partition(X, **parameters):
    for solver in ("exact", "paper"):
        selector = SCFS(**parameters, solver=solver, max_iter=50, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            try:
                selector.fit(X)
            except ValueError:
                continue

        history, memberships = selector.objective_history_, selector.memberships_
        np.testing.assert_allclose(memberships.sum(axis=1), 1.0, rtol=1e-9)
        if solver == "exact":
            # Far from zero and not centred, X loses digits to its offset.
            assert (np.diff(history) <= 1e-8 * history[0]).all()
            assert memberships.min() >= 0
            assert memberships.sum(axis=0).min() > 0


@pytest.mark.parametrize("name", QUESTIONS)
@seldom
@given(X=tables(), data=st.data())
def test_any_table_has_a_number_or_a_reason(name, X, data):
    assert asking(name)(X, data) in {"answered", "refused"}


@pytest.mark.skipif(sys.platform != "linux", reason="it needs the limits of Linux")
def test_files_that_found_a_fault_are_answered_or_refused():
    for package in ("h5py", "openpyxl", "pyarrow"):
        pytest.importorskip(package)
    from studies.reliability.fuzz import KEPT, TARGETS, read_kept
    from studies.reliability.watched import Trial, verdicts

    kept = sorted(KEPT.glob("*/*"))
    trials = [
        Trial(path.name, partial(read_kept, name, path), (TARGETS[name].refusal,), 25)
        for path in kept
        for name in [path.parent.name]
    ]

    assert kept
    assert sum(path.stat().st_size for path in kept) < 200_000
    assert {verdict.kind for verdict in verdicts(trials)} <= {"answered", "refused"}
    # HDF5 asked for four gigabytes to read these twenty kilobytes.
    with pytest.raises(TableError, match="memory allocation failed"):
        read_kept("detection", KEPT / "detection" / "ends-memory.h5ad")


def test_targets_of_fuzzing_read_files_with_which_nothing_is_wrong(tmp_path):
    for package in ("h5py", "openpyxl", "pyarrow"):
        pytest.importorskip(package)
    from studies.reliability.fuzz import TARGETS

    for target in TARGETS.values():
        for content in target.files():
            target.read(content, tmp_path, False)
