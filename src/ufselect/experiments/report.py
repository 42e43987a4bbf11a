"""The report of an experiment, from its store alone: as HTML, text and JSON."""

import json
import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from ufselect.experiments.cells import FIXED, GRID
from ufselect.experiments.plan import Method
from ufselect.experiments.stored import ORACLE, PLACE, Experiment
from ufselect.experiments.tables import (
    MetricTable,
    cost_summary,
    fit_costs,
    metric_table,
    text_table_of,
)
from ufselect.plotting.axes import short_value
from ufselect.plotting.bars import range_chart
from ufselect.plotting.convergence import convergence
from ufselect.plotting.maps import surface
from ufselect.report.rendering import (
    Block,
    Paragraph,
    Part,
    Picture,
    Preformatted,
    Section,
    TextTable,
    html_page,
    markdown,
    picture_of,
    plain_text,
    render,
)

Form = Literal["html", "text", "markdown"]
COST_HEADER = (
    *("method", "fits", "without a ranking", "median seconds", "largest seconds"),
    *("median MB", "largest MB"),
)


class Document:
    """A report that is written as HTML with figures, as text, in Markdown and JSON.

    Its words are in a template, which places the tables and figures of the subclass
    between them. What the template gives are sections, whatever the form.
    """

    title: str
    template: ClassVar[str]
    # Whether the tables of the report can be sorted, filtered and saved.
    interactive: ClassVar[bool] = False

    @abstractmethod
    def as_json(self) -> str:
        """Return the tables for scripts."""

    def page(self) -> str:
        """Return the report as HTML, with tables and figures."""
        return html_page(self.title, self.sections("html"))

    def text(self) -> str:
        """Return the tables as text for a terminal."""
        return f"{self.title}\n\n{plain_text(self.sections('text'))}"

    def markdown(self) -> str:
        """Return the tables in Markdown."""
        return markdown(self.title, self.sections("markdown"))

    def sections(self, form: Form) -> list[Section]:
        """Return the sections; figures are drawn for HTML only."""
        placed: dict[str, Block] = {}

        def put(block: Block) -> str:
            # Nothing else in a report is a paragraph that begins with this character.
            mark = f"\0{len(placed)}"
            placed[mark] = block
            return mark

        text = render(
            self.template,
            report=self,
            form=form,
            put=put,
            map_picture=map_picture,
            preformatted=Preformatted,
            frame_table=lambda frame: TextTable(list(frame), frame.to_numpy().tolist()),
        )
        found: list[tuple[str, list[Block]]] = []
        for part in re.split(r"\n\s*\n", text.strip()):
            words = " ".join(part.split())
            if words.startswith("## "):
                found.append((words.removeprefix("## "), []))
                continue
            heading, blocks = found[-1]
            block = placed.get(words, Paragraph(words))
            if isinstance(block, TextTable) and self.interactive:
                block = replace(block, interactive=True, name=heading)
            blocks.append(block)
        return [Section(heading, blocks) for heading, blocks in found]


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
) -> Part | None:
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
    return Part(
        numbers,
        lambda: surface(rows, columns, tables, label=label, names=names_of_axes),
    )


def map_picture(figure: Part, label: str) -> Picture:
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

    template = "experiment.md.j2"
    interactive = True
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
    def ranks(self) -> dict[str, Part]:
        """Return the average ranks by each metric, where there are enough sets."""
        return {
            each.metric: each.significance.figure()
            for each in self.tables
            if each.reading == FIXED and each.significance.enough
        }

    @cached_property
    def sensitivity(self) -> dict[str, Part]:
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

    @cached_property
    def convergence(self) -> Part | None:
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
        return Part(frame, lambda: convergence(found))

    @cached_property
    def costs(self) -> Part | None:
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
        return Part(frame, lambda: range_chart(measures))

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

    @property
    def classes_are_told(self) -> bool:
        """Return whether methods know the number of classes."""
        settings = [each.fixed_point() for each in self.experiment.plan.methods]
        return any(each.get("n_clusters") == "classes" for each in settings)

    def set_table(self) -> TextTable:
        """Return what became of the cells of each set."""
        counts = self.experiment.count
        return TextTable(
            ["data set", "cells", "ranked", "without a ranking", "missing", "SHA-256"],
            [
                [name, *map(str, counts(name)), fingerprint[:12]]
                for name, fingerprint in self.experiment.record.fingerprints.items()
            ],
        )

    def grids_without_map(self) -> list[str]:
        """Return the methods whose grid is not drawn, with what varies in it."""
        return [
            f"{method.label} ({', '.join(varying(method))})"
            for method in self.experiment.plan.methods
            if varying(method) and method.label not in self.sensitivity
        ]

    def length_table(self) -> TextTable | None:
        """Return how many values of its objective a fit has, if any is known."""
        cells = self.experiment.cells.drop_duplicates(["method", "key"])
        cells = cells[cells["history"].notna()]
        if cells.empty:
            return None
        lengths = cells["history"].map(len).groupby(cells["method"], sort=False)
        shown = lengths.agg(["count", "median", "max"]).map("{:.0f}".format)
        shown.columns = ["fits with a curve", "median length", "largest length"]
        caption = "Values of the objective in a fit, one an iteration."
        return text_table_of(shown, caption)

    def cost_table(self) -> TextTable:
        """Return what all methods cost."""
        summary = cost_summary(self.experiment)
        counts, costs = summary[["fits", "failed"]], summary.iloc[:, 2:]
        shown = pd.concat([counts.astype(int).astype(str), costs.map(_short)], axis=1)
        return replace(text_table_of(shown), header=COST_HEADER)

    def seconds_by_set(self) -> TextTable:
        """Return the median seconds of a fit on each set."""
        fits = fit_costs(self.experiment).groupby(PLACE, observed=False)
        medians = fits["seconds"].median().unstack()
        caption = "Median seconds of a fit on each set."
        return text_table_of(medians.map(_short), caption)

    def method_table(self) -> TextTable:
        """Return the methods with their settings."""
        header = ["method", "selector", "fixed setting", "seeds", "grid", "points"]
        rows = [_method_row(method) for method in self.experiment.plan.methods]
        return TextTable(header, rows, "Methods; what is not named is at its default.")

    def version_table(self) -> TextTable:
        """Return one column for each different set of versions that took part."""
        versions = self.experiment.versions
        names = [f"run {place + 1}" for place in range(len(versions))]
        known = pd.DataFrame(versions, index=names if len(names) > 1 else ["version"])
        shown = text_table_of(known.T.fillna("not recorded"), "Versions that computed.")
        return replace(shown, header=["program", *known.index])


def experiment_report(experiment: Experiment) -> ExperimentReport:
    """Return the report of an experiment that was read from its store."""
    return ExperimentReport(experiment)


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


def _short(value: float) -> str:
    """Return three digits that count, and no exponent; a dash for nothing."""
    if np.isnan(value):
        return "-"
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.2f}" if value >= 1 else f"{value:.3f}"
