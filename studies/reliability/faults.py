"""Faults of experiments: full disks, clock jumps, failing methods, damaged stores."""

import shutil
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

import ufselect
from studies.findings import Count, Outcome
from studies.reliability.experiment_runs import (
    Run,
    clean,
    content_of,
    run_whole,
    seconds_in,
)
from studies.reliability.signals import Bench, unlike
from studies.settings import Settings

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


FOLDER = Path(__file__).parent / "misbehaving"
# Far more than a cell takes, also on a busy machine.
TIME = ["--cell-timeout", "10"]
MEMORY = ["--cell-memory", "700MB"]


class Misbehaviour(NamedTuple):
    """What a method does, what the run is told, and the reason that it must give."""

    fault: str
    options: list[str]
    reason: str


KINDS = {
    "a method that hangs": Misbehaviour("hang", TIME, "longer than the 10 s"),
    "a method that never returns": Misbehaviour("spin", TIME, "longer than the 10 s"),
    "a method that crashes (segmentation fault)": Misbehaviour("crash", [], "SIGSEGV"),
    "a method that aborts": Misbehaviour("abort", [], "SIGABRT"),
    "a method that ends its process": Misbehaviour("exit_at_once", [], "exit code 3"),
    "a method that calls sys.exit": Misbehaviour("leave", [], "exit code 1"),
    "a method that eats memory bit by bit": Misbehaviour(
        "eat_slowly", MEMORY, "more than the 700 MB"
    ),
    "a method that takes 4 GB at once": Misbehaviour(
        "eat_at_once", MEMORY, "more than the 700 MB"
    ),
}


def methods(bench: Bench, settings: Settings) -> Iterator[Outcome]:
    """Let one method misbehave, then try again without."""
    for what, kind in KINDS.items():
        count = Count(what)
        for _ in range(settings.count(2, 1)):
            misbehave(count, bench, kind)
        yield count.outcome(
            "two cells reported with their reason, 36 kept; --retry completes them"
        )


def misbehave(count: Count, bench: Bench, kind: Misbehaviour) -> None:
    """Run with the fault, look, and run again without it."""
    store = bench.folder / "methods.sqlite"
    path = f"{FOLDER}:{Path(ufselect.__file__).parents[1]}"
    environment = {"PYTHONPATH": path, "UFSELECT_FAULT": kind.fault}
    options = {"store": store, "environment": environment}
    disturbed = run_whole(bench.folder, *kind.options, **options)
    found, reasons = content_of(store), reasons_in(store)
    others = {row for row in found.rankings if row[2] != "LaplacianScore"}
    afterwards = run_whole(bench.folder, "--retry", store=store)
    count.answer(
        disturbed.code != 0 and f"exit code {disturbed.code}",
        disturbed.traceback and kind.fault != "leave" and "a traceback",
        len(reasons) != 2 and f"{len(reasons)} reasons",
        not all(kind.reason in each for each in reasons) and f"reason {reasons}",
        kind.reason not in disturbed.said and "the report does not say why",
        not (len(others) == 36 and others <= bench.whole.rankings) and "others differ",
        *unlike(afterwards, store, bench),
    )
    store.unlink()


def reasons_in(store: Path) -> list[str]:
    """Return why cells have no ranking."""
    query = "SELECT reason FROM rankings WHERE status != 'done'"
    with closing(sqlite3.connect(store)) as connection:
        return [reason for (reason,) in connection.execute(query)]


PAGE = 4096


def cut(content: bytearray, random: np.random.Generator) -> bytearray:
    """Cut off the end."""
    return content[: random.integers(1, len(content))]


def overwrite_page(content: bytearray, random: np.random.Generator) -> bytearray:
    """Put noise in the place of one page."""
    start = PAGE * int(random.integers(len(content) // PAGE))
    content[start : start + PAGE] = random.bytes(PAGE)
    return content


DAMAGES: dict[str, Callable[[bytearray, np.random.Generator], bytearray]] = {
    "store cut off at any length": cut,
    "store with a page overwritten": overwrite_page,
}


def damaged_stores(bench: Bench, settings: Settings) -> Iterator[Outcome]:
    """Damage a finished store, run on it, then recover what can be read of it."""
    random = np.random.default_rng(settings.seed)
    store = bench.folder / "broken.sqlite"
    whole = bench.store.read_bytes()
    for what, damage in DAMAGES.items():
        count = Count(what)
        for _ in range(settings.count(5, 1)):
            store.write_bytes(damage(bytearray(whole), random))
            recover(count, bench, store)
            clean(store)
        yield count.outcome(
            "said, never changed; --recover completes what can be read, or says that "
            "nothing can"
        )


def recover(count: Count, bench: Bench, store: Path) -> None:
    """Run without and with --recover."""
    damaged = store.read_bytes()
    plain = run_whole(bench.folder, store=store)
    problems = [
        plain.code != 1 and f"exit code {plain.code}",
        plain.complaint.count("\n") != 1 and "not one sentence",
        store.read_bytes() != damaged and "a damaged store was changed",
    ]
    ended = run_whole(bench.folder, "--recover", store=store)
    if ended.code == 1:
        count.refuse(
            *problems,
            "nothing can be recovered" not in ended.complaint and ended.complaint,
            store.read_bytes() != damaged and "a store beyond recovery was changed",
        )
    else:
        kept = store.with_name(f"{store.name}.damaged")
        gone = not kept.exists() or kept.read_bytes() != damaged
        problems += unlike(ended, store, bench)
        count.answer(*problems, gone and "the damaged file is gone")


def several_runs(bench: Bench, settings: Settings) -> Iterator[Outcome]:
    """Start several runs at once on one store."""
    store = bench.folder / "shared.sqlite"
    count = Count("three runs at once on one store")
    for _ in range(settings.count(3, 1)):
        runs = [Run(bench.folder, store=store, jobs=1) for _ in range(3)]
        ends = [run.end() for run in runs]
        count.answer(*(each for end in ends for each in unlike(end, store, bench)))
        clean(store)
    yield count.outcome("all end like an undisturbed run")
