"""What was run: a plan as it was read, its data, and the versions that computed.

Every run adds its record to the store, so that a report needs nothing else.
"""

import hashlib
import json
import platform
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ufselect._version import RELEASE
from ufselect.data import DataUnavailableError, fetch
from ufselect.experiments.cells import canonical
from ufselect.experiments.limits import NO_LIMITS, Limits
from ufselect.experiments.plan import Judge, Method, Plan

LIBRARIES = ("numpy", "scipy", "scikit-learn")


@dataclass(frozen=True)
class Located:
    """The files of the sets that are there, and a reason for each that is not."""

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
    """A plan as it was run: on which data, and by which versions."""

    plan: Plan
    fingerprints: Mapping[str, str]
    absent: Mapping[str, str]
    versions: Mapping[str, str]

    @property
    def version(self) -> str:
        """Return the version of ufselect, on which the keys of cells depend."""
        return self.versions["ufselect"]

    def is_of(self, plan: Plan) -> bool:
        """Say whether the plan is this one: 1 and 1.0 are not the same parameter.

        Limits are no part of what is asked.
        """
        ours, theirs = (replace(one, limits=NO_LIMITS) for one in (self.plan, plan))
        return canonical(asdict(ours)) == canonical(asdict(theirs))


def record_of(plan: Plan, located: Located) -> Record:
    """Return the record of a run that begins now, here."""
    return Record(plan, located.fingerprints(), dict(located.absent), versions_here())


def versions_here() -> dict[str, str]:
    """Return the versions of what computes, and where.

    Examples
    --------
    >>> list(versions_here())
    ['ufselect', 'python', 'numpy', 'scipy', 'scikit-learn', 'system']
    """
    return {
        "ufselect": RELEASE,
        "python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
        "system": f"{platform.system()} {platform.machine()}",
    }


def record_from(content: str) -> Record:
    """Return a record from its JSON; one that makes no sense is a ValueError."""
    try:
        parts = json.loads(content)
        return Record(**{**parts, "plan": _plan_from(parts["plan"])})
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"the plan in the store cannot be read ({error!r:.60}); it may be of a "
            "newer version of ufselect, so name the plan with --plan PLAN"
        ) from error


def _plan_from(content: Mapping[str, Any]) -> Plan:
    """Return a plan as it was, without asking what this version would make of it."""
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
