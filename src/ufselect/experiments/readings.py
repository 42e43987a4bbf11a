"""Results of an experiment as a reader takes them, and published tables beside them."""

import math
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Any, NamedTuple

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


# Tables are printed with two decimals, so a number is known to half of the last one.
HALF_OF_THE_LAST_DIGIT = 0.005


class Published(NamedTuple):
    """One printed cell, in percent."""

    mean: float
    std: float


class PublishedSet(NamedTuple):
    """A data set as described in print, and its name in the catalogue here."""

    samples: int
    features: int
    classes: int
    kind: str
    domain: str
    catalogue_name: str


Cells = Mapping[str, Mapping[str, Published]]


@dataclass(frozen=True)
class PublishedResults:
    """What a paper prints; methods and data sets go by the names in the paper.

    Attributes
    ----------
    name, title : str
        The name of the results here, and the title of the paper.
    methods : mapping of str to str
        The class here of each method in the tables. A method without one, such as the
        Baseline (k-means on all features), is absent.
    reasons : mapping of str to str
        Why our row of a method may differ, where that is known.
    properties : mapping of str to mapping
        Method and property to a printed word, True for a tick or False for a cross.
    sets : mapping of str to PublishedSet
        The data sets.
    accuracy, mutual_information : mapping of str to mapping
        Method and data set to the printed mean and standard deviation, in percent.
    convergence : mapping of str to array
        Objective after each iteration; a run that stopped repeats its last value.
    """

    name: str
    title: str
    methods: Mapping[str, str]
    reasons: Mapping[str, str]
    properties: Mapping[str, Mapping[str, str | bool]]
    sets: Mapping[str, PublishedSet]
    accuracy: Cells
    mutual_information: Cells
    convergence: Mapping[str, NDArray[np.float64]]

    @property
    def catalogue_names(self) -> dict[str, str]:
        """The name in the catalogue here of each data set of the paper.

        That a set is named does not say that its file is at hand.
        """
        return {name: described.catalogue_name for name, described in self.sets.items()}


@cache
def published(name: str) -> PublishedResults:
    """Return the results that the paper of this name prints.

    Examples
    --------
    >>> from ufselect.experiments.readings import published
    >>> published("scfs-2020").accuracy["SCFS"]["Lymphoma"]
    Published(mean=64.87, std=1.59)
    """
    known = {path.name.removesuffix(".toml"): path for path in _tables()}
    if name not in known:
        raise ValueError(
            f"no published results are called {name!r}; there are: "
            f"{', '.join(sorted(known))}"
        )
    content = tomllib.loads(known[name].read_text(encoding="utf-8"))
    return PublishedResults(
        name=name,
        title=content["title"],
        methods=MappingProxyType(content["methods"]),
        reasons=MappingProxyType(content["reasons"]),
        properties=_frozen_rows(content["properties"]),
        sets=MappingProxyType(
            {key: PublishedSet(**entry) for key, entry in content["sets"].items()}
        ),
        accuracy=_cells(content["accuracy"]),
        mutual_information=_cells(content["mutual_information"]),
        convergence=MappingProxyType(
            {key: _read_only(curve) for key, curve in content["convergence"].items()}
        ),
    )


def verdict(ours_mean: float, cell: Published) -> str:
    """Say where our mean (in percent) lies: "within", "above" or "below".

    Within means at most two published standard deviations from the published mean.
    Both printed numbers are known to half of their last digit only, which is granted:
    a mean of 58.82 with a deviation of 0.00 reaches from 58.805 to 58.835.

    Examples
    --------
    >>> from ufselect.experiments.readings import Published, verdict
    >>> verdict(65.97, Published(64.87, 1.59)), verdict(59.0, Published(58.82, 0.0))
    ('within', 'above')
    """
    if not math.isfinite(ours_mean):
        raise ValueError(
            f"a mean of {ours_mean} cannot be compared; leave out cells without result"
        )
    reach = 2 * (cell.std + HALF_OF_THE_LAST_DIGIT) + HALF_OF_THE_LAST_DIGIT
    if abs(ours_mean - cell.mean) <= reach:
        return "within"
    return "above" if ours_mean > cell.mean else "below"


def _tables() -> list[Traversable]:
    folder = files("ufselect.experiments") / "published_tables"
    return [path for path in folder.iterdir() if path.name.endswith(".toml")]


def _cells(table: dict[str, dict[str, list[float]]]) -> Cells:
    return _frozen_rows(
        {
            method: {name: Published(*pair) for name, pair in row.items()}
            for method, row in table.items()
        }
    )


def _frozen_rows(table: dict[str, dict[str, Any]]) -> Mapping[str, Mapping[str, Any]]:
    return MappingProxyType(
        {method: MappingProxyType(row) for method, row in table.items()}
    )


def _read_only(values: list[float]) -> NDArray[np.float64]:
    array = np.array(values)
    array.flags.writeable = False
    return array
