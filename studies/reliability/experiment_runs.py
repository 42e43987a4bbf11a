"""A small experiment as users run it: the command, its store, and its files."""

import os
import sqlite3
import subprocess
import sys
import time
import uuid
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.io import savemat

import ufselect

PLAN = """
name = "trial"
sets = ["one", "two"]
features = [3, 6]

[judge]
repetitions = {repetitions}
restarts = 5

[[methods]]
selector = "SCFS"
parameters = {{ n_clusters = 3, max_iter = 20 }}
grid = {{ alpha = [1.0, 10.0], beta = [0.01, 0.1] }}
seeds = 2
warm_start = true

[[methods]]
selector = "LaplacianScore"
"""
CELLS = 38
# Long enough that signals meet a run at work, short enough to be repeated often.
REPETITIONS = 30
# By which the processes of a run are known.
MARK = "UFSELECT_TRIAL"
# How long processes may take to notice that nobody waits for them, in seconds.
GRACE = 30.0
# How long a run may take before it counts as hanging, also on a machine that is shared.
LONGEST = 1800.0
RANKINGS = (
    "SELECT key, set_name, selector, parameters, seed, status, reason, feature_order, "
    "objective, history FROM rankings"
)


class Content(NamedTuple):
    """What a store must neither lose nor change, without times and memory."""

    rankings: frozenset[tuple[Any, ...]]
    scores: frozenset[tuple[Any, ...]]

    def within(self, other: "Content") -> bool:
        """Say whether the other one has all of this."""
        return self.rankings <= other.rankings and self.scores <= other.scores


NOTHING = Content(frozenset(), frozenset())


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    said: str
    complaint: str

    @property
    def traceback(self) -> bool:
        return "Traceback" in self.said + self.complaint


class Run:
    """One start of ``ufselect run`` in a folder with a plan and two sets."""

    def __init__(
        self,
        folder: Path,
        *more: str,
        store: Path | None = None,
        jobs: int = 2,
        environment: dict[str, str] | None = None,
    ) -> None:
        self.mark = uuid.uuid4().hex
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "ufselect", "run", "plan.toml"),
                *("--data", ".", "--jobs", str(jobs)),
                *("--store", str(store or "trial.sqlite"), *more),
            ],
            cwd=folder,
            env={**environment_here(), MARK: self.mark, **(environment or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def begun(self) -> None:
        """Wait for the first line of progress."""
        self.process.stderr.readline()  # type: ignore[union-attr]

    def end(self, timeout: float = LONGEST) -> Ended:
        """Wait until it has ended."""
        said, complaint = self.process.communicate(timeout=timeout)
        return Ended(self.process.returncode, said, complaint)

    def processes(self) -> list[int]:
        """Return all processes of the run, from the files of Linux."""
        sign = f"{MARK}={self.mark}".encode()
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                if sign in path.read_bytes().split(b"\0"):
                    found.append(int(path.parent.name))
            except OSError:
                continue  # It has ended meanwhile.
        return found

    def left_behind(self) -> list[int]:
        """Return the processes that do not end by themselves in good time."""
        until = time.monotonic() + GRACE
        while (left := self.processes()) and time.monotonic() < until:
            time.sleep(0.05)
        return left


def run_whole(folder: Path, *more: str, **options: Any) -> Ended:
    """Run to the end."""
    return Run(folder, *more, **options).end()


def prepare(folder: Path, repetitions: int = REPETITIONS) -> None:
    """Write the plan and two sets with three groups in four of twelve columns."""
    (folder / "plan.toml").write_text(PLAN.format(repetitions=repetitions), "utf-8")
    for seed, name in enumerate(("one", "two")):
        random = np.random.default_rng(seed)
        classes = np.repeat([1, 2, 3], 10)
        table = random.normal(size=(30, 12))
        table[:, :4] += 4 * random.normal(size=(3, 4))[classes - 1]
        savemat(folder / f"{name}.mat", {"X": table, "Y": classes[:, np.newaxis]})


def content_of(store: Path) -> Content:
    """Return what is in a store; one that does not exist has nothing."""
    if not store.exists():
        return NOTHING
    with closing(sqlite3.connect(store, timeout=60)) as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
            return NOTHING
        queries = (RANKINGS, "SELECT * FROM scores")
        return Content(*(frozenset(connection.execute(query)) for query in queries))


def cells_in(store: Path) -> int:
    """Return how many rankings there are by now."""
    with suppress(sqlite3.OperationalError):
        address = f"{store.as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True)) as connection:
            query = "SELECT count(*) FROM rankings WHERE status = 'done'"
            return int(connection.execute(query).fetchone()[0])
    return 0


def seconds_in(store: Path) -> list[float]:
    """Return how long each cell took."""
    with closing(sqlite3.connect(store)) as connection:
        rows = connection.execute("SELECT seconds FROM rankings").fetchall()
    return [seconds for (seconds,) in rows]


def clean(store: Path) -> None:
    """Remove all files of a store."""
    for path in store.parent.glob(f"{store.name}*"):
        path.unlink()


def stray_files(store: Path) -> Sequence[str]:
    """Return what lies beside a store at rest and should not."""
    beside = store.parent.glob(f"{store.name}*")
    return [
        path.name for path in beside if path != store and "damaged" not in path.name
    ]


def environment_here() -> dict[str, str]:
    """Return the environment of a process that finds this very ufselect."""
    source = str(Path(ufselect.__file__).parents[1])
    return {**os.environ, "PYTHONPATH": source}
