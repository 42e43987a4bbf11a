"""The figures of an experiment: maps of the parameters, and convergence."""

from collections.abc import Mapping

import numpy as np

from ufselect.experiments.cells import GRID
from ufselect.experiments.plan import Method
from ufselect.experiments.readings import Place
from ufselect.experiments.store import Float
from ufselect.experiments.stored import Experiment
from ufselect.report.experiment_parts import ConvergenceCurves, ParameterMap
from ufselect.report.metric_tables import columns_of
from ufselect.report.page import Block, Paragraph, Table
from ufselect.report.parameter_maps import map_picture, parameter_map, varying

NO_MAP = "No method has scores on a grid in which two parameters vary."
NOT_DRAWN = "Not drawn, since not two parameters vary or no point has a score:"
NO_HISTORY = (
    "The store has no objective of any fit: the methods that it holds solve their "
    "problem in one step, or do not tell."
)
RANKS = (
    "Average ranks over the sets, fixed setting. A bar joins methods that are not told "
    "apart; baselines are dashed."
)
COSTS = "A dot at the median of the fits, a line from least to largest."
CURVES = (
    "The share of its way that an objective has left, from its first value (1) to its "
    "last (0, drawn at the foot), which need not be where it would end; at the fixed "
    "setting, or in the middle of the grid where that has no curve."
)


def parameter_maps(experiment: Experiment) -> dict[str, ParameterMap]:
    """Return the first metric of the plan over every grid with two parameters."""
    metric = experiment.plan.judge.metrics[0]
    maps = {}
    for method in experiment.plan.methods:
        places = _places(experiment, method, metric)
        if len(varying(method)) == 2 and places:
            maps[method.label] = parameter_map(
                experiment.results, method, places, metric
            )
    return maps


def sensitivity_blocks(
    experiment: Experiment, maps: Mapping[str, ParameterMap]
) -> list[Block]:
    """Draw the maps, and say which grids have none."""
    metric = experiment.plan.judge.metrics[0]
    said = f"{metric}, the first metric of the plan, at every point of a grid."
    others = [
        f"{method.label} ({', '.join(varying(method))})"
        for method in experiment.plan.methods
        if varying(method) and method.label not in maps
    ]
    blocks: list[Block] = [Paragraph(said if maps else NO_MAP)]
    blocks += [map_picture(part, label) for label, part in maps.items()]
    if others:
        blocks.append(Paragraph(f"{NOT_DRAWN} {', '.join(others)}."))
    return blocks


def _places(experiment: Experiment, method: Method, metric: str) -> dict[str, Place]:
    """Return where a method has a score at some point of its grid."""
    places = {
        column.title: Place(*column, method.label)
        for column in columns_of(experiment.results)
    }
    return {
        title: place
        for title, place in places.items()
        if len(experiment.results.curves(place, GRID, metric))
    }


def convergence_blocks(experiment: Experiment) -> list[Block]:
    """Say how many values of its objective a fit has."""
    lengths = _lengths(experiment)
    return [_length_table(lengths)] if lengths else [Paragraph(NO_HISTORY)]


def convergence_curves(experiment: Experiment) -> ConvergenceCurves | None:
    """Return how objectives fall, if any does."""
    histories = _histories(experiment)
    if not any(_changes(h) for row in histories.values() for h in row.values()):
        return None
    return ConvergenceCurves(histories)


def _changes(history: Float) -> bool:
    return bool(np.isfinite(history).all() and history[0] != history[-1])


def _histories(experiment: Experiment) -> dict[str, dict[str, Float]]:
    found: dict[str, dict[str, Float]] = {}
    for column in columns_of(experiment.results):
        for method in experiment.plan.methods:
            history = experiment.history_at(Place(*column, method.label))
            if history is not None:
                found.setdefault(column.title, {})[method.label] = history
    return found


def _lengths(experiment: Experiment) -> dict[str, list[int]]:
    """Return how many values of the objective each fit of a method has."""
    lengths = {}
    for method in experiment.plan.methods:
        fits = [experiment.fits.get(key) for key in experiment.keys_of(method.label)]
        known = [len(fit.history) for fit in fits if fit and fit.history is not None]
        if known:
            lengths[method.label] = known
    return lengths


def _length_table(lengths: Mapping[str, list[int]]) -> Table:
    rows = [
        [label, str(len(values)), f"{np.median(values):.0f}", str(max(values))]
        for label, values in lengths.items()
    ]
    header = ["method", "fits with a curve", "median length", "largest length"]
    return Table(header, rows, "Values of the objective in a fit, one an iteration.")
