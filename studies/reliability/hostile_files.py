"""Which damaged and hostile files end in a traceback, in too much memory, or in harm?

Files of every supported format are damaged at random, also inside their compression, so
that checksums are right. Each is read in a process with limits of 2 GB of memory and
some seconds, in which starting a program or opening a connection is detected.
"Answered" means a table (of which damage may have changed numbers or names only),
"refused" an error message of one sentence.

    python -m studies hostile_files
"""

import multiprocessing
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.io
import scipy.sparse as sp

from studies.findings import Outcome
from studies.reliability.file_attacks import ATTACKS, HONEST
from studies.reliability.file_seeds import (
    SEEDS,
    SPARSE,
    VALUES,
    damaged,
    damaged_inside,
)
from studies.reliability.watched import Trial, Verdict, counted, verdicts
from studies.settings import Settings
from ufselect import AutoSelect, MaxVariance, load_selector, save_selector
from ufselect.data import TableError, read_labelled, read_table
from ufselect.experiments.plan import plan_path, read_plan
from ufselect.models import ModelError

DURATION = "12 minutes"
BATCH = 250
# Whatever has them in its folder has run something.
MARKS = ("unpickled", "executed")
# Minutes, most of them for reading gigabytes.
SLOW = {what for what in ATTACKS if "GB" in what or "million" in what or "MB" in what}
# Damage leads HDF5 in circles now and then, which takes its time.
MANY = dict.fromkeys(("version-7.3.mat", "dense.h5ad", "sparse.h5ad"), 150)
N_PROCESSES = 2


class Kind(NamedTuple):
    """How a file is written, read and refused."""

    write: Callable[[Path], object] | None
    read: Callable[[Path], object]
    refusals: tuple[type[Exception], ...]


MOST_SECONDS_APART = 120


def measure(settings: Settings) -> Iterator[Outcome]:
    """Yield what became of the files."""
    works: list[tuple[Any, ...]] = [
        (_all_damaged, name, settings, place) for place, name in enumerate(KINDS)
    ]
    # Last what takes longest.
    works += [
        (_attacked, what)
        for what in sorted(ATTACKS, key=SLOW.__contains__)
        if not (settings.quick and what in SLOW)
    ]
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(N_PROCESSES, context) as pool:
        yield from pool.map(_done, works)


def _done(work: tuple[Any, ...]) -> Outcome:
    outcome: Outcome = work[0](*work[1:])
    return outcome


def _attacked(what: str) -> Outcome:
    return counted(what, of_attack(what))


def _all_damaged(name: str, settings: Settings, place: int) -> Outcome:
    number = settings.count(MANY.get(name, 300), 40)
    return of_damaged(name, number, np.random.default_rng([settings.seed, place]))


def of_attack(what: str) -> Iterator[Verdict]:
    """Read what was made to do harm; a table in what is no honest one is a loss."""
    name, write = ATTACKS[what]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        write(path)
        work = partial(read_apart, path)
        (verdict,) = verdicts([Trial(what, work, (TableError,), MOST_SECONDS_APART)])
        run = [each for each in MARKS if Path(folder, each).exists()]
        if run:
            verdict = verdict._replace(kind="lost", said=f"{run} was run")
        elif verdict.kind == "answered" and what not in HONEST:
            verdict = verdict._replace(kind="lost", said="it was taken for a table")
        yield verdict


def of_damaged(name: str, number: int, random: np.random.Generator) -> Outcome:
    """Read so many damaged files of a kind.

    What ends the library, and the process, is read once more as the command does: to
    read all in subprocesses would take ten times as long.
    """
    kind, found, ended = KINDS[name], [], 0
    with tempfile.TemporaryDirectory() as place:
        whole = Path(place, name)
        (kind.write or SEEDS[name])(whole)
        content = whole.read_bytes()
        for start in range(0, number, BATCH):
            trials = []
            for i in range(min(BATCH, number - start)):
                path = Path(place, str(i), name)
                path.parent.mkdir(exist_ok=True)
                way = (damaged, damaged_inside)[random.integers(2)]
                path.write_bytes(way(content, random))
                what = f"{name}, number {start + i}"
                trials.append(Trial(what, partial(kind.read, path), kind.refusals))
            for verdict in verdicts(trials):
                if verdict.kind in ("crashed", "hung"):
                    path = verdict.trial.work.args[0]  # type: ignore[attr-defined]
                    trial = verdict.trial._replace(
                        work=partial(read_apart, path), seconds=MOST_SECONDS_APART
                    )
                    (again,) = verdicts([trial])
                    ended += again.kind == "refused"
                    found.append(again)
                else:
                    found.append(verdict)
    note = f"{ended} ended the library, in a subprocess" if ended else ""
    return counted(f"{name}, damaged", found, note)


def read_apart(path: Path) -> None:
    """Read as the command line does."""
    read_whole(path, isolate=True)


def read_whole(path: Path, **options: Any) -> None:
    """Read a table, touch all that it holds, and see that it fits together."""
    table = read_table(path, **options)
    values = table.values.data if sp.issparse(table.values) else table.values
    float(np.sum(np.asarray(values), where=np.isfinite(values)))
    n_samples, n_features = table.shape
    _check(table.feature_names, n_features)
    _check(table.sample_names, n_samples)


def _check(names: Any, length: int) -> None:
    if names is not None and len(names) != length:
        raise AssertionError(f"{len(names)} names for {length}")


def write_plan(path: Path) -> None:
    """Write the plan that comes with the project."""
    path.write_text(plan_path("quick").read_text("utf-8"), "utf-8")


def write_labelled(path: Path) -> None:
    """Write a data set with classes."""
    scipy.io.savemat(path, {"X": SPARSE, "Y": np.arange(len(VALUES)) % 2})


def write_selector(path: Path) -> None:
    """Write a fitted selector."""
    selector = AutoSelect(MaxVariance(), n_features_to_select=2, random_state=0)
    save_selector(selector.fit(VALUES), path)


def read_selector(path: Path) -> None:
    """Read a selector, and use it."""
    load_selector(path).transform(VALUES)


TABLE = Kind(None, read_whole, (TableError,))
OTHERS = {
    "plan.toml": Kind(write_plan, read_plan, (ValueError,)),
    "labelled.mat": Kind(write_labelled, read_labelled, (ValueError,)),
    "fitted.selector": Kind(write_selector, read_selector, (ModelError,)),
}
KINDS = {**dict.fromkeys(SEEDS, TABLE), **OTHERS}
