"""Tables of an experiment: every method on every set, with what it is up against."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ufselect.evaluation import (
    average_ranks,
    friedman,
    indistinguishable_groups,
    nemenyi_critical_difference,
    wilcoxon_against,
)
from ufselect.experiments.cells import FIXED, GRID, judge_key, roles_of
from ufselect.experiments.judging import LOWER_IS_BETTER
from ufselect.experiments.location import Located
from ufselect.experiments.plan import ALL_FEATURES, Plan
from ufselect.experiments.readings import ORACLE, Place, Reading, Results
from ufselect.experiments.store import Store

Render = Callable[[Sequence[str], Sequence[Sequence[str]]], str]

EXPLANATIONS = {
    ORACLE: "labels chose the best point of the grid at every number of features, as "
    "papers do; methods without a grid have one setting",
    FIXED: "one setting, fixed before any label was seen; mean over seeds",
}
REFERENCE = "random"
# Statistics over fewer sets than this could not show any difference.
FEWEST_SETS = 5


class Column(NamedTuple):
    """A data set in one preparation."""

    set_name: str
    preparation: str

    @property
    def title(self) -> str:
        """Return a short name for the head of a column."""
        if self.preparation == "none":
            return self.set_name
        return f"{self.set_name} ({self.preparation})"


class MetricTable(NamedTuple):
    """One metric in one reading: methods in rows, sets in columns, NaN if absent."""

    metric: str
    reading: str
    labels: list[str]
    columns: list[Column]
    means: NDArray[np.float64]
    deviations: NDArray[np.float64]

    def render(self, table: Render) -> str:
        """Return the table in percent with the mean over the sets."""
        header = ["method", *(column.title for column in self.columns)]
        if len(self.columns) > 1:
            header.append("mean")
        rows = [
            [label, *map(_cell, means, deviations), *self._mean(means)]
            for label, means, deviations in zip(
                self.labels, self.means, self.deviations, strict=True
            )
        ]
        return table(header, rows)

    def _mean(self, means: NDArray[np.float64]) -> list[str]:
        if len(self.columns) < 2:
            return []
        return [_percent(float(means.mean()))]


def metric_table(
    results: Results, metric: str, reading: str, *, absent: Sequence[str] = ()
) -> MetricTable:
    """Return the table of one metric and reading; absent sets have a column too."""
    places = results.places()
    labels = list(dict.fromkeys(place.label for place in places))
    columns = list(dict.fromkeys(Column(*place[:2]) for place in places))
    columns += [Column(name, "none") for name in absent]
    found: list[list[Reading | None]] = [
        [results.reading(Place(*column, label), reading, metric) for column in columns]
        for label in labels
    ]
    return MetricTable(
        metric,
        reading,
        labels,
        columns,
        np.array(
            [[np.nan if cell is None else cell.mean for cell in r] for r in found]
        ),
        np.array(
            [[np.nan if cell is None else cell.deviation for cell in r] for r in found]
        ),
    )


def comparison_of(table: MetricTable, render: Render) -> str:
    """Return ranks and significance of the methods over the sets.

    All features are left out: they are no selection, and have no number of features.
    Sets on which a method has no score are left out for all.
    """
    rows = [i for i, label in enumerate(table.labels) if label != ALL_FEATURES]
    scores = table.means[rows]
    scores = scores[:, ~np.isnan(scores).any(axis=0)]
    n_methods, n_sets = scores.shape
    if n_sets < FEWEST_SETS:
        return (
            f"No statistics: {n_sets} sets have a score of every method, and at least "
            f"{FEWEST_SETS} are needed."
        )
    if table.metric in LOWER_IS_BETTER:
        scores = -scores
    labels = [table.labels[i] for i in rows]
    ranks = average_ranks(scores)
    difference = nemenyi_critical_difference(n_methods, n_sets)
    test = friedman(scores)
    return "\n\n".join(
        [
            _ranked(labels, scores, ranks, render),
            f"{n_sets} sets. Friedman's test that all methods are alike: "
            f"p = {test.f_p:.2g} (F of Iman and Davenport). Average ranks that differ "
            f"by less than {difference:.2f} (Nemenyi, 5 %) are not told apart: "
            + "; ".join(
                ", ".join(labels[i] for i in group)
                for group in indistinguishable_groups(ranks, difference)
            )
            + ".",
        ]
    )


def _ranked(
    labels: list[str],
    scores: NDArray[np.float64],
    ranks: NDArray[np.float64],
    render: Render,
) -> str:
    header = ["method", "average rank", "sets above random", "median gain", "p (Holm)"]
    reference = labels.index(REFERENCE)
    against = wilcoxon_against(scores, reference)
    place = {int(row): i for i, row in enumerate(against.others)}
    rows = []
    for row in np.argsort(ranks, kind="stable"):
        line = [labels[row], f"{ranks[row]:.2f}"]
        if row == reference:
            rows.append([*line, "", "", ""])
            continue
        i = place[int(row)]
        above = int(np.count_nonzero(scores[row] > scores[reference]))
        gain = f"{100 * against.median_difference[i]:+.1f}"
        rows.append([*line, str(above), gain, f"{against.adjusted[i]:.2g}"])
    return render(header, rows)


def failure_list(results: Results, reasons: Mapping[str, str]) -> list[str]:
    """Return a line for every reason for which cells have no ranking."""
    counts: dict[tuple[str, str, str], int] = {}
    for place in results.places():
        for reading in (GRID, FIXED):
            for role in results.roles(place, reading):
                if role.cell.key in reasons:
                    line = (place.set_name, place.label, reasons[role.cell.key])
                    counts[line] = counts.get(line, 0) + 1
    return [
        f"{set_name}, {label}: {count} x {reason}"
        for (set_name, label, reason), count in counts.items()
    ]


def _cell(mean: float, deviation: float) -> str:
    if np.isnan(mean):
        return "-"
    return f"{_percent(mean)} ±{_percent(deviation)}"


def _percent(value: float) -> str:
    return "-" if np.isnan(value) else f"{100 * value:.1f}"


class ExperimentReport(NamedTuple):
    """All that is said of an experiment, from its store alone."""

    plan: Plan
    tables: list[MetricTable]
    absent: Mapping[str, str]
    failures: list[str]
    n_cells: int

    def render(self, table: Render) -> str:
        """Return the report as text, with tables drawn by a function."""
        numbers = ", ".join(map(str, self.plan.judge.features))
        parts = [
            f"{self.plan.name}: {self.plan.description}".rstrip(": "),
            f"Percent, mean ± deviation over {numbers} features (of all features over "
            f"{self.plan.judge.repetitions} repetitions).",
            _what_methods_know(self.plan),
        ]
        for each in self.tables:
            title = f"{each.metric}, {each.reading}: {EXPLANATIONS[each.reading]}."
            parts += [title, each.render(table)]
            if each.reading == FIXED:
                parts.append(comparison_of(each, table))
        parts += [f"{name}: data not available" for name in self.absent]
        if self.failures:
            lines = "\n".join(f"- {line}" for line in self.failures)
            parts.append(f"Cells without a ranking, left out above:\n\n{lines}")
        return "\n\n".join(parts) + "\n"

    def as_json(self) -> str:
        """Return the tables for scripts; a score that is missing is null."""
        tables = [
            {
                "metric": each.metric,
                "reading": each.reading,
                "labels_chose_parameters": each.reading == ORACLE,
                "means": {
                    label: {
                        column.title: None if np.isnan(mean) else float(mean)
                        for column, mean in zip(each.columns, means, strict=True)
                    }
                    for label, means in zip(each.labels, each.means, strict=True)
                },
            }
            for each in self.tables
        ]
        content = {
            "plan": self.plan.name,
            "absent": dict(self.absent),
            "failures": self.failures,
            "tables": tables,
        }
        return json.dumps(content, indent=2)


def experiment_report(plan: Plan, store: Path, located: Located) -> ExperimentReport:
    """Read the report of a plan from its store."""
    roles = list(roles_of(plan, located.fingerprints()))
    with Store(store, judge_key(plan.judge)) as opened:
        results = Results(roles, opened.scores())
        reasons = opened.failures()
    readings = [ORACLE, FIXED] if any(m.grid for m in plan.methods) else [FIXED]
    return ExperimentReport(
        plan,
        [
            metric_table(results, metric, reading, absent=list(located.absent))
            for metric in plan.judge.metrics
            for reading in readings
        ],
        located.absent,
        failure_list(results, reasons),
        len({role.cell.key for role in roles}),
    )


def _what_methods_know(plan: Plan) -> str:
    told = any(
        method.fixed_point().get("n_clusters") == "classes" for method in plan.methods
    )
    if told:
        return "Methods are told the number of classes; no other label reaches them."
    return "No label reaches any method, not even the number of classes."
