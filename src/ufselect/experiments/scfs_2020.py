"""The tables and curves of the SCFS paper beside ours, with verdicts."""

import math
import tomllib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ufselect.data import read_labelled
from ufselect.experiments.plan import ALL_FEATURES, BASELINES
from ufselect.experiments.report import (
    Report,
    failures,
    histories_frame,
    sensitivity,
)
from ufselect.experiments.results import ORACLE, PLACE, Experiment, title_of
from ufselect.experiments.runs import FIXED, Located
from ufselect.plotting.bars import bar_chart
from ufselect.plotting.convergence import curves
from ufselect.registry import selector
from ufselect.report.rendering import (
    Block,
    Paragraph,
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


def published_curve(
    table: Any, n_clusters: int, seed: int, max_iter: int
) -> NDArray[np.float64]:
    """Return the objective of the published algorithm from the start of its curves.

    A fit that has converged repeats its last value.
    """
    X = table.toarray() if hasattr(table, "toarray") else np.asarray(table)
    X = X + abs(X.min())
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


class Names:
    """What the data sets of a plan are called in the paper.

    Parameters
    ----------
    paper : PublishedResults
    fingerprints : mapping of str to str
        The hash of the file of each set.
    """

    def __init__(
        self, paper: PublishedResults, fingerprints: Mapping[str, str]
    ) -> None:
        self.paper, self.fingerprints = paper, fingerprints
        self._printed = {each.catalogue_name: name for name, each in paper.sets.items()}

    def printed(self, set_name: str) -> str:
        """Return what the paper calls a set, or its own name."""
        return self._printed.get(set_name, set_name)

    def is_reconstructed(self, set_name: str) -> bool:
        """Tell whether the file of a set is known to be reconstructed."""
        described = self.paper.sets.get(self.printed(set_name))
        found = self.fingerprints.get(set_name)
        return described is not None and described.reconstructed == found

    def shown(self, set_name: str) -> str:
        """Return what the paper calls a set, marked if the file is reconstructed."""
        mark = " (reconstructed)" if self.is_reconstructed(set_name) else ""
        return self.printed(set_name) + mark


def comparison(
    experiment: Experiment, located: Located, paper: PublishedResults | None = None
) -> Report:
    """Return every cell of the paper beside ours, with the figures."""
    paper = paper or published()
    names = Names(paper, experiment.record.fingerprints)
    tables = {
        metric: cells(experiment, paper, names, metric)
        for metric in TABLES
        if metric in experiment.plan.judge.metrics
    }
    drawn = _drawn_curves(located, paper)

    def sections(figures: bool) -> list[Section]:
        data_sets = {
            title_of(name, experiment.plan.preparations[0]): names.shown(name)
            for name in experiment.plan.sets
        }
        found = [
            _how(experiment, names),
            _set_section(paper, located, names),
            *(
                _table_section(experiment, names, metric, table, figures)
                for metric, table in tables.items()
            ),
            sensitivity(experiment, list(tables), figures, data_sets),
            _curve_section(paper, names, drawn, figures),
            _property_section(paper),
            failures(experiment),
        ]
        return [section for section in found if section.blocks]

    content: dict[str, Any] = {
        "plan": experiment.plan.name,
        "absent": dict(located.absent),
    }
    content |= {metric: table.to_dict("records") for metric, table in tables.items()}
    curve_table = _curve_frame(paper, names, drawn)
    content["convergence"] = curve_table.to_dict("records")
    return Report(f"{paper.title}: reproduction", sections, content)


def over_features(experiment: Experiment, reading: str, metric: str) -> pd.DataFrame:
    """Return mean and deviation over the numbers of features, as the paper has them.

    With one number of features, as for all features: over the repetitions.
    """
    found = experiment.curves(reading, metric).groupby(level=PLACE)
    repeated = experiment.table(reading, metric)["deviation"]
    spread = found.std(ddof=0).mask(found.size() == 1, repeated)
    return pd.DataFrame({"mean": found.mean(), "deviation": spread})


def cells(
    experiment: Experiment, paper: PublishedResults, names: Names, metric: str
) -> pd.DataFrame:
    """Return a row for every set and method of the plan, as text."""
    plan = experiment.plan
    printed_cells = paper.accuracy if metric == "accuracy" else paper.mutual_information
    paper_methods = {here: name for name, here in paper.methods.items()}
    paper_methods[ALL_FEATURES] = BASELINE
    oracle = over_features(experiment, ORACLE, metric)
    fixed = over_features(experiment, FIXED, metric)
    beside = {
        f"{each} (oracle)": over_features(experiment, ORACLE, each)
        for each in TABLES[metric][1]
    }
    rows = []
    for set_name in plan.sets:
        for method in plan.methods:
            place = (method.label, title_of(set_name, plan.preparations[0]))
            row_of = printed_cells.get(paper_methods.get(method.selector, ""), {})
            printed = row_of.get(names.printed(set_name))
            # Labels choose nothing in a baseline of ours.
            compared = printed is not None or bool(method.grid)
            row = {
                "data set": names.shown(set_name),
                "method": method.label,
                "published": "-" if printed is None else _percent(*printed),
                "ours (oracle)": _cell(oracle, place) if compared else "-",
                "difference": "-",
                "verdict": "-",
                "label-free": _cell(fixed, place),
            }
            if set_name in experiment.record.absent:
                row |= {"ours (oracle)": NOT_THERE, "label-free": "-"}
            elif printed is not None and place in oracle.index:
                ours = 100 * oracle.loc[place, "mean"]
                row["difference"] = f"{ours - printed.mean:+.2f}"
                row["verdict"] = verdict(ours, printed)
            row |= {title: _cell(each, place) for title, each in beside.items()}
            rows.append(row)
    return pd.DataFrame(rows)


def _cell(means: pd.DataFrame, place: tuple[str, str]) -> str:
    return _percent(*(100 * means.loc[place])) if place in means.index else "-"


def _percent(mean: float, deviation: float) -> str:
    return f"{mean:.2f} ±{deviation:.2f}"


def _frame_table(frame: pd.DataFrame) -> TextTable:
    return TextTable(list(frame), frame.to_numpy().tolist())


def _how(experiment: Experiment, names: Names) -> Section:
    plan, judge = experiment.plan, experiment.plan.judge
    hours = experiment.runs.drop_duplicates("key")["seconds"].sum() / 3600
    texts = [
        "How a published cell was made is not stated in the paper; the reading that "
        "fits its means and deviations is this. For every number of features the "
        "point of the grid with the best mean over the repetitions is taken, so "
        "labels choose the parameters; the cell is mean and deviation of these over "
        "the numbers of features. That is the column 'ours (oracle)', and part of "
        "it is the luck of many starts. The column 'label-free' is what a user "
        "without labels gets: one setting, fixed beforehand; its deviation is over "
        "the numbers of features, too. The deviation of the Baseline, all features, "
        "is over the repetitions of k-means. The text of the paper divides mutual "
        "information by the larger entropy, its tables by the geometric mean; ours "
        "are compared under the latter, and both are shown.",
        f"This experiment: {', '.join(map(str, judge.features))} features, "
        f"{judge.repetitions} repetitions of k-means with {judge.restarts} restarts. "
        f"{plan.description} ufselect report shows its store with deviations over "
        "the repetitions.",
        f"The fits took {hours:.1f} hours by the clock, one after the other, or half "
        "of that on two cores; work that shared the machine counts, and k-means, which "
        "judges the rankings, does not.",
    ]
    texts += [
        f"{name}: data not available. {reason}"
        for name, reason in experiment.record.absent.items()
    ]
    texts += [
        f"{names.shown(each.catalogue_name)}: {each.reconstruction}"
        for each in names.paper.sets.values()
        if names.is_reconstructed(each.catalogue_name)
    ]
    return Section("How the cells were chosen", [Paragraph(text) for text in texts])


def _set_section(paper: PublishedResults, located: Located, names: Names) -> Section:
    rows = []
    for name, known in paper.sets.items():
        here = known.catalogue_name
        if here not in located.paths:
            here = NOT_THERE if here in located.absent else "not in this experiment"
        elif names.is_reconstructed(here):
            here += ", reconstructed"
        shape = map(str, (known.samples, known.features, known.classes))
        rows.append([name, *shape, known.domain, here])
    sizes = ["samples", "features", "classes"]
    header = ["published as", *sizes, "domain", "file here"]
    return Section("Table 2: the data sets", [TextTable(header, rows)])


def _table_section(
    experiment: Experiment,
    names: Names,
    metric: str,
    table: pd.DataFrame,
    figures: bool,
) -> Section:
    verdicts = table["verdict"].value_counts()
    counts = ", ".join(
        f"{verdicts.get(word, 0)} {word}" for word in ("within", "above", "below")
    )
    absent = (table == NOT_THERE).any(axis=1).sum()
    blocks: list[Block] = [
        Paragraph(
            f"Percent. {counts}; {absent} rows without data. Verdict: within two "
            "published standard deviations of the published mean, above, or below."
        ),
        _frame_table(table),
    ]
    limits = {
        method.label: method.parameters.get("max_iter")
        for method in experiment.plan.methods
    }
    blocks += [
        Paragraph(f"{label} is limited to {limit} iterations.")
        for label, limit in limits.items()
        if limit
    ]
    printed = {names.shown(name): names.printed(name) for name in experiment.plan.sets}
    differ = table[table["verdict"].isin(["above", "below"])]
    found: dict[tuple[str, str], list[str]] = {}
    for label, shown in sorted(
        zip(differ["method"], differ["data set"], strict=True), key=lambda pair: pair[0]
    ):
        reason = names.paper.reason(label, printed[shown])
        found.setdefault((label, reason), []).append(shown)
    blocks += [
        Paragraph(f"{label} differs on {', '.join(sets)}. {reason}")
        for (label, reason), sets in found.items()
    ]
    if figures:
        blocks += _bar_charts(experiment, names, metric)
    return Section(TABLES[metric][0], blocks)


def _bar_charts(experiment: Experiment, names: Names, metric: str) -> list[Picture]:
    """Return the fewest and the most features, as the figures of the paper do."""
    plan = experiment.plan
    scores = 100 * experiment.curves(ORACLE, metric).rename(f"{metric} in percent")
    found = scores.reset_index()
    pictures = []
    for size in (plan.judge.features[0], plan.judge.features[-1]):
        # All features have a number of features of their own.
        chosen = found[(found["features"] == size) | (found["method"] == ALL_FEATURES)]
        values = chosen.set_index(PLACE)[scores.name].to_dict()
        groups = {
            names.shown(name): {
                method.label: values[place]
                for method in plan.methods
                if (place := (method.label, title_of(name, plan.preparations[0])))
                in values
            }
            for name in plan.sets
            if name in experiment.record.fingerprints
        }
        plot = bar_chart(groups, label=str(scores.name), baselines=list(BASELINES))
        caption = f"{metric} with {size} features; labels chose the parameters."
        pictures.append(Picture(plot.svg, caption, chosen, f"{metric}-{size}"))
    return pictures


def _drawn_curves(
    located: Located, paper: PublishedResults
) -> dict[str, NDArray[np.float64]]:
    """Return our convergence curve of every published set whose data are there."""
    found = {}
    for name, described in paper.sets.items():
        path = located.paths.get(described.catalogue_name)
        if path is not None:
            data = read_labelled(path)
            found[name] = published_curve(
                data.table,
                len(np.unique(data.classes)),
                described.curve_seed,
                len(paper.convergence[name]),
            )
    return found


def _curve_frame(
    paper: PublishedResults, names: Names, drawn: Mapping[str, NDArray[np.float64]]
) -> pd.DataFrame:
    rows = []
    for name, ours in drawn.items():
        printed, described = paper.convergence[name], paper.sets[name]
        way = abs(printed[0] - printed[-1])
        residual = float(np.max(np.abs(ours - printed)) / way)
        shown = "< 0.01 %" if residual < 1e-4 else f"{100 * residual:.2f} %"
        ends = [f"{each[0]:,.0f} to {each[-1]:,.0f}" for each in (printed, ours)]
        known = [names.shown(described.catalogue_name), *ends]
        rows.append([*known, str(described.curve_seed), shown, curve_verdict(residual)])
    header = ["data set", "published", "ours", "seed", "residual", "verdict"]
    return pd.DataFrame(rows, columns=header)


def _curve_section(
    paper: PublishedResults,
    names: Names,
    drawn: Mapping[str, NDArray[np.float64]],
    figures: bool,
) -> Section:
    frame = _curve_frame(paper, names, drawn)
    if frame.empty:
        return Section("Convergence", [])
    blocks: list[Block] = [
        Paragraph(
            "The paper prints the objective after each iteration, and neither "
            "weights nor start. Ours is that of the published algorithm at one "
            "setting: alpha = beta = 10000, X plus abs(min X), and the soft "
            "memberships of fuzzy c-means with exponent 1.2, from the seed in the "
            "table. The residual is the largest distance of any point, as a share "
            "of the way from the first published value to the last: met up to 2 %, "
            "near up to 20 %."
        ),
        _frame_table(frame),
        Paragraph(paper.remarks["curves"]),
    ]
    if figures:
        shown = {name: names.shown(paper.sets[name].catalogue_name) for name in drawn}
        ours = {shown[name]: curve for name, curve in drawn.items()}
        printed = {shown[name]: paper.convergence[name] for name in drawn}
        numbers = histories_frame(
            {"ours": ours, "published": printed}, ["source", "data set"]
        )
        caption = "Objectives, each divided by its first value."
        plot = curves(ours, printed)
        blocks.append(Picture(plot.svg, caption, numbers, "convergence"))
    return Section("Convergence", blocks)


def _property_section(paper: PublishedResults) -> Section:
    titles = [name.replace("_", " ") for name in next(iter(paper.properties.values()))]
    rows = [
        [name, *map(yes_or_no, row.values())] for name, row in paper.properties.items()
    ]
    note = Paragraph("As printed; docs/methods.md has what the classes here declare.")
    return Section("Table 1: the methods", [note, TextTable(["method", *titles], rows)])
