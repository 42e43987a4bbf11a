"""The figures of a reproduction: bars, maps of the parameters, and convergence."""

from collections.abc import Sequence

import numpy as np

from ufselect.experiments.cells import FIXED, GRID, Role
from ufselect.experiments.plan import ALL_FEATURES, Method
from ufselect.experiments.readings import Place
from ufselect.report.comparison import TABLES, Comparison
from ufselect.report.experiment_parts import (
    MethodBars,
    ParameterMap,
    PublishedCurves,
)
from ufselect.report.page import Block
from ufselect.report.parameter_maps import map_picture, parameter_map, varying
from ufselect.report.plots import picture_of


def bar_charts(comparison: Comparison, metric: str) -> dict[int, MethodBars]:
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


def bar_blocks(comparison: Comparison, metric: str) -> list[Block]:
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
    comparison: Comparison, set_name: str, metric: str, size: int
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
    comparison: Comparison,
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


def map_blocks(comparison: Comparison) -> list[Block]:
    """Draw the maps."""
    maps = parameter_maps(comparison)
    return [map_picture(part, label) for (label, _), part in maps.items()]


def convergence_curves(comparison: Comparison) -> dict[str, PublishedCurves]:
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


def convergence_blocks(comparison: Comparison) -> list[Block]:
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


def _place(comparison: Comparison, set_name: str, method: Method) -> Place:
    return Place(set_name, comparison.plan.preparations[0], method.label)


def _middle_of_grid(roles: Sequence[Role]) -> Role | None:
    return roles[len(roles) // 2] if roles else None
