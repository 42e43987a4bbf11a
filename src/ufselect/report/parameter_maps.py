"""Maps of a metric over the two parameters of a grid, one panel per data set."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.experiments.cells import GRID
from ufselect.experiments.plan import Method
from ufselect.experiments.readings import Place, Results
from ufselect.report.experiment_parts import ParameterMap
from ufselect.report.page import Block
from ufselect.report.plots import picture_of


def varying(method: Method) -> dict[str, list[Any]]:
    """Return the parameters of a grid that take more than one value.

    Examples
    --------
    >>> varying(Method("NDFS", "NDFS", grid={"alpha": [1, 10], "sigma": [1.0]}))
    {'alpha': [1, 10]}
    """
    return {name: values for name, values in method.grid.items() if len(values) > 1}


def parameter_map(
    results: Results, method: Method, places: Mapping[str, Place], metric: str
) -> ParameterMap:
    """Return a metric over a grid in which two parameters vary, at each place."""
    grid = varying(method)
    rows, columns = map(len, grid.values())
    values = {
        title: _grid_values(results, place, metric, (rows, columns))
        for title, place in places.items()
    }
    return ParameterMap(f"{metric} in percent", grid, values)


def map_picture(part: ParameterMap, label: str) -> Block:
    """Return the map of a method for a page."""
    caption = f"{label}: {part.label}, mean over the numbers of features."
    return picture_of(part, caption, "sensitivity")


def _grid_values(
    results: Results, place: Place, metric: str, shape: tuple[int, int]
) -> NDArray[np.float64]:
    """Return the mean over k at every point of the grid, NaN where there is none."""
    values = []
    for role in results.roles(place, GRID):
        scores = list(results.score_of(role, metric).values())
        values.append(100 * np.mean(scores) if scores else np.nan)
    return np.array(values).reshape(shape)
