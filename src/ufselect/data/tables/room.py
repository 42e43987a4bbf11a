"""No more memory than the machine has: the end of it is an error, not a kill.

Linux promises more than there is, and when promises are kept ends a process.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STATUS = Path("/proc/self/status")
MACHINE = Path("/proc/meminfo")
# For what others on the machine will take meanwhile.
LEFT_TO_OTHERS = 0.05


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
    limit = used + int((1 - LEFT_TO_OTHERS) * available)
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
