"""Compute the runs of a plan in parallel and keep what is finished.

Only the process that runs the plan writes to the store; workers compute. You can stop
it at any time: the same call continues it.
"""

import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky import ProcessPoolExecutor

from ufselect.experiments.plan import Plan
from ufselect.experiments.runs import Located, judge_key, record_of, runs_of
from ufselect.experiments.store import Store
from ufselect.experiments.work import Job, Outcome, work_on

Ended = tuple[Job, Outcome]

SCHEDULER_TIMEOUT_SECONDS = 10
# Short, so that a worker can take little memory between two looks at it.
SECONDS_BETWEEN_LOOKS = 0.1


@dataclass
class RunProgress:
    """How many runs of a plan are known from the store, computed now, and failed."""

    total: int
    known: int = 0
    computed: int = 0
    failed: int = 0

    @property
    def finished(self) -> int:
        """Return the number of runs that need no more work."""
        return self.known + self.computed + self.failed


def run_plan(
    plan: Plan,
    store_path: Path,
    located: Located,
    *,
    n_jobs: int | None = None,
    dask: str | None = None,
    retry: bool = False,
    callback: Callable[[RunProgress], None] = lambda progress: None,
) -> RunProgress:
    """Compute the runs of a plan that the store does not have.

    Parameters
    ----------
    plan : Plan
        Its limits hold for every run.
    store_path : Path
        Created if it does not exist.
    located : Located
        Missing sets are left out.
    n_jobs : int, optional
        Worker processes, each with one thread for linear algebra. A run that crashes
        its process does not harm others. By default this process computes, if there
        are no limits.
    dask : str, optional
        Address of a Dask scheduler whose workers compute instead.
    retry : bool
        Whether to repeat runs that failed.
    callback : callable
        Called with the progress after every run.

    Returns
    -------
    progress : RunProgress
    """
    record, judge = record_of(plan, located), judge_key(plan.judge)
    runs = runs_of(plan, record.fingerprints)
    progress = RunProgress(total=len(runs))
    try:
        with _computing(plan, n_jobs, dask) as compute, Store(store_path) as store:
            store.save_record(record)
            known = store.keys(judge) & runs.keys()
            failed = store.keys(judge, failed=True) & runs.keys()
            failed = set() if retry else failed
            progress.known, progress.failed = len(known), len(failed)
            callback(progress)
            jobs = (
                Job(run, plan.judge, located.paths[run.set_name], store.ranking_of(key))
                for key, run in runs.items()
                if key not in known | failed
            )
            with closing(compute(jobs)) as ended:
                for job, outcome in ended:
                    store.save(job.run, judge, outcome)
                    progress.computed += outcome.reason is None
                    progress.failed += outcome.reason is not None
                    callback(progress)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"interrupted; {progress.finished} of {progress.total} runs are kept in "
            f"{store_path}, and the same command continues from there"
        ) from None
    return progress


Compute = Callable[[Iterable[Job]], Generator[Ended]]


@contextmanager
def _computing(plan: Plan, n_jobs: int | None, dask: str | None) -> Iterator[Compute]:
    """Yield a function that turns jobs into their outcomes."""
    limited = plan.timeout is not None or plan.memory is not None
    if dask is not None:
        if limited:
            raise ValueError(
                "time and memory of a run can be limited on this machine only; leave "
                "the limits out, and give them to the workers of Dask instead"
            )
        with _cluster(dask):
            yield _on_cluster
    elif n_jobs is None and not limited:
        yield lambda jobs: ((job, work_on(job)) for job in jobs)
    else:
        if plan.memory is not None and not Path("/proc/self/statm").exists():
            raise ValueError(
                "the memory of a run can be limited on Linux only; leave the limit out"
            )
        yield lambda jobs: in_workers(
            work_on, jobs, n_jobs or 1, timeout=plan.timeout, memory=plan.memory
        )


def _on_cluster(jobs: Iterable[Job]) -> Generator[Ended]:
    parallel = Parallel(return_as="generator_unordered", pre_dispatch="2*n_jobs")
    # A list, since joblib would read the store from other threads.
    yield from parallel([delayed(_with_job)(job) for job in jobs])


def _with_job(job: Job) -> Ended:
    return job, work_on(job)


@contextmanager
def _cluster(address: str) -> Iterator[None]:
    """Compute with joblib on the workers of a Dask scheduler."""
    try:
        from distributed import Client
    except ImportError:
        raise ValueError(
            "a Dask scheduler needs the package distributed; "
            "install it with: pip install 'ufselect[dask]'"
        ) from None
    try:
        client = Client(address, timeout=SCHEDULER_TIMEOUT_SECONDS)
    except (OSError, ValueError) as error:
        raise ValueError(f"no Dask scheduler answers at {address}: {error}") from error
    with client, parallel_config(backend="dask"):
        yield


