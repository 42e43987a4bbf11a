"""Which damaged and hostile files end in a traceback, in too much memory, or in harm?

Files of every kind that is read are damaged at random, also under their compression so
that checksums are right. Each is read in a process that may take 1 GB of memory beyond
what it has, and some seconds; what would run a program or open a connection is noticed.
"Answered" is a table (damage may have changed a number, or a name, and no more),
"refused" is one sentence.

    python -m studies hostile_files
"""

import multiprocessing
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
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
from studies.reliability.watched import ENDED, Trial, Verdict, verdicts
from studies.settings import Settings
from ufselect import AutoSelect, MaxVariance, load_selector, save_selector
from ufselect.data import TableError, read_labelled, read_table
from ufselect.data.checkpoints import Checkpoint
from ufselect.experiments.plan import plan_path, read_plan
from ufselect.models import ModelError

DURATION = "21 minutes"
BATCH = 250
# Whatever has them in its folder has run something.
MARKS = ("unpickled", "executed")
# Minutes, most of them for reading gigabytes.
SLOW = {what for what in ATTACKS if "GB" in what or "million" in what or "MB" in what}
# Damage leads HDF5 in circles now and then, which takes its time.
MANY = dict.fromkeys(("version-7.3.mat", "dense.h5ad", "sparse.h5ad"), 500)
N_PROCESSES = 3


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
    return _outcome(what, _of_attack(what, *ATTACKS[what]), what in HONEST)


def _all_damaged(name: str, settings: Settings, place: int) -> Outcome:
    number = settings.count(MANY.get(name, 1000), 40)
    random = np.random.default_rng([settings.seed, place])
    tried = _of_damaged(name, KINDS[name], number, random)
    return _outcome(f"{name}, damaged", tried)


def _of_attack(
    what: str, name: str, write: Callable[[Path], object]
) -> Iterator[Verdict]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        write(path)
        trial = Trial(what, path, read_apart, (TableError,), MOST_SECONDS_APART)
        for verdict in verdicts([trial]):
            run = [each for each in MARKS if Path(folder, each).exists()]
            yield (
                verdict._replace(kind="lost", said=f"{run} was run") if run else verdict
            )


def _of_damaged(
    name: str, kind: Kind, number: int, random: np.random.Generator
) -> Iterator[Verdict]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (kind.write or SEEDS[name])(folder / name)
        whole = (folder / name).read_bytes()
        for start in range(0, number, BATCH):
            count = min(BATCH, number - start)
            files = (
                _damaged_file(folder / str(i) / name, kind, whole, random)
                for i in range(count)
            )
            yield from _with_second_chance(list(files))


def _with_second_chance(trials: list[Trial]) -> Iterator[Verdict]:
    """Read what ended the library, and the process, once more as the command does.

    To read all in processes of their own would take ten times as long.
    """
    for verdict in verdicts(trials):
        if verdict.kind != ENDED:
            yield verdict
            continue
        trial = verdict.trial._replace(read=read_apart, seconds=MOST_SECONDS_APART)
        (again,) = verdicts([trial])
        yield again._replace(said=ENDED) if again.kind == "refused" else again


def _damaged_file(
    path: Path, kind: Kind, whole: bytes, random: np.random.Generator
) -> Trial:
    path.parent.mkdir(exist_ok=True)
    way = (damaged, damaged_inside)[random.integers(2)]
    path.write_bytes(way(whole, random))
    return Trial(path.name, path, kind.read, kind.refusals)


def read_apart(path: Path) -> None:
    """Read as the command line does."""
    read_whole(path, isolate=True)


def read_whole(path: Path, isolate: bool = False) -> None:
    """Read a table, touch all that it holds, and see that it fits together."""
    table = read_table(path, isolate=isolate)
    values = table.values.data if sp.issparse(table.values) else table.values
    float(np.sum(np.asarray(values), where=np.isfinite(values)))
    n_samples, n_features = table.shape
    _check(table.feature_names, n_features)
    _check(table.sample_names, n_samples)


def _check(names: Any, length: int) -> None:
    if names is not None and len(names) != length:
        raise AssertionError(f"{len(names)} names for {length}")


def _outcome(what: str, tried: Iterator[Verdict], honest: bool = True) -> Outcome:
    """Count; a table in what is no honest one is a loss, too."""
    counts: Counter[str] = Counter()
    lost, ended = [], 0
    for verdict in tried:
        kind = "lost" if verdict.kind == ENDED else verdict.kind
        if kind == "answered" and not honest:
            kind = "lost"
        counts[kind] += 1
        ended += verdict.said == ENDED
        if kind == "lost":
            lost.append(verdict.said)
    notes = [f"{ended} ended the library, in a process of its own"] if ended else []
    notes += [each[:200] for each in sorted(set(lost))[:3]]
    kinds = (counts[kind] for kind in ("answered", "refused", "lost"))
    return Outcome(what, counts.total(), *kinds, "; ".join(notes))


def write_plan(path: Path) -> None:
    """Write the plan that comes with the project."""
    path.write_text(plan_path("quick").read_text("utf-8"), "utf-8")


def write_labelled(path: Path) -> None:
    """Write a data set with classes."""
    scipy.io.savemat(path, {"X": SPARSE, "Y": np.arange(len(VALUES)) % 2})


def write_checkpoint(path: Path) -> None:
    """Write what a fit has reached."""
    Checkpoint(path, [1]).write({"W": VALUES})


def read_checkpoint(path: Path) -> None:
    """Read what a fit has reached."""
    Checkpoint(path, [1]).read()


def write_selector(path: Path) -> None:
    """Write a fitted selector."""
    save_selector(AutoSelect(MaxVariance(), random_state=0).fit(VALUES), path)


def read_selector(path: Path) -> None:
    """Read a selector, and use it."""
    load_selector(path).transform(VALUES)


TABLE = Kind(None, read_whole, (TableError,))
OTHERS = {
    "plan.toml": Kind(write_plan, read_plan, (ValueError,)),
    "labelled.mat": Kind(write_labelled, read_labelled, (ValueError,)),
    "checkpoint.npz": Kind(write_checkpoint, read_checkpoint, (ValueError,)),
    "fitted.selector": Kind(write_selector, read_selector, (ModelError,)),
}
KINDS = {**dict.fromkeys(SEEDS, TABLE), **OTHERS}
