"""Is a store that is damaged, old or shared ever misread, overwritten or lost?

The store of a small experiment (38 cells) with bytes changed, wiped or cut off at
random places: reading it, running on it and recovering it must find what was written,
or say in one sentence that it is damaged, and never change the damaged file; what is
still whole in the file must be recovered. Likewise with the journal that a killed run
leaves. Then stores of other versions, and several runs at once on one store.

    python -m reliability damaged_stores
"""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np

from reliability.counting import Count
from reliability.experiment_runs import Run, content_of, run_whole
from reliability.faults_from_signals import Bench, undisturbed, unlike
from reliability.left_journals import journals
from reliability.old_stores import make_version_1
from reliability.outcomes import Outcome
from reliability.settings import Settings
from reliability.store_damage import (
    Damage,
    clean,
    cut,
    flip_many,
    flip_one,
    refusals_of,
    wipe_block,
)
from ufselect.experiments.recovery import recover

DURATION = "10 minutes"
# Bytes before the key of a ranking that say how long its values are.
HEAD = 24
# Where SQLite keeps the version that we give a file.
VERSION = slice(60, 64)


def outcomes(settings: Settings) -> Iterator[Outcome]:
    """Yield what became of stores."""
    with tempfile.TemporaryDirectory() as name:
        bench = undisturbed(Path(name), repetitions=2)
        for family in (damages, journals, versions, several_runs):
            yield from family(bench, settings)


DAMAGES: dict[str, Damage] = {
    "store with one byte changed": flip_one,
    "store with twenty bytes changed": flip_many,
    "store with a block of 512 bytes wiped": wipe_block,
    "store cut off at any length": cut,
}


def damages(bench: Bench, settings: Settings) -> Iterator[Outcome]:
    """Damage a finished store, and read, recover and complete it."""
    random = np.random.default_rng(settings.seed)
    whole = bench.folder / "whole.sqlite"
    store = bench.folder / "damaged.sqlite"
    content, places = whole.read_bytes(), places_of(whole)
    for what, damage in DAMAGES.items():
        count, shares = Count(what), []
        for _ in range(settings.count(150, 10)):
            store.write_bytes(damage(bytearray(content), random))
            untouched = still_there(places, content, store.read_bytes())
            shares.append(look_at(count, bench, store, untouched))
        yield count.outcome(
            "every ranking that is whole in the file is kept: in the median "
            f"{np.median(shares):.0%} of all"
        )
        yield completed(f"{what}: run with --recover", bench, damage, settings)


def places_of(store: Path) -> dict[str, slice]:
    """Return where each ranking is in a file: from its key to its seal."""
    with closing(sqlite3.connect(store)) as connection:
        seals = dict(connection.execute("SELECT key, seal FROM rankings"))
    content, places = store.read_bytes(), {}
    for key, seal in seals.items():
        end = content.rindex(seal.encode()) + len(seal)
        start = content.rindex(key.encode(), 0, end)
        places[key] = slice(start - HEAD, end)
    return places


def still_there(
    places: dict[str, slice], content: bytes, damaged: bytes
) -> frozenset[str]:
    """Return the keys of the rankings all of whose bytes are where they were.

    Another number of the version makes it a store of a newer ufselect, for all we know.
    """
    if damaged[VERSION] != content[VERSION]:
        return frozenset()
    return frozenset(
        key for key, place in places.items() if damaged[place] == content[place]
    )


def look_at(
    count: Count, bench: Bench, store: Path, untouched: frozenset[str]
) -> float:
    """Read and open a damaged store; return the share of its cells that is kept.

    A read that succeeds must find what was written: then the damage met nothing.
    """
    damaged, refusals = store.read_bytes(), refusals_of(store)
    if not refusals:
        same = content_of(store) == bench.whole
        count.answer(not same and "a changed value was read without a word")
        return 1.0
    problems = [
        "\n" in "".join(refusals) and "more than a sentence",
        store.name not in refusals[0] and f"no name: {refusals[0]}",
        store.read_bytes() != damaged and "a damaged store was changed",
    ]
    try:
        recovered = recover(store)
    except ValueError as error:
        problems += [
            "\n" in str(error) and "more than a sentence",
            store.read_bytes() != damaged and "it was changed",
            bool(untouched) and "whole rankings were not recovered",
        ]
        count.refuse(*problems)
        return 0.0
    found = content_of(store)
    kept = recovered is None or recovered.damaged.read_bytes() == damaged
    count.answer(
        *problems,
        not found.within(bench.whole) and "a changed value was recovered",
        not kept and "the damaged file is gone",
        not untouched <= {row[0] for row in found.rankings} and "a ranking is gone",
    )
    clean(store)
    return len(found.rankings) / len(bench.whole.rankings)


def completed(what: str, bench: Bench, damage: Damage, settings: Settings) -> Outcome:
    """Let the command itself recover what is intact and compute the rest."""
    random = np.random.default_rng(settings.seed + 1)
    count, store = Count(what), bench.folder / "damaged.sqlite"
    content = (bench.folder / "whole.sqlite").read_bytes()
    for _ in range(settings.count(3, 1)):
        store.write_bytes(damage(bytearray(content), random))
        ended = run_whole(bench.folder, "--recover", store=store)
        if ended.code == 1:
            sentence = ended.complaint.count("\n") == 1 and not ended.traceback
            count.refuse(not sentence and "more than a sentence")
        else:
            count.answer(*unlike(ended, store, bench))
        clean(store)
    return count.outcome("complete again, the damaged file kept")


def versions(bench: Bench, settings: Settings) -> Iterator[Outcome]:
    """Go on with stores of older and of newer versions."""
    store = bench.folder / "versions.sqlite"
    for what, plans in (
        ("store of the first version of the schema", True),
        ("store from before plans were kept in it", False),
    ):
        count = Count(what)
        for _ in range(settings.count(2, 1)):
            shutil.copy(bench.folder / "whole.sqlite", store)
            make_version_1(store, plans=plans)
            times = seconds_in(store)
            ended = run_whole(bench.folder, store=store)
            again = seconds_in(store) != times and "computed again"
            count.answer(*unlike(ended, store, bench), again)
        yield count.outcome("migrated, nothing computed again")
    yield newer(bench, store, settings)
    clean(store)


def newer(bench: Bench, store: Path, settings: Settings) -> Outcome:
    """Offer a store of a version that is not known yet."""
    count = Count("store of a newer version of the schema")
    for version in range(3, 3 + settings.count(2, 1)):
        shutil.copy(bench.folder / "whole.sqlite", store)
        with closing(sqlite3.connect(store)) as connection:
            connection.execute(f"PRAGMA user_version = {version}")
        before = store.read_bytes()
        ended = run_whole(bench.folder, store=store)
        count.refuse(
            ended.code != 1 and f"exit code {ended.code}",
            f"has version {version} of the store" not in ended.complaint
            and ended.complaint,
            store.read_bytes() != before and "it was changed",
        )
    return count.outcome()


def seconds_in(store: Path) -> list[tuple[str, float]]:
    """Return how long each cell took, which another computation would change."""
    query = "SELECT key, seconds FROM rankings ORDER BY key"
    with closing(sqlite3.connect(store)) as connection:
        return connection.execute(query).fetchall()


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
