"""Ways to damage the files of a store, and what is said of it then."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from ufselect.experiments.store import Store
from ufselect.experiments.stored import read_experiment

Damage = Callable[[bytearray, np.random.Generator], bytearray]


def flip_one(content: bytearray, random: np.random.Generator) -> bytearray:
    """Change one byte."""
    content[random.integers(len(content))] ^= int(random.integers(1, 256))
    return content


def flip_many(content: bytearray, random: np.random.Generator) -> bytearray:
    """Change twenty bytes."""
    for _ in range(20):
        flip_one(content, random)
    return content


def wipe_block(content: bytearray, random: np.random.Generator) -> bytearray:
    """Wipe 512 bytes, as a bad sector would."""
    at = 512 * int(random.integers(len(content) // 512))
    content[at : at + 512] = bytes(len(content[at : at + 512]))
    return content


def cut(content: bytearray, random: np.random.Generator) -> bytearray:
    """Cut off the end."""
    return content[: random.integers(1, len(content))]


def refusals_of(store: Path) -> list[str]:
    """Return what is said when a store is read, and when it is opened to go on."""
    refusals = []
    for use in (lambda: read_experiment(store), lambda: Store(store, "judge").close()):
        try:
            use()
        except ValueError as error:
            refusals.append(str(error))
    return refusals


def clean(store: Path) -> None:
    """Remove all files of a store."""
    for path in store.parent.glob(f"{store.name}*"):
        path.unlink()
