"""Published results as data, and how a result of ours compares with them."""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
    >>> from ufselect.experiments.published import published
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
    >>> from ufselect.experiments.published import Published, verdict
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
