"""Processes that compute cells, each of which may hang, die or grow without harm.

A process gets one cell at a time. One that takes longer than is allowed, or more
memory, is ended, and the cell is reported with that reason. A process that dies by
itself, of a crash in a library or for want of memory, is replaced and its cell is tried
once more. The other cells go on, and what was finished is already with the caller.
"""

import time
from collections import deque
from collections.abc import Iterable, Iterator
from multiprocessing import connection

from ufselect.experiments.limits import Limits
from ufselect.experiments.memory import watches_others
from ufselect.experiments.store import STOPPED, Outcome
from ufselect.experiments.work import Job
from ufselect.experiments.worker_process import Work, WorkerProcess

Ended = tuple[Job, Outcome]

ATTEMPTS = 2
# How often memory is looked at, in seconds: what can be filled meanwhile is little.
GLANCE = 0.05


class Crew:
    """Some processes of this machine; close it to end them.

    Parameters
    ----------
    work : callable
        Called with the parts of a job; must be importable.
    n_workers : int
    limits : Limits
    """

    def __init__(self, work: Work, n_workers: int, limits: Limits) -> None:
        if limits.memory is not None and not watches_others():
            raise ValueError(
                "the memory of a cell can be limited on Linux only; leave the limit out"
            )
        self._limits = limits
        self._seats = [_Seat(work) for _ in range(n_workers)]

    def results(self, parcels: Iterable[list[Job]]) -> Iterator[Ended]:
        """Yield what becomes of jobs; those of one parcel go to one process in order.

        A parcel is asked for when there is a process for it.
        """
        waiting = iter(parcels)
        while True:
            for seat in self._seats:
                if not seat.jobs:
                    seat.take(next(waiting, []))
            busy = {seat.worker.connection: seat for seat in self._seats if seat.worker}
            if not any(seat.jobs for seat in self._seats):
                return
            for each in connection.wait(list(busy), self._patience()):
                yield from busy[each].hear()
            for seat in self._seats:
                yield from seat.judge(self._limits)

    def close(self) -> None:
        """End all processes, whatever they do."""
        for seat in self._seats:
            seat.leave()

    def _patience(self) -> float | None:
        """Return for how long nothing need be looked at; None is for ever."""
        times = [] if self._limits.memory is None else [GLANCE]
        if self._limits.seconds is not None:
            longest = max(seat.seconds() for seat in self._seats)
            times.append(max(0.0, self._limits.seconds - longest))
        return min(times, default=None)


class _Seat:
    """The place of one process after the other, and the jobs it has to do."""

    def __init__(self, work: Work) -> None:
        self.jobs: deque[Job] = deque()
        self.worker: WorkerProcess | None = None
        self._work = work
        self._deaths = 0
        # When the present job began; None while no process works on it.
        self._since: float | None = None

    def take(self, parcel: list[Job]) -> None:
        """Do these jobs, one after the other."""
        self.jobs.extend(parcel)
        if not self.jobs:
            return
        if self.worker is None:
            self.worker = WorkerProcess(self._work)
        else:
            self._begin(self.worker)

    def hear(self) -> Iterator[Ended]:
        """Yield the job that has ended, if one has."""
        if self.worker is None:
            return
        try:
            outcome = self.worker.hear()
        except EOFError:
            yield from self._died(self.worker)
            return
        if outcome is None:
            self._begin(self.worker)
        else:
            yield from self._ended(outcome)

    def judge(self, limits: Limits) -> Iterator[Ended]:
        """End the process if its job takes too much, and yield the job."""
        if self._since is None or self.worker is None:
            return
        if limits.seconds is not None and self.seconds() >= limits.seconds:
            yield from self._stopped(
                f"it took longer than the {limits.seconds:g} s that a cell may take; "
                "allow more with --cell-timeout, and --retry"
            )
        elif limits.memory is not None and self.worker.memory() > limits.memory:
            yield from self._stopped(
                f"it took more than the {limits.memory / 1e6:g} MB that a cell may "
                "take; allow more with --cell-memory, and --retry"
            )

    def seconds(self) -> float:
        """Return how long the present job has taken."""
        return 0.0 if self._since is None else time.monotonic() - self._since

    def leave(self) -> None:
        """End the process, if there is one."""
        self._since = None
        if self.worker is not None:
            self.worker.end()
            self.worker = None

    def _begin(self, worker: WorkerProcess) -> None:
        # An idle process may have died and been heard of before it got a job.
        if self.jobs:
            self._since = time.monotonic()
            worker.send(self.jobs[0])

    def _died(self, worker: WorkerProcess) -> Iterator[Ended]:
        how = worker.manner_of_death()
        self._deaths += bool(self.jobs)
        if self._deaths == ATTEMPTS:
            yield from self._stopped(
                f"its process died {ATTEMPTS} times ({how}); try again with --retry"
            )
        else:
            self.leave()
            self.take([])

    def _stopped(self, reason: str) -> Iterator[Ended]:
        self.leave()
        yield from self._ended(Outcome(STOPPED, reason=reason))

    def _ended(self, outcome: Outcome) -> Iterator[Ended]:
        job = self.jobs.popleft()
        self._since, self._deaths = None, 0
        self.take([])  # Whatever is left of the parcel.
        yield job, outcome
