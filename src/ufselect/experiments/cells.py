"""The cells of an experiment, and the record of a plan that was run."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from ufselect._version import RELEASE
from ufselect._version import versions_here as versions_here
from ufselect.data import DataUnavailableError, fetch
from ufselect.experiments.limits import NO_LIMITS, Limits
from ufselect.experiments.plan import Judge, Method, Plan


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
        """Return the version of ufselect, on which the keys of cells depend."""
        return self.versions["ufselect"]

    def is_of(self, plan: Plan) -> bool:
        """Tell whether the plan is this one; 1 and 1.0 are different parameters.

        Limits are not compared.
        """
        ours, theirs = (replace(one, limits=NO_LIMITS) for one in (self.plan, plan))
        return canonical(asdict(ours)) == canonical(asdict(theirs))


def record_of(plan: Plan, located: Located) -> Record:
    """Return the record of a run that starts now, on this machine."""
    return Record(plan, located.fingerprints(), dict(located.absent), versions_here())


def record_from(content: str) -> Record:
    """Return a record from its JSON; ValueError if it is invalid."""
    try:
        parts = json.loads(content)
        return Record(**{**parts, "plan": _plan_from(parts["plan"])})
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"the plan in the store cannot be read ({error!r:.60}); it may be of a "
            "newer version of ufselect, so name the plan with --plan PLAN"
        ) from error


def _plan_from(content: Mapping[str, Any]) -> Plan:
    """Return a plan as it was run, without the checks and defaults of this version."""
    judge = content["judge"]
    lists = {"features": tuple(judge["features"]), "metrics": tuple(judge["metrics"])}
    changes = {
        "sets": tuple(content["sets"]),
        "preparations": tuple(content["preparations"]),
        "methods": tuple(Method(**method) for method in content["methods"]),
        "judge": Judge(**{**judge, **lists}),
        "limits": Limits(**content.get("limits", {})),
    }
    return Plan(**{**content, **changes})


FIXED = "fixed"
GRID = "grid"


@dataclass(frozen=True)
class Cell:
    """Everything that a ranking depends on."""

    set_name: str
    fingerprint: str
    preparation: str
    selector: str
    parameters: str
    seed: int
    # Parameters of the earlier fits on its path of warm starts, in order.
    before: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Return the hash of the inputs and of the version of ufselect."""
        return self.key_in(RELEASE)

    def key_in(self, version: str) -> str:
        """Return the key of this cell for a version of ufselect."""
        return digest([*asdict(self).values(), version])

    @property
    def path(self) -> tuple[str, ...]:
        """Return what the cells of one path of warm starts have in common."""
        first = self.before[0] if self.before else self.parameters
        names = (self.set_name, self.fingerprint, self.preparation, self.selector)
        return (*names, str(self.seed), first)

    def previous(self) -> "Cell":
        """Return the cell from which this one starts."""
        return replace(self, parameters=self.before[-1], before=self.before[:-1])


@dataclass(frozen=True)
class Role:
    """The role of a cell: a point of the grid of a method, or its fixed setting."""

    label: str
    reading: str
    cell: Cell


def roles_of(plan: Plan, fingerprints: Mapping[str, str]) -> Iterator[Role]:
    """Yield every cell of the plan on the available sets, set by set.

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
    """Return the hash of how a version of ufselect judges rankings."""
    return digest([*asdict(judge).values(), version])


def canonical(parameters: Mapping[str, Any]) -> str:
    """Return parameters as text that does not depend on their order."""
    return json.dumps(dict(parameters), sort_keys=True)


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
