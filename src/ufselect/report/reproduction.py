"""A published experiment repeated: every cell beside ours, with a verdict."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from ufselect.experiments.cells import FIXED, GRID, Located
from ufselect.experiments.convergence import CurveFit
from ufselect.experiments.plan import ALL_FEATURES, BASELINES, Plan
from ufselect.experiments.published import PublishedResults, verdict
from ufselect.experiments.stored import (
    ORACLE,
    Experiment,
    read_experiment,
    title_of,
)
from ufselect.report.experiment import (
    Document,
    histories_frame,
    map_picture,
    parameter_map,
    varying,
)
from ufselect.report.experiment_figures import bar_chart, curves
from ufselect.report.experiment_tables import Figure
from ufselect.report.method_cards import property_words
from ufselect.report.rendering import Block, Paragraph, Section, TextTable, picture_of

BASELINE = "Baseline"
# The metrics of the published tables, with what is shown beside them.
TABLES = {
    "accuracy": ("Table 3: clustering accuracy", ()),
    "nmi_geometric": ("Table 4: normalised mutual information", ("nmi_max",)),
}
HOW_CELLS_WERE_CHOSEN = (
    "How a published cell was made is not stated in the paper; the reading that fits "
    "its means and deviations is this. For every number of features the point of the "
    "grid with the best mean over the repetitions is taken, so labels choose the "
    "parameters; the cell is mean and deviation of these over the numbers of features. "
    "That is the column 'ours (oracle)', and part of it is the luck of many starts. "
    "The column 'label-free' is what a user without labels gets: one setting, fixed "
    "beforehand. The deviation of the Baseline is over the repetitions of k-means. The "
    "text of the paper divides mutual information by the larger entropy, its tables "
    "by the geometric mean; ours are compared under the latter, and both are shown."
)
CURVE_SEARCH = (
    "The setting of the published algorithm that draws each published curve best: "
    "weights of the published grid, three kinds of starts with other seeds, and the "
    "table as it is, with columns from 0, or from 0 to 1. The residual is the largest "
    "distance of any point, as a share of the way from the first published value to "
    "the last: met up to 2 %, near up to 20 %."
)
VERDICTS = (
    "Verdict: within two published standard deviations of the published mean, above, "
    "or below."
)
UNKNOWN = "Why is not known."
NOT_THERE = "data not available"


class CellTable(NamedTuple):
    """Every cell of a published table beside ours, as text."""

    metric: str
    title: str
    cells: pd.DataFrame
    known_reasons: Mapping[str, str]

    def blocks(self) -> list[Block]:
        """Return how ours compare, every cell, and why rows differ."""
        verdicts = self.cells["verdict"].value_counts()
        words = ("within", "above", "below")
        counts = ", ".join(f"{verdicts.get(word, 0)} {word}" for word in words)
        absent = (self.cells == NOT_THERE).any(axis=1).sum()
        differ = self.cells[self.cells["verdict"].isin(["above", "below"])]
        return [
            Paragraph(f"Percent. {counts}; {absent} rows without data. {VERDICTS}"),
            TextTable(list(self.cells), self.cells.to_numpy().tolist()),
            *(
                Paragraph(
                    f"{label} differs on {', '.join(rows['data set'])}. "
                    f"{self.known_reasons.get(str(label), UNKNOWN)}"
                )
                for label, rows in differ.groupby("method", sort=False)
            ),
        ]


@dataclass(frozen=True)
class Reproduction(Document):
    """The published results, ours, and what is needed to set one beside the other."""

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
        reasons = self.published.reasons
        return [
            CellTable(metric, title, self._cells(metric, others), reasons)
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

    def as_json(self) -> str:
        """Return the tables of cells for scripts."""
        content: dict[str, Any] = {
            "plan": self.experiment.plan.name,
            "absent": dict(self.located.absent),
        }
        content |= {each.metric: each.cells.to_dict("records") for each in self.tables}
        if self.curve_fits:
            content["convergence"] = self._curve_frame().to_dict("records")
        return json.dumps(content, indent=2, ensure_ascii=False)

    def sections(self, *, figures: bool) -> list[Section]:
        """Return the sections; without figures nothing is drawn."""
        judge = self.experiment.plan.judge
        numbers = ", ".join(map(str, judge.features))
        run = (
            f"This run: {numbers} features, {judge.repetitions} repetitions of k-means "
            f"with {judge.restarts} restarts. {self.experiment.plan.description}"
        )
        absent = [
            Paragraph(f"{name}: {NOT_THERE}. {reason}")
            for name, reason in self.located.absent.items()
        ]
        rebuilt = [
            Paragraph(f"{self.shown_name(each.catalogue_name)}: {each.reconstruction}")
            for name, each in self.published.sets.items()
            if self.shown_name(each.catalogue_name) != name
        ]
        how: list[Block] = [Paragraph(HOW_CELLS_WERE_CHOSEN), Paragraph(run)]
        how += [*absent, *rebuilt]
        found = [
            Section("How the cells were chosen", how),
            Section("Table 2: the data sets", [self._set_table()]),
        ]
        for each in self.tables:
            bars = _bar_pictures(self, each.metric) if figures else []
            found.append(Section(each.title, [*each.blocks(), *bars]))
        if figures:
            maps = [
                map_picture(part, label)
                for (label, _), part in parameter_maps(self).items()
            ]
            found.append(Section("Sensitivity to the parameters", maps))
        curves = list(self._curve_blocks(figures))
        if curves:
            found.append(Section("Convergence", curves))
        found.append(Section("Table 1: the methods", [self._property_table()]))
        failures = self.experiment.failures()
        if failures:
            header = ["Points of a grid without a ranking"]
            table = TextTable(header, [[line] for line in failures])
            found.append(Section("What could not be computed", [table]))
        return found

    def _curve_blocks(self, figures: bool) -> Iterator[Block]:
        for label, part in convergence_curves(self).items() if figures else ():
            caption = (
                f"{label} at the middle of the grid; the published curve does not say "
                "its parameters. Each is divided by its first value."
            )
            yield picture_of(part, caption, "convergence")
        if not self.curve_fits:
            return
        yield Paragraph(CURVE_SEARCH)
        frame = self._curve_frame()
        yield TextTable(list(frame), frame.to_numpy().tolist())
        if figures:
            ours = {
                self.shown_name(name): fit.history
                for name, fit in self.curve_fits.items()
            }
            part = _published_curves(ours, self._printed_curves())
            caption = "The published algorithm at the setting that fits best."
            yield picture_of(part, caption, "convergence-fitted")

    def _curve_frame(self) -> pd.DataFrame:
        """Return the best setting for each published curve, as text."""
        printed = self._printed_curves()
        rows = []
        for name, fit in self.curve_fits.items():
            shown = self.shown_name(name)
            ends = [
                f"{curve[0]:.6g} to {curve[-1]:.6g}"
                for curve in (printed[shown], fit.history)
            ]
            residual = f"{100 * fit.residual:.1f} %"
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

    def _set_table(self) -> TextTable:
        located = self.located
        rows = []
        for name, known in self.published.sets.items():
            here = known.catalogue_name
            if here not in located.paths:
                here = NOT_THERE if here in located.absent else "not in this run"
            elif self.shown_name(here) != name:
                here += ", reconstructed"
            sizes = map(str, (known.samples, known.features, known.classes))
            rows.append([name, *sizes, known.domain, here])
        header = [
            "published as",
            "samples",
            "features",
            "classes",
            "domain",
            "file here",
        ]
        return TextTable(header, rows)

    def _property_table(self) -> TextTable:
        properties = self.published.properties
        titles = [name.replace("_", " ") for name in next(iter(properties.values()))]
        rows = [
            [name, *map(property_words, row.values())]
            for name, row in properties.items()
        ]
        caption = (
            "As printed; what the classes here declare is in the page of method cards "
            "(ufselect methods --markdown)."
        )
        return TextTable(["method", *titles], rows, caption)


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


def bar_charts(comparison: Reproduction, metric: str) -> dict[int, Figure]:
    """Return the fewest and the most features, as the figures of the paper do."""
    experiment = comparison.experiment
    fixed = experiment.curves(FIXED, metric)
    scores = 100 * experiment.curves(GRID, metric).combine_first(fixed)
    scores = scores.rename(comparison.names, level="data set").reset_index()
    label = f"{metric} in percent"
    order = [method.label for method in experiment.plan.methods]
    features = experiment.plan.judge.features
    charts = {}
    for size in (features[0], features[-1]):
        # All features have a number of features of their own.
        chosen = (scores["features"] == size) | (scores["method"] == ALL_FEATURES)
        table = scores[chosen].pivot(columns="data set", index="method", values="value")
        table = table.reindex(order).reindex(columns=list(comparison.names.values()))
        groups = {str(name): each.dropna().to_dict() for name, each in table.items()}
        charts[size] = _bars(groups, label)
    return charts


def _bars(groups: Mapping[str, Mapping[str, float]], label: str) -> Figure:
    rows = [
        (name, method, value)
        for name, members in groups.items()
        for method, value in members.items()
    ]
    return Figure(
        pd.DataFrame(rows, columns=["data set", "method", label]),
        lambda: bar_chart(groups, label=label, baselines=list(BASELINES)),
    )


def _bar_pictures(comparison: Reproduction, metric: str) -> Iterator[Block]:
    for size, figure in bar_charts(comparison, metric).items():
        caption = f"{metric} with {size} features; labels chose the parameters."
        yield picture_of(figure, caption, f"{metric}-{size}")


def parameter_maps(comparison: Reproduction) -> dict[tuple[str, str], Figure]:
    """Return each metric over each grid of SCFS, by method and metric."""
    plan = comparison.experiment.plan
    maps = {
        (method.label, metric): parameter_map(
            comparison.experiment, method, metric, comparison.names
        )
        for method in plan.methods
        for metric in TABLES
        if method.selector == "SCFS" and metric in plan.judge.metrics
        if set(varying(method)) == {"alpha", "beta"}
    }
    return {key: part for key, part in maps.items() if part is not None}


def convergence_curves(comparison: Reproduction) -> dict[str, Figure]:
    """Return the objective of SCFS after each iteration beside the published curves."""
    experiment, found = comparison.experiment, {}
    for method in experiment.plan.methods:
        cells = experiment.cells[experiment.cells["reading"] == GRID]
        cells = cells[cells["method"] == method.label]
        middle = {
            comparison.names[name]: histories.iloc[len(histories) // 2]
            for name, histories in cells.groupby("data set", sort=False)["history"]
            if name in comparison.names
        }
        ours = {name: each for name, each in middle.items() if each is not None}
        if method.selector == "SCFS" and ours:
            printed = comparison._printed_curves()
            found[method.label] = _published_curves(ours, printed)
    return found


def _published_curves(ours: Mapping[str, Any], printed: Mapping[str, Any]) -> Figure:
    frame = histories_frame(
        {"ours": ours, "published": printed}, ["source", "data set"]
    )
    columns = ["data set", "source", "iteration", "objective"]
    return Figure(frame[columns], lambda: curves(ours, printed))
