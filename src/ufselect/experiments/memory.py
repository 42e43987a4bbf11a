"""How much memory a piece of work took at its peak, or a process takes now."""

import os
import sys
from pathlib import Path

STATUS = Path("/proc/self/status")
CLEAR = Path("/proc/self/clear_refs")
RESET_PEAK = "5"


def reset_peak_memory() -> None:
    """Forget the peak so far, where the system can (Linux)."""
    if CLEAR.exists():
        CLEAR.write_text(RESET_PEAK)


def peak_memory() -> int | None:
    """Return the peak of resident bytes since the reset, or None if unknown.

    Where the peak cannot be reset it is the one of the whole process.
    """
    if STATUS.exists():
        for line in STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    if sys.platform == "win32":
        return None
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used if sys.platform == "darwin" else 1024 * used


def watches_others() -> bool:
    """Say whether this system tells what another process takes (Linux)."""
    return STATUS.exists()


def memory_of(process: int) -> int:
    """Return the resident bytes of a process, and 0 of one that has ended."""
    try:
        pages = Path(f"/proc/{process}/statm").read_text().split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
