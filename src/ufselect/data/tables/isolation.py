"""Readers that may fail: their errors in one sentence, crashes in a subprocess.

Libraries for binary formats trust the headers of a file. On a damaged file they raise
many kinds of errors, and some crash the process.
"""

import faulthandler
import multiprocessing
import os
import pickle
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ufselect._names import shortened
from ufselect.data.tables.table import TableError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

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
    return shortened(reason, MAX_REASON_LENGTH)


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
    # A worker of multiprocessing.Pool is a daemon, which may have no subprocess.
    if not CAN_ISOLATE or multiprocessing.current_process().daemon:
        return function(*arguments)
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    call = (sender, function, arguments, seconds, memory)
    child = context.Process(target=_answer, args=call)
    with warnings.catch_warnings():
        # Python warns of other threads; the child has and needs none of them.
        warnings.simplefilter("ignore", DeprecationWarning)
        child.start()
    sender.close()
    try:
        # Connection.recv would hold the answer twice.
        with open(receiver.fileno(), "rb", closefd=False) as stream:
            error, value = pickle.load(stream)  # nosec B301 # our process wrote it
    except (EOFError, pickle.UnpicklingError):
        child.join()
        raise EndedError(_reason(child.exitcode or 0)) from None
    finally:
        receiver.close()
        child.kill()
        child.join()
        with suppress(ValueError):  # another thread may have noticed its end first
            child.close()
    if error is not None:
        raise error
    return value


def _answer(
    sender: "Connection",
    function: Callable[..., Any],
    arguments: Any,
    seconds: int,
    memory: int | None,
) -> None:
    """Call the function in the subprocess, and send its error or its result."""
    import resource  # only systems with fork have it

    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if hard == resource.RLIM_INFINITY or seconds < hard:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, hard))
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # What libraries and Python print before a crash helps nobody.
    faulthandler.disable()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    answer: tuple[Exception | None, Any]
    try:
        with within_memory(memory):
            answer = None, function(*arguments)
    except Exception as error:  # noqa: BLE001 - it is raised in the other process
        answer = error, None
    with open(sender.fileno(), "wb", closefd=False) as stream:
        pickle.dump(answer, stream, protocol=5)


def _reason(code: int) -> str:
    if code == -signal.SIGXCPU:
        return "reading it did not end"
    if code < 0:
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
