"""Compute cells in this process, in a worker pool, or on the workers of a cluster.

A worker of the pool gets one cell at a time. If the cell exceeds its limit of time or
memory, the worker is ended and the cell is reported with that reason. A worker that
crashes, in a library or without memory, is replaced and its cell is repeated once.
Other cells are not affected.

No library has such a pool: the cells of a path of warm starts go to one process, each
with its own time limit; the limit is on resident memory, since one on address space
(setrlimit) makes libraries crash without a message; and no worker outlives a run that
is killed. The executors of joblib and concurrent.futures break when a worker dies, and
the pool of pebble has timeouts but none of these three.
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
from dataclasses import dataclass, field
from multiprocessing import connection, resource_tracker
from typing import Any

from joblib import Parallel, delayed, parallel_config

from ufselect.experiments.limits import Limits, can_watch_memory, memory_of
from ufselect.experiments.store import STOPPED, Outcome
from ufselect.experiments.work import Job, work_on

# Jobs that one process does in order, since each starts from the one before.
Batch = list[Job]
Ended = tuple[Job, Outcome]
Compute = Callable[[Iterable[Batch]], Iterator[Ended]]
Work = Callable[..., Outcome]

SCHEDULER_TIMEOUT_SECONDS = 10
ATTEMPTS_PER_CELL = 2
# Short, so that a worker can take little memory between two checks.
SECONDS_BETWEEN_LOOKS = 0.05
STARTS_OF_A_PROCESS = 6

# A fork server with everything loaded replaces a process within milliseconds.
CONTEXT: Any = multiprocessing.get_context(
    "forkserver" if os.name == "posix" else "spawn"
)


@contextmanager
def computing(
    n_jobs: int | None, dask: str | None, limits: Limits
) -> Iterator[Compute]:
    """Yield a function that turns batches of jobs into their outcomes."""
    if dask is not None:
        with _cluster(dask, limits):
            yield _on_cluster
    elif n_jobs is None and not limits:
        yield _here
    else:
        with closing(WorkerPool(work_on, n_jobs or 1, limits)) as pool:
            yield pool.results


def _here(batches: Iterable[Batch]) -> Iterator[Ended]:
    return ((job, work_on(*job)) for batch in batches for job in batch)


def _on_cluster(batches: Iterable[Batch]) -> Iterator[Ended]:
    parallel = Parallel(return_as="generator_unordered", pre_dispatch="2*n_jobs")
    for ended in parallel(delayed(_all_of)(batch) for batch in batches):
        yield from ended


def _all_of(batch: Batch) -> list[Ended]:
    return list(_here([batch]))


@contextmanager
def _cluster(address: str, limits: Limits) -> Iterator[None]:
    """Compute with joblib on the workers of a Dask scheduler."""
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
    """A pool of worker processes; close it to end them.

    Parameters
    ----------
    work : callable
        Called with the parts of a job; it must be importable.
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
        """Yield the outcomes of jobs; those of one batch go to one worker in order.

        The next batch is requested when a worker is free.
        """
        waiting = iter(batches)
        while True:
            for worker in self._workers:
                worker.jobs.extend([] if worker.jobs else next(waiting, []))
                worker.begin()
            busy = {worker.pipe: worker for worker in self._workers if worker.jobs}
            if not busy:
                return
            ready = connection.wait(list(busy), self._seconds_to_wait())
            for pipe, worker in busy.items():
                if pipe in ready:
                    outcome = worker.receive()
                else:
                    outcome = worker.stop_beyond(self._limits)
                if outcome is not None:
                    yield worker.jobs.popleft(), outcome

    def close(self) -> None:
        """End all processes at once."""
        for worker in self._workers:
            worker.end()

    def _seconds_to_wait(self) -> float | None:
        """Return the seconds until limits must be checked again; None is never."""
        times = [] if self._limits.memory is None else [SECONDS_BETWEEN_LOOKS]
        if self._limits.seconds is not None:
            longest = max(worker.seconds() for worker in self._workers)
            times.append(max(0.0, self._limits.seconds - longest))
        return min(times, default=None)


