"""Run the cells of a plan in parallel and keep what is finished.

Only the process that runs the plan writes to the store; workers compute. You can stop
a run at any time: the same call continues it.
"""

import time
from collections import deque
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from ufselect.experiments.cells import Cell, Located, judge_key, record_of, roles_of
from ufselect.experiments.limits import NO_LIMITS, Limits
from ufselect.experiments.plan import Judge, Plan
from ufselect.experiments.store import DONE, Outcome, Store
from ufselect.experiments.work import Job
from ufselect.experiments.worker_pool import Batch, Compute, computing

# Interval at which to check for cells that another run has finished.
SECONDS_BETWEEN_LOOKS = 0.5


@dataclass
class RunProgress:
    """The progress of a run."""

    total: int
    known: int = 0
    computed: int = 0
    failed: int = 0
    started: float = field(default_factory=time.monotonic)

    @property
    def finished(self) -> int:
        """Return the number of cells that need no more work."""
        return self.known + self.computed + self.failed

    def seconds_left(self) -> float | None:
        """Return the estimated time left, or None before the first cell is done."""
        here = self.computed + self.failed
        if here == 0:
            return None
        return (time.monotonic() - self.started) / here * (self.total - self.finished)


class Stopped(KeyboardInterrupt):
    """The run was interrupted; the message says what is kept."""


def run_plan(
    plan: Plan,
    store_path: Path,
    located: Located,
    *,
    n_jobs: int | None = None,
    dask: str | None = None,
    limits: Limits = NO_LIMITS,
    retry: bool = False,
    report: Callable[[RunProgress], None] = lambda progress: None,
) -> RunProgress:
    """Compute the cells of a plan that the store does not have.

    Parameters
    ----------
    plan : Plan
    store_path : Path
        Created if it does not exist. Several runs may share it.
    located : Located
        Missing sets are left out.
    n_jobs : int, optional
        Worker processes, each with one thread for linear algebra. A cell that crashes
        its process does not harm others. By default this process computes.
    dask : str, optional
        Address of a Dask scheduler whose workers compute instead.
    limits : Limits
        Limits of a cell that replace those of the plan.
    retry : bool
        Whether to repeat cells that exceeded a limit or whose process died.
    report : callable
        Called with the progress after every cell.

    Returns
    -------
    progress : RunProgress
    """
    record = record_of(plan, located)
    cells = distinct_cells(plan, record.fingerprints)
    progress = RunProgress(total=len(cells))
    try:
        with (
            Store(store_path, judge_key(plan.judge)) as store,
            computing(n_jobs, dask, plan.limits.but(limits)) as compute,
        ):
            store.save_record(record)
            run = _Run(store, plan.judge, located.paths, cells, progress, report)
            run.work_until_nothing_is_left(compute, retry)
    except KeyboardInterrupt:
        raise Stopped(
            f"interrupted; {progress.finished} of {progress.total} cells are kept in "
            f"{store_path}, and the same command continues from there"
        ) from None
    return progress


def distinct_cells(plan: Plan, fingerprints: Mapping[str, str]) -> dict[str, Cell]:
    """Return the different cells of a plan by key, set by set."""
    return {role.cell.key: role.cell for role in roles_of(plan, fingerprints)}


def missing_cells(plan: Plan, store_path: Path, located: Located) -> list[Cell]:
    """Return the cells of a plan that a store has not finished."""
    cells = distinct_cells(plan, record_of(plan, located).fingerprints)
    with Store(store_path, judge_key(plan.judge)) as store:
        finished = store.finished()
    return [cell for key, cell in cells.items() if key not in finished]


@dataclass
class _Run:
    """The cells of a plan, those still to compute, and the store."""

    store: Store
    judge: Judge
    paths: Mapping[str, Path]
    cells: Mapping[str, Cell]
    progress: RunProgress
    report: Callable[[RunProgress], None]
    waiting: deque[str] = field(default_factory=deque)

    def work_until_nothing_is_left(self, compute: Compute, retry: bool) -> None:
        known = self.store.finished() & self.cells.keys()
        stopped = set() if retry else self.store.stopped() & self.cells.keys()
        self.progress.known, self.progress.failed = len(known), len(stopped)
        # A cell that failed in an earlier run is repeated once.
        self.waiting.extend(key for key in self.cells if key not in known | stopped)
        self.report(self.progress)
        while self.waiting:
            taken_elsewhere: list[str] = []
            with closing(self._claimed(taken_elsewhere)) as batches:
                for job, outcome in compute(batches):
                    self._keep(job, outcome)
            self.waiting.extend(taken_elsewhere)
            self._wait_for_others()

    def _claimed(self, taken_elsewhere: list[str]) -> Generator[Batch]:
        """Claim and yield cells, with their order if it is known.

        Cells of one path come in one batch, to be computed one after the other.
        """
        while self.waiting:
            path = self.cells[self.waiting[0]].path
            batch = []
            while self.waiting and self.cells[self.waiting[0]].path == path:
                key = self.waiting.popleft()
                if self.store.claim(key):
                    cell = self.cells[key]
                    known_order = self.store.order_of(key)
                    path_of_set = self.paths[cell.set_name]
                    batch.append(Job(cell, self.judge, path_of_set, known_order))
                else:
                    taken_elsewhere.append(key)
            if batch:
                yield batch

    def _keep(self, job: Job, outcome: Outcome) -> None:
        self.store.save(job.cell, outcome, only_judged=job.order is not None)
        if outcome.status == DONE:
            self.progress.computed += 1
        else:
            self.progress.failed += 1
        self.report(self.progress)

    def _wait_for_others(self) -> None:
        """Drop cells that another run has finished; wait while it is running."""
        while self.waiting:
            finished = self.store.finished()
            left = [key for key in self.waiting if key not in finished]
            self.progress.known += len(self.waiting) - len(left)
            self.waiting = deque(left)
            self.report(self.progress)
            if not set(left) <= self.store.claimed_by_others():
                return
            time.sleep(SECONDS_BETWEEN_LOOKS)
