"""What the scores of an experiment say about each method on each data set.

A tuned method has two readings. **Oracle**: for every number of features the labels
choose the best point of the grid, as papers do. **Fixed**: one setting, named before
any label was seen, averaged over seeds: what a user gets. Both are summarised by mean
and standard deviation over the numbers of features; all features, which have only
one number, by the deviation over repetitions.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ufselect.experiments.cells import FIXED, GRID, Role
from ufselect.experiments.protocol import LOWER_IS_BETTER, Score

Float = NDArray[np.float64]
ORACLE = "oracle"


class Place(NamedTuple):
    """A method on a prepared data set."""

    set_name: str
    preparation: str
    label: str


class Reading(NamedTuple):
    """Mean and standard deviation, and from how many rankings."""

    mean: float
    deviation: float
    n_rankings: int


class Results:
    """The scores of an experiment, by place, reading and metric.

    Parameters
    ----------
    roles : iterable of Role
        The cells of the plan and what they are for.
    scores : iterable of (key, Score)
        As ``Store.scores`` yields them.
    """

    def __init__(
        self, roles: Iterable[Role], scores: Iterable[tuple[str, Score]]
    ) -> None:
        # key of a ranking -> metric -> number of features -> values
        found: dict[str, dict[str, dict[int, list[float]]]] = defaultdict(
            lambda: defaultdict(lambda: defaultdict(list))
        )
        for key, score in scores:
            found[key][score.metric][score.features].append(score.value)
        self._found = found
        self._roles: dict[tuple[Place, str], list[Role]] = defaultdict(list)
        for role in roles:
            place = Place(role.cell.set_name, role.cell.preparation, role.label)
            self._roles[place, role.reading].append(role)

    def places(self) -> list[Place]:
        """Return every method on every set, in the order of the plan."""
        return list(dict.fromkeys(place for place, _ in self._roles))

    def roles(self, place: Place, reading: str) -> list[Role]:
        """Return the cells of a reading (``"grid"`` or ``"fixed"``)."""
        return self._roles.get((place, reading), [])

    def curves(self, place: Place, reading: str, metric: str) -> Float:
        """Return the mean over repetitions, one row per ranking, one column per k.

        Rankings that failed or are not there yet have no row.
        """
        rows = [
            [np.mean(values) for _, values in sorted(by_size.items())]
            for role in self.roles(place, reading)
            if (by_size := self._scores_of(role, metric))
        ]
        return np.array(rows, dtype=np.float64)

    def score_of(self, role: Role, metric: str) -> dict[int, float]:
        """Return the mean over repetitions of one ranking, by number of features."""
        by_size = self._scores_of(role, metric)
        return {size: float(np.mean(by_size[size])) for size in sorted(by_size)}

    def reading(self, place: Place, reading: str, metric: str) -> Reading | None:
        """Return one reading of a place, or None where there is no score."""
        if reading == ORACLE:
            curves = self.curves(place, GRID, metric)
            # A method without a grid has nothing that labels could choose.
            if not len(curves):
                return self.reading(place, FIXED, metric)
            lower = metric in LOWER_IS_BETTER
            best = curves.min(axis=0) if lower else curves.max(axis=0)
            return Reading(float(best.mean()), float(best.std()), len(curves))
        curves = self.curves(place, FIXED, metric)
        if not len(curves):
            return None
        if curves.shape[1] == 1:
            return self._over_repetitions(place, metric)
        mean = curves.mean(axis=0)
        return Reading(float(mean.mean()), float(mean.std()), len(curves))

    def _over_repetitions(self, place: Place, metric: str) -> Reading:
        values = [
            value
            for role in self.roles(place, FIXED)
            for by_repetition in self._scores_of(role, metric).values()
            for value in by_repetition
        ]
        return Reading(
            float(np.mean(values)), float(np.std(values)), len(self.roles(place, FIXED))
        )

    def _scores_of(self, role: Role, metric: str) -> Mapping[int, list[float]]:
        return self._found.get(role.cell.key, {}).get(metric, {})
