"""The report of an experiment, from its store alone: as HTML, text and JSON."""

import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ufselect.experiments.cells import FIXED, GRID
from ufselect.experiments.plan import Method
from ufselect.experiments.stored import ORACLE, Experiment
from ufselect.report.drawing import short_value
from ufselect.report.experiment_figures import convergence, range_chart
from ufselect.report.experiment_tables import (
    Figure,
    MetricTable,
    Significance,
    convergence_blocks,
    cost_blocks,
    cost_summary,
    fit_costs,
    metric_table,
    text_table_of,
)
from ufselect.report.maps import surface
from ufselect.report.rendering import (
    Block,
    Paragraph,
    Picture,
    Preformatted,
    Section,
    TextTable,
    html_page,
    markdown,
    picture_of,
    plain_text,
)

EXPLANATIONS = {
    ORACLE: "labels chose the best point of the grid at every number of features, as "
    "papers do; methods without a grid have one setting",
    FIXED: "one setting, fixed before any label was seen; mean over seeds",
}
NO_MAP = "No method has scores on a grid in which two parameters vary."
NOT_DRAWN = "Not drawn, since not two parameters vary or no point has a score:"
RANKS = (
    "Average ranks over the sets, fixed setting. A bar joins methods that are not told "
    "apart; baselines are dashed."
)
COSTS = "A dot at the median of the fits, a line from least to largest."
CURVES = (
    "The remaining share of the change of an objective, from its first value (1) to "
    "its last (0, drawn at the foot), which need not be where it would end; at the "
    "fixed setting, or in the middle of the grid where that has no curve."
)


class Document:
    """A report that is written as HTML with figures, as text, in Markdown and JSON."""

    title: str

    @abstractmethod
    def sections(self, *, figures: bool) -> list[Section]:
        """Return the sections; without figures nothing is drawn."""

    @abstractmethod
    def as_json(self) -> str:
        """Return the tables for scripts."""

    def page(self) -> str:
        """Return one HTML page with tables and figures."""
        return html_page(self.title, self.sections(figures=True))

    def text(self) -> str:
        """Return the tables as text for a terminal."""
        return f"{self.title}\n\n{plain_text(self.sections(figures=False))}"

    def markdown(self) -> str:
        """Return the tables in Markdown."""
        return markdown(self.title, self.sections(figures=False))


def varying(method: Method) -> dict[str, list[Any]]:
    """Return the parameters of a grid that take more than one value.

    Examples
    --------
    >>> varying(Method("NDFS", "NDFS", grid={"alpha": [1, 10], "sigma": [1.0]}))
    {'alpha': [1, 10]}
    """
    return {name: values for name, values in method.grid.items() if len(values) > 1}


def parameter_map(
    experiment: Experiment, method: Method, metric: str, names: Mapping[str, str]
) -> Figure | None:
    """Return a metric in percent over a grid in which two parameters vary.

    Parameters
    ----------
    names : mapping of str to str
        Data set to what it is called in the figure.
    """
    grid = varying(method)
    scores = experiment.mean_scores
    means = 100 * scores[scores["metric"] == metric].groupby("key")["value"].mean()
    cells = experiment.cells
    cells = cells[(cells["method"] == method.label) & (cells["reading"] == GRID)]
    values = {
        names[str(name)]: means.reindex(keys).to_numpy()
        for name, keys in cells.groupby("data set", sort=False)["key"]
        if name in names and keys.isin(means.index).any()
    }
    if len(grid) != 2 or not values:
        return None
    label = f"{metric} in percent"
    (first, rows), (second, columns) = grid.items()
    points = pd.MultiIndex.from_product([rows, columns], names=[first, second])
    numbers = pd.concat(
        [pd.Series(each, points, name=label).reset_index() for each in values.values()],
        keys=values,
        names=["data set"],
    ).reset_index("data set")
    shape = (len(rows), len(columns))
    tables = {name: each.reshape(shape) for name, each in values.items()}
    names_of_axes = (first, second)
    return Figure(
        numbers,
        lambda: surface(rows, columns, tables, label=label, names=names_of_axes),
    )


def map_picture(figure: Figure, label: str) -> Picture:
    """Return the map of a method for a report."""
    caption = (
        f"{label}: {figure.frame().columns[-1]}, mean over the numbers of features."
    )
    return picture_of(figure, caption, "sensitivity")


def histories_frame(
    histories: Mapping[str, Mapping[str, Any]], names: Sequence[str]
) -> pd.DataFrame:
    """Return one row for each value of an objective, under two names."""
    rows = [
        (outer, inner, iteration, value)
        for outer, members in histories.items()
        for inner, history in members.items()
        for iteration, value in enumerate(np.asarray(history).tolist(), start=1)
    ]
    return pd.DataFrame(rows, columns=[*names, "iteration", "objective"])


