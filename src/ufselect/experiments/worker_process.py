"""A process of its own for the work of cells, which may be ended at any moment."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from typing import Any

from ufselect.experiments.memory import memory_of
from ufselect.experiments.store import Outcome
from ufselect.experiments.work import Job

Work = Callable[..., Outcome]

# A server that has loaded everything once replaces a process within milliseconds.
CONTEXT: Any = multiprocessing.get_context(
    "forkserver" if os.name == "posix" else "spawn"
)


class WorkerProcess:
    """A process that does one job after the other.

    Parameters
    ----------
    work : callable
        Called with the parts of a job; must be importable.
    """

    def __init__(self, work: Work) -> None:
        self.connection, theirs = CONTEXT.Pipe()
        arguments = (theirs, work)
        self._process = CONTEXT.Process(target=_serve, args=arguments, daemon=True)
        with _not_interrupted():
            self._process.start()
        theirs.close()

    def send(self, job: Job) -> None:
        """Hand over a job; one that has died meanwhile is found dead when heard."""
        with suppress(OSError):
            self.connection.send(job)

    def hear(self) -> Outcome | None:
        """Return what became of a job, or None once, when it is ready for the first.

        Raises EOFError if it has died.
        """
        try:
            outcome: Outcome | None = self.connection.recv()
        except OSError as error:
            raise EOFError from error
        return outcome

    def memory(self) -> int:
        """Return the resident bytes."""
        return memory_of(self._process.pid or 0)

    def end(self) -> None:
        """End, whatever it does."""
        self._process.kill()
        self._process.join()
        self._process.close()
        self.connection.close()

    def manner_of_death(self) -> str:
        """Return how a process ended that has ended by itself."""
        self._process.join()
        code = self._process.exitcode
        if code is None or code >= 0:
            return f"exit code {code}"
        hint = ", perhaps for want of memory" if code == -9 else ""
        return f"signal {signal.Signals(-code).name}{hint}"


@contextmanager
def _not_interrupted() -> Iterator[None]:
    """Start processes to which Ctrl-C means nothing: who started them ends them."""
    CONTEXT.set_forkserver_preload([_serve.__module__])
    if os.name != "posix":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(theirs: Connection, work: Work) -> None:
    """Do one job after the other until the connection is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    theirs.send(None)
    while True:
        try:
            job = theirs.recv()
        except EOFError:
            return
        theirs.send(work(*job))


def _end_with_parent() -> None:
    """End at once when the run was killed: nobody waits for the rest of the cell."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
