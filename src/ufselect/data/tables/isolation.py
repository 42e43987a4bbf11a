"""Readers that may fail: their errors in one sentence, crashes in a subprocess.

Libraries for binary formats trust the headers of a file. On a damaged file they raise
many kinds of errors, and some crash the process.
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

# Other systems have no fork, or have libraries that do not survive it.
CAN_ISOLATE = sys.platform == "linux"
STATUS = Path("/proc/self/status")
MACHINE = Path("/proc/meminfo")
# Share of the available memory that is left to other programs.
SHARE_LEFT_TO_OTHERS = 0.05
MAX_REASON_LENGTH = 300


class EndedError(Exception):
    """The subprocess ended before its work was done; the argument says why."""


def reason_of(error: BaseException) -> str:
    """Return the message of an error, in one line that is not too long."""
    reason = " ".join(str(error).split()) or type(error).__name__
    limit = MAX_REASON_LENGTH
    return reason if len(reason) <= limit else f"{reason[:limit]}..."


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
def damage_errors(name: str, kind: str) -> Iterator[None]:
    """Turn any error of a library into the sentence for a damaged file."""
    try:
        with memory_errors(name):
            yield
    except (TableError, ImportError):
        raise
    except Exception as error:  # readers trust a file, and fail in many ways
        raise damaged(name, kind, error) from error


@contextmanager
def memory_errors(name: str) -> Iterator[None]:
    """Turn a MemoryError into one sentence."""
    try:
        yield
    except MemoryError:
        raise TableError(
            f"{name} needs more memory than is free, or is damaged; use a smaller "
            "table, or .npy, which stays on disk"
        ) from None


def isolated(
    function: Callable[..., Any],
    *arguments: Any,
    seconds: int = 10**6,
    memory: int | None = None,
) -> Any:
    """Call a function in a subprocess; return what it returns, raise what it raises.

    The subprocess is ended after some ``seconds`` of computing, since a damaged file
    can also lead a library into an endless loop, and may take some bytes of ``memory``
    (by default what is free). Where subprocesses are not possible, the
    function runs in this process.

    Examples
    --------
    >>> isolated(divmod, 7, 2)
    (3, 1)
    """
    if not CAN_ISOLATE:
        return function(*arguments)
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # Python warns of other threads; the child has and needs none of them.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os.close(reading)
        _answer(writing, function, arguments, seconds, memory)
    os.close(writing)
    try:
        answer = _received(reading)
    except BaseException:
        # Such as an interruption: nobody waits for the answer any more.
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
    writing: int,
    function: Callable[..., Any],
    arguments: Any,
    seconds: int,
    memory: int | None,
) -> None:
    """Call the function in the subprocess, send its result, and end."""
    import resource  # only systems with fork have it

    try:
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        if hard == resource.RLIM_INFINITY or seconds < hard:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, hard))
        faulthandler.disable()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        # What libraries print before a crash helps nobody.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            with within_memory(memory):
                answer = True, function(*arguments)
        except Exception as error:  # noqa: BLE001 - it is raised in the other process
            answer = False, error
        with open(writing, "wb") as stream:
            pickle.dump(answer, stream, protocol=5)
    finally:
        # At once: what else ends a program belongs to the other process.
        os._exit(0)


def _received(reading: int) -> Any:
    """Return what the subprocess sends, or None if it ends before that."""
    with (
        open(reading, "rb") as stream,
        contextlib.suppress(EOFError, pickle.UnpicklingError),
    ):
        return pickle.load(stream)  # nosec B301 # our own process wrote it
    return None


def _reason(code: int) -> str:
    if code == -signal.SIGXCPU:
        return "reading it did not end"
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"the process that read it was ended by {signal.Signals(-code).name}"
    return "the process that read it ended"


def available_bytes() -> int | None:
    """Return the free memory of the machine, or None if the system does not tell.

    Examples
    --------
    >>> available_bytes() != 0
    True
    """
    return _entry(MACHINE, "MemAvailable")


@contextmanager
def within_memory(most: int | None = None) -> Iterator[None]:
    """Raise MemoryError in this process before the memory of the machine is used up.

    Linux promises more memory than there is, and kills a process that uses it.

    Parameters
    ----------
    most : int, optional
        Bytes beyond those in use; by default those that are free. Memory-mapped files
        do not count.
    """
    available, used = most or available_bytes(), _entry(STATUS, "VmData")
    if available is None or used is None:
        yield
        return
    import resource  # systems without /proc may not have it

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
    """Return a number of bytes from a status file of the system."""
    try:
        found = re.search(rf"^{name}:\s+(\d+) kB", path.read_text(), re.MULTILINE)
    except OSError:
        return None
    return None if found is None else 1024 * int(found[1])
