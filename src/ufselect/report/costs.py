"""What methods cost: seconds and memory of their fits, from the store."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ufselect.experiments.plan import ALL_FEATURES
from ufselect.experiments.stored import Experiment, Fit
from ufselect.report.experiment_parts import CostRanges
from ufselect.report.page import Block, Paragraph, Table

HEADER = (
    "method",
    "fits",
    "without a ranking",
    "median seconds",
    "largest seconds",
    "median MB",
    "largest MB",
)
EXPLANATION = (
    "Of one fit with one thread, on the machines that ran the plan, whatever else they "
    "did. What fits on the same data share, such as products of the data, is counted "
    "in the first fit of a process. Memory is the peak of the whole process, with "
    "Python and the data; 1 MB is a million bytes."
)


class Cost(NamedTuple):
    """The fits of one method: their seconds and megabytes, and how many failed."""

    seconds: list[float]
    megabytes: list[float]
    failed: int

    def row(self, label: str) -> list[str]:
        """Return the row of the table."""
        counts = [str(len(self.seconds)), str(self.failed)]
        return [label, *counts, *_summary(self.seconds), *_summary(self.megabytes)]

    def summary(self) -> dict[str, float | None]:
        """Return the same for scripts."""
        seconds, megabytes = self.seconds, self.megabytes
        return {
            "fits": len(seconds),
            "failed": self.failed,
            "median_seconds": float(np.median(seconds)) if seconds else None,
            "largest_seconds": max(seconds, default=None),
            "median_megabytes": float(np.median(megabytes)) if megabytes else None,
            "largest_megabytes": max(megabytes, default=None),
        }


def costs_of(experiment: Experiment) -> dict[str, Cost]:
    """Return the costs of all methods; all features need no fit."""
    reasons = experiment.reasons()
    costs = {}
    for method in experiment.plan.methods:
        keys = experiment.keys_of(method.label)
        if method.label != ALL_FEATURES:
            fits = [experiment.fits[key] for key in keys if key in experiment.fits]
            failed = sum(key in reasons for key in keys)
            costs[method.label] = Cost(_seconds(fits), _megabytes(fits), failed)
    return costs


def cost_blocks(experiment: Experiment) -> list[Block]:
    """Say what all methods cost."""
    costs = costs_of(experiment)
    table = Table(HEADER, [cost.row(label) for label, cost in costs.items()])
    return [Paragraph(EXPLANATION), table, _by_set(experiment)]


def cost_ranges(experiment: Experiment) -> CostRanges | None:
    """Return what is known of seconds and memory, if anything."""
    costs = costs_of(experiment)
    measures = {
        "seconds of a fit": {label: cost.seconds for label, cost in costs.items()},
        "peak memory (MB)": {label: cost.megabytes for label, cost in costs.items()},
    }
    known = {name: rows for name, rows in measures.items() if any(rows.values())}
    return CostRanges(known) if known else None


def _by_set(experiment: Experiment) -> Table:
    sets = list(experiment.record.fingerprints)
    rows = []
    for method in experiment.plan.methods:
        if method.label != ALL_FEATURES:
            found = _seconds_by_set(experiment, method.label)
            rows.append([method.label, *(_summary(found[name])[0] for name in sets)])
    return Table(["method", *sets], rows, "Median seconds of a fit on each set.")


def _seconds_by_set(experiment: Experiment, label: str) -> Mapping[str, list[float]]:
    found: dict[str, dict[str, Fit]] = {
        name: {} for name in experiment.record.fingerprints
    }
    for role in experiment.roles:
        if role.label == label and role.cell.key in experiment.fits:
            key = role.cell.key
            found[role.cell.set_name][key] = experiment.fits[key]
    return {name: _seconds(list(fits.values())) for name, fits in found.items()}


def _seconds(fits: list[Fit]) -> list[float]:
    return [fit.seconds for fit in fits if fit.seconds is not None]


def _megabytes(fits: list[Fit]) -> list[float]:
    return [fit.peak_memory / 1e6 for fit in fits if fit.peak_memory is not None]


def _summary(values: list[float]) -> tuple[str, str]:
    if not values:
        return "-", "-"
    return _short(float(np.median(values))), _short(max(values))


def _short(value: float) -> str:
    """Return three digits that count, and no exponent."""
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.2f}" if value >= 1 else f"{value:.3f}"
