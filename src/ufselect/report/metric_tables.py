"""Tables of an experiment: every method on every set, one metric at a time."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ufselect.experiments.readings import Place, Reading, Results
from ufselect.report.page import Table
from ufselect.report.plots import Frame

Render = Callable[[Sequence[str], Sequence[Sequence[str]]], str]


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

    def complete(self) -> NDArray[np.bool_]:
        """Say which sets have a score of every method that has any score."""
        known = ~np.isnan(self.means)
        return np.asarray(known[known.any(axis=1)].all(axis=0))

    def table(self, caption: str = "") -> Table:
        """Return the table in percent, with the mean over the sets that are complete.

        Other sets would favour the methods that have no score there.
        """
        complete = self.complete()
        header = ["method", *(column.title for column in self.columns)]
        averaged = len(self.columns) > 1 and complete.any()
        if averaged:
            header.append("mean" if complete.all() else f"mean of {complete.sum()}")
        rows = []
        for i, label in enumerate(self.labels):
            row = [label, *map(_cell, self.means[i], self.deviations[i])]
            if averaged:
                row.append(_percent(float(self.means[i, complete].mean())))
            rows.append(row)
        return Table(header, rows, caption)

    def frame(self) -> Frame:
        """Return one row for each method and set; scores are shares of one."""
        sets = [column.title for column in self.columns]
        return {
            "method": [label for label in self.labels for _ in sets],
            "data set": sets * len(self.labels),
            "mean": self.means.ravel().tolist(),
            "deviation": self.deviations.ravel().tolist(),
        }

    def render(self, render: Render) -> str:
        """Return the table as text, drawn by a function."""
        table = self.table()
        return render(table.header, table.rows)


def columns_of(results: Results) -> list[Column]:
    """Return every prepared set once, in the order of the plan."""
    return list(dict.fromkeys(Column(*place[:2]) for place in results.places()))


def metric_table(
    results: Results, metric: str, reading: str, *, absent: Sequence[str] = ()
) -> MetricTable:
    """Return the table of one metric and reading; absent sets have a column too."""
    labels = list(dict.fromkeys(place.label for place in results.places()))
    columns = columns_of(results)
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


def _cell(mean: float, deviation: float) -> str:
    if np.isnan(mean):
        return "-"
    return f"{_percent(mean)} ±{_percent(deviation)}"


def _percent(value: float) -> str:
    return "-" if np.isnan(value) else f"{100 * value:.1f}"
