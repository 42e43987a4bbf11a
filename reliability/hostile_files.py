"""Which damaged and hostile files end in a traceback, in too much memory, or in harm?

Files of every kind that is read are damaged at random, also under their compression so
that checksums are right. Each is read in a process with 1 GB of memory beyond what it
has already, and a minute; what would run a program or open a connection is noticed.
"Answered" is a table (damage may have changed a number, or a name, and no more),
"refused" is one sentence.

    python -m reliability hostile_files
"""

import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from reliability.file_damage import damaged, damaged_inside
from reliability.file_seeds import SEEDS
from reliability.outcomes import Outcome
from reliability.settings import Settings
from reliability.watched import ENDED, Trial, Verdict, verdicts
from ufselect.data import TableError, read_table

BATCH = 250
# By the clock, for 20 seconds of computing on a busy machine.
MOST_SECONDS_APART = 400


def outcomes(settings: Settings) -> Iterator[Outcome]:
    """Yield what became of the files."""
    number = settings.count(3000, 40)
    for place, name in enumerate(SEEDS):
        random = np.random.default_rng([settings.seed, place])
        yield _outcome(f"{name}, damaged", _of_damaged(name, number, random))


def _of_damaged(
    name: str, number: int, random: np.random.Generator
) -> Iterator[Verdict]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        SEEDS[name](folder / name)
        whole = (folder / name).read_bytes()
        for start in range(0, number, BATCH):
            count = min(BATCH, number - start)
            files = (
                _damaged_file(folder, name, i, whole, random) for i in range(count)
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
    folder: Path, name: str, index: int, whole: bytes, random: np.random.Generator
) -> Trial:
    path = folder / str(index) / name
    path.parent.mkdir(exist_ok=True)
    way = (damaged, damaged_inside)[random.integers(2)]
    path.write_bytes(way(whole, random))
    return Trial(name, path, read_whole, (TableError,))


def read_apart(path: Path) -> None:
    """Read as the command line does."""
    read_whole(path, apart=True)


def read_whole(path: Path, apart: bool = False) -> None:
    """Read a table, touch all that it holds, and see that it fits together."""
    table = read_table(path, apart=apart)
    values = table.values.data if sp.issparse(table.values) else table.values
    float(np.sum(np.asarray(values), where=np.isfinite(values)))
    n_samples, n_features = table.shape
    _check(table.feature_names, n_features)
    _check(table.sample_names, n_samples)


def _check(names: Any, length: int) -> None:
    if names is not None and len(names) != length:
        raise AssertionError(f"{len(names)} names for {length}")


def _outcome(what: str, tried: Iterator[Verdict]) -> Outcome:
    counts: Counter[str] = Counter()
    lost, ended = [], 0
    for verdict in tried:
        kind = "lost" if verdict.kind == ENDED else verdict.kind
        counts[kind] += 1
        ended += verdict.said == ENDED
        if kind == "lost":
            lost.append(verdict.said)
    notes = [f"{ended} ended the library, and a process of its own"] if ended else []
    notes += [each[:200] for each in sorted(set(lost))[:3]]
    kinds = (counts[kind] for kind in ("answered", "refused", "lost"))
    return Outcome(what, counts.total(), *kinds, "; ".join(notes))
