"""The cells of an experiment: one ranking of one data set each, and its key."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any

from ufselect._version import RELEASE
from ufselect.experiments.plan import Judge, Plan

FIXED = "fixed"
GRID = "grid"


@dataclass(frozen=True)
class Cell:
    """All that a ranking depends on."""

    set_name: str
    fingerprint: str
    preparation: str
    selector: str
    parameters: str
    seed: int
    # Parameters of the fits that hand a start on to this one, the first one first.
    before: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Return the hash of the inputs and of the version that computes."""
        return self.key_in(RELEASE)

    def key_in(self, version: str) -> str:
        """Return the key under which a version of ufselect keeps this cell."""
        return digest([*asdict(self).values(), version])

    @property
    def path(self) -> tuple[str, ...]:
        """Return what is common to the cells that hand a start on."""
        first = self.before[0] if self.before else self.parameters
        names = (self.set_name, self.fingerprint, self.preparation, self.selector)
        return (*names, str(self.seed), first)

    def previous(self) -> "Cell":
        """Return the cell from which this one takes its start."""
        return replace(self, parameters=self.before[-1], before=self.before[:-1])


@dataclass(frozen=True)
class Role:
    """What a cell is for: a point of a method's grid, or its fixed setting."""

    label: str
    reading: str
    cell: Cell


def roles_of(plan: Plan, fingerprints: Mapping[str, str]) -> Iterator[Role]:
    """Yield every cell of the plan on the sets that there are, set by set.

    Two methods, or a grid and a fixed setting, may share a cell; it then has the same
    key and is computed once.
    """
    for set_name, preparation, method in product(
        plan.sets, plan.preparations, plan.methods
    ):
        if set_name not in fingerprints:
            continue
        paths = [(GRID, path, 0) for path in method.grid_paths()]
        fixed = [method.fixed_point()]
        paths += [(FIXED, fixed, draw) for draw in range(method.seeds)]
        for reading, path, draw in paths:
            texts = [canonical(parameters) for parameters in path]
            seed = seed_of(
                plan.seed, set_name, preparation, method.selector, texts[0], draw
            )
            for place, text in enumerate(texts):
                cell = Cell(
                    set_name,
                    fingerprints[set_name],
                    preparation,
                    method.selector,
                    text,
                    seed,
                    before=tuple(texts[:place]),
                )
                yield Role(method.label, reading, cell)


def judge_key(judge: Judge, version: str = RELEASE) -> str:
    """Return the hash of the way in which a version of ufselect judges rankings."""
    return digest([*asdict(judge).values(), version])


def canonical(parameters: Mapping[str, Any]) -> str:
    """Return parameters as text, the same whatever their order."""
    return json.dumps(dict(parameters), sort_keys=True)


def digest(parts: list[Any]) -> str:
    """Return a hash of values that JSON can express."""
    text = json.dumps(parts, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def seed_of(*parts: Any) -> int:
    """Return a seed that follows from its inputs alone, not from their order of use.

    Examples
    --------
    >>> seed_of(0, "lung", 3) == seed_of(0, "lung", 3)
    True
    >>> seed_of(0, "lung", 3) == seed_of(0, "lung", 4)
    False
    """
    return int(digest(list(parts))[:8], 16)
