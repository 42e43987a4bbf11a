"""Stores that are cut off or overwritten in part, and several runs on one store."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from reliability.counting import Count
from reliability.experiment_runs import Run, clean, run_whole
from reliability.faults_from_signals import Bench, unlike
from reliability.outcomes import Outcome
from reliability.settings import Settings

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
