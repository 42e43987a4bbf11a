"""A second process, which fits for a report while this one works on."""

import contextlib
import os
import pickle  # nosec B403 # between two processes of ours
import subprocess  # nosec B404
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any


class SecondProcess:
    """Calls functions in a subprocess, one after the other.

    The subprocess ends when its input ends, even if this process is killed. A pool of
    ``concurrent.futures`` would load the main module again and receive Ctrl-C.

    Parameters
    ----------
    *first : callable
        What the subprocess calls first, such as imports of what it will need.
    """

    def __init__(self, *first: Callable[[], None]) -> None:
        code = "from ufselect.report.second_process import answer_parent as a; a()"
        self._process = subprocess.Popen(  # nosec B603 # nothing in it is given
            [sys.executable, "-P", "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # The other cores are for this process.
            env=dict(os.environ, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1"),
            # Ctrl-C is for this process, which then ends the other.
            start_new_session=True,
        )
        self._thread = ThreadPoolExecutor(1)
        for call in first:
            self.submit(call)

    def submit(self, call: Callable[[], Any]) -> "Future[Any]":
        """Return the future result, which is None if the call fails there."""
        return self._thread.submit(self._result, call)

    def _result(self, call: Callable[[], Any]) -> Any:
        calls, results = self._process.stdin, self._process.stdout
        try:
            pickle.dump(call, calls, pickle.HIGHEST_PROTOCOL)  # type: ignore[arg-type]
            calls.flush()  # type: ignore[union-attr]
            return pickle.load(results)  # type: ignore[arg-type] # nosec B301
        except (AttributeError, EOFError, OSError, pickle.PickleError):
            return None

    def close(self) -> None:
        """End the subprocess, whatever it does."""
        self._process.kill()
        self._thread.shutdown(cancel_futures=True)
        self._process.communicate()


def load_fits() -> None:
    """Import what fits to halves of a table need."""
    import ufselect.report.halves
    import ufselect.tuning.auto_select  # noqa: F401


def answer_parent() -> None:
    """Call what comes on standard input, until that ends."""
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            call = pickle.load(sys.stdin.buffer)  # nosec B301
            # An error ends this process; the parent calls again and shows the error.
            pickle.dump(call(), sys.stdout.buffer, pickle.HIGHEST_PROTOCOL)
            sys.stdout.buffer.flush()


_process: ContextVar[SecondProcess | None] = ContextVar("second", default=None)


@contextmanager
def second_process(*first: Callable[[], None]) -> Iterator[None]:
    """Have a second process for `begin`, unless there is only one core."""
    from joblib import cpu_count

    if cpu_count() < 2 or not sys.executable:
        yield
        return
    process = SecondProcess(*first)
    token = _process.set(process)
    try:
        yield
    finally:
        _process.reset(token)
        process.close()


def begin(call: Callable[[], Any]) -> "Future[Any] | None":
    """Begin a call inside `second_process`; elsewhere return None."""
    process = _process.get()
    return None if process is None else process.submit(call)
