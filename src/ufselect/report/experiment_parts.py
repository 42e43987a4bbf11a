"""The figures of an experiment: numbers, with ``frame`` and ``plot``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ufselect.experiments.cells import GRID
from ufselect.experiments.plan import BASELINES, Method
from ufselect.experiments.readings import Place, Results
from ufselect.experiments.stored import Experiment
from ufselect.matrix import Float
from ufselect.report.drawing import Plot
from ufselect.report.experiment_figures import (
    bar_chart,
    convergence,
    curves,
    range_chart,
    rank_diagram,
)
from ufselect.report.experiment_tables import columns_of, fit_costs
from ufselect.report.maps import surface
from ufselect.report.rendering import Picture, picture_of


@dataclass(frozen=True)
class AverageRanks:
    """Average ranks of methods over sets, and how far they must lie apart.

    Examples
    --------
    >>> ranks = AverageRanks({"SCFS": 1.25, "random": 1.75}, 0.8)
    >>> ranks.frame()["average rank"].tolist()
    [1.25, 1.75]
    """

    ranks: Mapping[str, float]
    critical_difference: float

    def frame(self) -> pd.DataFrame:
        """Return one row per method."""
        return pd.DataFrame(self.ranks.items(), columns=["method", "average rank"])

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

    def frame(self) -> pd.DataFrame:
        """Return one row for each set and point of the grid."""
        rows = [
            (name, *point, value)
            for name, table in self.values.items()
            for point, value in zip(
                product(*self.grid.values()), table.ravel(), strict=True
            )
        ]
        return pd.DataFrame(rows, columns=["data set", *self.grid, self.label])

    def plot(self) -> Plot:
        """Draw a map for each set."""
        (first, rows), (second, columns) = self.grid.items()
        names = (first, second)
        return surface(rows, columns, self.values, label=self.label, names=names)


@dataclass(frozen=True)
class ConvergenceCurves:
    """The objective after each iteration, by data set and method."""

    histories: Mapping[str, Mapping[str, Float]]

    def frame(self) -> pd.DataFrame:
        """Return one row for each value of an objective."""
        rows = [
            (name, label, iteration, value)
            for name, members in self.histories.items()
            for label, history in members.items()
            for iteration, value in enumerate(np.asarray(history).tolist(), start=1)
        ]
        return pd.DataFrame(
            rows, columns=["data set", "method", "iteration", "objective"]
        )

    def plot(self) -> Plot:
        """Draw the remaining share of the change of each objective."""
        return convergence(self.histories)


@dataclass(frozen=True)
class CostRanges:
    """What fits cost: a measure with its unit, to method, to values."""

    measures: Mapping[str, Mapping[str, Sequence[float]]]

    def frame(self) -> pd.DataFrame:
        """Return one row for each fit and measure."""
        rows = [
            (label, measure, value)
            for measure, costs in self.measures.items()
            for label, values in costs.items()
            for value in values
        ]
        return pd.DataFrame(rows, columns=["method", "measure", "value"])

    def plot(self) -> Plot:
        """Draw median, least and largest for each method."""
        return range_chart(self.measures)


@dataclass(frozen=True)
class MethodBars:
    """One value for each data set and method."""

    label: str
    groups: Mapping[str, Mapping[str, float]]

    def frame(self) -> pd.DataFrame:
        """Return one row for each data set and method."""
        rows = [
            (name, method, value)
            for name, members in self.groups.items()
            for method, value in members.items()
        ]
        return pd.DataFrame(rows, columns=["data set", "method", self.label])

    def plot(self) -> Plot:
        """Draw a group of bars for each data set."""
        return bar_chart(self.groups, label=self.label, baselines=list(BASELINES))


@dataclass(frozen=True)
class PublishedCurves:
    """Objectives after each iteration: ours and published ones, by data set."""

    ours: Mapping[str, Float]
    published: Mapping[str, Float]

    def frame(self) -> pd.DataFrame:
        """Return one row for each value of an objective."""
        rows = [
            (name, source, iteration, value)
            for source, members in (("ours", self.ours), ("published", self.published))
            for name, history in members.items()
            for iteration, value in enumerate(np.asarray(history).tolist(), start=1)
        ]
        return pd.DataFrame(
            rows, columns=["data set", "source", "iteration", "objective"]
        )

    def plot(self) -> Plot:
        """Draw each as a share of its first value."""
        return curves(self.ours, self.published)


def varying(method: Method) -> dict[str, list[Any]]:
    """Return the parameters of a grid that take more than one value.

    Examples
    --------
    >>> varying(Method("NDFS", "NDFS", grid={"alpha": [1, 10], "sigma": [1.0]}))
    {'alpha': [1, 10]}
    """
    return {name: values for name, values in method.grid.items() if len(values) > 1}


def parameter_map(
    results: Results, method: Method, places: Mapping[str, Place], metric: str
) -> ParameterMap:
    """Return a metric over a grid in which two parameters vary, at each place."""
    grid = varying(method)
    rows, columns = map(len, grid.values())
    values = {
        title: _grid_values(results, place, metric, (rows, columns))
        for title, place in places.items()
    }
    return ParameterMap(f"{metric} in percent", grid, values)


def map_picture(part: ParameterMap, label: str) -> Picture:
    """Return the map of a method for a report."""
    caption = f"{label}: {part.label}, mean over the numbers of features."
    return picture_of(part, caption, "sensitivity")


def _grid_values(
    results: Results, place: Place, metric: str, shape: tuple[int, int]
) -> NDArray[np.float64]:
    """Return the mean over k at every point of the grid, NaN where there is none."""
    values = []
    for role in results.roles(place, GRID):
        scores = list(results.score_of(role, metric).values())
        values.append(100 * np.mean(scores) if scores else np.nan)
    return np.array(values).reshape(shape)


def parameter_maps(experiment: Experiment) -> dict[str, ParameterMap]:
    """Return the first metric of the plan over every grid with two parameters."""
    metric = experiment.plan.judge.metrics[0]
    maps = {}
    for method in experiment.plan.methods:
        places = places_on_grid(experiment, method, metric)
        if len(varying(method)) == 2 and places:
            maps[method.label] = parameter_map(
                experiment.results, method, places, metric
            )
    return maps


def places_on_grid(
    experiment: Experiment, method: Method, metric: str
) -> dict[str, Place]:
    """Return where a method has a score at some point of its grid."""
    places = {
        column.title: Place(*column, method.label)
        for column in columns_of(experiment.results)
    }
    return {
        title: place
        for title, place in places.items()
        if len(experiment.results.curves(place, GRID, metric))
    }


def convergence_curves(experiment: Experiment) -> ConvergenceCurves | None:
    """Return how objectives fall, if any does."""
    histories = _histories(experiment)
    if not any(_changes(h) for row in histories.values() for h in row.values()):
        return None
    return ConvergenceCurves(histories)


def _changes(history: Float) -> bool:
    return bool(np.isfinite(history).all() and history[0] != history[-1])


def _histories(experiment: Experiment) -> dict[str, dict[str, Float]]:
    found: dict[str, dict[str, Float]] = {}
    for column in columns_of(experiment.results):
        for method in experiment.plan.methods:
            history = experiment.history_at(Place(*column, method.label))
            if history is not None:
                found.setdefault(column.title, {})[method.label] = history
    return found


def cost_ranges(experiment: Experiment) -> CostRanges | None:
    """Return what is known of seconds and memory, if anything."""
    grouped = fit_costs(experiment).groupby("method", observed=False)
    measures = {
        title: {str(label): each.dropna().tolist() for label, each in grouped[name]}
        for title, name in (
            ("seconds of a fit", "seconds"),
            ("peak memory (MB)", "megabytes"),
        )
    }
    known = {name: rows for name, rows in measures.items() if any(rows.values())}
    return CostRanges(known) if known else None
