"""The report of an experiment, from its store alone: as HTML, text and JSON."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ufselect.experiments.cells import FIXED
from ufselect.experiments.plan import Method, Plan
from ufselect.experiments.readings import ORACLE
from ufselect.experiments.stored import Experiment
from ufselect.report.drawing import short_value
from ufselect.report.experiment_parts import (
    AverageRanks,
    ConvergenceCurves,
    CostRanges,
    ParameterMap,
    convergence_curves,
    cost_ranges,
    map_picture,
    parameter_maps,
    varying,
)
from ufselect.report.experiment_tables import (
    MetricTable,
    cost_blocks,
    cost_summary,
    failure_list,
    metric_table,
    significance_of,
)
from ufselect.report.rendering import (
    Block,
    Paragraph,
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
NO_HISTORY = (
    "The store has no objective of any fit: the methods that it holds solve their "
    "problem in one step, or do not tell."
)
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


@dataclass(frozen=True)
class ExperimentReport:
    """All that is said of an experiment.

    Tables have a method ``frame``, which returns their columns; ``ranks`` (by metric),
    ``sensitivity`` (by method), ``convergence`` and ``costs`` also have ``plot``, whose
    result a notebook shows.
    """

    experiment: Experiment
    tables: list[MetricTable]
    failures: list[str]

    @property
    def ranks(self) -> dict[str, AverageRanks]:
        """Return the average ranks by each metric, where there are enough sets."""
        fixed = [each for each in self.tables if each.reading == FIXED]
        found = {each.metric: significance_of(each) for each in fixed}
        return {
            metric: AverageRanks(part.ranks(), part.critical_difference())
            for metric, part in found.items()
            if part.enough
        }

    @property
    def sensitivity(self) -> dict[str, ParameterMap]:
        """Return the first metric over the grid of each method that has two axes."""
        return parameter_maps(self.experiment)

    @property
    def convergence(self) -> ConvergenceCurves | None:
        """Return how objectives fall, if the store has any that does."""
        return convergence_curves(self.experiment)

    @property
    def costs(self) -> CostRanges | None:
        """Return seconds and memory of the fits, if the store has them."""
        return cost_ranges(self.experiment)

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return the columns of all tables and figures that there are, by name."""
        frames = {
            f"{each.metric}, {each.reading}": each.frame() for each in self.tables
        }
        frames |= {f"ranks, {name}": part.frame() for name, part in self.ranks.items()}
        frames |= {
            f"sensitivity, {name}": part.frame()
            for name, part in self.sensitivity.items()
        }
        parts = {"convergence": self.convergence, "costs": self.costs}
        return frames | {name: part.frame() for name, part in parts.items() if part}

    @property
    def title(self) -> str:
        """Return the title of the page."""
        return f"{self.experiment.plan.name}: comparison of methods"

    def page(self) -> str:
        """Return one HTML page with tables and figures."""
        sections = [*self._sections(figures=True), *self._settings()]
        return html_page(self.title, list(map(_interactive, sections)))

    def text(self) -> str:
        """Return the tables as text for a terminal."""
        return f"{self.title}\n\n{plain_text(self._sections(figures=False))}"

    def markdown(self) -> str:
        """Return the tables in Markdown."""
        sections = [*self._sections(figures=False), *self._settings()]
        return markdown(self.title, sections)

    def as_json(self) -> str:
        """Return the tables for scripts; a score that is missing is null."""
        count = self.experiment.count()
        content = {
            "plan": self.experiment.plan.name,
            "absent": dict(self.experiment.record.absent),
            "cells": count._asdict(),
            "failures": self.failures,
            "tables": [_table_content(each) for each in self.tables],
            # Through JSON, which knows null and not NaN.
            "costs": json.loads(
                cost_summary(self.experiment).to_json(
                    orient="index", double_precision=15
                )
            ),
            "versions": list(map(dict, self.experiment.versions)),
        }
        return json.dumps(content, indent=2)

    def _sections(self, *, figures: bool) -> list[Section]:
        """Return the sections; without figures nothing is drawn."""
        experiment = self.experiment
        sections = [Section("What was run", overview_blocks(experiment))]
        sections += self._metric_sections(figures)
        if figures:
            maps = sensitivity_blocks(experiment, self.sensitivity)
            sections.append(Section("Sensitivity to the parameters", maps))
        blocks = [*convergence_blocks(experiment)]
        if figures and (curves := self.convergence):
            blocks.append(picture_of(curves, CURVES, "convergence"))
        sections.append(Section("Convergence", blocks))
        blocks = [*cost_blocks(experiment)]
        if figures and (costs := self.costs):
            blocks.append(picture_of(costs, COSTS, "costs"))
        sections.append(Section("Time and memory", blocks))
        if self.failures:
            lines = [Paragraph(line) for line in self.failures]
            said = Paragraph("Cells without a ranking, left out above:")
            sections.append(Section("What could not be computed", [said, *lines]))
        return sections

    def _metric_sections(self, figures: bool) -> list[Section]:
        found: dict[str, list[Block]] = {}
        ranks = self.ranks
        for each in self.tables:
            blocks = found.setdefault(each.metric, [])
            explanation = EXPLANATIONS[each.reading]
            blocks.append(each.table(f"{each.metric}, {each.reading}: {explanation}."))
            if each.reading == FIXED:
                blocks += significance_of(each).blocks()
                if figures and each.metric in ranks:
                    blocks.append(picture_of(ranks[each.metric], RANKS, "ranks"))
        return [Section(metric, blocks) for metric, blocks in found.items()]

    def _settings(self) -> list[Section]:
        return [Section("Settings and versions", settings_blocks(self.experiment))]


