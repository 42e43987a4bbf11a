"""Cells without a ranking, and why."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from ufselect.experiments.cells import FIXED, GRID
from ufselect.experiments.readings import Results

NUMBER = re.compile(r"\d[\d.]*(e[-+]?\d+)?")


@dataclass
class Failure:
    """Cells of one method without a ranking, for reasons that are alike."""

    label: str
    # Key of a cell to its set and its reason, in the order of the plan.
    cells: dict[str, tuple[str, str]] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return a line: the first reason stands for all."""
        counts = Counter(set_name for set_name, _ in self.cells.values())
        where = ", ".join(f"{name} {count}" for name, count in counts.items())
        reasons = list(dict.fromkeys(reason for _, reason in self.cells.values()))
        more = " (others with other numbers)" if len(reasons) > 1 else ""
        number = f"{len(self.cells)} cell{'s' if len(self.cells) > 1 else ''}"
        return f"{self.label}, {number} ({where}): {reasons[0]}{more}"


def failure_list(results: Results, reasons: Mapping[str, str]) -> list[str]:
    """Return a line for every reason for which cells of a method have no ranking.

    Reasons that differ by their numbers only are one.
    """
    found: dict[tuple[str, str], Failure] = {}
    for place in results.places():
        for reading in (GRID, FIXED):
            for role in results.roles(place, reading):
                key = role.cell.key
                if key in reasons:
                    reason = " ".join(reasons[key].split())  # of one line
                    kind = (place.label, NUMBER.sub("#", reason))
                    failure = found.setdefault(kind, Failure(place.label))
                    failure.cells[key] = (place.set_name, reason)
    return [str(failure) for failure in found.values()]
