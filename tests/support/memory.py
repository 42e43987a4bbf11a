"""The memory that a piece of code takes."""

import tracemalloc
from contextlib import contextmanager
from types import SimpleNamespace


@contextmanager
def traced_memory():
    """Yield an object whose ``peak`` is the most bytes that were held, at the end."""
    memory = SimpleNamespace(peak=0)
    tracemalloc.start()
    try:
        yield memory
    finally:
        memory.peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
