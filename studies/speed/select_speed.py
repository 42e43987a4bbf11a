"""How long does ``ufselect select`` take, next to reading the file and fitting once?

Tables of three shapes with four clusters in a tenth of their columns are written as
CSV. Times are of whole processes, from the start of Python to the files on disk, with
the same number of BLAS threads as the process of the comparison:

* the command with report and table, compared with ``pandas.read_csv`` plus one fit of
  `AutoSelect`, whose seconds are those of the second column. On large tables the
  command makes two fits at once; the one fit has all threads of BLAS;
* the report compared with the selection: the command with report minus one that only
  selects, compared with that one;
* an input error, in a file with a missing value, compared with ``import pandas``;
* two workers compared with one, threads of one process, for the stability of a
  selection, a verdict and a consensus. The target of 1/1.6 is for wall-clock time.

Wall-clock times depend on other load; the column of processor time is the sum over all
processes and threads, so that parallel work counts in full.

    python -m studies select_speed
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from studies.findings import Row, compared
from studies.measuring import Timing, interleaved
from studies.settings import Settings
from ufselect import SCFS, Consensus, StabilitySelection
from ufselect.evaluation import verdicts

DURATION = "15 minutes"
# With the target of the whole command.
SHAPES = {(100, 2_000): 1.3, (5_000, 500): 1.5, (500, 20_000): 1.3}
QUICK = [(100, 2_000)]
REPORT_TARGET, ERROR_TARGET, WORKERS_TARGET = 1.0, 1.2, 1 / 1.6
# The fits of the first are short, so that much of them is not parallel.
WORKERS_SHAPES = [(400, 5_000), (2_000, 5_000)]
READ_AND_FIT = """
import sys
import pandas
from ufselect import AutoSelect
AutoSelect(random_state=0).fit(pandas.read_csv(sys.argv[1]))
"""


def clustered(n_samples: int, n_features: int) -> Any:
    """Return noise with four clusters in a tenth of the columns, 200 at most."""
    random = np.random.default_rng(0)
    X = random.standard_normal((n_samples, n_features))
    useful = min(n_features // 10, 200)
    centres = 2 * random.standard_normal((4, useful))
    X[:, :useful] += centres[random.integers(4, size=n_samples)]
    return X[:, random.permutation(n_features)]


def write(path: Path, table: Any) -> None:
    """Write a table with names of columns."""
    names = [f"g{place}" for place in range(table.shape[1])]
    pd.DataFrame(table, columns=names).to_csv(path, index=False)


def surroundings(folder: Path) -> dict[str, str]:
    """Return an environment in which modules are compiled once, as when installed."""
    found = dict(os.environ, PYTHONPYCACHEPREFIX=str(folder / "compiled"))
    found.pop("PYTHONDONTWRITEBYTECODE", None)
    return found


def run(
    arguments: Sequence[Any], environment: Mapping[str, str], code: int = 0
) -> None:
    """Run Python, which must end with this code."""
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], capture_output=True, env=environment
    )
    if done.returncode != code:
        raise RuntimeError(done.stderr.decode())


def of_commands(
    shape: tuple[int, int], folder: Path, repeats: int
) -> dict[str, list[Timing]]:
    """Return times of the whole command, of selecting alone, and of the two calls."""
    file, environment = folder / "table.csv", surroundings(folder)
    write(file, clustered(*shape))
    select = ["-m", "ufselect", "select", file, "--quiet"]
    report = ["-o", folder / "selected.csv", "--report", folder / "page.html"]
    functions = {
        "command": lambda _: run([*select, *report], environment),
        "selection": lambda _: run([*select, "--no-files"], environment),
        "calls": lambda _: run(["-c", READ_AND_FIT, file], environment),
    }
    return interleaved(functions, repeats)


def of_errors(folder: Path, repeats: int) -> dict[str, list[Timing]]:
    """Return times of a command that refuses its file, and of importing pandas."""
    file, environment = folder / "table.csv", surroundings(folder)
    table = clustered(100, 50)
    table[7, 7] = np.nan
    write(file, table)
    functions = {
        "error": lambda _: run(["-m", "ufselect", "select", file], environment, code=1),
        "pandas": lambda _: run(["-c", "import pandas"], environment),
    }
    return interleaved(functions, repeats)


def of_workers(
    shape: tuple[int, int], repeats: int
) -> dict[str, dict[int, list[Timing]]]:
    """Return times of what can be shared out, by the number of workers."""
    X = clustered(*shape)
    columns = np.arange(0, shape[1], 25)

    def stability(jobs: int) -> None:
        StabilitySelection(
            SCFS(n_clusters=4), 50, n_subsamples=8, n_jobs=jobs, random_state=0
        ).fit(X)

    def verdict(jobs: int) -> None:
        verdicts(X, columns, n_random=199, n_jobs=jobs, random_state=0)

    def consensus(jobs: int) -> None:
        members = [SCFS(n_clusters=4) for _ in range(8)]
        Consensus(members, 50, n_jobs=jobs, random_state=0).fit(X)

    found = {}
    for work in (stability, verdict, consensus):
        functions = {
            str(jobs): (lambda _, work=work, jobs=jobs: work(jobs)) for jobs in (1, 2)
        }
        timings = interleaved(functions, repeats)
        found[work.__name__] = {int(jobs): each for jobs, each in timings.items()}
    return found


def less(whole: Sequence[Timing], part: Sequence[Timing]) -> list[Timing]:
    """Return what the whole takes beyond a part, in each repetition."""
    return [
        Timing(*(max(a - b, 0.0) for a, b in zip(*pair, strict=True)))
        for pair in zip(whole, part, strict=True)
    ]


def measure(settings: Settings) -> Iterator[Row]:
    """Yield rows for commands, reports, errors and workers."""
    repeats = settings.repetitions(5)
    shapes = QUICK if settings.quick else SHAPES
    for shape in shapes:
        with tempfile.TemporaryDirectory() as folder:
            found = of_commands(shape, Path(folder), repeats)
        size = f"{shape[0]} x {shape[1]}"
        yield compared(
            *(f"select with report, {size}", found["command"]),
            *("a process for read_csv and AutoSelect", found["calls"]),
            target=SHAPES[shape],
        )
        yield compared(
            *(f"the report, {size}", less(found["command"], found["selection"])),
            *("the selection", found["selection"]),
            target=REPORT_TARGET,
        )
    with tempfile.TemporaryDirectory() as folder:
        found = of_errors(Path(folder), repeats)
    yield compared(
        *("an input error", found["error"], "import pandas", found["pandas"]),
        target=ERROR_TARGET,
    )
    for shape in WORKERS_SHAPES[:1] if settings.quick else WORKERS_SHAPES:
        for name, by_jobs in of_workers(shape, repeats).items():
            what = f"{name}, {shape[0]} x {shape[1]}, two workers"
            yield compared(
                *(what, by_jobs[2], "one worker", by_jobs[1]), target=WORKERS_TARGET
            )
