"""What a process holds, and whether it holds more when something is repeated."""

import gc
import os
import threading
from collections.abc import Callable
from pathlib import Path

from reliability.processes import children_of
from ufselect.experiments.limits import memory_of


def held() -> dict[str, int]:
    """Return what this process holds: memory, open files, threads and children."""
    gc.collect()
    return {
        "memory": memory_of(os.getpid()),
        "files": len(list(Path("/proc/self/fd").iterdir())),
        "threads": threading.active_count(),
        "children": len(children_of(os.getpid())),
    }


def repeated(step: Callable[[], object], number: int) -> list[dict[str, int]]:
    """Return what is held after a fifth of the repetitions, and after all of them."""
    states = []
    for count in range(1, number + 1):
        step()
        if count in (max(1, number // 5), number):
            states.append(held())
    return states
