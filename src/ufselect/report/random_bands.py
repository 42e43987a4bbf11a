"""A selection among random ones: where its value lies in their distribution."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ufselect.report.drawing import (
    COLOURS,
    FULL_WIDTH,
    GREYS,
    add_legend,
    drawing,
    panels,
    printable,
)
from ufselect.report.plots import Plot, as_plot

N_BINS = 16
BAND = (0.05, 0.95)


def random_bands(
    values: Mapping[str, float],
    random_values: Mapping[str, ArrayLike],
    notes: Mapping[str, str] | None = None,
) -> Plot:
    """Draw each value of a selection in the distribution of random sets.

    Parameters
    ----------
    values : mapping of str to float
        Criterion to the value of the selection; the larger the better.
    random_values : mapping of str to array
        Criterion to the values of random sets.
    notes : mapping of str to str, optional
        What to write below the name of a criterion.

    Examples
    --------
    >>> from ufselect.report import random_bands
    >>> plot = random_bands({"structure": 0.9}, {"structure": [0.1, 0.2, 0.3]})
    >>> "structure" in plot.svg
    True
    """
    if not values:
        raise ValueError("bands need at least one criterion, and there is none")
    with drawing():
        width = FULL_WIDTH / max(2, len(values))
        figure, every_axes = panels(len(values), height=2.9, width=width, most=4)
        for axes, (name, value) in zip(every_axes, values.items(), strict=True):
            others = np.asarray(random_values[name], dtype=np.float64)
            handles = _draw_band(axes, value, others)
            note = (notes or {}).get(name, "")
            lines = [printable(text) for text in (name, note) if text]
            axes.set_title("\n".join(lines), fontsize=11)
        labels = ["random sets", "nine in ten of them", "chosen features"]
        add_legend(figure, handles, labels)
        figure.supxlabel("value of the criterion; to the right is better")
        return as_plot(figure, _description(values, random_values))


def _draw_band(axes: Any, value: float, others: NDArray[np.float64]) -> list[Any]:
    low, high = np.quantile(others, BAND)
    band = axes.axvspan(low, high, color=COLOURS[4], alpha=0.3, linewidth=0)
    *_, bars = axes.hist(others, bins=_bins(others), color=GREYS[1])
    line = axes.axvline(value, color=COLOURS[3], linewidth=2.6)
    axes.margins(x=0.12)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.xaxis.get_major_locator().set_params(nbins=4)
    return [bars, band, line]


def _bins(others: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = float(others.min()), float(others.max())
    if low == high:
        low, high = low - 0.01, high + 0.01
    return np.linspace(low, high, N_BINS + 1)


def _description(
    values: Mapping[str, float], random_values: Mapping[str, ArrayLike]
) -> str:
    parts = []
    for name, value in values.items():
        low, high = np.quantile(np.asarray(random_values[name], dtype=float), BAND)
        parts.append(f"{name} {value:.3g}, random sets {low:.3g} to {high:.3g}")
    return f"The chosen features among random sets: {'; '.join(parts)}."