def in_workers(
    work: Callable[[Job], Outcome],
    jobs: Iterable[Job],
    n_workers: int,
    *,
    timeout: float | None = None,
    memory: float | None = None,
) -> Generator[Ended]:
    """Yield the outcomes of jobs as they end, computed by processes.

    An executor of loky with several processes breaks when one of them dies. Each worker
    is an executor of its own with one process, so that a death costs one run.

    Parameters
    ----------
    work : callable
        What to do with a job; it must be importable.
    jobs : iterable of Job
        The next one is requested when a worker is free.
    n_workers : int
    timeout, memory : float, optional
        Seconds and gigabytes that a job may take.
    """
    waiting = iter(jobs)
    idle = [Worker(work, timeout, memory) for _ in range(n_workers)]
    busy: dict[Future[Outcome], tuple[Worker, Job]] = {}
    pause = None if timeout is memory is None else SECONDS_BETWEEN_LOOKS
    try:
        while True:
            while idle and (job := next(waiting, None)) is not None:
                worker = idle.pop()
                busy[worker.begin(job)] = worker, job
            if not busy:
                return
            wait(busy, timeout=pause, return_when=FIRST_COMPLETED)
            for future, (worker, job) in list(busy.items()):
                outcome = worker.outcome(future)
                if outcome is not None:
                    del busy[future]
                    idle.append(worker)
                    yield job, outcome
    finally:
        for worker in [*idle, *(worker for worker, _ in busy.values())]:
            worker.end()


@dataclass
class Worker:
    """A process that does one job after the other, and is replaced if it ends."""

    work: Callable[[Job], Outcome]
    timeout: float | None
    memory: float | None
    executor: ProcessPoolExecutor | None = None
    # The process number, which is there when everything is loaded.
    process: Future[int] = field(default_factory=Future)
    since: float | None = None

    def begin(self, job: Job) -> Future[Outcome]:
        """Give a job to the process, which is started if there is none."""
        self.since = None
        if self.executor is None:
            self.executor = ProcessPoolExecutor(
                1, initializer=_end_with, initargs=(os.getpid(),)
            )
            with _ctrl_c_blocked():
                self.process = self.executor.submit(os.getpid)
        try:
            return self.executor.submit(self.work, job)
        except BrokenProcessPool:
            self.end()  # it died while it was idle
            return self.begin(job)

    def outcome(self, future: Future[Outcome]) -> Outcome | None:
        """Return the outcome of a job; None if it goes on."""
        if future.done():
            try:
                return future.result()
            except BrokenProcessPool as error:
                self.end()
                # Loky says "The exit codes of the workers are {SIGKILL(-9)}".
                code = str(error).partition("workers are {")[2].partition("}")[0]
                return Outcome(
                    reason=f"its process died ({code or 'unknown exit code'}), perhaps "
                    "for want of memory; try again with --retry"
                )
        reason = self._excess()
        if reason is None:
            return None
        self.end()
        return Outcome(reason=reason)

    def _excess(self) -> str | None:
        """Return which limit the current job exceeds, if any."""
        if not self.process.done() or self.process.exception() is not None:
            return None  # it is being loaded, or has died
        now = time.monotonic()
        self.since = now if self.since is None else self.since
        if self.timeout is not None and now - self.since > self.timeout:
            return (
                f"it took longer than the {self.timeout:g} s that a run may take; "
                "allow more with --run-timeout, and --retry"
            )
        if self.memory is not None and _gigabytes(self.process.result()) > self.memory:
            return (
                f"it took more than the {self.memory:g} GB that a run may take; allow "
                "more with --run-memory, and --retry"
            )
        return None

    def end(self) -> None:
        """End the process, if there is one, at once."""
        if self.executor is not None:
            self.executor.shutdown(kill_workers=True)
            self.executor = None


def _gigabytes(process: int) -> float:
    """Return the resident memory of a process, 0 if it has ended (Linux)."""
    try:
        pages = Path(f"/proc/{process}/statm").read_text().split()[1]
    except OSError:
        return 0.0
    return int(pages) * os.sysconf("SC_PAGE_SIZE") / 1e9


@contextmanager
def _ctrl_c_blocked() -> Iterator[None]:
    """Start a process on which Ctrl-C has no effect; this one decides what ends."""
    if os.name != "posix":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with(parent: int) -> None:
    """End this process at once when the run was killed: nobody waits for its result."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=watch, daemon=True).start()
