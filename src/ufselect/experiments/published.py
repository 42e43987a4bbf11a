"""Published tables and curves, and how our results compare with them."""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Tables are printed with two decimals, so a number is known to half of the last one.
HALF_OF_THE_LAST_DIGIT = 0.005


class Published(NamedTuple):
    """One printed cell, in percent."""

    mean: float
    std: float


class PublishedSet(NamedTuple):
    """A data set as described in print, and its name in the catalogue here.

    ``reconstructed`` is the SHA-256 of a file that was rebuilt from other sources, and
    ``reconstruction`` says how.
    """

    samples: int
    features: int
    classes: int
    kind: str
    domain: str
    catalogue_name: str
    reconstructed: str = ""
    reconstruction: str = ""


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
    reasons : mapping of str to mapping
        Row and data set to why our cell may differ, where that is known; "all sets"
        stands for those that are not named.
    remarks : mapping of str to str
        What was found out about the tables and the curves.
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
    reasons: Mapping[str, Mapping[str, str]]
    remarks: Mapping[str, str]
    properties: Mapping[str, Mapping[str, str | bool]]
    sets: Mapping[str, PublishedSet]
    accuracy: Cells
    mutual_information: Cells
    convergence: Mapping[str, NDArray[np.float64]]

    def reason(self, label: str, set_name: str) -> str:
        """Return why a cell of ours may differ, or that nobody knows."""
        known = self.reasons.get(label, {})
        return known.get(set_name) or known.get("all sets", "Why is not known.")

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
    folder = files("ufselect.experiments") / "published_tables"
    names = sorted(path.name.removesuffix(".toml") for path in folder.iterdir())
    if name not in names:
        raise ValueError(
            f"no published results are called {name!r}; there are: {', '.join(names)}"
        )
    content = tomllib.loads((folder / f"{name}.toml").read_text(encoding="utf-8"))
    content["sets"] = {
        key: PublishedSet(**entry) for key, entry in content["sets"].items()
    }
    for table in ("accuracy", "mutual_information"):
        for row in content[table].values():
            row |= {key: Published(*pair) for key, pair in row.items()}
    content["convergence"] = {
        key: np.array(curve) for key, curve in content["convergence"].items()
    }
    return PublishedResults(name, **content)


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
