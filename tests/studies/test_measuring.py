"""Times, ratios, memory, counts of operations, and a guard that fails what is slow."""

import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from studies import measuring
from studies.measuring import Spread, interleaved, peak_memory, ratio, spread
from studies.speed.guard import COMPARISONS, MARGIN, Pair, guarded, read_bounds


def busy(seconds):
    """Use the processor for so long."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_functions_take_turns_and_warming_up_is_not_counted():
    calls = []
    functions = {
        name: lambda repetition, name=name: calls.append((name, repetition))
        for name in "ab"
    }

    timings = interleaved(functions, 2)

    assert calls == [("a", 0), ("b", 0), ("a", 0), ("b", 0), ("b", 1), ("a", 1)]
    assert len(timings["a"]) == 2


def test_spreads_are_of_medians_and_ratios_are_within_repetitions():
    assert spread([5.0, 1.0, 2.0]) == Spread(2.0, 1.0, 5.0)
    # The second repetition was disturbed, on both sides.
    assert ratio([2.0, 20.0, 4.0], [1.0, 10.0, 4.0]) == Spread(1.0, 1.0, 2.0)


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="needs the files of Linux"
)
def test_memory_is_that_of_the_call_and_not_of_what_came_before():
    prepare = "gone = bytearray(200_000_000); del gone"

    memory = peak_memory(prepare, "kept = bytearray(arguments)", 50_000_000)

    assert 45e6 < memory.peak - memory.before < 100e6


@pytest.mark.parametrize(
    ("X", "operations"),
    [
        # Half of X X' by symmetry; then X X' is multiplied, which is less than X twice.
        (np.ones((10, 300)), 10 * 10 * 300 + 7 * 3 * 2 * 10 * 10),
        (np.ones((300, 10)), 300 * 10 * 10 + 7 * 3 * 4 * 300 * 10),
        (sp.csr_matrix(np.eye(50)), 7 * 3 * 4 * 50),
    ],
)
def test_operations_are_those_that_no_solver_avoids(X, operations, monkeypatch):
    monkeypatch.setattr(measuring, "product_speed", lambda threads: 1e9)

    counted = measuring.scfs_operations(X, n_clusters=3, n_iterations=7)

    assert counted == operations
    assert measuring.limit(counted) == pytest.approx(operations / 1e9)


@pytest.mark.parametrize(
    ("wait", "work", "met"), [(0, 0.002, True), (0, 0.04, False), (0.05, 0.002, True)]
)
def test_only_what_became_much_slower_is_missed_and_no_waiting(wait, work, met):
    def ours(_):
        time.sleep(wait)
        busy(work)

    pair = Pair(ours, "the other", lambda _: busy(0.002))

    (row,) = guarded({"a fit": lambda folder: pair}, {"a fit": 1.0}, repeats=3)

    assert (row.target, row.judged_by, row.met) == (MARGIN, "processor", met)
    assert row.ours.median >= wait + work
    assert set(read_bounds()) == set(COMPARISONS)
