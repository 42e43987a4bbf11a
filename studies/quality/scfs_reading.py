"""How much code does SCFS().fit run?

Counts the functions and files of ufselect that one fit of a 30 x 100 table uses, and
the largest depth of nested calls. Comprehensions and lambdas count as part of the
function that contains them.

    python -m studies scfs_reading [--list] [--quick]
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

import ufselect
from ufselect import SCFS

ROOT = str(Path(ufselect.__file__).parent)
DURATION = "a second"
TARGETS = {"functions": 90, "files": 12, "depth": 10}
PARTS = ("<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>", "<lambda>")


class Reading(NamedTuple):
    """What was run through: (file, function) pairs, and the deepest nesting."""

    functions: set[tuple[str, str]]
    depth: int

    def counts(self) -> dict[str, int]:
        """Return the numbers that have targets."""
        files = {file for file, _ in self.functions}
        return {
            "functions": len(self.functions),
            "files": len(files),
            "depth": self.depth,
        }


def reading_of(call: Callable[[], Any]) -> Reading:
    """Return what a call runs through."""
    functions: set[tuple[str, str]] = set()
    depth = deepest = 0

    def look(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal depth, deepest
        code = frame.f_code
        if not code.co_filename.startswith(ROOT) or code.co_name in PARTS:
            return
        if event == "call":
            depth += 1
            deepest = max(deepest, depth)
            functions.add((code.co_filename[len(ROOT) + 1 :], code.co_qualname))
        elif event == "return":
            depth -= 1

    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return Reading(functions, deepest)


def table() -> np.ndarray:
    """Return 30 samples in two clusters that 10 of 100 features tell apart."""
    X = np.random.default_rng(0).normal(size=(30, 100))
    X[:15, :10] += 3
    return X


def main(arguments: Sequence[str]) -> None:
    """Print the counts beside their targets."""
    X = table()
    found = reading_of(lambda: SCFS(random_state=0).fit(X))
    for name, count in found.counts().items():
        print(f"{name:9} {count:4}, at most {TARGETS[name]}")
    if "--list" in arguments:
        for file, function in sorted(found.functions):
            print(f"  {file:32} {function}")
