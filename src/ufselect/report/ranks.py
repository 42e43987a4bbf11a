"""Which methods differ: a critical difference diagram, after Demsar (2006)."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np

from ufselect.evaluation import indistinguishable_groups
from ufselect.report.drawing import (
    COLOURS,
    FULL_WIDTH,
    GREY,
    INK,
    drawing,
    panels,
    printable,
)
from ufselect.report.plots import Plot, as_plot

# Heights, counted downwards from the axis in rows of labels.
FIRST_BAR = 0.5
BETWEEN_BARS = 0.36
RULER = -1.9
ROW_IN_INCHES = 0.29
# Of the length of the axis: how far the stems reach over its ends.
OVERHANG = 0.04


class Stem(NamedTuple):
    """A method: its average rank, the row of its label, and the side of that."""

    label: str
    rank: float
    row: float
    left: bool


def rank_diagram(
    ranks: Mapping[str, float],
    critical_difference: float,
    *,
    baselines: Collection[str] = (),
) -> Plot:
    """Draw a critical difference diagram.

    Methods stand on an axis of average ranks, best to the left. A bar joins methods
    whose ranks differ by less than the critical difference: they are not told apart.

    Parameters
    ----------
    ranks : mapping of str to float
        Method to average rank, 1 being best; a pandas Series will do.
    critical_difference : float
        Such as `ufselect.evaluation.nemenyi_critical_difference` returns.
    baselines : collection of str
        Methods whose stems are grey and dashed.

    Examples
    --------
    >>> from ufselect.report import rank_diagram
    >>> plot = rank_diagram({"SCFS": 1.2, "NDFS": 1.9, "random": 2.9}, 1.1)
    >>> "critical difference 1.10" in plot.svg
    True
    """
    ranked = _checked(dict(ranks), critical_difference)
    groups = indistinguishable_groups(list(ranked.values()), critical_difference)
    stems = _stems(ranked, FIRST_BAR + BETWEEN_BARS * len(groups) + 0.6)
    ends = _ends(list(ranked.values()), critical_difference)
    lowest = max(stem.row for stem in stems) + 0.6
    with drawing():
        height = ROW_IN_INCHES * (lowest - RULER + 1) + 0.2
        figure, (axes,) = panels(1, width=FULL_WIDTH, height=height)
        axes.set(xlim=ends, ylim=(lowest, RULER - 1))
        axes.axis("off")
        _draw_axis(axes, ends, critical_difference)
        for place, group in enumerate(groups):
            members = [stems[i].rank for i in group]
            _draw_bar(axes, members, FIRST_BAR + BETWEEN_BARS * place)
        for stem in stems:
            _draw_stem(axes, stem, ends, stem.label in baselines)
        said = ", ".join(f"{label} {rank:.2f}" for label, rank in ranked.items())
        return as_plot(figure, f"Critical difference diagram; average ranks: {said}")


def _checked(ranks: dict[str, float], difference: float) -> dict[str, float]:
    """Return the ranks, best first."""
    if len(ranks) < 2:
        raise ValueError(
            f"a diagram of ranks needs at least two methods, got {len(ranks)}"
        )
    if not np.isfinite([*ranks.values(), difference]).all() or difference <= 0:
        raise ValueError(
            f"ranks and their critical difference must be finite, and the latter "
            f"positive, got {ranks!r:.60} and {difference}"
        )
    return dict(sorted(ranks.items(), key=lambda pair: pair[1]))


def _ends(ranks: list[float], difference: float) -> tuple[float, float]:
    """Return whole ranks between which all methods and the ruler have room."""
    low = float(np.floor(ranks[0]))
    return low, float(np.ceil(max(ranks[-1], low + difference, low + 1)))


def _stems(ranks: Mapping[str, float], first_row: float) -> list[Stem]:
    """Give every method a row: the better half to the left, no two lines cross."""
    half = -(-len(ranks) // 2)
    return [
        Stem(label, rank, first_row + min(i, len(ranks) - 1 - i), i < half)
        for i, (label, rank) in enumerate(ranks.items())
    ]


def _draw_axis(axes: Any, ends: tuple[float, float], difference: float) -> None:
    low, high = ends
    axes.plot(ends, (0, 0), color=INK, linewidth=1)
    step = max(1, int(high - low) // 16)
    for rank in range(int(low), int(high) + 1, step):
        axes.plot((rank, rank), (-0.22, 0), color=INK, linewidth=1)
        axes.text(rank, -0.35, str(rank), ha="center", va="bottom")
    ruler = {"color": INK, "linewidth": 1.4, "clip_on": False}
    axes.plot((low, low + difference), (RULER, RULER), **ruler)
    for end in (low, low + difference):
        axes.plot((end, end), (RULER - 0.15, RULER + 0.15), **ruler)
    words = f"critical difference {difference:.2f}"
    axes.text(low, RULER - 0.25, words, ha="left", va="bottom")
    words = "average rank, 1 is best"
    axes.text(high, RULER - 0.25, words, ha="right", va="bottom")


def _draw_bar(axes: Any, ranks: list[float], row: float) -> None:
    look = {"color": COLOURS[0], "linewidth": 5, "solid_capstyle": "round"}
    axes.plot((min(ranks), max(ranks)), (row, row), clip_on=False, **look)


def _draw_stem(
    axes: Any, stem: Stem, ends: tuple[float, float], baseline: bool
) -> None:
    overhang = OVERHANG * (ends[1] - ends[0])
    end = ends[0] - overhang if stem.left else ends[1] + overhang
    look = {"color": GREY, "linestyle": "--"} if baseline else {"color": INK}
    rows = (0, stem.row, stem.row)
    axes.plot((stem.rank, stem.rank, end), rows, lw=1, clip_on=False, **look)
    side = {"ha": "right" if stem.left else "left", "va": "center"}
    space = -overhang / 4 if stem.left else overhang / 4
    axes.text(end + space, stem.row, printable(stem.label), **side)
    number = {"ha": "left" if stem.left else "right", "va": "bottom", "size": 9}
    axes.text(end, stem.row, f"{stem.rank:.2f}", **number)
