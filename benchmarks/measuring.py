"""Times and memory, always of two things in the same run.

Repetitions are interleaved, so that whatever else the machine does disturbs both sides
alike, and ratios are formed within repetitions.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

# Given the number of the repetition, which serves as a seed. One that has measured
# itself, in another process, returns its Timing.
Timed = Callable[[int], Any]


class Timing(NamedTuple):
    """Seconds of one call, by the clock and of all processors."""

    clock: float
    processor: float


class Spread(NamedTuple):
    """The median of some repetitions, the least and the most of them."""

    median: float
    least: float
    most: float


def used_by_processors() -> float:
    """Return seconds used by this process and by those it has waited for."""
    children = os.times()
    return time.process_time() + children.children_user + children.children_system


def timed(function: Timed, repetition: int = 0) -> Timing:
    """Return how long one call takes."""
    start, used = time.perf_counter(), used_by_processors()
    result = function(repetition)
    if isinstance(result, Timing):
        return result
    return Timing(time.perf_counter() - start, used_by_processors() - used)


def interleaved(
    functions: Mapping[str, Timed], repeats: int, *, warm_up: bool = True
) -> dict[str, list[Timing]]:
    """Return the times of functions that take turns, first one way, then the other.

    Warming up, each is called once before: that loads modules and fills caches.
    """
    if warm_up:
        for function in functions.values():
            function(0)
    timings: dict[str, list[Timing]] = {name: [] for name in functions}
    for repetition in range(repeats):
        names = list(functions)
        for name in names if repetition % 2 == 0 else reversed(names):
            timings[name].append(timed(functions[name], repetition))
    return timings


def spread(values: Sequence[float]) -> Spread:
    """Return median, least and most."""
    return Spread(statistics.median(values), min(values), max(values))


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> Spread:
    """Return the ratio of medians, and the extremes of ratios within repetitions.

    The first always lies between the others.
    """
    pairs = [own / other for own, other in zip(ours, theirs, strict=True)]
    middle = statistics.median(ours) / statistics.median(theirs)
    return Spread(middle, min(pairs), max(pairs))


MEMORY_CODE = """
import json, sys
from pathlib import Path

def status(key):
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line.split()[1] for line in lines if line.startswith(key)))

arguments = json.loads(sys.argv[1])
{prepare}
Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
before = status("VmRSS")
{call}
print(json.dumps([before, status("VmHWM")]))
"""


class Memory(NamedTuple):
    """Bytes of a process: before a call, and at the peak of the call."""

    before: int
    peak: int


def peak_memory(prepare: str, call: str, arguments: Any = None) -> Memory:
    """Return the memory of code in a process of its own (of Linux).

    ``prepare`` is run first and does not count, ``call`` does; both see ``arguments``.
    """
    code = MEMORY_CODE.format(prepare=prepare, call=call)
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(arguments)],
        check=True,
        capture_output=True,
        text=True,
    )
    return Memory(*json.loads(done.stdout.splitlines()[-1]))
