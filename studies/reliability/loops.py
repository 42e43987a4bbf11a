"""What a process holds, and whether it holds more when something is repeated.

    python -m studies.reliability.loops fits METHOD NUMBER
    python -m studies.reliability.loops experiments FOLDER NUMBER

prints what is held after a fifth of the repetitions, and after all of them.
"""

import gc
import json
import os
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ufselect import all_selectors
from ufselect.experiments.cells import locate
from ufselect.experiments.limits import memory_of
from ufselect.experiments.plan import read_plan
from ufselect.experiments.runner import run_plan

# A leak does not depend on how long a fit takes.
SMALL = {"n_clusters": 3, "max_iter": 5, "n_init": 1}


def parent_of(process: int) -> int:
    """Return the parent of a process, from the files of Linux; 0 if it has ended."""
    try:
        # After the name, which is in brackets and may have blanks in it.
        return int(
            Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1]
        )
    except OSError:
        return 0


def command_of(process: int) -> str:
    """Return the command line of a process."""
    try:
        return Path(f"/proc/{process}/cmdline").read_text()
    except OSError:
        return ""


def children_of(process: int) -> list[int]:
    """Return the processes that another one has started and that still live."""
    everyone = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    return [each for each in everyone if parent_of(each) == process]


def held() -> dict[str, int]:
    """Return what this process holds: memory, open files, threads and children."""
    gc.collect()
    return {
        "memory": memory_of(os.getpid()),
        "files": len(list(Path("/proc/self/fd").iterdir())),
        "threads": threading.active_count(),
        "children": len(children_of(os.getpid())),
    }


def repeated(step: Callable[[], object], number: int) -> list[dict[str, int]]:
    """Return what is held after a fifth of the repetitions, and after all of them."""
    states = []
    for count in range(1, number + 1):
        step()
        if count in (max(1, number // 5), number):
            states.append(held())
    return states


def fit_of(method: str) -> Callable[[], object]:
    """Return a small fit of a method, of other numbers each time."""
    random, kind = np.random.default_rng(0), all_selectors()[method]
    accepted = kind().get_params()
    options = {name: value for name, value in SMALL.items() if name in accepted}
    return lambda: kind(n_features_to_select=5, **options).fit(random.random((20, 10)))


def experiment_in(folder: str) -> Callable[[], None]:
    """Return a run of the whole plan in a folder."""
    plan, store = read_plan(Path(folder, "plan.toml")), Path(folder, "loop.sqlite")
    located = locate(plan.sets, Path(folder))

    def run() -> None:
        run_plan(plan, store, located, n_jobs=2)
        store.unlink()

    return run


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    what, which, number = sys.argv[1:]
    step = {"fits": fit_of, "experiments": experiment_in}[what](which)
    print(json.dumps(repeated(step, int(number))))
