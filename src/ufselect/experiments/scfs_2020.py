"""The tables and curves of the SCFS paper beside ours, with verdicts."""

import math
import tomllib
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ufselect.data import LabelledSet, read_labelled
from ufselect.experiments.plan import ALL_FEATURES, BASELINES
from ufselect.experiments.report import (
    Report,
    failures,
    histories_frame,
    section,
    sensitivity,
)
from ufselect.experiments.results import ORACLE, PLACE, Experiment
from ufselect.experiments.runs import FIXED, Located
from ufselect.plotting.bars import bar_chart
from ufselect.plotting.convergence import curves as draw_curves
from ufselect.registry import selector
from ufselect.report.rendering import (
    Block,
    Picture,
    Section,
    TextTable,
    yes_or_no,
)
from ufselect.solvers.starts import soft_start

NAME = "scfs-2020"
BASELINE = "Baseline"
# The metrics of the published tables, with what is shown beside them.
TABLES = {
    "accuracy": ("Table 3: clustering accuracy", ()),
    "nmi_geometric": ("Table 4: normalised mutual information", ("nmi_max",)),
}
NOT_THERE = "data not available"
RECONSTRUCTED = " (reconstructed)"
# Tables are printed with two decimals, so a number is known to half of the last one.
HALF_OF_THE_LAST_DIGIT = 0.005
# The setting that draws five of the six published curves, beside the shift of X by its
# smallest value and the soft start. The paper stops at this tolerance, and prints the
# last value again.
CURVE = {"solver": "paper", "alpha": 1e4, "beta": 1e4, "gamma": 1e6, "tol": 1e-5}
# Largest distance of any point from the printed one, as a share of the way that the
# printed curve goes. A share of the value would call every flat curve met.
MET, NEAR = 0.02, 0.2


class Published(NamedTuple):
    """One printed cell, in percent."""

    mean: float
    std: float


class PublishedSet(NamedTuple):
    """A data set as described in print, and its name in the catalogue here.

    ``reconstructed`` is the SHA-256 of a file that was rebuilt from other sources, and
    ``reconstruction`` says how. ``curve_seed`` is that of the start with which our
    convergence curve is drawn.
    """

    samples: int
    features: int
    classes: int
    kind: str
    domain: str
    catalogue_name: str
    curve_seed: int = 0
    reconstructed: str = ""
    reconstruction: str = ""


Cells = Mapping[str, Mapping[str, Published]]


@dataclass(frozen=True)
class PublishedResults:
    """What the paper prints; methods and data sets go by their names there.

    Attributes
    ----------
    title : str
        The title of the paper.
    methods : mapping of str to str
        The class here of each method in the tables. A method without one, such as the
        Baseline (k-means on all features), is absent.
    reasons : mapping of str to mapping
        Row and data set to why our cell may differ, where that is known; "all sets"
        stands for those that are not named.
    remarks : mapping of str to str
        What was found out about the curves.
    properties : mapping of str to mapping
        Method and property to a printed word, True for a tick or False for a cross.
    sets : mapping of str to PublishedSet
        The data sets.
    accuracy, mutual_information : mapping of str to mapping
        Method and data set to the printed mean and standard deviation, in percent.
    convergence : mapping of str to array
        Objective after each iteration; a fit that stopped repeats its last value.
    """

    title: str
    methods: Mapping[str, str]
    reasons: Mapping[str, Mapping[str, str]]
    remarks: Mapping[str, str]
    properties: Mapping[str, Mapping[str, str | bool]]
    sets: Mapping[str, PublishedSet]
    accuracy: Cells
    mutual_information: Cells
    convergence: Mapping[str, NDArray[np.float64]]

    def reason(self, label: str, set_name: str) -> str:
        """Return why a cell of ours may differ, or that nobody knows."""
        known = self.reasons.get(label, {})
        return known.get(set_name) or known.get("all sets", "Why is not known.")


@cache
def published() -> PublishedResults:
    """Return the results that the paper prints.

    Examples
    --------
    >>> from ufselect.experiments.scfs_2020 import published
    >>> published().accuracy["SCFS"]["Lymphoma"]
    Published(mean=64.87, std=1.59)
    """
    path = files("ufselect.experiments") / "published_tables" / f"{NAME}.toml"
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    content["sets"] = {
        key: PublishedSet(**entry) for key, entry in content["sets"].items()
    }
    for table in ("accuracy", "mutual_information"):
        for row in content[table].values():
            row |= {key: Published(*pair) for key, pair in row.items()}
    content["convergence"] = {
        key: np.array(curve) for key, curve in content["convergence"].items()
    }
    return PublishedResults(**content)


