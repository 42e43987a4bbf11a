"""Limits on the time and memory of a cell, and how memory is measured."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

STATUS = Path("/proc/self/status")
CLEAR = Path("/proc/self/clear_refs")
RESET_PEAK = "5"

SIZES = {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


@dataclass(frozen=True)
class Limits:
    """Seconds and bytes of memory that a cell may take; None is no limit."""

    seconds: float | None = None
    memory: int | None = None

    def but(self, other: "Limits") -> "Limits":
        """Return these limits, replaced by the other ones where those are given.

        Examples
        --------
        >>> Limits(seconds=60).but(Limits(memory=10**9))
        Limits(seconds=60, memory=1000000000)
        """
        return Limits(
            self.seconds if other.seconds is None else other.seconds,
            self.memory if other.memory is None else other.memory,
        )

    def __bool__(self) -> bool:
        """Tell whether there is any limit."""
        return self != NO_LIMITS


NO_LIMITS = Limits()


def bytes_of(text: str) -> int:
    """Return the bytes of a size such as 2GB.

    Examples
    --------
    >>> bytes_of("2GB"), bytes_of("1.5 mb"), bytes_of("100")
    (2000000000, 1500000, 100)
    """
    plain = text.upper().removesuffix("B").rstrip()
    unit = plain[-1:] if plain[-1:] in SIZES else ""
    try:
        value = float(plain.removesuffix(unit)) * SIZES.get(unit, 1)
    except ValueError:
        raise ValueError(
            f"{text!r} is not a size; write it like 500MB or 2GB"
        ) from None
    if not 1 <= value < 2**63:
        raise ValueError(f"{text} is not a size that a file can have")
    return int(value)


def reset_peak_memory() -> None:
    """Reset the peak of memory, if the system can (Linux)."""
    if CLEAR.exists():
        CLEAR.write_text(RESET_PEAK)


def peak_memory() -> int | None:
    """Return the peak of resident bytes since the reset, or None if unknown.

    If the peak cannot be reset, it is that since the start of the process.
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


def can_watch_memory() -> bool:
    """Tell whether the memory of other processes can be read (Linux)."""
    return STATUS.exists()


def memory_of(process: int) -> int:
    """Return the resident bytes of a process, 0 if it has ended."""
    try:
        pages = Path(f"/proc/{process}/statm").read_text().split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
