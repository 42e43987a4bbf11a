"""How long is ``ufselect select``, next to reading the file and fitting once?

Prostate-GE is written as CSV. The whole command, from the start of Python to the page
on disk, is timed against ``pandas.read_csv`` plus one ``SCFS(random_state=0).fit``. The
hard reading leaves the start of Python and all imports out of the latter, though not
out of the command; the friendly one takes both as whole processes. Processor time is
disturbed less by a busy machine, as long as threads do not wait for each other: set
OPENBLAS_NUM_THREADS=1 and OMP_NUM_THREADS=1. The limit is that of the smaller Gram
matrix of the table, which every fit needs.

    python -m studies select_speed
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from studies.findings import Row, compared
from studies.measuring import Timing, interleaved, limit, scfs_operations
from studies.settings import Settings, find_set
from ufselect.data import read_labelled

DURATION = "1 minute"
TARGET = 5.0
READ_AND_FIT = """
import sys, time
import pandas
from ufselect import SCFS
start, used = time.perf_counter(), time.process_time()
SCFS(random_state=0).fit(pandas.read_csv(sys.argv[1]))
print(time.perf_counter() - start, time.process_time() - used)
"""


def write(path: Path, table: Any) -> None:
    """Write a table with names of columns."""
    with path.open("w") as stream:
        stream.write(",".join(f"g{place}" for place in range(table.shape[1])) + "\n")
        for row in table.tolist():
            stream.write(",".join(map(repr, row)) + "\n")


def surroundings(folder: str) -> dict[str, str]:
    """Return an environment in which modules are compiled once, as when installed."""
    found = dict(os.environ, PYTHONPYCACHEPREFIX=str(Path(folder, "compiled")))
    found.pop("PYTHONDONTWRITEBYTECODE", None)
    return found


def printed(arguments: Sequence[Any], environment: Mapping[str, str]) -> str:
    """Run Python and return what it prints."""
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    ).stdout


def timings(file: Path, repeats: int) -> dict[str, list[Timing]]:
    """Return the times of the command, and of reading and fitting in both readings."""
    folder = file.parent
    environment = surroundings(str(folder))
    files = ["-o", folder / "selected.csv", "--report", folder / "page.html"]
    command = ["-m", "ufselect", "select", file, *files, "--quiet"]
    within: list[Timing] = []

    def read_and_fit(_: int) -> None:
        numbers = printed(["-c", READ_AND_FIT, file], environment).split()
        within.append(Timing(*map(float, numbers)))

    functions = {
        "command": lambda _: printed(command, environment),
        "friendly": read_and_fit,
    }
    found = interleaved(functions, repeats)
    # The first warmed up.
    return found | {"hard": within[1:]}


def measure(settings: Settings) -> Iterator[Row]:
    """Yield the hard and the friendly reading."""
    for name in settings.names_of_sets(["Prostate-GE"], quick=["lymphoma"]):
        table = read_labelled(find_set(name)).table
        with tempfile.TemporaryDirectory() as temporary:
            file = Path(temporary, "table.csv")
            write(file, table)
            found = timings(file, settings.repetitions(7))
            megabytes = file.stat().st_size / 1e6
        what = f"{name}, {megabytes:.1f} MB of CSV"
        against = {"hard": "the two calls", "friendly": "a process for the two calls"}
        for reading, other in against.items():
            yield compared(
                what,
                found["command"],
                other,
                found[reading],
                target=TARGET,
                limit=limit(scfs_operations(table, 1, 0)),
            )