@dataclass(frozen=True)
class ExperimentReport(Document):
    """All that is said of an experiment.

    Tables have a method ``frame``, which returns their columns; ``ranks`` (by metric),
    ``sensitivity`` (by method), ``convergence`` and ``costs`` also have ``plot``, whose
    result a notebook shows.
    """

    experiment: Experiment

    @property
    def title(self) -> str:  # type: ignore[override]
        """Return the title of the page."""
        return f"{self.experiment.plan.name}: comparison of methods"

    @cached_property
    def tables(self) -> list[MetricTable]:
        """Return the scores by each metric and reading."""
        plan = self.experiment.plan
        readings = [ORACLE, FIXED] if any(m.grid for m in plan.methods) else [FIXED]
        return [
            metric_table(self.experiment, metric, reading)
            for metric in plan.judge.metrics
            for reading in readings
        ]

    @property
    def failures(self) -> list[str]:
        """Return why cells have no ranking."""
        return self.experiment.failures()

    @property
    def ranks(self) -> dict[str, Figure]:
        """Return the average ranks by each metric, where there are enough sets."""
        fixed = [each for each in self.tables if each.reading == FIXED]
        found = {each.metric: Significance(each) for each in fixed}
        return {name: each.figure() for name, each in found.items() if each.enough}

    @property
    def sensitivity(self) -> dict[str, Figure]:
        """Return the first metric over the grid of each method that has two axes."""
        plan = self.experiment.plan
        names = {name: name for name in self.experiment.data_sets}
        maps = {
            method.label: parameter_map(
                self.experiment, method, plan.judge.metrics[0], names
            )
            for method in plan.methods
        }
        return {label: part for label, part in maps.items() if part is not None}

    @property
    def convergence(self) -> Figure | None:
        """Return how objectives fall, if the store has any that does."""
        found: dict[str, dict[str, Any]] = {}
        changes = False
        for name in self.experiment.data_sets:
            for method in self.experiment.plan.methods:
                history = self.experiment.history_of(method.label, name)
                if history is not None:
                    found.setdefault(name, {})[method.label] = history
                    ends = history[[0, -1]]
                    changes |= bool(np.isfinite(history).all() and ends[0] != ends[1])
        if not changes:
            return None
        frame = histories_frame(found, ["data set", "method"])
        return Figure(frame, lambda: convergence(found))

    @property
    def costs(self) -> Figure | None:
        """Return seconds and memory of the fits, if the store has them."""
        titles = {"seconds": "seconds of a fit", "megabytes": "peak memory (MB)"}
        costs = fit_costs(self.experiment).rename(columns=titles)
        known = [name for name in titles.values() if costs[name].notna().any()]
        if not known:
            return None
        measures = {
            name: {
                str(label): values.dropna().tolist()
                for label, values in costs.groupby("method", observed=False)[name]
            }
            for name in known
        }
        frame = costs.melt("method", known, var_name="measure").dropna()
        return Figure(frame, lambda: range_chart(measures))

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return the columns of all tables and figures that there are, by name."""
        parts: dict[str, Any] = {
            f"{each.metric}, {each.reading}": each for each in self.tables
        }
        parts |= {f"ranks, {name}": part for name, part in self.ranks.items()}
        parts |= {
            f"sensitivity, {name}": part for name, part in self.sensitivity.items()
        }
        parts |= {"convergence": self.convergence, "costs": self.costs}
        return {name: part.frame() for name, part in parts.items() if part is not None}

    def as_json(self) -> str:
        """Return the tables for scripts; a score that is missing is null."""
        content = {
            "plan": self.experiment.plan.name,
            "absent": dict(self.experiment.record.absent),
            "cells": self.experiment.count()._asdict(),
            "failures": self.failures,
            "tables": [each.to_dict() for each in self.tables],
            # Through JSON, which knows null and not NaN.
            "costs": json.loads(
                cost_summary(self.experiment).to_json(
                    orient="index", double_precision=15
                )
            ),
            "versions": list(map(dict, self.experiment.versions)),
        }
        return json.dumps(content, indent=2)

    def page(self) -> str:
        """Return one HTML page, whose tables can be sorted, filtered and saved."""
        sections = [
            replace(
                section,
                blocks=[
                    replace(block, interactive=True, name=section.heading)
                    if isinstance(block, TextTable)
                    else block
                    for block in section.blocks
                ],
            )
            for section in [*self.sections(figures=True), self._settings()]
        ]
        return html_page(self.title, sections)

    def markdown(self) -> str:
        """Return the tables in Markdown."""
        return markdown(self.title, [*self.sections(figures=False), self._settings()])

    def sections(self, *, figures: bool) -> list[Section]:
        """Return the sections; without figures nothing is drawn."""
        experiment = self.experiment
        found = [
            Section("What was run", list(overview_blocks(experiment))),
            *(
                Section(metric, list(self._metric_blocks(metric, figures)))
                for metric in experiment.plan.judge.metrics
            ),
        ]
        if figures:
            blocks = list(self._map_blocks())
            found.append(Section("Sensitivity to the parameters", blocks))
        curves, costs = convergence_blocks(experiment), cost_blocks(experiment)
        if figures and (part := self.convergence):
            curves.append(picture_of(part, CURVES, "convergence"))
        if figures and (part := self.costs):
            costs.append(picture_of(part, COSTS, "costs"))
        found += [Section("Convergence", curves), Section("Time and memory", costs)]
        if self.failures:
            said = Paragraph("Cells without a ranking, left out above:")
            lines = map(Paragraph, self.failures)
            found.append(Section("What could not be computed", [said, *lines]))
        return found

    def _metric_blocks(self, metric: str, figures: bool) -> Iterator[Block]:
        for each in self.tables:
            if each.metric != metric:
                continue
            explanation = EXPLANATIONS[each.reading]
            yield each.table(f"{each.metric}, {each.reading}: {explanation}.")
            if each.reading == FIXED:
                significance = Significance(each)
                yield from significance.blocks()
                if figures and significance.enough:
                    yield picture_of(significance.figure(), RANKS, "ranks")

    def _map_blocks(self) -> Iterator[Block]:
        """Draw the maps, and say which grids have none."""
        plan, maps = self.experiment.plan, self.sensitivity
        said = f"{plan.judge.metrics[0]}, the first metric of the plan, at every point"
        yield Paragraph(f"{said} of a grid." if maps else NO_MAP)
        yield from (map_picture(part, label) for label, part in maps.items())
        others = [
            f"{method.label} ({', '.join(varying(method))})"
            for method in plan.methods
            if varying(method) and method.label not in maps
        ]
        if others:
            yield Paragraph(f"{NOT_DRAWN} {', '.join(others)}.")

    def _settings(self) -> Section:
        """Say what can be repeated: methods with their settings, versions, the seed."""
        plan, versions = self.experiment.plan, self.experiment.versions
        header = ["method", "selector", "fixed setting", "seeds", "grid", "points"]
        rows = [_method_row(method) for method in plan.methods]
        # One column for each different set of versions that took part.
        names = [f"run {place + 1}" for place in range(len(versions))]
        known = pd.DataFrame(versions, index=names if len(names) > 1 else ["version"])
        known = known.T.fillna("not recorded")
        return Section(
            "Settings and versions",
            [
                TextTable(
                    header, rows, "Methods; what is not named is at its default."
                ),
                replace(
                    text_table_of(known, "Versions that computed."),
                    header=["program", *known.columns],
                ),
                Paragraph(
                    f"Seed of the plan: {plan.seed}. With its file, it is run by:"
                ),
                Preformatted(f"ufselect run {plan.name}.toml"),
            ],
        )


def experiment_report(experiment: Experiment) -> ExperimentReport:
    """Return the report of an experiment that was read from its store."""
    return ExperimentReport(experiment)


def overview_blocks(experiment: Experiment) -> Iterator[Block]:
    """Say what was run, how far it is, and what is absent."""
    plan, count = experiment.plan, experiment.count()
    if plan.description:
        yield Paragraph(plan.description)
    numbers = ", ".join(map(str, plan.judge.features))
    settings = [method.fixed_point().get("n_clusters") for method in plan.methods]
    told = (
        "Methods are told the number of classes; no other label reaches them."
        if "classes" in settings
        else "No label reaches any method, not even the number of classes."
    )
    yield Paragraph(
        f"Percent, mean ± deviation over {numbers} features (of all features over "
        f"{plan.judge.repetitions} repetitions). {told}"
    )
    end = "none missing."
    if count.missing:
        end = (
            f"{count.missing} missing: the experiment is not finished, and what "
            "follows counts what is there. The same ufselect run goes on with it."
        )
    yield Paragraph(
        f"{count.cells} cells: {count.ranked} ranked and judged, {count.failed} "
        f"without a ranking, {end}"
    )
    yield TextTable(
        ["data set", "cells", "ranked", "without a ranking", "missing", "SHA-256"],
        [
            [name, *map(str, experiment.count(name)), fingerprint[:12]]
            for name, fingerprint in experiment.record.fingerprints.items()
        ],
    )
    for name, reason in experiment.record.absent.items():
        yield Paragraph(f"{name}: data not available ({reason}).")
    if experiment.others:
        said = f"The store holds other plans too: {', '.join(experiment.others)}."
        yield Paragraph(f"{said} Name one with --plan PLAN to see it.")


def _method_row(method: Method) -> list[str]:
    fixed = [f"{name}={short_value(v)}" for name, v in method.fixed_point().items()]
    grid = [
        f"{name}={', '.join(map(short_value, values))}"
        for name, values in method.grid.items()
    ]
    if method.warm_start:
        grid.append("warm starts")
    return [
        method.label,
        method.selector,
        ", ".join(fixed) or "defaults",
        str(method.seeds),
        "; ".join(grid) or "-",
        str(len(method.grid_points()) or "-"),
    ]