def experiment_report(experiment: Experiment) -> ExperimentReport:
    """Return the report of an experiment that was read from its store."""
    plan, results = experiment.plan, experiment.results
    readings = [ORACLE, FIXED] if any(m.grid for m in plan.methods) else [FIXED]
    absent = list(experiment.record.absent)
    return ExperimentReport(
        experiment,
        [
            metric_table(results, metric, reading, absent=absent)
            for metric in plan.judge.metrics
            for reading in readings
        ],
        failure_list(results, experiment.reasons()),
    )


def _interactive(section: Section) -> Section:
    """Let the reader sort, filter and save the tables of a section."""
    blocks = [
        replace(block, interactive=True, name=section.heading)
        if isinstance(block, TextTable)
        else block
        for block in section.blocks
    ]
    return replace(section, blocks=blocks)


def _table_content(table: MetricTable) -> dict[str, Any]:
    content: dict[str, Any] = {
        "metric": table.metric,
        "reading": table.reading,
        "labels_chose_parameters": table.reading == ORACLE,
        "means": {
            label: {
                column.title: None if np.isnan(mean) else float(mean)
                for column, mean in zip(table.columns, means, strict=True)
            }
            for label, means in zip(table.labels, table.means, strict=True)
        },
    }
    significance = significance_of(table)
    if table.reading == FIXED and significance.enough:
        content["average_ranks"] = significance.ranks()
        content["critical_difference"] = significance.critical_difference()
    return content


def sensitivity_blocks(
    experiment: Experiment, maps: Mapping[str, ParameterMap]
) -> list[Block]:
    """Draw the maps, and say which grids have none."""
    metric = experiment.plan.judge.metrics[0]
    said = f"{metric}, the first metric of the plan, at every point of a grid."
    others = [
        f"{method.label} ({', '.join(varying(method))})"
        for method in experiment.plan.methods
        if varying(method) and method.label not in maps
    ]
    blocks: list[Block] = [Paragraph(said if maps else NO_MAP)]
    blocks += [map_picture(part, label) for label, part in maps.items()]
    if others:
        blocks.append(Paragraph(f"{NOT_DRAWN} {', '.join(others)}."))
    return blocks


def convergence_blocks(experiment: Experiment) -> list[Block]:
    """Say how many values of its objective a fit has."""
    lengths = _lengths(experiment)
    return [_length_table(lengths)] if lengths else [Paragraph(NO_HISTORY)]


def _lengths(experiment: Experiment) -> dict[str, list[int]]:
    """Return how many values of the objective each fit of a method has."""
    lengths = {}
    for method in experiment.plan.methods:
        fits = [experiment.fits.get(key) for key in experiment.keys_of(method.label)]
        known = [len(fit.history) for fit in fits if fit and fit.history is not None]
        if known:
            lengths[method.label] = known
    return lengths


