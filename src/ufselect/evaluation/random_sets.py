"""Random sets of columns for a selection to be compared with."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

from ufselect.evaluation.criteria import CRITERIA, Criterion
from ufselect.evaluation.halves import LARGEST_SEED
from ufselect.evaluation.parallel_analysis import permuted_columns
from ufselect.evaluation.tables import InUnits, in_units
from ufselect.matrix import Float, Index, as_matrix
from ufselect.solvers.preparation import Kind

# Copies of the judged table with its columns permuted.
N_PERMUTED = 2

# A column is replaced by one of so many on either side by variance: one in twenty.
WINDOW_SHARE, NARROWEST_WINDOW, WIDEST_WINDOW = 0.05, 10, 25


class Compared(NamedTuple):
    """A criterion of the selection, and of random sets with the same null value."""

    value: float
    random_values: Float
    standardize: Kind


def compare_with_random_sets(
    table: Any,
    columns: Index,
    pool: Index,
    names: Sequence[str],
    *,
    standardize: bool | str,
    n_random: int,
    random: np.random.RandomState,
    n_jobs: int | None,
) -> dict[str, Compared]:
    """Return criteria of a selection and of random sets of as many columns.

    A criterion of a set is compared after its null value is subtracted: its mean over
    copies of the table in which every column is permuted, where no column has to do
    with another but variances and distributions are the same. The values of random
    sets are shifted to the null value of the selection.
    """
    real = in_units(table, standardize)
    sets = [columns, *_drawn(real, columns, pool, n_random, random)]
    streams = np.random.default_rng(random.randint(LARGEST_SEED)).spawn(N_PERMUTED)
    # Samples are scaled after the permutation, for that makes columns depend.
    permuted = [
        in_units(permuted_columns(table, stream), real.kind).table for stream in streams
    ]
    jobs = Parallel(n_jobs=n_jobs, prefer="threads")
    found = {}
    for name in names:
        criteria = [CRITERIA[name](each) for each in (real.table, *permuted)]
        values = np.array(jobs(delayed(_judged)(criteria, each) for each in sets))
        null = values[:, 1:].mean(axis=1)
        shifted = values[:, 0] - null + null[0]
        found[name] = Compared(float(shifted[0]), shifted[1:], real.kind)
    return found


def _judged(criteria: Sequence[Criterion], columns: Index) -> list[float]:
    return [judge(columns) for judge in criteria]


def _drawn(
    judged: InUnits,
    columns: Index,
    pool: Index,
    n_random: int,
    random: np.random.RandomState,
) -> list[Index]:
    """Return random sets, of columns with similar variances where these differ."""
    if judged.kind == "features":
        return [
            np.sort(random.choice(pool, len(columns), False)) for _ in range(n_random)
        ]
    deviation = as_matrix(judged.table).summary().deviation
    # Columns of equal variance, such as codes, are in no particular order.
    shuffled = random.permutation(np.union1d(pool, columns))
    order = shuffled[np.argsort(deviation[shuffled], kind="stable")]
    return [matched_set(order, columns, random) for _ in range(n_random)]


def matched_set(order: Index, columns: Index, random: np.random.RandomState) -> Index:
    """Return as many columns, each from near one of the given ones in the order.

    Examples
    --------
    >>> import numpy as np
    >>> order = np.arange(1000)
    >>> found = matched_set(order, np.array([0, 500]), np.random.RandomState(0))
    >>> bool(found[0] <= 25), bool(475 <= found[1] <= 525)
    (True, True)
    """
    width = int(np.clip(WINDOW_SHARE * len(order), NARROWEST_WINDOW, WIDEST_WINDOW))
    places = np.flatnonzero(np.isin(order, columns))
    free = np.ones(len(order), dtype=bool)
    taken = []
    for place in random.permutation(places):
        near, reach = np.empty(0, dtype=np.intp), width
        while not len(near):
            start = max(0, place - reach)
            near = start + np.flatnonzero(free[start : place + reach + 1])
            reach *= 2
        taken.append(random.choice(near))
        free[taken[-1]] = False
    return np.sort(order[taken])
