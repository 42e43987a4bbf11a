"""Times, ratios, memory, and counts of the operations that no program avoids."""

import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from studies import measuring
from studies.measuring import (
    Spread,
    Timing,
    interleaved,
    peak_memory,
    ratio,
    spread,
    timed,
)


def busy(seconds):
    """Use the processor for so long."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_functions_take_turns_first_one_way_then_the_other():
    calls = []
    functions = {
        "a": lambda repetition: calls.append(("a", repetition)),
        "b": lambda repetition: calls.append(("b", repetition)),
    }

    interleaved(functions, 2, warm_up=False)

    assert calls == [("a", 0), ("b", 0), ("b", 1), ("a", 1)]


def test_warming_up_is_a_call_that_is_not_counted():
    calls = []

    timings = interleaved({"a": calls.append}, 3)

    assert len(calls) == 4
    assert len(timings["a"]) == 3


def test_waiting_takes_time_on_the_clock_and_none_of_the_processor():
    timing = timed(lambda _: time.sleep(0.05))

    assert timing.clock >= 0.05
    assert timing.processor < 0.5 * timing.clock


def test_work_takes_time_of_the_processor():
    assert timed(lambda _: busy(0.02)).processor >= 0.02


def test_what_measures_itself_is_believed():
    assert timed(lambda _: Timing(3.0, 4.0)) == Timing(3.0, 4.0)


def test_the_spread_is_the_median_and_the_extremes():
    assert spread([5.0, 1.0, 2.0]) == Spread(2.0, 1.0, 5.0)


def test_a_ratio_is_of_medians_and_its_extremes_are_within_repetitions():
    # The second repetition was disturbed, on both sides.
    assert ratio([2.0, 20.0, 4.0], [1.0, 10.0, 4.0]) == Spread(1.0, 1.0, 2.0)


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="needs the files of Linux"
)
def test_memory_is_that_of_the_call_and_not_of_what_came_before():
    prepare = "gone = bytearray(200_000_000); del gone"

    memory = peak_memory(prepare, "kept = bytearray(arguments)", 50_000_000)

    assert 45e6 < memory.peak - memory.before < 100e6


def test_a_fit_counts_its_gram_matrix_once_and_a_product_per_iteration():
    X = np.ones((10, 300))

    counted = measuring.scfs_operations(X, n_clusters=3, n_iterations=7)

    # Half of X X' by symmetry; then X X' is multiplied, which is less than X twice.
    assert counted == 10 * 10 * 300 + 7 * 3 * 2 * 10 * 10


def test_a_tall_table_is_multiplied_twice_rather_than_by_its_kernel():
    X = np.ones((300, 10))

    counted = measuring.scfs_operations(X, n_clusters=3, n_iterations=7)

    assert counted == 300 * 10 * 10 + 7 * 3 * 4 * 300 * 10


def test_of_a_sparse_table_only_what_is_stored_counts():
    X = sp.csr_matrix(np.eye(50))

    assert measuring.scfs_operations(X, n_clusters=2, n_iterations=1) == 2 * 4 * 50


def test_the_limit_is_the_time_at_the_speed_of_this_machine(monkeypatch):
    monkeypatch.setattr(
        measuring, "product_speed", lambda threads: 1e9 * (threads or 2)
    )

    assert measuring.limit(4e9) == pytest.approx(2.0)
    assert measuring.limit(4e9, threads=1) == pytest.approx(4.0)
