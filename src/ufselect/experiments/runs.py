"""The runs of an experiment, and the record of a plan that was run."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

from ufselect._version import RELEASE, versions_here
from ufselect.data import DataUnavailableError, fetch
from ufselect.experiments.plan import Judge, Method, Plan

# A run belongs to the grid of a method, from which labels choose, or to its one
# setting that is fixed without them.
GRID = "grid"
FIXED = "fixed"


@dataclass(frozen=True)
class Located:
    """The files of the available sets, and a reason for each one that is missing."""

    paths: Mapping[str, Path]
    absent: Mapping[str, str]

    def fingerprints(self) -> dict[str, str]:
        """Return a hash of the content of each file."""
        return {
            name: hashlib.sha256(path.read_bytes()).hexdigest()
            for name, path in self.paths.items()
        }


def locate(sets: Iterable[str], folder: Path | None = None) -> Located:
    """Find each set in the folder, in the cache or at its public address."""
    paths, absent = {}, {}
    for name in sets:
        try:
            paths[name] = fetch(name, folder)
        except DataUnavailableError as error:
            absent[name] = str(error)
    return Located(paths, absent)


@dataclass(frozen=True)
class Record:
    """A plan that was run, with the data and the versions used."""

    plan: Plan
    fingerprints: Mapping[str, str]
    absent: Mapping[str, str]
    versions: Mapping[str, str]

    @property
    def version(self) -> str:
        """Return the version of ufselect, on which the keys of runs depend."""
        return self.versions["ufselect"]


def record_of(plan: Plan, located: Located) -> Record:
    """Return the record of a plan that is run now, on this machine."""
    return Record(plan, located.fingerprints(), dict(located.absent), versions_here())


def record_from(content: str) -> Record:
    """Return a record from its JSON."""
    parts = json.loads(content)
    plan, judge = parts["plan"], parts["plan"]["judge"]
    lists = {"features": tuple(judge["features"]), "metrics": tuple(judge["metrics"])}
    plan |= {
        "sets": tuple(plan["sets"]),
        "preparations": tuple(plan["preparations"]),
        "methods": tuple(Method(**method) for method in plan["methods"]),
        "judge": Judge(**{**judge, **lists}),
    }
    return Record(**{**parts, "plan": Plan(**plan)})


@dataclass(frozen=True)
class PlannedRun:
    """Everything that a ranking depends on."""

    set_name: str
    fingerprint: str
    preparation: str
    selector: str
    parameters: str
    seed: int

    def key(self, version: str = RELEASE) -> str:
        """Return the hash of the inputs and of the version of ufselect."""
        return digest([*asdict(self).values(), version])


@dataclass(frozen=True)
class Role:
    """The role of a run: a point of the grid of a method, or its fixed setting."""

    label: str
    reading: str
    run: PlannedRun


def roles_of(plan: Plan, fingerprints: Mapping[str, str]) -> Iterator[Role]:
    """Yield every run of the plan on the available sets, set by set.

    Two methods, or a grid and a fixed setting, may share a run; it then has the same
    key and is computed once.
    """
    for set_name, preparation, method in product(
        plan.sets, plan.preparations, plan.methods
    ):
        if set_name not in fingerprints:
            continue
        settings = [(GRID, point, 0) for point in method.grid_points()]
        fixed = method.fixed_point()
        settings += [(FIXED, fixed, draw) for draw in range(method.seeds)]
        for reading, parameters, draw in settings:
            # The order of the parameters does not matter.
            text = json.dumps(parameters, sort_keys=True)
            what = (set_name, preparation, method.selector, text)
            seed = seed_of(plan.seed, *what, draw)
            run = PlannedRun(set_name, fingerprints[set_name], *what[1:], seed)
            yield Role(method.label, reading, run)


def runs_of(plan: Plan, fingerprints: Mapping[str, str]) -> dict[str, PlannedRun]:
    """Return the different runs of a plan by key, set by set."""
    return {role.run.key(): role.run for role in roles_of(plan, fingerprints)}


def judge_key(judge: Judge, version: str = RELEASE) -> str:
    """Return the hash of how a version of ufselect judges rankings."""
    return digest([*asdict(judge).values(), version])


def digest(parts: list[Any]) -> str:
    """Return a hash of values that JSON can express."""
    text = json.dumps(parts, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def seed_of(*parts: Any) -> int:
    """Return a seed that depends on the inputs only.

    Examples
    --------
    >>> seed_of(0, "lung", 3) == seed_of(0, "lung", 3)
    True
    >>> seed_of(0, "lung", 3) == seed_of(0, "lung", 4)
    False
    """
    return int(digest(list(parts))[:8], 16)
