"""The report of an experiment: as HTML, text, Markdown, LaTeX and JSON."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal

import numpy as np
import pandas as pd

from ufselect.experiments.plan import BASELINES, Method, Plan
from ufselect.experiments.protocol import CLASSIFIERS, STRUCTURE
from ufselect.experiments.results import ORACLE, PLACE, Experiment
from ufselect.experiments.runs import FIXED, GRID
from ufselect.plotting.axes import Plot, short_value
from ufselect.plotting.bars import range_chart, rank_diagram
from ufselect.plotting.convergence import convergence
from ufselect.plotting.maps import surface
from ufselect.report.rendering import (
    Block,
    Paragraph,
    Picture,
    Preformatted,
    Section,
    TextTable,
    html_page,
    markdown,
    plain_text,
)

READINGS = {
    ORACLE: (
        "labels chose the best point of the grid at every number of features, as "
        "papers do; methods without a grid have one setting"
    ),
    FIXED: "one setting, fixed before any label was seen; all of its seeds",
}


@dataclass(frozen=True)
class Report:
    """A report in several forms.

    Parameters
    ----------
    title : str
    sections : callable
        Returns the sections, with figures if its argument is True.
    content : mapping
        The tables for scripts.
    """

    title: str
    sections: Callable[[bool], list[Section]]
    content: Mapping[str, Any]

    def html(self) -> str:
        """Return the report as HTML, with tables and figures."""
        return html_page(self.title, self.sections(True))

    def text(self) -> str:
        """Return the tables as text for a terminal."""
        return f"{self.title}\n\n{plain_text(self.sections(False))}"

    def markdown(self) -> str:
        """Return the tables in Markdown."""
        return markdown(self.title, self.sections(False))

    def json(self) -> str:
        """Return the tables as JSON; a number that is missing is null."""
        return json.dumps(self.content, indent=2, ensure_ascii=False)


def section(heading: str, *blocks: Block | str) -> Section:
    """Return a section; a text is a paragraph, an empty one nothing."""
    found = [Paragraph(each) if isinstance(each, str) else each for each in blocks]
    return Section(heading, [each for each in found if each != Paragraph("")])


def experiment_report(experiment: Experiment) -> Report:
    """Return the report of an experiment that was read from its store."""

    def sections(figures: bool) -> list[Section]:
        metrics = experiment.plan.judge.metrics
        found = [
            _what_was_run(experiment),
            *(_metric(experiment, metric, figures) for metric in metrics),
            sensitivity(experiment, metrics[:1], figures),
            _convergence(experiment, figures),
            _costs(experiment, figures),
            failures(experiment),
            _settings(experiment),
        ]
        return [section for section in found if section.blocks]

    title = f"{experiment.plan.name}: comparison of methods"
    return Report(title, sections, _content(experiment))


def _content(experiment: Experiment) -> dict[str, Any]:
    ranks = {each: experiment.ranks(each) for each in experiment.plan.judge.metrics}
    return {
        "plan": experiment.plan.name,
        "absent": dict(experiment.record.absent),
        "runs": experiment.count()._asdict(),
        "failures": experiment.failures(),
        "scores": _plain(experiment.frame(), "records"),
        "ranks": {
            metric: {
                "average": each.average.to_dict(),
                "critical_difference": each.critical_difference,
            }
            for metric, each in ranks.items()
            if each.enough
        },
        "costs": _plain(experiment.cost_summary(), "index"),
        "versions": list(map(dict, experiment.versions)),
    }


def _plain(frame: pd.DataFrame, orient: Literal["records", "index"]) -> Any:
    # Through JSON, which knows null and not NaN.
    return json.loads(frame.to_json(orient=orient, double_precision=15))


def latex(experiment: Experiment) -> str:
    """Return the tables of all metrics and readings for a document in LaTeX."""
    parts = ["% Needs \\usepackage{booktabs}."]
    for metric in experiment.plan.judge.metrics:
        for reading in experiment.readings:
            table = score_table(experiment, metric, reading)
            frame = pd.DataFrame(table.rows, columns=list(table.header))
            text = frame.to_latex(
                index=False,
                escape=True,
                caption=table.caption.replace("_", r"\_").replace("%", r"\%"),
                label=f"tab:{metric}-{reading}",
                column_format="ll" + "r" * (frame.shape[1] - 2),
            )
            parts.append(text.replace("±", r"$\pm$"))
    return "\n".join(parts)


def _what_was_run(experiment: Experiment) -> Section:
    plan, count = experiment.plan, experiment.count()
    missing = "none missing."
    if count.missing:
        missing = (
            f"{count.missing} missing: the experiment is not finished, and what "
            "follows counts what is there. The same ufselect run goes on with it."
        )
    rows = [
        [name, *map(str, experiment.count(name)), fingerprint[:12]]
        for name, fingerprint in experiment.record.fingerprints.items()
    ]
    header = ["data set", "runs", "done", "failed", "missing", "SHA-256"]
    absent = experiment.record.absent.items()
    notes = [f"{name}: data not available ({reason})." for name, reason in absent]
    if experiment.others:
        notes.append(
            f"The store holds other plans, too: {', '.join(experiment.others)}. Name "
            "one with --plan NAME to see it."
        )
    return section(
        "What was run",
        plan.description,
        f"{count.runs} runs: {count.done} ranked and judged, {count.failed} failed, "
        f"{missing}",
        TextTable(header, rows, interactive=True, name="runs"),
        *notes,
    )


def _metric(experiment: Experiment, metric: str, figures: bool) -> Section:
    ranks = experiment.ranks(metric)
    blocks: list[Block | str] = [
        score_table(experiment, metric, reading) for reading in experiment.readings
    ]
    if ranks.enough:
        tested = ranks.against_random()
        forms = {
            "average rank": "{:.2f}",
            "sets above random": "{:.0f}",
            "median gain": "{:+.1%}",
            "p (Holm)": "{:.2g}",
        }
        for name in tested:
            tested[name] = tested[name].map(forms[name].format, na_action="ignore")
        blocks.append(text_table(tested.fillna(""), name=f"ranks, {metric}"))
    blocks.append(ranks.sentence())
    if figures and ranks.enough:
        average = ranks.average.to_dict()
        plot = rank_diagram(
            average, ranks.critical_difference, baselines=list(BASELINES)
        )
        caption = (
            "Average ranks over the sets, fixed setting. A bar joins methods that are "
            "not told apart; baselines are dashed."
        )
        numbers = pd.DataFrame(average.items(), columns=["method", "average rank"])
        blocks.append(Picture(plot.svg, caption, numbers, "ranks"))
    return section(metric, *blocks)


def score_table(experiment: Experiment, metric: str, reading: str) -> TextTable:
    """Return a table in percent, with the mean over the sets that are complete.

    Other sets would favour the methods that have no score there.
    """
    found = experiment.table(reading, metric)
    means = 100 * found["mean"].unstack(sort=False)
    deviations = 100 * found["deviation"].unstack(sort=False)
    complete = means.dropna(how="all").notna().all()
    shown = means.map(_percent) + deviations.map(
        lambda value: "" if np.isnan(value) else f" ±{value:.1f}"
    )
    if len(complete) > 1 and complete.any():
        title = "mean" if complete.all() else f"mean of {complete.sum()}"
        shown[title] = means.loc[:, complete].mean(axis=1).map(_percent)
    used = found["labels"].groupby(level=0, sort=False).first()
    shown.insert(0, "labels told", used)
    caption = (
        f"{metric} in percent, {reading}: {READINGS[reading]}. "
        f"{averaging(experiment.plan, metric, reading)}"
    )
    return text_table(shown, caption, f"{metric}, {reading}")


def averaging(plan: Plan, metric: str, reading: str) -> str:
    """Return what the numbers of a table are means and deviations of."""
    judged = f"{plan.judge.repetitions} seeds of k-means"
    if metric in CLASSIFIERS:
        judged = f"{plan.judge.repetitions} divisions into folds"
    several = reading == FIXED and any(method.seeds > 1 for method in plan.methods)
    repeated = [] if metric in STRUCTURE else [judged]
    repeated += ["each seed of the method"] if several else []
    features = ", ".join(map(str, plan.judge.features))
    mean = f"Mean over {features} features (all features: all at once)"
    if not repeated:
        return f"{mean}; nothing was repeated."
    return f"{mean} ± standard deviation over repetitions: {' for '.join(repeated)}."


def _percent(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.1f}"


def text_table(frame: pd.DataFrame, caption: str = "", name: str = "") -> TextTable:
    """Return a frame of text whose index is the methods."""
    rows = [[str(label), *row] for label, *row in frame.itertuples()]
    header = ["method", *frame.columns]
    return TextTable(header, rows, caption, interactive=True, name=name or "table")


def varying(method: Method) -> dict[str, list[Any]]:
    """Return the parameters of a grid that take more than one value.

    Examples
    --------
    >>> varying(Method("NDFS", "NDFS", grid={"alpha": [1, 10], "sigma": [1.0]}))
    {'alpha': [1, 10]}
    """
    return {name: values for name, values in method.grid.items() if len(values) > 1}


def sensitivity(
    experiment: Experiment,
    metrics: Sequence[str],
    figures: bool,
    names: Mapping[str, str] | None = None,
) -> Section:
    """Return maps of metrics over the grids in which two parameters vary.

    Parameters
    ----------
    experiment : Experiment
    metrics : sequence of str
    figures : bool
        There is nothing but figures.
    names : mapping of str to str, optional
        Data set to what it is called.
    """
    blocks: list[Block | str] = []
    if figures:
        methods = [method for method in experiment.plan.methods if varying(method)]
        pairs = [each for each in methods if len(varying(each)) == 2]
        maps = [
            _map(experiment, method, metric, names or {})
            for method, metric in product(pairs, metrics)
        ]
        blocks += [each for each in maps if each is not None]
        others = ", ".join(each.label for each in methods if each not in pairs)
        if others:
            blocks.append(f"Not drawn, since not two parameters vary: {others}.")
    return section("Sensitivity to the parameters", *blocks)


def _map(
    experiment: Experiment, method: Method, metric: str, names: Mapping[str, str]
) -> Picture | None:
    """Return the mean of a metric over the numbers of features at every point."""
    scored = experiment.scored
    runs = scored[(scored["method"] == method.label) & (scored["reading"] == GRID)]
    runs = runs[runs["metric"] == metric]
    if runs.empty:
        return None
    (first, rows), (second, columns) = varying(method).items()
    asked = experiment.runs
    asked = asked[(asked["method"] == method.label) & (asked["reading"] == GRID)]
    means = 100 * runs.groupby("key")["value"].mean()
    label = f"{metric} in percent"
    points = pd.MultiIndex.from_product([rows, columns], names=[first, second])
    numbers = pd.concat(
        {
            names.get(str(name), str(name)): means.reindex(keys).set_axis(points)
            for name, keys in asked.groupby("data set", sort=False)["key"]
            if keys.isin(means.index).any()
        },
        names=["data set"],
    ).rename(label)
    shape = (len(rows), len(columns))
    tables = {
        str(name): each.to_numpy().reshape(shape)
        for name, each in numbers.groupby(level=0, sort=False)
    }
    plot = surface(rows, columns, tables, label=label, names=(first, second))
    caption = f"{method.label}: {label}, mean over the numbers of features."
    return Picture(plot.svg, caption, numbers.reset_index(), "sensitivity")


def _convergence(experiment: Experiment, figures: bool) -> Section:
    runs = experiment.runs.drop_duplicates(["method", "key"])
    runs = runs[runs["history"].notna()]
    if runs.empty:
        return Section("Convergence", [])
    lengths = runs["history"].map(len).groupby(runs["method"], sort=False)
    shown = lengths.agg(["count", "median", "max"]).map("{:.0f}".format)
    shown.columns = ["fits with a curve", "median length", "largest length"]
    caption = "Values of the objective in a fit, one an iteration."
    blocks: list[Block] = [text_table(shown, caption, "iterations")]
    found: dict[str, dict[str, Any]] = {}
    for name in experiment.data_sets:
        for method in experiment.plan.methods:
            history = experiment.history_of(method.label, name)
            # A curve that does not change cannot be drawn as a share of its way.
            if history is not None and np.isfinite(history).all() and np.ptp(history):
                found.setdefault(name, {})[method.label] = history
    if figures and found:
        caption = (
            "The remaining share of the change of an objective, from its first value "
            "(1) to its last (0, drawn at the foot), which need not be where it would "
            "end; at the fixed setting, or in the middle of the grid where that has no "
            "curve."
        )
        numbers = histories_frame(found, ["data set", "method"])
        plot = convergence(found)
        blocks.append(Picture(plot.svg, caption, numbers, "convergence"))
    return Section("Convergence", blocks)


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


def _costs(experiment: Experiment, figures: bool) -> Section:
    summary = experiment.cost_summary()
    counts, costs = summary[["fits", "failed"]], summary.iloc[:, 2:]
    shown = pd.concat([counts.astype(int).astype(str), costs.map(_short)], axis=1)
    shown.columns = [
        *("fits", "failed", "median seconds", "largest seconds"),
        *("median MB", "largest MB"),
    ]
    fits = experiment.costs()
    by_set = fits.groupby(PLACE, observed=False)["seconds"].median().unstack()
    blocks: list[Block | str] = [
        "Of one fit with one thread, on the machines that ran the plan, whatever else "
        "they did. What fits on the same data share, such as Gram matrices, is counted "
        "in the first fit of a process. Memory is the peak of the whole process, with "
        "Python and the data; 1 MB is a million bytes.",
        text_table(shown, name="costs"),
        text_table(by_set.map(_short), "Median seconds of a fit on each set.", "times"),
    ]
    if figures and (plot := _cost_chart(fits)) is not None:
        caption = "A dot at the median of the fits, a line from least to largest."
        blocks.append(Picture(plot.svg, caption, fits, "costs"))
    return section("Time and memory", *blocks)


def _cost_chart(fits: pd.DataFrame) -> Plot | None:
    titles = {"seconds": "seconds of a fit", "megabytes": "peak memory (MB)"}
    measures = {
        title: {
            str(label): values.dropna().tolist()
            for label, values in fits.groupby("method", observed=False)[name]
        }
        for name, title in titles.items()
        if fits[name].notna().any()
    }
    return range_chart(measures) if measures else None


def failures(experiment: Experiment) -> Section:
    """Return why runs have no result, if there are such."""
    lines = [[line] for line in experiment.failures()]
    table = TextTable(["Runs without a result, left out above"], lines)
    return Section("What could not be computed", [table] if lines else [])


def _settings(experiment: Experiment) -> Section:
    plan, versions = experiment.plan, experiment.versions
    header = ["method", "selector", "fixed setting", "seeds", "grid", "points"]
    rows = [_method_row(method) for method in plan.methods]
    names = [f"versions {place + 1}" for place in range(len(versions))]
    known = pd.DataFrame(versions, index=names if len(names) > 1 else ["version"])
    shown = text_table(known.T.fillna("not recorded"), "Versions that computed.")
    return section(
        "Settings and versions",
        TextTable(header, rows, "Methods; what is not named is at its default."),
        replace(shown, header=["program", *known.index]),
        f"Seed of the plan: {plan.seed}. With its file, it is run by:",
        Preformatted(f"ufselect run {plan.name}.toml"),
    )


def _method_row(method: Method) -> list[str]:
    fixed = [f"{name}={short_value(v)}" for name, v in method.fixed_point().items()]
    grid = [
        f"{name}={', '.join(map(short_value, values))}"
        for name, values in method.grid.items()
    ]
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