@dataclass
class Worker:
    """A process that does one job after the other, and is replaced if it dies."""

    work: Work
    jobs: deque[Job] = field(default_factory=deque)
    # The process and the connection to it, from the first job on.
    process: Any = None
    pipe: Any = None
    deaths: int = 0
    # Start of the current job; None while the process is idle.
    since: float | None = None

    def begin(self) -> None:
        """Give the next job to the process, if it is idle."""
        if not self.jobs or self.since is not None:
            return
        if self.process is None:
            self._start()
        self.since = time.monotonic()
        # If the process has died by now, this is noticed when its answer is read.
        with suppress(OSError):
            self.pipe.send(self.jobs[0])

    def receive(self) -> Outcome | None:
        """Return the outcome of the job; None if it is to be repeated."""
        try:
            outcome: Outcome = self.pipe.recv()
        except (EOFError, OSError):
            self.process.join()
            code = self.process.exitcode
            how = f"exit code {code}"
            if code < 0:
                name = signal.Signals(-code).name
                hint = ", perhaps for want of memory" if name == "SIGKILL" else ""
                how = f"signal {name}{hint}"
            self.end()
            self.deaths += 1
            if self.deaths < ATTEMPTS_PER_CELL:
                return None
            outcome = Outcome(
                STOPPED,
                f"its process died {ATTEMPTS_PER_CELL} times ({how}); try again with "
                "--retry",
            )
        self.since, self.deaths = None, 0
        return outcome

    def stop_beyond(self, limits: Limits) -> Outcome | None:
        """End the process if its job exceeds a limit, and return that outcome."""
        if limits.seconds is not None and self.seconds() >= limits.seconds:
            reason = (
                f"it took longer than the {limits.seconds:g} s that a cell may take; "
                "allow more with --cell-timeout, and --retry"
            )
        elif limits.memory is not None and memory_of(self.process.pid) > limits.memory:
            reason = (
                f"it took more than the {limits.memory / 1e6:g} MB that a cell may "
                "take; allow more with --cell-memory, and --retry"
            )
        else:
            return None
        self.end()
        self.deaths = 0
        return Outcome(STOPPED, reason)

    def seconds(self) -> float:
        """Return the seconds that the current job has taken."""
        return 0.0 if self.since is None else time.monotonic() - self.since

    def end(self) -> None:
        """End the process, if there is one, at once."""
        self.since = None
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process.close()
            self.pipe.close()
            self.process = self.pipe = None

    def _start(self) -> None:
        for attempt in range(1, STARTS_OF_A_PROCESS + 1):
            ours, theirs = CONTEXT.Pipe()
            arguments = (theirs, self.work)
            process = CONTEXT.Process(target=_serve, args=arguments, daemon=True)
            try:
                with closing(theirs), _starting():
                    process.start()
            except (EOFError, OSError):
                ours.close()
                # The server was killed; the next attempt starts another one.
                if attempt == STARTS_OF_A_PROCESS:
                    raise
                time.sleep(0.2 * attempt)
            else:
                self.process, self.pipe = process, ours
                return


@contextmanager
def _starting() -> Iterator[None]:
    """Start processes that import from the same path as this one and ignore Ctrl-C.

    The first call also starts the server. It must not import from the current folder,
    where a user may have files with the names of modules.
    """
    CONTEXT.set_forkserver_preload([_serve.__module__])
    paths = os.pathsep.join(path for path in sys.path if path)
    before = dict(os.environ)
    os.environ.update(PYTHONPATH=paths, PYTHONSAFEPATH="1")
    blocked = None
    if os.name == "posix":
        # Started by the server, the tracker would unblock Ctrl-C there.
        resource_tracker.ensure_running()
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        if blocked is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        for name in ("PYTHONPATH", "PYTHONSAFEPATH"):
            os.environ.pop(name)
            if name in before:
                os.environ[name] = before[name]


def _serve(pipe: connection.Connection, work: Work) -> None:
    """Do one job after the other until the connection is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # An interrupted run no longer sends or receives.
    with suppress(EOFError, OSError):
        while True:
            pipe.send(work(*pipe.recv()))


def _end_with_parent() -> None:
    """End at once when the run was killed, since nobody waits for the result."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
