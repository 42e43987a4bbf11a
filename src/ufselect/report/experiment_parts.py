"""The figures of an experiment: numbers, with ``frame`` and ``plot``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ufselect.experiments.plan import BASELINES
from ufselect.matrix import Float
from ufselect.report.bars import bar_chart
from ufselect.report.convergence import convergence
from ufselect.report.curves import curves
from ufselect.report.plots import Frame, Plot
from ufselect.report.ranges import range_chart
from ufselect.report.ranks import rank_diagram
from ufselect.report.surfaces import surface


@dataclass(frozen=True)
class AverageRanks:
    """Average ranks of methods over sets, and how far they must lie apart.

    Examples
    --------
    >>> ranks = AverageRanks({"SCFS": 1.25, "random": 1.75}, 0.8)
    >>> ranks.frame()
    {'method': ['SCFS', 'random'], 'average rank': [1.25, 1.75]}
    """

    ranks: Mapping[str, float]
    critical_difference: float

    def frame(self) -> Frame:
        """Return one row per method."""
        return {"method": [*self.ranks], "average rank": [*self.ranks.values()]}

    def plot(self) -> Plot:
        """Draw the critical difference diagram."""
        return rank_diagram(
            self.ranks, self.critical_difference, baselines=list(BASELINES)
        )


@dataclass(frozen=True)
class ParameterMap:
    """A metric over the two parameters of a grid, for each set."""

    label: str
    grid: Mapping[str, Sequence[Any]]
    values: Mapping[str, Float]

    def frame(self) -> Frame:
        """Return one row for each set and point of the grid."""
        points = list(product(*self.grid.values()))
        columns: Frame = {"data set": [name for name in self.values for _ in points]}
        for place, name in enumerate(self.grid):
            columns[name] = [point[place] for _ in self.values for point in points]
        values = [table.ravel().tolist() for table in self.values.values()]
        columns[self.label] = [value for row in values for value in row]
        return columns

    def plot(self) -> Plot:
        """Draw a map for each set."""
        (first, rows), (second, columns) = self.grid.items()
        names = (first, second)
        return surface(rows, columns, self.values, label=self.label, names=names)


@dataclass(frozen=True)
class ConvergenceCurves:
    """The objective after each iteration, by data set and method."""

    histories: Mapping[str, Mapping[str, Float]]

    def frame(self) -> Frame:
        """Return one row for each value of an objective."""
        rows = [
            (name, label, iteration, value)
            for name, members in self.histories.items()
            for label, history in members.items()
            for iteration, value in enumerate(np.asarray(history).tolist(), start=1)
        ]
        return _frame(("data set", "method", "iteration", "objective"), rows)

    def plot(self) -> Plot:
        """Draw the share of its way that each objective has left."""
        return convergence(self.histories)


@dataclass(frozen=True)
class CostRanges:
    """What fits cost: a measure with its unit, to method, to values."""

    measures: Mapping[str, Mapping[str, Sequence[float]]]

    def frame(self) -> Frame:
        """Return one row for each fit and measure."""
        rows = [
            (label, measure, value)
            for measure, costs in self.measures.items()
            for label, values in costs.items()
            for value in values
        ]
        return _frame(("method", "measure", "value"), rows)

    def plot(self) -> Plot:
        """Draw median, least and largest for each method."""
        return range_chart(self.measures)


@dataclass(frozen=True)
class MethodBars:
    """One value for each data set and method."""

    label: str
    groups: Mapping[str, Mapping[str, float]]

    def frame(self) -> Frame:
        """Return one row for each data set and method."""
        rows = [
            (name, method, value)
            for name, members in self.groups.items()
            for method, value in members.items()
        ]
        return _frame(("data set", "method", self.label), rows)

    def plot(self) -> Plot:
        """Draw a group of bars for each data set."""
        return bar_chart(self.groups, label=self.label, baselines=list(BASELINES))


@dataclass(frozen=True)
class PublishedCurves:
    """Objectives after each iteration: ours and published ones, by data set."""

    ours: Mapping[str, Float]
    published: Mapping[str, Float]

    def frame(self) -> Frame:
        """Return one row for each value of an objective."""
        rows = [
            (name, source, iteration, value)
            for source, members in (("ours", self.ours), ("published", self.published))
            for name, history in members.items()
            for iteration, value in enumerate(np.asarray(history).tolist(), start=1)
        ]
        return _frame(("data set", "source", "iteration", "objective"), rows)

    def plot(self) -> Plot:
        """Draw each as a share of its first value."""
        return curves(self.ours, self.published)


def _frame(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> Frame:
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}
