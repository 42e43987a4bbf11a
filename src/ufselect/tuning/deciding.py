"""What can be decided from X alone: clusters, and the columns that follow them."""

from typing import Any, NamedTuple

import numpy as np

from ufselect.matrix import ColumnSummary, DataMatrix, Float, as_matrix
from ufselect.numerics.directions import n_directions
from ufselect.numerics.groups import UpperGroup, explained_shares, upper_group
from ufselect.numerics.preparation import choose_preparation, prepare
from ufselect.numerics.starts import (
    distinct_rows,
    sample_products,
    start_from_components,
)

# As many clusters as the selectors have by default: more directions than that are
# the rule in real data and say little about how many clusters there are.
MOST_CLUSTERS = 8

# Directions are counted on this many samples at most.
MOST_SAMPLES = 1000

# A handful of columns apart from all others are more often freaks than structure.
FEWEST_FEATURES = 10

# Share of variance between two groups from which on they stand apart. Evenly spread
# numbers have 0.75; on research data 0.63 to 0.85 was seen, and on planted columns
# with clusters, rings or rates 0.90 and more.
APART = 0.9


class Following(NamedTuple):
    """How far each column follows the clusters, and those that follow most."""

    shares: Float
    group: UpperGroup

    @property
    def apart(self) -> bool:
        """Whether those that follow most stand apart from the others."""
        return self.group.separation >= APART


def decide_clusters(
    data: DataMatrix, summary: ColumnSummary, random: np.random.RandomState
) -> tuple[int, str]:
    """Return a number of clusters, and why.

    One more than there are directions beyond chance, from 2 to 8: so many clusters
    can lie in so many directions without any of these being wasted.
    """
    n_distinct = distinct_rows(data)
    if n_distinct < 2:
        return 1, "All samples are equal: there is one cluster."
    some = _some_samples(data, random)
    kind = choose_preparation(data, summary)
    centred = prepare(some, some.summary(), kind, 1.0).centred
    found = n_directions(centred, MOST_CLUSTERS - 1, random)
    number = min(max(found + 1, 2), MOST_CLUSTERS, n_distinct)
    if not found:
        return number, (
            "No direction holds more variance than chance would give, so that there "
            f"may be no clusters; {number} are assumed."
        )
    more = " or more" if found == MOST_CLUSTERS - 1 else ""
    plural = "direction holds" if found == 1 else "directions hold"
    return number, (
        f"{found}{more} {plural} more variance than chance would give, which leaves "
        f"room for {number} clusters."
    )


def columns_that_follow(
    data: DataMatrix,
    summary: ColumnSummary,
    n_clusters: int,
    random: np.random.RandomState,
) -> Following:
    """Return how much of each column the clusters of the samples explain.

    Clusters are those of k-means in the leading components.
    """
    if n_clusters < 2:
        return Following(np.zeros(data.shape[1]), UpperGroup(data.shape[1], 0.0))
    centred = prepare(data, summary, choose_preparation(data, summary), 1.0).centred
    multiply = sample_products(centred, 1.0).multiply
    clusters = start_from_components(multiply, data.shape[0], n_clusters, random)
    shares = explained_shares(centred, clusters)
    return Following(shares, upper_group(shares))


def decide_number(following: Following, largest: int | None) -> tuple[int, str]:
    """Return a number of features, and why."""
    size, n_features = following.group.size, len(following.shares)
    fewest = max(1, min(FEWEST_FEATURES, n_features // 2))
    number = max(size, fewest)
    if largest is not None:
        number = min(number, largest)
    if following.apart:
        reason = (
            f"{size} of {n_features} columns follow the clusters and stand apart from "
            "the others"
        )
    else:
        reason = (
            f"{size} of {n_features} columns follow the clusters more than the others "
            "do, without a gap between them"
        )
    if number != size:
        limit = (
            "no fewer, unless asked for"
            if number > size
            else "max_features; a number that is given may be larger"
        )
        reason += f"; the best {number} are kept ({limit})"
    return number, reason + "."


def _some_samples(data: DataMatrix, random: np.random.RandomState) -> DataMatrix:
    n_samples = data.shape[0]
    if n_samples <= MOST_SAMPLES:
        return data
    rows: Any = np.sort(random.permutation(n_samples)[:MOST_SAMPLES])
    return as_matrix(data.raw[rows])
