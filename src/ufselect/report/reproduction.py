"""A published experiment repeated: every cell beside ours, with a verdict."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ufselect.experiments.cells import FIXED, GRID, Located, Role
from ufselect.experiments.plan import ALL_FEATURES, Method, Plan
from ufselect.experiments.readings import (
    ORACLE,
    Cells,
    Place,
    PublishedResults,
    Reading,
    Results,
    verdict,
)
from ufselect.experiments.store import Float
from ufselect.experiments.stored import read_experiment
from ufselect.report.experiment_parts import (
    MethodBars,
    ParameterMap,
    PublishedCurves,
    map_picture,
    parameter_map,
    varying,
)
from ufselect.report.experiment_tables import failure_list
from ufselect.report.method_cards import property_words
from ufselect.report.rendering import Block, Paragraph, Section, TextTable, picture_of
from ufselect.report.tables import text_table

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
VERDICTS = (
    "Verdict: within two published standard deviations of the published mean, above, "
    "or below."
)
UNKNOWN = "Why is not known."
NOT_THERE = "data not available"


class Reproduction(NamedTuple):
    """The published results, ours, and what is needed to set one beside the other."""

    plan: Plan
    published: PublishedResults
    results: Results
    located: Located
    histories: Mapping[str, Float]
    failures: list[str]

    def paper_name(self, set_name: str) -> str:
        """Return what the paper calls a set, or its own name."""
        names = {here: paper for paper, here in self.published.catalogue_names.items()}
        return names.get(set_name, set_name)

    def paper_method(self, label: str) -> str | None:
        """Return what the paper calls a method of the plan, if it has it."""
        if label == ALL_FEATURES:
            return BASELINE
        selectors = {method.label: method.selector for method in self.plan.methods}
        names = {here: paper for paper, here in self.published.methods.items()}
        return names.get(selectors[label])


def read_comparison(
    plan: Plan, published: PublishedResults, store: Path, located: Located
) -> Reproduction:
    """Read from the store what was computed."""
    experiment = read_experiment(store, plan)
    return Reproduction(
        plan,
        published,
        experiment.results,
        located,
        {
            key: fit.history
            for key, fit in experiment.fits.items()
            if fit.history is not None
        },
        failure_list(experiment.results, experiment.reasons()),
    )


class CellTable(NamedTuple):
    """Every cell of a published table beside ours, as text."""

    metric: str
    title: str
    cells: pd.DataFrame
    known_reasons: Mapping[str, str]

    def table(self) -> TextTable:
        """Return the cells for a report."""
        return TextTable(list(self.cells), self.cells.to_numpy().tolist())

    def summary(self) -> str:
        """Return how many published cells there are, and how ours compare."""
        verdicts = self.cells["verdict"].value_counts()
        counts = ", ".join(
            f"{verdicts.get(word, 0)} {word}" for word in ("within", "above", "below")
        )
        absent = (self.cells == NOT_THERE).any(axis=1).sum()
        return f"{counts}; {absent} rows without data. {VERDICTS}"

    def reasons(self) -> list[str]:
        """Return why rows of ours differ, a sentence for each method that does."""
        differ = self.cells[self.cells["verdict"].isin(["above", "below"])]
        return [
            f"{label} differs on {', '.join(rows['data set'])}. "
            f"{self.known_reasons.get(str(label), UNKNOWN)}"
            for label, rows in differ.groupby("method", sort=False)
        ]


def cell_tables(comparison: Reproduction) -> list[CellTable]:
    """Return the published tables whose metrics the plan has."""
    return [
        CellTable(
            metric,
            title,
            pd.DataFrame(
                [
                    _cell_row(comparison, metric, others, set_name, method)
                    for set_name in comparison.plan.sets
                    for method in comparison.plan.methods
                ]
            ),
            comparison.published.reasons,
        )
        for metric, (title, others) in TABLES.items()
        if metric in comparison.plan.judge.metrics
    ]


def _cell_row(
    comparison: Reproduction,
    metric: str,
    others: Sequence[str],
    set_name: str,
    method: Method,
) -> dict[str, str]:
    """Return a row of the table; labels choose nothing in a baseline of ours."""
    name = comparison.paper_name(set_name)
    paper_method = comparison.paper_method(method.label) or ""
    published = published_cells(comparison.published, metric)
    printed = published.get(paper_method, {}).get(name)
    place = _place(comparison, set_name, method)
    reading = comparison.results.reading
    oracle = reading(place, ORACLE, metric)
    row = {
        "data set": name,
        "method": method.label,
        "published": "-" if printed is None else _percent(printed.mean, printed.std),
        "ours (oracle)": _reading(oracle if printed or method.grid else None),
        "difference": "-",
        "verdict": "-",
        "label-free": _reading(reading(place, FIXED, metric)),
    }
    if set_name in comparison.located.absent:
        row |= {"ours (oracle)": NOT_THERE, "label-free": "-"}
    elif printed is not None and oracle is not None:
        ours = 100 * oracle.mean
        row["difference"] = f"{ours - printed.mean:+.2f}"
        row["verdict"] = verdict(ours, printed)
    return row | {
        f"{other} (oracle)": _reading(reading(place, ORACLE, other)) for other in others
    }


def reproduction_sections(comparison: Reproduction) -> list[Section]:
    """Return the whole reproduction as sections of a report."""
    sections = [
        Section("How the cells were chosen", _text(comparison)),
        Section("Table 2: the data sets", [_set_table(comparison)]),
    ]
    for each in cell_tables(comparison):
        blocks: list[Block] = [Paragraph(each.summary()), each.table()]
        blocks += [Paragraph(reason) for reason in each.reasons()]
        blocks += bar_blocks(comparison, each.metric)
        sections.append(Section(each.title, blocks))
    sections += [
        Section("Sensitivity to the parameters", map_blocks(comparison)),
        Section("Convergence", convergence_blocks(comparison)),
        Section("Table 1: the methods", [_property_table(comparison)]),
    ]
    if comparison.failures:
        lines = [[line] for line in comparison.failures]
        table = TextTable(["Points of a grid without a ranking"], lines)
        sections.append(Section("What could not be computed", [table]))
    return sections


def comparison_as_text(
    comparison: Reproduction, render: Callable[[Any, Any], str] = text_table
) -> str:
    """Return the tables of cells as text, with tables drawn by a function."""
    parts = [HOW_CELLS_WERE_CHOSEN]
    for each in cell_tables(comparison):
        table = each.table()
        parts.append(f"{each.title}, percent. {each.summary()}")
        parts += [render(table.header, table.rows), *each.reasons()]
    return "\n\n".join(parts) + "\n"


def comparison_as_json(comparison: Reproduction) -> str:
    """Return the tables of cells for scripts."""
    content: dict[str, Any] = {
        "plan": comparison.plan.name,
        "absent": dict(comparison.located.absent),
    }
    for each in cell_tables(comparison):
        content[each.metric] = each.cells.to_dict("records")
    return json.dumps(content, indent=2, ensure_ascii=False)


def published_cells(published: PublishedResults, metric: str) -> Cells:
    """Return the printed table of a metric."""
    return published.accuracy if metric == "accuracy" else published.mutual_information


def _text(comparison: Reproduction) -> list[Block]:
    judge = comparison.plan.judge
    numbers = ", ".join(map(str, judge.features))
    blocks: list[Block] = [
        Paragraph(HOW_CELLS_WERE_CHOSEN),
        Paragraph(
            f"This run: {numbers} features, {judge.repetitions} repetitions of k-means "
            f"with {judge.restarts} restarts. {comparison.plan.description}"
        ),
    ]
    for name, reason in comparison.located.absent.items():
        blocks.append(Paragraph(f"{name}: data not available. {reason}"))
    return blocks


def _set_table(comparison: Reproduction) -> TextTable:
    located = comparison.located
    rows = []
    for name, known in comparison.published.sets.items():
        here = known.catalogue_name
        if here not in located.paths:
            here = NOT_THERE if here in located.absent else "not in this run"
        sizes = map(str, (known.samples, known.features, known.classes))
        rows.append([name, *sizes, known.domain, here])
    header = ["published as", "samples", "features", "classes", "domain", "file here"]
    return TextTable(header, rows)


def _property_table(comparison: Reproduction) -> TextTable:
    properties = comparison.published.properties
    titles = [name.replace("_", " ") for name in next(iter(properties.values()))]
    return TextTable(
        ["method", *titles],
        [
            [name, *map(property_words, row.values())]
            for name, row in properties.items()
        ],
        "As printed; what the classes here declare is in the page of method cards "
        "(ufselect methods --markdown).",
    )


def _reading(reading: Reading | None) -> str:
    if reading is None:
        return "-"
    return _percent(100 * reading.mean, 100 * reading.deviation)


def _percent(mean: float, deviation: float) -> str:
    return f"{mean:.2f} ±{deviation:.2f}"


def bar_charts(comparison: Reproduction, metric: str) -> dict[int, MethodBars]:
    """Return the fewest and the most features, as the figures of the paper do."""
    features = comparison.plan.judge.features
    return {
        size: MethodBars(
            f"{metric} in percent",
            {
                comparison.paper_name(name): _best_at(comparison, name, metric, size)
                for name in comparison.located.paths
            },
        )
        for size in (features[0], features[-1])
    }


def bar_blocks(comparison: Reproduction, metric: str) -> list[Block]:
    """Draw the bars of a metric."""
    return [
        picture_of(
            part,
            f"{metric} with {size} features; labels chose the parameters.",
            f"{metric}-{size}",
        )
        for size, part in bar_charts(comparison, metric).items()
    ]


def _best_at(
    comparison: Reproduction, set_name: str, metric: str, size: int
) -> dict[str, float]:
    values = {}
    for method in comparison.plan.methods:
        place = _place(comparison, set_name, method)
        roles = comparison.results.roles(place, GRID if method.grid else FIXED)
        scores = [
            # All features have a number of features of their own.
            next(iter(found.values())) if method.label == ALL_FEATURES else found[size]
            for role in roles
            if (found := comparison.results.score_of(role, metric))
            and (method.label == ALL_FEATURES or size in found)
        ]
        if scores:
            best = max(scores) if method.grid else float(np.mean(scores))
            values[method.label] = 100 * best
    return values


def parameter_maps(
    comparison: Reproduction,
) -> dict[tuple[str, str], ParameterMap]:
    """Return each metric over each grid of SCFS, by method and metric."""
    maps = {}
    for method in comparison.plan.methods:
        if method.selector != "SCFS" or set(varying(method)) != {"alpha", "beta"}:
            continue
        places = {
            comparison.paper_name(name): _place(comparison, name, method)
            for name in comparison.located.paths
        }
        for metric in TABLES:
            if metric in comparison.plan.judge.metrics:
                maps[method.label, metric] = parameter_map(
                    comparison.results, method, places, metric
                )
    return maps


def map_blocks(comparison: Reproduction) -> list[Block]:
    """Draw the maps."""
    maps = parameter_maps(comparison)
    return [map_picture(part, label) for (label, _), part in maps.items()]


def convergence_curves(comparison: Reproduction) -> dict[str, PublishedCurves]:
    """Return the objective of SCFS after each iteration beside the published curves."""
    found = {}
    for method in comparison.plan.methods:
        if method.selector != "SCFS":
            continue
        ours = {}
        for name in comparison.located.paths:
            place = _place(comparison, name, method)
            role = _middle_of_grid(comparison.results.roles(place, GRID))
            if role is not None and role.cell.key in comparison.histories:
                ours[comparison.paper_name(name)] = comparison.histories[role.cell.key]
        if ours:
            published = comparison.published.convergence
            found[method.label] = PublishedCurves(ours, published)
    return found


def convergence_blocks(comparison: Reproduction) -> list[Block]:
    """Draw the curves."""
    return [
        picture_of(
            part,
            f"{label} at the middle of the grid; the published curve does not say its "
            "parameters. Each is divided by its first value.",
            "convergence",
        )
        for label, part in convergence_curves(comparison).items()
    ]


def _place(comparison: Reproduction, set_name: str, method: Method) -> Place:
    return Place(set_name, comparison.plan.preparations[0], method.label)


def _middle_of_grid(roles: Sequence[Role]) -> Role | None:
    return roles[len(roles) // 2] if roles else None
