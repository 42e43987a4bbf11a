"""Maps of a metric over the two parameters of a grid, one panel per data set."""

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.experiments.cells import GRID
from ufselect.experiments.plan import Method
from ufselect.experiments.readings import Place, Results
from ufselect.report.downloads import Columns
from ufselect.report.page import Picture
from ufselect.report.surfaces import surface


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
) -> Picture:
    """Draw a metric over a grid in which two parameters vary, one panel per place."""
    (first, rows), (second, columns) = varying(method).items()
    values = {
        title: _grid_values(results, place, metric, (len(rows), len(columns)))
        for title, place in places.items()
    }
    label = f"{metric} in percent"
    return Picture(
        surface(rows, columns, values, label=label, names=(first, second)),
        f"{method.label}: {metric}, mean over the numbers of features.",
        _columns(varying(method), values, label),
        "sensitivity",
    )


def _columns(
    grid: Mapping[str, list[Any]], values: Mapping[str, NDArray[np.float64]], label: str
) -> Columns:
    """Return one row for each set and point of the grid."""
    points = list(product(*grid.values()))
    columns: dict[str, list[Any]] = {
        "data set": [title for title in values for _ in points]
    }
    for place, name in enumerate(grid):
        columns[name] = [point[place] for _ in values for point in points]
    columns[label] = [value for table in values.values() for value in table.ravel()]
    return columns


def _grid_values(
    results: Results, place: Place, metric: str, shape: tuple[int, int]
) -> NDArray[np.float64]:
    """Return the mean over k at every point of the grid, NaN where there is none."""
    values = []
    for role in results.roles(place, GRID):
        scores = list(results.score_of(role, metric).values())
        values.append(100 * np.mean(scores) if scores else np.nan)
    return np.array(values).reshape(shape)
