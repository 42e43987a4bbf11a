"""The distribution of a column, small enough for the cell of a table."""

from html import escape

import numpy as np
from numpy.typing import ArrayLike

from ufselect.matrix import Float, Index
from ufselect.report.page_tables import Graphic

N_BINS = 16
BAR, HEIGHT = 5, 20


def sparkline(values: ArrayLike) -> Graphic:
    """Return a histogram as a cell: bars in the colour of the text.

    Examples
    --------
    >>> from ufselect.report import sparkline
    >>> sparkline([0.0, 1.0, 1.0, 4.0])
    'from 0 to 4, median 1'
    """
    numbers = np.asarray(values, dtype=np.float64)
    words = "no values"
    if numbers.size:
        low, middle, high = numbers.min(), np.median(numbers), numbers.max()
        words = f"from {low:.4g} to {high:.4g}, median {middle:.4g}"
    counts = _counts(numbers)
    width = BAR * N_BINS
    svg = (
        f'<svg width="{width}" height="{HEIGHT}" role="img" '
        f'aria-label="{escape(words)}"><path fill="currentColor" opacity=".65" '
        f'd="{_bars(counts)}"/><path stroke="currentColor" opacity=".4" '
        f'd="M0 {HEIGHT - 0.5}h{width}"/></svg>'
    )
    return Graphic(svg, words)


def _counts(numbers: Float) -> Index:
    """Return how many numbers fall into each bin; a single value into the middle."""
    # Halved, the largest numbers have a difference that is one.
    low, high = numbers.min(initial=np.inf) / 2, numbers.max(initial=-np.inf) / 2
    if low < high:
        places = (numbers / 2 - low) / (high - low) * N_BINS
    else:
        places = np.full(numbers.size, N_BINS / 2)
    bins = np.minimum(places.astype(np.intp), N_BINS - 1)
    return np.bincount(bins, minlength=N_BINS)


def _bars(counts: Index) -> str:
    """Return the outline of all bars; one that is not empty is seen."""
    highest = max(1, int(counts.max()))
    heights = np.ceil(counts / highest * (HEIGHT - 1)).astype(int)
    return "".join(
        f"M{BAR * place} {HEIGHT}v-{height}h{BAR - 1}v{height}z"
        for place, height in enumerate(heights.tolist())
        if height
    )
