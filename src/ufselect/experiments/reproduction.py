"""A published experiment repeated: every cell beside ours, with a verdict."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ufselect.experiments.cells import FIXED, GRID, Located
from ufselect.experiments.convergence_curves import CurveFit
from ufselect.experiments.plan import ALL_FEATURES, BASELINES, Plan
from ufselect.experiments.published import PublishedResults, verdict
from ufselect.experiments.report import (
    Document,
    histories_frame,
    parameter_map,
    varying,
)
from ufselect.experiments.stored import (
    ORACLE,
    Experiment,
    read_experiment,
    title_of,
)
from ufselect.plotting.bars import bar_chart
from ufselect.plotting.convergence import curves
from ufselect.report.rendering import Part, TextTable, yes_or_no

BASELINE = "Baseline"
# The metrics of the published tables, with what is shown beside them.
TABLES = {
    "accuracy": ("Table 3: clustering accuracy", ()),
    "nmi_geometric": ("Table 4: normalised mutual information", ("nmi_max",)),
}
NOT_THERE = "data not available"


class CellTable(NamedTuple):
    """Every cell of a published table beside ours, as text."""

    metric: str
    title: str
    cells: pd.DataFrame

    def counts(self) -> str:
        """Return how many cells are within, above and below, and how many are not."""
        verdicts = self.cells["verdict"].value_counts()
        words = ("within", "above", "below")
        counts = ", ".join(f"{verdicts.get(word, 0)} {word}" for word in words)
        return f"{counts}; {(self.cells == NOT_THERE).any(axis=1).sum()}"

    def differences(self) -> list[tuple[str, str]]:
        """Return method and data set of the cells that are not within."""
        differ = self.cells[self.cells["verdict"].isin(["above", "below"])]
        return list(zip(differ["method"], differ["data set"], strict=True))


@dataclass(frozen=True)
class Reproduction(Document):
    """The published results, ours, and what is needed to set one beside the other."""

    template = "reproduction.md.j2"
    experiment: Experiment
    published: PublishedResults
    located: Located
    # By set: the setting that draws the published curve best, if that was searched for.
    curve_fits: Mapping[str, CurveFit] = field(default_factory=dict)

    @property
    def title(self) -> str:  # type: ignore[override]
        """Return the title of the report."""
        return f"{self.published.title}: reproduction"

    @property
    def names(self) -> dict[str, str]:
        """Return what each set that is there is called, by our title of it."""
        plan = self.experiment.plan
        return {
            title_of(name, plan.preparations[0]): self.shown_name(name)
            for name in plan.sets
            if name in self.located.paths
        }

    def shown_name(self, set_name: str) -> str:
        """Return what the paper calls a set, marked if the file is reconstructed."""
        name = self.paper_name(set_name)
        fingerprint = self.experiment.record.fingerprints.get(set_name)
        described = self.published.sets.get(name)
        if described is not None and described.reconstructed == fingerprint:
            return f"{name} (reconstructed)"
        return name

    def paper_name(self, set_name: str) -> str:
        """Return what the paper calls a set, or its own name."""
        names = {here: paper for paper, here in self.published.catalogue_names.items()}
        return names.get(set_name, set_name)

    @cached_property
    def tables(self) -> list[CellTable]:
        """Return the published tables whose metrics the plan has."""
        return [
            CellTable(metric, title, self._cells(metric, others))
            for metric, (title, others) in TABLES.items()
            if metric in self.experiment.plan.judge.metrics
        ]

    def _cells(self, metric: str, others: tuple[str, ...]) -> pd.DataFrame:
        """Return a row for every set and method of the plan."""
        plan, published = self.experiment.plan, self.published
        printed_cells = (
            published.accuracy if metric == "accuracy" else published.mutual_information
        )
        paper_methods = {here: paper for paper, here in published.methods.items()}
        paper_methods[ALL_FEATURES] = BASELINE
        oracle = self.experiment.readings(ORACLE, metric)
        fixed = self.experiment.readings(FIXED, metric)
        beside = {
            f"{each} (oracle)": self.experiment.readings(ORACLE, each)
            for each in others
        }
        rows = []
        for set_name in plan.sets:
            for method in plan.methods:
                name = self.paper_name(set_name)
                place = (method.label, title_of(set_name, plan.preparations[0]))
                printed = printed_cells.get(
                    paper_methods.get(method.selector, ""), {}
                ).get(name)
                # Labels choose nothing in a baseline of ours.
                compared = printed is not None or bool(method.grid)
                row = {
                    "data set": self.shown_name(set_name),
                    "method": method.label,
                    "published": "-" if printed is None else _percent(*printed),
                    "ours (oracle)": _reading(oracle, place) if compared else "-",
                    "difference": "-",
                    "verdict": "-",
                    "label-free": _reading(fixed, place),
                }
                if set_name in self.located.absent:
                    row |= {"ours (oracle)": NOT_THERE, "label-free": "-"}
                elif printed is not None and place in oracle.index:
                    ours = 100 * oracle.loc[place, "mean"]
                    row["difference"] = f"{ours - printed.mean:+.2f}"
                    row["verdict"] = verdict(ours, printed)
                row |= {title: _reading(each, place) for title, each in beside.items()}
                rows.append(row)
        return pd.DataFrame(rows)

    def reasons(self, table: CellTable) -> dict[tuple[str, str], list[str]]:
        """Return the sets on which a method differs for the same reason.

        The keys are method and reason.
        """
        sets = {self.shown_name(name): name for name in self.experiment.plan.sets}
        found: dict[tuple[str, str], list[str]] = {}
        for label, shown in sorted(table.differences(), key=lambda pair: pair[0]):
            reason = self.published.reason(label, self.paper_name(sets[shown]))
            found.setdefault((label, reason), []).append(shown)
        return found

    def iteration_limits(self) -> dict[str, int]:
        """Return the methods whose iterations the plan limits."""
        limits = {
            method.label: method.parameters.get("max_iter")
            for method in self.experiment.plan.methods
        }
        return {label: int(limit) for label, limit in limits.items() if limit}

    def fit_hours(self) -> float:
        """Return the hours that all fits took, one after the other."""
        return float(
            self.experiment.cells.drop_duplicates("key")["seconds"].sum() / 3600
        )

    def common_setting(self) -> tuple[str, list[str]]:
        """Return the setting that draws most published curves, and their sets."""
        found: dict[str, list[str]] = {}
        for name, fit in self.curve_fits.items():
            if fit.verdict == "met":
                words = fit.setting.without_seed()
                found.setdefault(words, []).append(self.shown_name(name))
        return max(found.items(), key=lambda pair: len(pair[1]), default=("", []))

    def as_json(self) -> str:
        """Return the tables of cells for scripts."""
        content: dict[str, Any] = {
            "plan": self.experiment.plan.name,
            "absent": dict(self.located.absent),
        }
        content |= {each.metric: each.cells.to_dict("records") for each in self.tables}
        if self.curve_fits:
            content["convergence"] = self.curve_frame().to_dict("records")
        return json.dumps(content, indent=2, ensure_ascii=False)

    def bar_charts(self, metric: str) -> dict[int, Part]:
        """Return the fewest and the most features, as the figures of the paper do."""
        experiment = self.experiment
        fixed = experiment.curves(FIXED, metric)
        scores = 100 * experiment.curves(GRID, metric).combine_first(fixed)
        scores = scores.rename(self.names, level="data set").reset_index()
        order = [method.label for method in experiment.plan.methods]
        features = experiment.plan.judge.features
        charts = {}
        for size in (features[0], features[-1]):
            # All features have a number of features of their own.
            chosen = (scores["features"] == size) | (scores["method"] == ALL_FEATURES)
            table = scores[chosen].pivot(
                columns="data set", index="method", values="value"
            )
            table = table.reindex(index=order, columns=list(self.names.values()))
            groups = {str(name): row.dropna().to_dict() for name, row in table.items()}
            charts[size] = _bars(groups, f"{metric} in percent")
        return charts

    def parameter_maps(self) -> dict[tuple[str, str], Part]:
        """Return each metric over each grid of SCFS, by method and metric."""
        plan = self.experiment.plan
        maps = {
            (method.label, metric): parameter_map(
                self.experiment, method, metric, self.names
            )
            for method in plan.methods
            for metric in TABLES
            if method.selector == "SCFS" and metric in plan.judge.metrics
            if set(varying(method)) == {"alpha", "beta"}
        }
        return {key: part for key, part in maps.items() if part is not None}

    def convergence_curves(self) -> dict[str, Part]:
        """Return the objective of SCFS at each iteration beside the published one."""
        cells = self.experiment.cells
        cells = cells[(cells["reading"] == GRID) & cells["data set"].isin(self.names)]
        found = {}
        for method in self.experiment.plan.methods:
            fits = cells[cells["method"] == method.label].groupby(
                "data set", sort=False
            )
            middle = {
                self.names[str(name)]: histories.iloc[len(histories) // 2]
                for name, histories in fits["history"]
            }
            # Neither a fit that failed nor one that is still missing has a history.
            ours = {name: each for name, each in middle.items() if np.ndim(each)}
            if method.selector == "SCFS" and ours:
                found[method.label] = _published_curves(ours, self._printed_curves())
        return found

    def fitted_curves(self) -> Part:
        """Return the curves of the settings that fit best, beside the published."""
        fits = self.curve_fits.items()
        ours = {self.shown_name(name): fit.history for name, fit in fits}
        return _published_curves(ours, self._printed_curves())

    def curve_frame(self) -> pd.DataFrame:
        """Return the best setting for each published curve, as text."""
        printed = self._printed_curves()
        rows = []
        for name, fit in self.curve_fits.items():
            shown = self.shown_name(name)
            ends = [
                f"{curve[0]:,.0f} to {curve[-1]:,.0f}"
                for curve in (printed[shown], fit.history)
            ]
            share = 100 * fit.residual
            residual = "< 0.01 %" if share < 0.01 else f"{share:.2f} %"
            tried = str(fit.n_settings)
            rows.append([shown, *ends, str(fit.setting), residual, fit.verdict, tried])
        columns = ["data set", "published", "ours", "best setting", "residual"]
        return pd.DataFrame(rows, columns=[*columns, "verdict", "settings tried"])

    def _printed_curves(self) -> dict[str, Any]:
        """Return the published curves by the names that are shown."""
        sets = self.published.sets
        return {
            self.shown_name(sets[name].catalogue_name): curve
            for name, curve in self.published.convergence.items()
        }

    def set_table(self) -> TextTable:
        """Return the data sets of the paper, and what is here of them."""
        located = self.located
        rows = []
        for name, known in self.published.sets.items():
            here = known.catalogue_name
            if here not in located.paths:
                here = NOT_THERE if here in located.absent else "not in this run"
            elif self.shown_name(here) != name:
                here += ", reconstructed"
            shape = map(str, (known.samples, known.features, known.classes))
            rows.append([name, *shape, known.domain, here])
        sizes = ["samples", "features", "classes"]
        return TextTable(["published as", *sizes, "domain", "file here"], rows)

    def property_table(self) -> TextTable:
        """Return what the paper says of the methods."""
        properties = self.published.properties
        titles = [name.replace("_", " ") for name in next(iter(properties.values()))]
        rows = [
            [name, *map(yes_or_no, row.values())] for name, row in properties.items()
        ]
        caption = "As printed; docs/methods.md has what the classes here declare."
        return TextTable(["method", *titles], rows, caption)

    def failure_table(self) -> TextTable:
        """Return a line for every reason for which there is no ranking."""
        lines = [[line] for line in self.experiment.failures()]
        return TextTable(["Points of a grid without a ranking"], lines)


def read_comparison(
    plan: Plan,
    published: PublishedResults,
    store: Path,
    located: Located,
    curve_fits: Mapping[str, CurveFit] | None = None,
) -> Reproduction:
    """Read from the store what was computed."""
    experiment = read_experiment(store, plan)
    return Reproduction(experiment, published, located, curve_fits or {})


def _reading(readings: pd.DataFrame, place: tuple[str, str]) -> str:
    return _percent(*(100 * readings.loc[place])) if place in readings.index else "-"


def _percent(mean: float, deviation: float) -> str:
    return f"{mean:.2f} ±{deviation:.2f}"


def _bars(groups: Mapping[str, Mapping[str, float]], label: str) -> Part:
    rows = [
        (name, method, value)
        for name, members in groups.items()
        for method, value in members.items()
    ]
    return Part(
        pd.DataFrame(rows, columns=["data set", "method", label]),
        lambda: bar_chart(groups, label=label, baselines=list(BASELINES)),
    )


def _published_curves(ours: Mapping[str, Any], printed: Mapping[str, Any]) -> Part:
    frame = histories_frame(
        {"ours": ours, "published": printed}, ["source", "data set"]
    )
    columns = ["data set", "source", "iteration", "objective"]
    return Part(frame[columns], lambda: curves(ours, printed))
