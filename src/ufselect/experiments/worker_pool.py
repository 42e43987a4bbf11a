"""Who computes the cells: this process, a worker pool, or the workers of a cluster.

A worker of the pool gets one cell at a time. One that takes longer than is allowed, or
more memory, is ended, and the cell is reported with that reason. A worker that dies by
itself, of a crash in a library or for want of memory, is replaced and its cell is tried
once more. The other cells go on, and what was finished is already with the caller.

Why not the pool of a library: the cells of a path of warm starts go to one process, but
each has its own time; the limit is on resident memory, since one on address space
(setrlimit) makes libraries crash without a word; and no worker outlives a run that is
killed. The executors of joblib and concurrent.futures break when a worker dies, and
pebble's pool, which has timeouts, has none of these three.
"""

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from multiprocessing import connection, resource_tracker
from typing import Any

from joblib import Parallel, delayed, parallel_config

from ufselect.experiments.limits import Limits, can_watch_memory, memory_of
from ufselect.experiments.store import STOPPED, Outcome
from ufselect.experiments.work import Job, work_on

# Jobs that one process does in order, since each takes its start from the one before.
Batch = list[Job]
Ended = tuple[Job, Outcome]
Compute = Callable[[Iterable[Batch]], Iterator[Ended]]
Work = Callable[..., Outcome]

SCHEDULER_TIMEOUT_SECONDS = 10
ATTEMPTS_PER_CELL = 2
# What can be filled between two looks at the memory of a worker is little.
SECONDS_BETWEEN_LOOKS = 0.05
STARTS_OF_A_PROCESS = 6

# A server that has loaded everything once replaces a process within milliseconds.
CONTEXT: Any = multiprocessing.get_context(
    "forkserver" if os.name == "posix" else "spawn"
)


@contextmanager
def computing(
    n_jobs: int | None, dask: str | None, limits: Limits
) -> Iterator[Compute]:
    """Provide a function from batches of jobs to what becomes of the jobs."""
    if dask is not None:
        with _cluster(dask, limits):
            yield _on_cluster
    elif n_jobs is None and not limits:
        yield _here
    else:
        with closing(WorkerPool(work_on, n_jobs or 1, limits)) as pool:
            yield pool.results


def _here(batches: Iterable[Batch]) -> Iterator[Ended]:
    for batch in batches:
        for job in batch:
            yield job, work_on(*job)


def _on_cluster(batches: Iterable[Batch]) -> Iterator[Ended]:
    parallel = Parallel(return_as="generator_unordered", pre_dispatch="2*n_jobs")
    for ended in parallel(delayed(_all_of)(batch) for batch in batches):
        yield from ended


def _all_of(batch: Batch) -> list[Ended]:
    return list(_here([batch]))


@contextmanager
def _cluster(address: str, limits: Limits) -> Iterator[None]:
    """Let joblib compute on the workers of a Dask scheduler."""
    if limits:
        raise ValueError(
            "time and memory of a cell can be limited on this machine only; leave the "
            "limits out, and give them to the workers of Dask instead"
        )
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


class WorkerPool:
    """Some processes of this machine; close it to end them.

    Parameters
    ----------
    work : callable
        Called with the parts of a job; must be importable.
    n_workers : int
    limits : Limits
    """

    def __init__(self, work: Work, n_workers: int, limits: Limits) -> None:
        if limits.memory is not None and not can_watch_memory():
            raise ValueError(
                "the memory of a cell can be limited on Linux only; leave the limit out"
            )
        self._limits = limits
        self._workers = [Worker(work) for _ in range(n_workers)]

    def results(self, batches: Iterable[Batch]) -> Iterator[Ended]:
        """Yield what becomes of jobs; those of one batch go to one worker in order.

        A batch is asked for when there is a worker for it.
        """
        waiting = iter(batches)
        while True:
            for worker in self._workers:
                if not worker.jobs:
                    worker.assign(next(waiting, []))
            if not any(worker.jobs for worker in self._workers):
                return
            started = {each.connection: each for each in self._workers if each.process}
            for ready in connection.wait(list(started), self._seconds_to_wait()):
                yield from started[ready].receive()
            for worker in self._workers:
                yield from worker.enforce(self._limits)

    def close(self) -> None:
        """End all processes, whatever they do."""
        for worker in self._workers:
            worker.end()

    def _seconds_to_wait(self) -> float | None:
        """Return for how long no limit can be exceeded unseen; None is for ever."""
        times = [] if self._limits.memory is None else [SECONDS_BETWEEN_LOOKS]
        if self._limits.seconds is not None:
            longest = max(worker.seconds() for worker in self._workers)
            times.append(max(0.0, self._limits.seconds - longest))
        return min(times, default=None)


