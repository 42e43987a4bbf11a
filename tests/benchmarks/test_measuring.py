"""Times, ratios and memory."""

import time
from pathlib import Path

import pytest
from measuring import Spread, Timing, interleaved, peak_memory, ratio, spread, timed


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
