"""Journals of runs that were killed, with damage: what comes after it must not go."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from reliability.counting import Count
from reliability.experiment_runs import Run, cells_in, content_of
from reliability.faults_from_signals import Bench
from reliability.outcomes import Outcome
from reliability.settings import Settings
from reliability.store_damage import clean, cut, flip_many, flip_one, refusals_of
from ufselect.experiments.recovery import recover

# Of the 38 cells, so many are finished when a run is killed.
MANY = 25


def journals(bench: Bench, settings: Settings) -> Iterator[Outcome]:
    """Damage the journal that a killed run has left, then read or recover the store."""
    random = np.random.default_rng(settings.seed)
    store = bench.folder / "journal.sqlite"
    kill_late(bench, store)
    journal = Path(f"{store}-wal")
    files = {path: path.read_bytes() for path in (store, journal)}
    finished = len(content_of(store).rankings)
    for what, damage, most in (
        ("journal of a killed run with one byte changed", flip_one, 1),
        ("journal of a killed run with twenty bytes changed", flip_many, 20),
        ("journal of a killed run cut off at any length", cut, finished),
    ):
        count, kept = Count(what), []
        for _ in range(settings.count(50, 5)):
            clean(store)
            store.write_bytes(files[store])
            journal.write_bytes(damage(bytearray(files[journal]), random))
            kept.append(look_at_journal(count, bench, store, finished - most))
        yield count.outcome(f"{np.median(kept):.0f} of {finished} cells in the median")
    clean(store)


def kill_late(bench: Bench, store: Path) -> None:
    """Kill a run when most is finished, of which nothing is in the store itself yet."""
    run = Run(bench.folder, store=store)
    while run.process.poll() is None and cells_in(store) < MANY:
        time.sleep(0.02)
    os.killpg(run.process.pid, signal.SIGKILL)
    run.end()


def look_at_journal(count: Count, bench: Bench, store: Path, least: int) -> int:
    """Read a store, or recover it if it is refused; return how much is there."""
    refusals = refusals_of(store)
    problems = ["\n" in "".join(refusals) and "more than a sentence"]
    try:
        if any("--recover" in each for each in refusals):
            recover(store)
    except ValueError as error:
        problems.append(least > 0 and f"not recovered: {error}")
        count.refuse(*problems)
        return 0
    found = content_of(store)
    count.answer(
        *problems,
        not found.within(bench.whole) and "a changed value was read",
        len(found.rankings) < least and f"{len(found.rankings)} cells are left",
    )
    return len(found.rankings)