def _length_table(lengths: Mapping[str, list[int]]) -> TextTable:
    rows = [
        [label, str(len(values)), f"{np.median(values):.0f}", str(max(values))]
        for label, values in lengths.items()
    ]
    header = ["method", "fits with a curve", "median length", "largest length"]
    return TextTable(
        header, rows, "Values of the objective in a fit, one an iteration."
    )


def overview_blocks(experiment: Experiment) -> list[Block]:
    """Say what was run, how far it is, and what is absent."""
    plan = experiment.plan
    blocks: list[Block] = [Paragraph(plan.description)] if plan.description else []
    blocks += [
        Paragraph(f"{_how_judged(plan)} {_what_methods_know(plan)}"),
        Paragraph(progress_sentence(experiment)),
        _set_table(experiment),
    ]
    for name, reason in experiment.record.absent.items():
        blocks.append(Paragraph(f"{name}: data not available ({reason})."))
    if experiment.others:
        said = f"The store holds other plans too: {', '.join(experiment.others)}."
        blocks.append(Paragraph(f"{said} Name one with --plan PLAN to see it."))
    return blocks


def progress_sentence(experiment: Experiment) -> str:
    """Say how many cells there are, and how many are not there."""
    count = experiment.count()
    said = (
        f"{count.cells} cells: {count.ranked} ranked and judged, {count.failed} "
        "without a ranking"
    )
    if not count.missing:
        return f"{said}, none missing."
    return (
        f"{said}, {count.missing} missing: the experiment is not finished, and what "
        "follows counts what is there. The same ufselect run goes on with it."
    )


def settings_blocks(experiment: Experiment) -> list[Block]:
    """Say what can be repeated: methods with their settings, versions, the seed."""
    header = ["method", "selector", "fixed setting", "seeds", "grid", "points"]
    rows = [_method_row(method) for method in experiment.plan.methods]
    command = f"ufselect run {experiment.plan.name}.toml"
    return [
        TextTable(header, rows, "Methods; what is not named is at its default."),
        _version_table(experiment),
        Paragraph(
            f"Seed of the plan: {experiment.plan.seed}. With its file, it is run by:"
        ),
        Preformatted(command),
    ]


def _how_judged(plan: Plan) -> str:
    numbers = ", ".join(map(str, plan.judge.features))
    return (
        f"Percent, mean ± deviation over {numbers} features (of all features over "
        f"{plan.judge.repetitions} repetitions)."
    )


def _what_methods_know(plan: Plan) -> str:
    told = any(
        method.fixed_point().get("n_clusters") == "classes" for method in plan.methods
    )
    if told:
        return "Methods are told the number of classes; no other label reaches them."
    return "No label reaches any method, not even the number of classes."


def _set_table(experiment: Experiment) -> TextTable:
    rows = [
        [name, *map(str, experiment.count(name)), fingerprint[:12]]
        for name, fingerprint in experiment.record.fingerprints.items()
    ]
    header = ["data set", "cells", "ranked", "without a ranking", "missing", "SHA-256"]
    return TextTable(header, rows)


def _method_row(method: Method) -> list[str]:
    points = len(method.grid_points())
    return [
        method.label,
        method.selector,
        _settings(method.fixed_point()) or "defaults",
        str(method.seeds),
        _choices(method) or "-",
        str(points) if points else "-",
    ]


def _settings(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={short_value(value)}" for name, value in values.items())


def _choices(method: Method) -> str:
    said = [
        f"{name}={', '.join(map(short_value, values))}"
        for name, values in method.grid.items()
    ]
    return "; ".join([*said, "warm starts"] if method.warm_start else said)


def _version_table(experiment: Experiment) -> TextTable:
    """Return one column for each different set of versions that took part."""
    names = list(dict.fromkeys(name for one in experiment.versions for name in one))
    rows = [
        [name, *(one.get(name, "not recorded") for one in experiment.versions)]
        for name in names
    ]
    several = len(experiment.versions) > 1
    heads = [f"run {i + 1}" if several else "version" for i in range(len(rows[0]) - 1)]
    return TextTable(["program", *heads], rows, "Versions that computed.")
