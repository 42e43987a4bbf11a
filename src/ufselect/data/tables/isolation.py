"""Readers that may fail: their errors in one sentence, in a process that may be lost.

Libraries that read binary formats trust what a file says of itself. They raise many
kinds of errors if it is not true, and some damage ends the process they run in.
"""

import contextlib
import faulthandler
import os
import pickle
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ufselect.data.tables.table import TableError

# Elsewhere there is no fork, or the libraries of the system do not survive it.
CAN_ISOLATE = sys.platform == "linux"
STATUS = Path("/proc/self/status")
MACHINE = Path("/proc/meminfo")
# Of the available memory, for what other programs take meanwhile.
SHARE_LEFT_TO_OTHERS = 0.05
LONGEST_REASON = 300


class EndedError(Exception):
    """The subprocess ended before its work was done; the argument says why."""


def reason_of(error: BaseException) -> str:
    """Return what an error says in one line: some show the bytes they do not like."""
    reason = " ".join(str(error).split()) or type(error).__name__
    return reason if len(reason) <= LONGEST_REASON else f"{reason[:LONGEST_REASON]}..."


def damaged(name: str, kind: str, error: BaseException) -> TableError:
    """Return the error for a damaged file.

    Examples
    --------
    >>> damaged("a.npy", "a NumPy array", ValueError("too short"))
    TableError('a.npy is cut off or damaged (read as a NumPy array: too short); copy, \
download or save it again')
    """
    return TableError(
        f"{name} is cut off or damaged (read as {kind}: {reason_of(error)}); "
        "copy, download or save it again"
    )


@contextmanager
def saying_when_damaged(name: str, kind: str) -> Iterator[None]:
    """Turn what a library raises on a damaged file into one sentence."""
    try:
        with saying_when_too_large(name):
            yield
    except (TableError, ImportError):
        raise
    except Exception as error:  # readers trust a file, and fail in many ways
        raise damaged(name, kind, error) from error


@contextmanager
def saying_when_too_large(name: str) -> Iterator[None]:
    """Turn the end of memory into one sentence."""
    try:
        yield
    except MemoryError:
        raise TableError(
            f"{name} needs more memory than there is, or is damaged; use a smaller "
            "table, or .npy, which stays on disk"
        ) from None


def isolated(
    function: Callable[..., Any], *arguments: Any, seconds: int = 10**6
) -> Any:
    """Return what a function returns, or raise what it raises, in a subprocess.

    The subprocess is ended when it has computed for so many seconds: damage can also
    lead a library into an endless loop. Where no subprocess is possible the function
    runs in this process.

    Examples
    --------
    >>> isolated(divmod, 7, 2)
    (3, 1)
    """
    if not CAN_ISOLATE:
        return function(*arguments)
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # Python warns of other threads, of which the child has none and needs none.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
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


def _answer(
    writing: int, function: Callable[..., Any], arguments: Any, seconds: int
) -> None:
    """Do the work in the subprocess, send what came of it, and end."""
    import resource  # which only systems with fork have

    try:
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        if hard == resource.RLIM_INFINITY or seconds < hard:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, hard))
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


def _received(reading: int) -> Any:
    """Return what the subprocess sends, or None if it ends before it has."""
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


def available_bytes() -> int | None:
    """Return how much memory the machine could still give, or None if it does not say.

    Examples
    --------
    >>> available_bytes() != 0
    True
    """
    return _entry(MACHINE, "MemAvailable")


@contextmanager
def within_memory(most: int | None = None) -> Iterator[None]:
    """Let memory run out in this process, with MemoryError, before the machine's does.

    Linux promises more memory than there is, and ends a process that uses it.

    Parameters
    ----------
    most : int, optional
        Bytes beyond what is in use; by default what the machine has left. Files that
        are mapped into memory do not count.
    """
    available, used = most or available_bytes(), _entry(STATUS, "VmData")
    if available is None or used is None:
        yield
        return
    import resource  # which systems without /proc may not have

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit = used + int((1 - SHARE_LEFT_TO_OTHERS) * available)
    if soft != resource.RLIM_INFINITY:
        limit = min(limit, soft)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _entry(path: Path, name: str) -> int | None:
    """Return a number of bytes that the system tells under a name."""
    try:
        found = re.search(rf"^{name}:\s+(\d+) kB", path.read_text(), re.MULTILINE)
    except OSError:
        return None
    return None if found is None else 1024 * int(found[1])
