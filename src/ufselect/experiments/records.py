"""What was run: a plan as it was read, its data, and the versions that computed.

Every run adds its record to the store, in a table of its own, so that a report needs
nothing else. Stores from before that lack the table and are read with their plan.
"""

import json
import platform
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from typing import Any

from ufselect._version import RELEASE
from ufselect.experiments.cells import canonical, digest, judge_key
from ufselect.experiments.limits import NO_LIMITS, Limits
from ufselect.experiments.location import Located
from ufselect.experiments.plan import Judge, Method, Plan

# The version that computed all stores that hold no record.
VERSION_WITHOUT_RECORDS = "0.1.0.dev0"
LIBRARIES = ("numpy", "scipy", "scikit-learn")
TABLE = """
CREATE TABLE IF NOT EXISTS plans (
    key TEXT PRIMARY KEY,
    judge TEXT NOT NULL,
    content TEXT NOT NULL
)
"""


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


def write_record(connection: sqlite3.Connection, record: Record) -> None:
    """Add a record to an open store; the same one again becomes the newest."""
    content = json.dumps(asdict(record))
    row = [digest([content]), judge_key(record.plan.judge), content]
    connection.execute(TABLE)
    connection.execute("INSERT OR REPLACE INTO plans VALUES (?, ?, ?)", row)


def record_from(content: str) -> Record:
    """Return a record that was written; one that makes no sense is a ValueError."""
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
