"""What a page says of an experiment besides its tables of scores."""

from collections.abc import Mapping
from typing import Any

from ufselect.experiments.plan import Method, Plan
from ufselect.experiments.stored import Experiment
from ufselect.report.page import Block, Paragraph, Preformatted, Table
from ufselect.report.scales import short_value


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
        Table(header, rows, "Methods; what is not named is at its default."),
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


def _set_table(experiment: Experiment) -> Table:
    rows = [
        [name, *map(str, experiment.count(name)), fingerprint[:12]]
        for name, fingerprint in experiment.record.fingerprints.items()
    ]
    header = ["data set", "cells", "ranked", "without a ranking", "missing", "SHA-256"]
    return Table(header, rows)


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


def _version_table(experiment: Experiment) -> Table:
    """Return one column for each different set of versions that took part."""
    names = list(dict.fromkeys(name for one in experiment.versions for name in one))
    rows = [
        [name, *(one.get(name, "not recorded") for one in experiment.versions)]
        for name in names
    ]
    several = len(experiment.versions) > 1
    heads = [f"run {i + 1}" if several else "version" for i in range(len(rows[0]) - 1)]
    return Table(["program", *heads], rows, "Versions that computed.")