class Worker:
    """A process that does one job after the other, and is replaced if it ends.

    Parameters
    ----------
    work : callable
        Called with the parts of a job; must be importable.
    """

    def __init__(self, work: Work) -> None:
        self.jobs: deque[Job] = deque()
        # A process and the connection to it, from the first job on.
        self.process: Any = None
        self.connection: Any = None
        self._work = work
        self._deaths = 0
        # When the present job began; None while no process works on it.
        self._since: float | None = None

    def assign(self, batch: Batch) -> None:
        """Do these jobs, one after the other."""
        self.jobs.extend(batch)
        if not self.jobs:
            return
        if self.process is None:
            self._start()
        else:
            self._begin()

    def receive(self) -> Iterator[Ended]:
        """Yield the job that has ended, if one has."""
        try:
            outcome = self.connection.recv()
        except (EOFError, OSError):
            yield from self._died()
            return
        if outcome is None:  # The process is ready for its first job.
            self._begin()
        else:
            yield from self._finish(outcome)

    def enforce(self, limits: Limits) -> Iterator[Ended]:
        """End the process if its job takes too much, and yield the job."""
        if self._since is None:
            return
        if limits.seconds is not None and self.seconds() >= limits.seconds:
            yield from self._stop(
                f"it took longer than the {limits.seconds:g} s that a cell may take; "
                "allow more with --cell-timeout, and --retry"
            )
        elif limits.memory is not None and memory_of(self.process.pid) > limits.memory:
            yield from self._stop(
                f"it took more than the {limits.memory / 1e6:g} MB that a cell may "
                "take; allow more with --cell-memory, and --retry"
            )

    def seconds(self) -> float:
        """Return how long the present job has taken."""
        return 0.0 if self._since is None else time.monotonic() - self._since

    def end(self) -> None:
        """End the process, if there is one, whatever it does."""
        self._since = None
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process.close()
            self.connection.close()
            self.process = self.connection = None

    def _start(self) -> None:
        for attempt in range(1, STARTS_OF_A_PROCESS + 1):
            ours, theirs = CONTEXT.Pipe()
            arguments = (theirs, self._work)
            process = CONTEXT.Process(target=_serve, args=arguments, daemon=True)
            try:
                with closing(theirs), _starting():
                    process.start()
            except (EOFError, OSError):
                ours.close()
                # The server was killed; once that is known, another one is started.
                if attempt == STARTS_OF_A_PROCESS:
                    raise
                time.sleep(0.2 * attempt)
            else:
                self.process, self.connection = process, ours
                return

    def _begin(self) -> None:
        # An idle process may have died and been heard of before it got a job.
        if self.jobs:
            self._since = time.monotonic()
            # One that has died meanwhile is found dead when it is listened to.
            with suppress(OSError):
                self.connection.send(self.jobs[0])

    def _died(self) -> Iterator[Ended]:
        self.process.join()
        how = _manner_of_death(self.process.exitcode)
        self._deaths += bool(self.jobs)
        if self._deaths == ATTEMPTS_PER_CELL:
            yield from self._stop(
                f"its process died {ATTEMPTS_PER_CELL} times ({how}); try again with "
                "--retry"
            )
        else:
            self.end()
            self.assign([])

    def _stop(self, reason: str) -> Iterator[Ended]:
        self.end()
        yield from self._finish(Outcome(STOPPED, reason=reason))

    def _finish(self, outcome: Outcome) -> Iterator[Ended]:
        job = self.jobs.popleft()
        self._since, self._deaths = None, 0
        self.assign([])  # Whatever is left of the batch.
        yield job, outcome


def _manner_of_death(code: int | None) -> str:
    if code is None or code >= 0:
        return f"exit code {code}"
    hint = ", perhaps for want of memory" if code == -signal.SIGKILL else ""
    return f"signal {signal.Signals(-code).name}{hint}"


@contextmanager
def _starting() -> Iterator[None]:
    """Start processes like this one, to which Ctrl-C means nothing.

    The first start is that of the server. It must load from where this process does,
    not from a folder in which a user keeps files of any name.
    """
    CONTEXT.set_forkserver_preload([_serve.__module__])
    paths = os.pathsep.join(path for path in sys.path if path)
    changes = {"PYTHONPATH": paths, "PYTHONSAFEPATH": "1"}
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        with _not_interrupted():
            yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _not_interrupted() -> Iterator[None]:
    """Block Ctrl-C, also in what is started: who started it ends it."""
    if os.name != "posix":
        yield
        return
    # It unblocks Ctrl-C when it starts, also for the server that would start it.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(theirs: connection.Connection, work: Work) -> None:
    """Do one job after the other until the connection is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    done: Outcome | None = None
    while True:
        # A run that was interrupted no longer listens.
        try:
            theirs.send(done)
            job = theirs.recv()
        except (EOFError, OSError):
            return
        done = work(*job)


def _end_with_parent() -> None:
    """End at once when the run was killed: nobody waits for the rest of the cell."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
