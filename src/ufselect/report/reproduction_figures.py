"""The figures of a reproduction: bars, maps of the parameters, and convergence."""

from collections.abc import Sequence

import numpy as np

from ufselect.experiments.cells import FIXED, GRID, Role
from ufselect.experiments.plan import ALL_FEATURES, BASELINES
from ufselect.experiments.readings import Place
from ufselect.report.bars import bar_chart
from ufselect.report.comparison import TABLES, Comparison
from ufselect.report.curves import curves
from ufselect.report.page import Block, Picture
from ufselect.report.parameter_maps import parameter_map, varying


def bar_charts(comparison: Comparison, metric: str) -> list[Block]:
    """Draw the fewest and the most features, as the figures of the paper do."""
    features = comparison.plan.judge.features
    pictures: list[Block] = []
    for size in dict.fromkeys([features[0], features[-1]]):
        groups = {
            comparison.paper_name(name): _best_at(comparison, name, metric, size)
            for name in comparison.located.paths
        }
        svg = bar_chart(groups, label=f"{metric} in percent", baselines=list(BASELINES))
        pictures.append(
            Picture(svg, f"{metric} with {size} features; labels chose the parameters.")
        )
    return pictures


def _best_at(
    comparison: Comparison, set_name: str, metric: str, size: int
) -> dict[str, float]:
    values = {}
    for method in comparison.plan.methods:
        place = Place(set_name, comparison.plan.preparations[0], method.label)
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


def parameter_maps(comparison: Comparison) -> list[Block]:
    """Draw each metric over the grid of SCFS, one map per set."""
    blocks: list[Block] = []
    for method in comparison.plan.methods:
        if method.selector != "SCFS" or set(varying(method)) != {"alpha", "beta"}:
            continue
        places = {
            comparison.paper_name(name): Place(
                name, comparison.plan.preparations[0], method.label
            )
            for name in comparison.located.paths
        }
        blocks += [
            parameter_map(comparison.results, method, places, metric)
            for metric in TABLES
            if metric in comparison.plan.judge.metrics
        ]
    return blocks


def convergence_curves(comparison: Comparison) -> list[Block]:
    """Draw the objective of SCFS after each iteration over the published curves."""
    blocks: list[Block] = []
    for method in comparison.plan.methods:
        if method.selector != "SCFS":
            continue
        ours = {}
        for name in comparison.located.paths:
            place = Place(name, comparison.plan.preparations[0], method.label)
            role = _middle_of_grid(comparison.results.roles(place, GRID))
            if role is not None and role.cell.key in comparison.histories:
                ours[comparison.paper_name(name)] = comparison.histories[role.cell.key]
        if ours:
            svg = curves(ours, comparison.published.convergence)
            caption = (
                f"{method.label} at the middle of the grid; the published curve does "
                "not say its parameters. Each is divided by its first value."
            )
            blocks.append(Picture(svg, caption))
    return blocks


def _middle_of_grid(roles: Sequence[Role]) -> Role | None:
    return roles[len(roles) // 2] if roles else None