def verdict(ours_mean: float, cell: Published) -> str:
    """Say where our mean (in percent) lies: "within", "above" or "below".

    Within means at most two published standard deviations from the published mean.
    Both printed numbers are known to half of their last digit only, which is granted:
    a mean of 58.82 with a deviation of 0.00 reaches from 58.805 to 58.835.

    Examples
    --------
    >>> from ufselect.experiments.scfs_2020 import Published, verdict
    >>> verdict(65.97, Published(64.87, 1.59)), verdict(59.0, Published(58.82, 0.0))
    ('within', 'above')
    """
    if not math.isfinite(ours_mean):
        raise ValueError(
            f"a mean of {ours_mean} cannot be compared; leave out cells without result"
        )
    reach = 2 * (cell.std + HALF_OF_THE_LAST_DIGIT) + HALF_OF_THE_LAST_DIGIT
    if abs(ours_mean - cell.mean) <= reach:
        return "within"
    return "above" if ours_mean > cell.mean else "below"


def published_curve(data: LabelledSet, seed: int, max_iter: int) -> NDArray[np.float64]:
    """Return the objective of the published algorithm from the start of its curves.

    A fit that has converged repeats its last value.
    """
    X = data.table.toarray() if hasattr(data.table, "toarray") else data.table
    X = X + abs(X.min())
    n_clusters = len(np.unique(data.classes))
    random = np.random.RandomState(seed)
    scfs = selector(
        "SCFS",
        **CURVE,
        n_clusters=n_clusters,
        max_iter=max_iter,
        init=soft_start(X, n_clusters, random),
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # thirty iterations are what was printed
        history: NDArray[np.float64] = np.asarray(scfs.fit(X).objective_history_)
    return np.pad(history, (0, max_iter - len(history)), mode="edge")


def curve_verdict(residual: float) -> str:
    """Return "met", "near" or "not met" for a share of the way of a printed curve."""
    if residual <= MET:
        return "met"
    return "near" if residual <= NEAR else "not met"


@dataclass(frozen=True)
class PaperComparison:
    """Every cell of the paper beside ours, with the figures."""

    experiment: Experiment
    located: Located
    paper: PublishedResults

    def report(self) -> Report:
        """Return what is compared as a report."""
        content: dict[str, Any] = {
            "plan": self.experiment.plan.name,
            "absent": dict(self.located.absent),
        }
        content |= {name: each.to_dict("records") for name, each in self.tables.items()}
        content["convergence"] = self.curve_table().to_dict("records")
        return Report(f"{self.paper.title}: reproduction", self.sections, content)

    def sections(self, figures: bool) -> list[Section]:
        """Return the sections, on request with figures."""
        found = [
            self._how(),
            self._set_section(),
            *(self._cell_section(metric, figures) for metric in self.tables),
            sensitivity(self.experiment, list(self.tables), figures, self.shown),
            self._curve_section(figures),
            self._property_section(),
            failures(self.experiment),
        ]
        return [each for each in found if each.blocks]

    @cached_property
    def printed(self) -> dict[str, str]:
        """Return what the paper calls each set of the plan and of the paper."""
        known = {each.catalogue_name: name for name, each in self.paper.sets.items()}
        return {name: name for name in self.experiment.plan.sets} | known

    @cached_property
    def shown(self) -> dict[str, str]:
        """Return the same names, marked where the file here is reconstructed."""
        fingerprints = self.experiment.record.fingerprints
        marks = {
            each.catalogue_name: RECONSTRUCTED
            for each in self.paper.sets.values()
            if each.reconstructed == fingerprints.get(each.catalogue_name)
        }
        return {here: name + marks.get(here, "") for here, name in self.printed.items()}

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Return the published tables whose metrics the plan has."""
        metrics = self.experiment.plan.judge.metrics
        return {metric: self._cells(metric) for metric in TABLES if metric in metrics}

    def _cells(self, metric: str) -> pd.DataFrame:
        """Return a row for every set and method of the plan, as text."""
        plan, paper = self.experiment.plan, self.paper
        printed_cells = paper.mutual_information
        if metric == "accuracy":
            printed_cells = paper.accuracy
        paper_methods = {here: name for name, here in paper.methods.items()}
        paper_methods[ALL_FEATURES] = BASELINE
        oracle = over_features(self.experiment, ORACLE, metric)
        fixed = over_features(self.experiment, FIXED, metric)
        beside = {
            f"{each} (oracle)": over_features(self.experiment, ORACLE, each)
            for each in TABLES[metric][1]
        }
        rows = []
        for set_name, method in product(plan.sets, plan.methods):
            place = (method.label, set_name)
            row_of = printed_cells.get(paper_methods.get(method.selector, ""), {})
            printed = row_of.get(self.printed[set_name])
            # Labels choose nothing in a baseline of ours.
            compared = printed is not None or bool(method.grid)
            row = {
                "data set": self.shown[set_name],
                "method": method.label,
                "published": "-" if printed is None else _percent(*printed),
                "ours (oracle)": _cell(oracle, place) if compared else "-",
                "difference": "-",
                "verdict": "-",
                "label-free": _cell(fixed, place),
            }
            if set_name in self.experiment.record.absent:
                row |= {"ours (oracle)": NOT_THERE, "label-free": "-"}
            elif printed is not None and place in oracle.index:
                ours = 100 * oracle.loc[place, "mean"]
                row["difference"] = f"{ours - printed.mean:+.2f}"
                row["verdict"] = verdict(ours, printed)
            row |= {title: _cell(each, place) for title, each in beside.items()}
            rows.append(row)
        return pd.DataFrame(rows)

    def _how(self) -> Section:
        plan, judge = self.experiment.plan, self.experiment.plan.judge
        runs = self.experiment.runs.drop_duplicates("key")
        absent = self.experiment.record.absent.items()
        return section(
            "How the cells were chosen",
            self.paper.remarks["cells"],
            f"This experiment: {', '.join(map(str, judge.features))} features, "
            f"{judge.repetitions} repetitions of k-means with {judge.restarts} "
            f"restarts. {plan.description} ufselect report shows its store with "
            "deviations over the repetitions.",
            f"The fits took {runs['seconds'].sum() / 3600:.1f} hours by the clock, one "
            "after the other, or half of that on two cores; work that shared the "
            "machine counts, and k-means, which judges the rankings, does not.",
            *(f"{name}: data not available. {reason}" for name, reason in absent),
            *(
                f"{self.shown[each.catalogue_name]}: {each.reconstruction}"
                for name, each in self.paper.sets.items()
                if self.shown[each.catalogue_name] != name
            ),
        )

    def _set_section(self) -> Section:
        rows = []
        for name, known in self.paper.sets.items():
            here = known.catalogue_name
            if here in self.located.absent:
                here = NOT_THERE
            elif here not in self.located.paths:
                here = "not in this experiment"
            elif self.shown[here] != name:
                here += ", reconstructed"
            shape = map(str, (known.samples, known.features, known.classes))
            rows.append([name, *shape, known.domain, here])
        sizes = ["samples", "features", "classes"]
        header = ["published as", *sizes, "domain", "file here"]
        return section("Table 2: the data sets", TextTable(header, rows))

    def _cell_section(self, metric: str, figures: bool) -> Section:
        table = self.tables[metric]
        verdicts = table["verdict"].value_counts()
        words = ("within", "above", "below")
        counts = ", ".join(f"{verdicts.get(word, 0)} {word}" for word in words)
        absent = (table == NOT_THERE).any(axis=1).sum()
        limits = {
            method.label: method.parameters.get("max_iter")
            for method in self.experiment.plan.methods
        }
        differ = table[table["verdict"].isin(["above", "below"])]
        found: dict[tuple[str, str], list[str]] = {}
        for label, rows in differ.groupby("method"):
            for shown in rows["data set"]:
                reason = self.paper.reason(label, shown.removesuffix(RECONSTRUCTED))
                found.setdefault((label, reason), []).append(shown)
        return section(
            TABLES[metric][0],
            f"Percent. {counts}; {absent} rows without data. Verdict: within two "
            "published standard deviations of the published mean, above, or below.",
            _text_table(table),
            *(
                f"{label} is limited to {limit} iterations."
                for label, limit in limits.items()
                if limit
            ),
            *(
                f"{label} differs on {', '.join(sets)}. {reason}"
                for (label, reason), sets in found.items()
            ),
            *(self._bar_charts(metric) if figures else []),
        )

    def _bar_charts(self, metric: str) -> Iterator[Picture]:
        """Yield the fewest and the most features, as the figures of the paper do."""
        plan = self.experiment.plan
        scores = 100 * self.experiment.curves(ORACLE, metric)
        found = scores.rename(f"{metric} in percent").reset_index()
        for size in (plan.judge.features[0], plan.judge.features[-1]):
            # All features have a number of features of their own.
            at_size = (found["features"] == size) | (found["method"] == ALL_FEATURES)
            values = found[at_size].set_index(PLACE).iloc[:, -1].to_dict()
            groups = {
                self.shown[name]: {
                    method.label: values[place]
                    for method in plan.methods
                    if (place := (method.label, name)) in values
                }
                for name in self.experiment.record.fingerprints
            }
            label = f"{metric} in percent"
            plot = bar_chart(groups, label=label, baselines=list(BASELINES))
            caption = f"{metric} with {size} features; labels chose the parameters."
            yield Picture(plot.svg, caption, found[at_size], f"{metric}-{size}")

    @cached_property
    def curves(self) -> dict[str, NDArray[np.float64]]:
        """Return our convergence curve of every published set whose data are there."""
        found = {}
        for name, described in self.paper.sets.items():
            if path := self.located.paths.get(described.catalogue_name):
                found[name] = published_curve(
                    read_labelled(path),
                    described.curve_seed,
                    len(self.paper.convergence[name]),
                )
        return found

    def curve_table(self) -> pd.DataFrame:
        """Return how near each curve is to the published one, as text."""
        rows = []
        for name, ours in self.curves.items():
            printed, described = self.paper.convergence[name], self.paper.sets[name]
            way = abs(printed[0] - printed[-1])
            residual = float(np.max(np.abs(ours - printed)) / way)
            share = "< 0.01 %" if residual < 1e-4 else f"{100 * residual:.2f} %"
            ends = [f"{each[0]:,.0f} to {each[-1]:,.0f}" for each in (printed, ours)]
            known = [self.shown[described.catalogue_name], *ends]
            known.append(str(described.curve_seed))
            rows.append([*known, share, curve_verdict(residual)])
        header = ["data set", "published", "ours", "seed", "residual", "verdict"]
        return pd.DataFrame(rows, columns=header)

    def _curve_section(self, figures: bool) -> Section:
        if not self.curves:
            return Section("Convergence", [])
        blocks: list[Block | str] = [
            self.paper.remarks["curves"],
            _text_table(self.curve_table()),
            self.paper.remarks["setting"],
        ]
        if figures:
            ours, printed = (
                {
                    self.shown[self.paper.sets[name].catalogue_name]: each[name]
                    for name in self.curves
                }
                for each in (self.curves, self.paper.convergence)
            )
            sources = {"ours": ours, "published": printed}
            numbers = histories_frame(sources, ["source", "data set"])
            caption = "Objectives, each divided by its first value."
            plot = draw_curves(ours, printed)
            blocks.append(Picture(plot.svg, caption, numbers, "convergence"))
        return section("Convergence", *blocks)

    def _property_section(self) -> Section:
        properties = self.paper.properties.items()
        rows = [[name, *map(yes_or_no, row.values())] for name, row in properties]
        titles = [each.replace("_", " ") for each in next(iter(properties))[1]]
        return section(
            "Table 1: the methods",
            "As printed; docs/methods.md has what the classes here declare.",
            TextTable(["method", *titles], rows),
        )


def over_features(experiment: Experiment, reading: str, metric: str) -> pd.DataFrame:
    """Return mean and deviation over the numbers of features, as the paper has them.

    With one number of features, as for all features: over the repetitions.
    """
    found = experiment.curves(reading, metric).groupby(level=PLACE)
    repeated = experiment.table(reading, metric)["deviation"]
    spread = found.std(ddof=0).mask(found.size() == 1, repeated)
    return pd.DataFrame({"mean": found.mean(), "deviation": spread})


def _cell(means: pd.DataFrame, place: tuple[str, str]) -> str:
    return _percent(*(100 * means.loc[place])) if place in means.index else "-"


def _percent(mean: float, deviation: float) -> str:
    return f"{mean:.2f} ±{deviation:.2f}"


def _text_table(frame: pd.DataFrame) -> TextTable:
    return TextTable(list(frame), frame.to_numpy().tolist())
