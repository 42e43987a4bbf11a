"""A process of its own for the work of cells, which may be ended at any moment."""

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from typing import Any

from ufselect.experiments.memory import memory_of
from ufselect.experiments.store import Outcome
from ufselect.experiments.work import Job

Work = Callable[..., Outcome]

STARTS = 6

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
        for attempt in range(1, STARTS + 1):
            try:
                self._start(work)
            except (EOFError, OSError):
                # The server was killed; once that is known, another one is started.
                if attempt == STARTS:
                    raise
                time.sleep(0.2 * attempt)
            else:
                break

    def _start(self, work: Work) -> None:
        self.connection, theirs = CONTEXT.Pipe()
        arguments = (theirs, work)
        self._process = CONTEXT.Process(target=_serve, args=arguments, daemon=True)
        with closing(theirs), _starting():
            self._process.start()

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
def _starting() -> Iterator[None]:
    """Start processes like this one, to which Ctrl-C means nothing.

    The first start is that of the server. It must load from where this process does,
    not from a folder in which a user keeps files of any name.
    """
    CONTEXT.set_forkserver_preload([_serve.__module__])
    paths = os.pathsep.join(path for path in sys.path if path)
    with _environment(PYTHONPATH=paths, PYTHONSAFEPATH="1"), _not_interrupted():
        yield


@contextmanager
def _environment(**changes: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
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


def _serve(theirs: Connection, work: Work) -> None:
    """Do one job after the other until the connection is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    done: Outcome | None = None
    # A run that was interrupted no longer listens.
    with suppress(EOFError, OSError):
        while True:
            theirs.send(done)
            done = _done(work, theirs.recv())


def _done(work: Work, job: Job) -> Outcome:
    """Return what became of a job; what it raises ends the process, with a trace."""
    try:
        return work(*job)
    except OSError as error:
        raise RuntimeError("a job must not raise") from error


def _end_with_parent() -> None:
    """End at once when the run was killed: nobody waits for the rest of the cell."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
