"""Maps of a metric over the two parameters of a grid, one panel per data set."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ufselect.experiments.cells import GRID
from ufselect.experiments.plan import Method
from ufselect.experiments.readings import Place, Results
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
    )


def _grid_values(
    results: Results, place: Place, metric: str, shape: tuple[int, int]
) -> NDArray[np.float64]:
    """Return the mean over k at every point of the grid, NaN where there is none."""
    values = []
    for role in results.roles(place, GRID):
        scores = list(results.score_of(role, metric).values())
        values.append(100 * np.mean(scores) if scores else np.nan)
    return np.array(values).reshape(shape)
