"""Disks that are full, and clocks that jump."""

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from reliability.counting import Count
from reliability.experiment_runs import (
    Run,
    clean,
    content_of,
    run_whole,
    seconds_in,
)
from reliability.faults_from_signals import Bench, unlike
from reliability.outcomes import Outcome
from reliability.settings import Settings

NO_SPACE = "there is no space left for the store"
SOURCE = Path(__file__).parent / "jumping_clock.c"
YEAR = 365 * 24 * 3600
# By how many seconds the clock is off.
JUMPS = (10 * YEAR, -10 * YEAR, 24 * 3600, -3600, 0)


def full_disks(bench: Bench, settings: Settings) -> Iterator[Outcome]:
    """Run on file systems that are too small, then make room and go on."""
    random = np.random.default_rng(settings.seed)
    count = Count("file system that is full (tmpfs of 44 to 400 kB)")
    for _ in range(settings.count(5, 1)):
        with small_disk(bench.folder / "disk", int(random.integers(44, 400))) as disk:
            if disk is None:
                yield Outcome(count.what, 0, 0, 0, 0, "not tried: mounting needs root")
                return
            fill(count, bench, disk)
    yield count.outcome("with room, the same command completes what is kept")


def fill(count: Count, bench: Bench, disk: Path) -> None:
    """Run until there is no room, look, make room, and run to the end."""
    store = disk / "trial.sqlite"
    ended = run_whole(bench.folder, store=store)
    subprocess.run(["mount", "-o", "remount,size=16m", str(disk)], check=True)
    kept = content_of(store)
    problems = [
        ended.traceback and f"traceback: {ended.complaint[-200:]}",
        ended.code not in (0, 1) and f"exit code {ended.code}",
        ended.code == 1 and NO_SPACE not in ended.complaint and ended.complaint,
        not kept.within(bench.whole) and "not what a run with room finds",
    ]
    again = run_whole(bench.folder, store=store)
    problems += unlike(again, store, bench)
    (count.refuse if ended.code == 1 else count.answer)(*problems)


@contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[Path | None]:
    """Provide a file system of so many kilobytes, or None without the right to."""
    folder.mkdir(exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, check=False).returncode:
        yield None
        return
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def jumping_clocks(bench: Bench, settings: Settings) -> Iterator[Outcome]:
    """Let the clock jump back and forth by years under one run, or under two."""
    library = bench.folder / "jumping_clock.so"
    compiler = shutil.which("cc")
    if compiler is not None:
        command = [compiler, "-shared", "-fPIC", "-o", str(library), str(SOURCE)]
        subprocess.run(command, check=True)
    for what, number in (
        ("clock that jumps by up to ten years during a run", 1),
        ("two runs on one store, each with a clock of its own that jumps", 2),
    ):
        if compiler is None:
            yield Outcome(what, 0, 0, 0, 0, "not tried: needs a C compiler")
            continue
        count = Count(what)
        for seed in range(settings.count(3, 1)):
            jump(count, bench, library, number, seed)
        yield count.outcome("no time is negative or longer than the run")


def jump(count: Count, bench: Bench, library: Path, number: int, seed: int) -> None:
    """Run while the clocks jump, and look at results and times."""
    random = np.random.default_rng(seed)
    store = bench.folder / "clock.sqlite"
    clocks = [bench.folder / f"clock{place}" for place in range(number)]
    for clock in clocks:
        clock.write_text(str(random.choice(JUMPS)))
    start = time.monotonic()
    runs = [
        Run(bench.folder, store=store, environment=faked(library, clock))
        for clock in clocks
    ]
    while any(run.process.poll() is None for run in runs):
        time.sleep(0.1)
        clocks[random.integers(number)].write_text(str(random.choice(JUMPS)))
    taken = time.monotonic() - start
    problems = [each for run in runs for each in unlike(run.end(), store, bench)]
    count.answer(*problems, *impossible_times(store, taken))
    clean(store)


def faked(library: Path, clock: Path) -> dict[str, str]:
    """Return the environment in which the clock is off by what the file says."""
    return {"LD_PRELOAD": str(library), "UFSELECT_CLOCK": str(clock)}


def impossible_times(store: Path, most: float) -> list[str]:
    """Return the times in a store that cannot be."""
    times = seconds_in(store)
    return [f"a cell took {each} s" for each in times if not 0 <= each <= most]
