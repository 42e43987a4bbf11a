"""Any small table gets an answer that keeps the contract, or one sentence.

The long profiles of this are the studies ``fuzzed_matrices`` and ``fuzz``.
"""

import sys
from functools import partial

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from studies.reliability.fuzzed_matrices import AROUND, SELECTORS, asking
from studies.reliability.matrices import tables
from studies.reliability.promises import fuzz_selector
from studies.reliability.questions import QUESTIONS
from ufselect.data import TableError

# The same tables in every run: a failure is the fault of the change it came with.
seldom = settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    database=None,
    # Looking for a simpler table takes minutes; do so where it fails.
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize("name", SELECTORS)
@seldom
@given(X=tables())
def test_any_table_is_ranked_or_refused(name, X):
    assert fuzz_selector(SELECTORS[name], X) in {"answered", "refused"}


@pytest.mark.parametrize("name", AROUND)
@settings(seldom, max_examples=3)  # one table may take many fits
@given(X=tables())
def test_selectors_around_selectors_rank_or_refuse_any_table(name, X):
    assert fuzz_selector(AROUND[name], X) in {"answered", "refused"}


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
