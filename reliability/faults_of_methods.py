"""Methods that hang, crash, leave or eat memory, in the processes of a real run."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import ufselect
from reliability.counting import Count
from reliability.experiment_runs import content_of, run_whole
from reliability.faults_from_signals import Bench, unlike
from reliability.outcomes import Outcome
from reliability.settings import Settings

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
