"""Do memory or other resources grow in runs that last a weekend?

Compares the memory of the processes of a run after 200 and after 1,000 small cells;
memory, open files, threads and child processes after 200 and after 1,000 fits of a
method in one process; and the same for experiments in one process.

    python -m studies long_runs
    python -m studies.reliability.long_runs fits METHOD NUMBER
    python -m studies.reliability.long_runs experiments FOLDER NUMBER

The last two print the resources of a process after a fifth of the repetitions and at
the end.
"""

import gc
import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import psutil
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning

from studies.findings import Count, Outcome
from studies.reliability.experiment_runs import Run, cells_in, environment_here, prepare
from studies.settings import Settings
from ufselect import all_selectors
from ufselect.experiments.cells import locate
from ufselect.experiments.limits import memory_of
from ufselect.experiments.plan import read_plan
from ufselect.experiments.runner import run_plan

DURATION = "5 minutes"
METHODS = ("SCFS", "LaplacianScore", "MCFS", "SPEC", "MaxVariance")
# Each trial is a process of its own that is watched.
AT_ONCE = 3
# What an allocator may keep without anything being leaked, in bytes.
SLACK = 8_000_000
# A leak does not depend on how long a fit takes.
SMALL = {"n_clusters": 3, "max_iter": 5, "n_init": 1}
# Per set: all features, highest variance, Laplacian score, SCFS and random.
PLAN = """
name = "soak"
sets = ["one", "two"]
features = [3]

[judge]
repetitions = 1
restarts = 1

[[methods]]
selector = "LaplacianScore"

[[methods]]
selector = "SCFS"
parameters = {{ n_clusters = 3, max_iter = 5 }}
seeds = {scfs}

[[methods]]
selector = "RandomSelection"
label = "random"
seeds = {random}
"""


def measure(settings: Settings) -> Iterator[Outcome]:
    """Yield the soak of the runner, then the loops of fits."""
    loops = settings.count(1000, 50)
    trials = [
        delayed(soak)(settings.count(1000, 100)),
        *(delayed(fits)(method, loops) for method in METHODS),
        delayed(experiments)(settings.count(10, 3)),
    ]
    yield from Parallel(AT_ONCE, prefer="threads", return_as="generator")(trials)


def soak(cells: int) -> Outcome:
    """Run so many cells, and weigh the processes after a fifth and after all."""
    count = Count(f"run of {cells:,} cells")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        half = cells // 2
        scfs = half // 5
        plan = PLAN.format(scfs=scfs, random=half - scfs - 3)
        (folder / "plan.toml").write_text(plan, "utf-8")
        run = Run(folder)
        early = weigh(run, folder / "trial.sqlite", cells // 5)
        late = weigh(run, folder / "trial.sqlite", cells - cells // 50)
        ended = run.end()
        done = cells_in(folder / "trial.sqlite")
    growth = {each: late[each] - early[each] for each in late.keys() & early.keys()}
    count.answer(
        ended.code != 0 and f"exit code {ended.code}: {ended.complaint[-120:]}",
        done != cells and f"{done} cells",
        len(growth) < 3 and f"{len(growth)} processes were weighed twice",
        any(each > SLACK for each in growth.values()) and f"growth {growth}",
        bool(run.left_behind()) and "processes stay behind",
    )
    weights = [[sum(each.values()) / 1e6] for each in (early, late)]
    note = f"all processes: {weights[0][0]:.0f} MB after {cells // 5:,} cells, "
    note += f"{weights[1][0]:.0f} MB after {cells:,}; no process stays behind"
    return count.outcome(note)


def weigh(run: Run, store: Path, cells: int) -> dict[int, int]:
    """Return the resident bytes of every process once so many cells are finished."""
    weights: dict[int, int] = {}
    while run.process.poll() is None:
        weights = {each: memory_of(each) for each in run.processes()} or weights
        if cells_in(store) >= cells:
            break
        time.sleep(0.05)
    return {process: weight for process, weight in weights.items() if weight}


def fits(method: str, number: int) -> Outcome:
    """Fit so often in one process, and compare what it holds early and late."""
    what = f"{number:,} fits of {method} in a loop"
    return looped(what, "fits", method, str(number))


def experiments(number: int) -> Outcome:
    """Run so many experiments in one process, and compare likewise."""
    what = f"{number} experiments in one process, with two workers each"
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder), repetitions=1)
        return looped(what, "experiments", folder, str(number))


def looped(what: str, *arguments: str) -> Outcome:
    """Let a process repeat something, and count it unless something grows in it."""
    count = Count(what)
    done = subprocess.run(
        [sys.executable, "-m", "studies.reliability.long_runs", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=environment_here(),
        cwd=Path(__file__).parents[2],
    )
    if done.returncode != 0:
        count.answer(f"it failed: {done.stderr[-120:]}")
        return count.outcome()
    early, late = json.loads(done.stdout)
    others = [name for name in early if name != "memory" and late[name] > early[name]]
    count.answer(
        late["memory"] - early["memory"] > SLACK and "memory grows",
        bool(others) and f"more {others}",
    )
    sizes = [f"{state['memory'] / 1e6:.0f} MB" for state in (early, late)]
    return count.outcome(
        f"{sizes[0]} after a fifth, {sizes[1]} after all; {late['files']} open files, "
        f"{late['threads']} thread, {late['children']} children throughout"
    )


def held() -> dict[str, int]:
    """Return what this process holds: memory, open files, threads and children."""
    gc.collect()
    process = psutil.Process()
    return {
        "memory": process.memory_info().rss,
        "files": process.num_fds(),
        "threads": process.num_threads(),
        "children": len(process.children()),
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
