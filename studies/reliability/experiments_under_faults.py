"""Does an experiment lose results if it is killed, lacks resources or is damaged?

Real runs of ``ufselect run`` on two small sets (38 cells, two processes), disturbed in
many ways. Results that were finished before a fault must be kept; all results must
equal those of an undisturbed run; no process may remain; and the same command, or the
one that the message names, must complete the experiment.

    python -m studies experiments_under_faults
"""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from joblib import Parallel, delayed

from studies.findings import Outcome, broken_down
from studies.reliability.faults import (
    damaged_stores,
    full_disks,
    jumping_clocks,
    methods,
    several_runs,
)
from studies.reliability.signals import (
    KINDS,
    Bench,
    helpers,
    signals,
    undisturbed,
)
from studies.settings import Settings

Family = Callable[[Bench, Settings], Iterator[Outcome]]

DURATION = "10 minutes"
FAMILIES: list[Family] = [
    *(partial(signals, what) for what in KINDS),
    *(helpers, methods, full_disks, jumping_clocks, damaged_stores, several_runs),
]
# Most of the time is spent waiting, for the right moment or for a limit.
AT_ONCE = 4


def measure(settings: Settings) -> Iterator[Outcome]:
    """Yield what became of an experiment under every kind of fault."""
    with tempfile.TemporaryDirectory() as name:
        bench = undisturbed(Path(name))
        parallel = Parallel(AT_ONCE, prefer="threads", return_as="generator")
        for found in parallel(
            delayed(tried_apart)(family, place, bench, settings)
            for place, family in enumerate(FAMILIES)
        ):
            yield from found


def tried_apart(
    family: Family, place: int, bench: Bench, settings: Settings
) -> list[Outcome]:
    """Return the outcomes of a family that has the same files in its own folder.

    One that breaks down is a loss, and no reason to end the others.
    """
    folder = bench.folder / f"family{place}"
    folder.mkdir()
    for path in (bench.folder / "plan.toml", *bench.folder.glob("*.mat")):
        shutil.copy2(path, folder)
    found: list[Outcome] = []
    try:
        found.extend(family(bench._replace(folder=folder), settings))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a loss
        found.append(broken_down(error))
    return found
