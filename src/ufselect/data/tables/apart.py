"""Work in a process of its own, so that what ends that process ends no other.

Libraries that read binary formats trust what a file says of itself, and some damage
ends the process that they run in.
"""

import contextlib
import faulthandler
import os
import pickle
import signal
import sys
import warnings
from collections.abc import Callable
from typing import Any

# Elsewhere there is no fork, or the libraries of the system do not survive it.
POSSIBLE = sys.platform == "linux"


class EndedError(Exception):
    """The process ended before its work was done; the argument says by what."""


def apart(function: Callable[..., Any], *arguments: Any, seconds: int = 10**6) -> Any:
    """Return what a function returns, or raise what it raises, in a child process.

    That process is ended when it has computed for so many seconds: damage can also
    lead a library in circles. Where no such process is possible the function runs in
    this one.

    Examples
    --------
    >>> apart(divmod, 7, 2)
    (3, 1)
    """
    if not POSSIBLE:
        return function(*arguments)
    reading, writing = os.pipe()
    child = _forked()
    if child == 0:
        os.close(reading)
        _answer(writing, function, arguments, seconds)
    os.close(writing)
    try:
        answer = _received(reading)
    except BaseException:
        # An interruption, say: nobody waits for the answer any more.
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if answer is None:
        raise EndedError(_reason(code))
    succeeded, value = answer
    if not succeeded:
        raise value
    return value


def _forked() -> int:
    with warnings.catch_warnings():
        # Python warns of other threads, of which the child has none and needs none.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _answer(
    writing: int, function: Callable[..., Any], arguments: Any, seconds: int
) -> None:
    """Do the work, send what came of it, and end."""
    try:
        _limit_time(seconds)
        faulthandler.disable()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        # What libraries print when they give up is of no use to anybody.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            answer = True, function(*arguments)
        except Exception as error:  # noqa: BLE001 - it is raised in the other process
            answer = False, error
        with open(writing, "wb") as stream:
            pickle.dump(answer, stream, protocol=5)
    finally:
        # No more than this: the rest of the program belongs to the other process.
        os._exit(0)


def _limit_time(seconds: int) -> None:
    import resource  # which only systems with fork have

    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if hard == resource.RLIM_INFINITY or seconds < hard:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, hard))


def _received(reading: int) -> Any:
    """Return what our child sends, or None if it ends before it has."""
    with (
        open(reading, "rb") as stream,
        contextlib.suppress(EOFError, pickle.UnpicklingError),
    ):
        return pickle.load(stream)  # nosec B301 # our own process wrote it
    return None


def _reason(code: int) -> str:
    if code == -signal.SIGXCPU:
        return "reading it came to no end"
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"the process that read it was ended by {signal.Signals(-code).name}"
    return "the process that read it ended"
