"""The report of an experiment, from its store alone: as a page, text and JSON."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from ufselect.experiments.cells import FIXED
from ufselect.experiments.readings import ORACLE
from ufselect.experiments.stored import Experiment
from ufselect.report.costs import cost_blocks, cost_ranges, costs_of
from ufselect.report.experiment_figures import (
    COSTS,
    CURVES,
    RANKS,
    convergence_blocks,
    convergence_curves,
    parameter_maps,
    sensitivity_blocks,
)
from ufselect.report.experiment_parts import (
    AverageRanks,
    ConvergenceCurves,
    CostRanges,
    ParameterMap,
)
from ufselect.report.experiment_sections import overview_blocks, settings_blocks
from ufselect.report.failures import failure_list
from ufselect.report.metric_tables import MetricTable, metric_table
from ufselect.report.page import Block, Paragraph, Section, Table, html_page
from ufselect.report.plain import markdown, plain_text
from ufselect.report.plots import Frame, picture_of
from ufselect.report.significance import significance_of

EXPLANATIONS = {
    ORACLE: "labels chose the best point of the grid at every number of features, as "
    "papers do; methods without a grid have one setting",
    FIXED: "one setting, fixed before any label was seen; mean over seeds",
}


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
        found = {each.metric: significance_of(each).average_ranks() for each in fixed}
        return {metric: part for metric, part in found.items() if part is not None}

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

    def frames(self) -> dict[str, Frame]:
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
            "costs": {
                label: cost.summary()
                for label, cost in costs_of(self.experiment).items()
            },
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
        block._replace(interactive=True, name=section.heading)
        if isinstance(block, Table)
        else block
        for block in section.blocks
    ]
    return section._replace(blocks=blocks)


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
