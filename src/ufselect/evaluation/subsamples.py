"""Selection on some of the samples: its stability, and random sets on the others.

The stability of repeated selections, its variance and its tests are those of Nogueira,
Sechidis and Brown, "On the stability of feature selection algorithms", JMLR 18 (174),
2018. With z the M x p table of selections (1 if selected), p_f the share of selections
with feature f, k_i the size of selection i and q the mean of k_i / p::

    stability = 1 - mean_f(M / (M - 1) p_f (1 - p_f)) / (q (1 - q))
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from scipy.stats import norm
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit
from sklearn.utils.validation import has_fit_parameter

from ufselect.evaluation.checks import checked_selection
from ufselect.evaluation.criteria import CRITERIA, Criterion, JudgedTable
from ufselect.matrix import DataMatrix, Float, Index
from ufselect.matrix.arrays import InMemoryMatrix
from ufselect.matrix.base import few_threads
from ufselect.solvers.preparation import UNITS, InUnits, Kind, in_units

# Smallest number of samples for which the criteria are meaningful.
MIN_SAMPLES = 10

MAX_SEED = 2**31 - 1


class Split(NamedTuple):
    """A selection, and the samples on which to judge it.

    Attributes
    ----------
    columns : ndarray of int
        Selected columns.
    pool : ndarray of int
        Columns that could have been selected: the non-constant ones.
    judged : ndarray of int
        Samples that were not used for the selection.
    standardize : str
        Preparation of the selector; "auto" if unknown.
    """

    columns: Index
    pool: Index
    judged: Index
    standardize: str


def is_selector(selector: Any) -> bool:
    """Return whether the argument is a selector, and not a set of columns."""
    return hasattr(selector, "get_support") and hasattr(selector, "fit")


def split_by_selector(
    data: DataMatrix,
    selector: Any,
    groups: ArrayLike | None,
    random: np.random.RandomState,
) -> Split:
    """Fit a clone of the selector to a random half of the samples.

    Samples of one group are in the same half. If the selector is fitted, the clone
    selects the same number of features. It gets a seed if it has none.
    """
    if groups is not None:
        groups = checked_groups(groups, data.shape[0])
    fitted, judged = random_halves(data.shape[0], groups, random)
    half = data.take_rows(fitted)
    copy = clone(selector)
    known = copy.get_params(deep=False)
    number = number_selected(selector)
    if number and "n_features_to_select" in known:
        copy.set_params(n_features_to_select=number)
    if "random_state" in known and known["random_state"] is None:
        copy.set_params(random_state=random.randint(MAX_SEED))
    # Selectors of other packages take arrays.
    given = half if hasattr(copy, "_fit_matrix") else half.raw
    if groups is not None and has_fit_parameter(copy, "groups"):
        copy.fit(given, groups=groups[fitted])
    else:
        copy.fit(given)
    columns = checked_selection(copy.get_support(), data.shape[1])
    pool = np.flatnonzero(~half.summary().constant)
    return Split(columns, pool, judged, preparation_of(copy))


def random_halves(
    n_samples: int, groups: ArrayLike | None, random: np.random.RandomState
) -> tuple[Index, Index]:
    """Return the samples of two random halves, each in increasing order."""
    if groups is None:
        splitter = ShuffleSplit(1, test_size=0.5, random_state=random)
    else:
        groups = checked_groups(groups, n_samples)
        splitter = GroupShuffleSplit(1, test_size=0.5, random_state=random)
    if n_samples < 2 * MIN_SAMPLES:
        raise ValueError(
            f"X has {n_samples} samples but a verdict needs {2 * MIN_SAMPLES}, half "
            "of them to select and half to judge; give more samples."
        )
    (halves,) = splitter.split(np.empty((n_samples, 0)), groups=groups)
    smaller = min(map(len, halves))
    if smaller < MIN_SAMPLES:
        raise ValueError(
            f"Half of the groups have {smaller} samples but a verdict needs "
            f"{MIN_SAMPLES} in each half; give more samples, or smaller groups."
        )
    fitted, judged = map(np.sort, halves)
    return fitted, judged


def checked_groups(groups: ArrayLike, n_samples: int) -> Index:
    """Return the group index of each sample; raise ValueError for a single group."""
    labels = np.asarray(groups)
    if labels.dtype == object:
        labels = labels.astype(str)
    if labels.shape != (n_samples,):
        raise ValueError(
            f"groups has shape {labels.shape} but X has {n_samples} samples; give one "
            "group per sample."
        )
    codes: Index = np.unique(labels, return_inverse=True)[1]
    if codes.max(initial=0) == 0:
        raise ValueError(
            "groups has a single group, which cannot be split into halves; give at "
            "least two groups, or groups=None."
        )
    return codes


def rows_of_groups(groups: Index, size: int, random: np.random.RandomState) -> Index:
    """Return the rows of random groups, at least ``size`` if possible.

    All samples of a group are included or none; at least one group is left out.

    Examples
    --------
    >>> import numpy as np
    >>> rows_of_groups(np.array([0, 1, 0, 1, 2]), 2, np.random.RandomState(0))
    array([1, 3, 4])
    """
    order = random.permutation(int(groups.max()) + 1)
    reached = np.searchsorted(np.cumsum(np.bincount(groups)[order]), size) + 1
    return np.flatnonzero(np.isin(groups, order[: min(reached, len(order) - 1)]))


def number_selected(selector: Any) -> int | None:
    """Return the number of features that a fitted selector selects, or None."""
    try:
        return int(np.count_nonzero(selector.get_support()))
    except (NotFittedError, AttributeError):
        return None


def preparation_of(selector: Any) -> str:
    """Return the preparation of a fitted selector or its inner one, or "auto".

    Examples
    --------
    >>> from ufselect import SCFS, MaxVariance
    >>> X = [[0.0, 1.5, 3.1], [1.0, 1.2, 3.4], [2.0, 1.1, 9.3], [4.0, 1.7, 9.9]]
    >>> preparation_of(SCFS(1, n_clusters=2).fit(X)), preparation_of(MaxVariance())
    ('features', 'auto')
    """
    inside = getattr(selector, "selector_", None)
    own = getattr(selector, "standardize_", getattr(inside, "standardize_", None))
    return own if isinstance(own, str) and own in UNITS else "auto"


# Number of copies of the judged table with permuted columns. One is sufficient for a
# valid test, as selection and random sets use the same copies; with few samples, the
# mean of two is less noisy.
N_PERMUTED = 2
MAX_SAMPLES_PERMUTED_TWICE = 200

# A random replacement of a column is one of its neighbours in the order of variance:
# share of the columns on either side, with smallest and largest number.
WINDOW_SHARE, NARROWEST_WINDOW, WIDEST_WINDOW = 0.05, 10, 25


class Compared(NamedTuple):
    """A criterion of the selection, and of random sets with the same null value."""

    value: float
    random_values: Float
    standardize: Kind


def compare_with_random_sets(
    data: InMemoryMatrix,
    columns: Index,
    pool: Index,
    names: Sequence[str],
    *,
    standardize: bool | str,
    n_random: int,
    random: np.random.RandomState,
    n_jobs: int | None,
) -> dict[str, Compared]:
    """Return criteria of a selection and of random sets of the same size.

    The null value of each set is subtracted: the mean of the criterion over copies of
    the table in which every column is permuted, so that columns are independent but
    have the same distributions. The values of random sets are shifted to the null value
    of the selection.
    """
    real = in_units(data, standardize)
    sets = [columns, *_drawn(real, columns, pool, n_random, random)]
    n_copies = N_PERMUTED if data.shape[0] < MAX_SAMPLES_PERMUTED_TWICE else 1
    streams = np.random.default_rng(random.randint(MAX_SEED)).spawn(n_copies)
    # Permute before scaling samples, since the scaling makes columns dependent.
    permuted = [in_units(data.permuted(each), real.kind).matrix for each in streams]
    jobs = Parallel(n_jobs=n_jobs, prefer="threads", batch_size=1)
    # The products of one set are short, whatever the size of the table.
    with few_threads(0):
        criteria = jobs(
            delayed(_criteria)(each, names) for each in (real.matrix, *permuted)
        )
        values = np.array(jobs(delayed(_judged)(criteria, each) for each in sets))
    found = {}
    for place, name in enumerate(names):
        own, null = values[:, 0, place], values[:, 1:, place].mean(axis=1)
        shifted = own - null + null[0]
        found[name] = Compared(float(shifted[0]), shifted[1:], real.kind)
    return found


def _criteria(data: DataMatrix, names: Sequence[str]) -> list[Criterion]:
    judged = JudgedTable(data)
    return [CRITERIA[name](judged) for name in names]


def _judged(criteria: Sequence[Sequence[Criterion]], columns: Index) -> Any:
    return [[judge(columns) for judge in of_table] for of_table in criteria]


def _drawn(
    judged: InUnits,
    columns: Index,
    pool: Index,
    n_random: int,
    random: np.random.RandomState,
) -> list[Index]:
    """Return random sets, with columns of similar variance if variances differ."""
    if judged.kind == "features":
        return [
            np.sort(random.choice(pool, len(columns), False)) for _ in range(n_random)
        ]
    deviation = judged.matrix.summary().deviation
    # Columns of equal variance, such as codes, are in random order.
    shuffled = random.permutation(np.union1d(pool, columns))
    order = shuffled[np.argsort(deviation[shuffled], kind="stable")]
    places = np.flatnonzero(np.isin(order, columns))
    return list(matched_sets(order, places, n_random, random))


def matched_sets(
    order: Index, places: Index, n_sets: int, random: np.random.RandomState
) -> Index:
    """Return sets of random columns, each close to a given place in the order.

    The places take turns in random order; a column is taken once in a set.

    Examples
    --------
    >>> import numpy as np
    >>> order = np.arange(1000)
    >>> found = matched_sets(order, np.array([0, 500]), 9, np.random.RandomState(0))
    >>> found.shape, bool((abs(found - [0, 500]) <= 25).all())
    ((9, 2), True)
    """
    n_columns = len(order)
    width = int(np.clip(WINDOW_SHARE * n_columns, NARROWEST_WINDOW, WIDEST_WINDOW))
    free = np.ones((n_sets, n_columns), dtype=bool)
    taken = np.empty((n_sets, len(places)), dtype=np.intp)
    turns = places[np.argsort(random.random_sample(taken.shape), axis=1)]
    for turn, place in enumerate(turns.T):
        sets, reach = np.arange(n_sets), width
        while len(sets):
            near = place[sets, np.newaxis] + np.arange(-reach, reach + 1)
            inside = (near >= 0) & (near < n_columns)
            inside &= free[sets[:, np.newaxis], near.clip(0, n_columns - 1)]
            draw = np.argmax(inside * random.random_sample(near.shape), axis=1)
            column, found = near[np.arange(len(sets)), draw], inside.any(axis=1)
            taken[sets[found], turn] = column[found]
            free[sets[found], column[found]] = False
            sets, reach = sets[~found], 2 * reach
    return np.sort(order[taken], axis=1)


class Stability(NamedTuple):
    """A stability with its variance and confidence interval."""

    value: float
    variance: float
    lower: float
    upper: float


class StabilityTest(NamedTuple):
    """Difference in units of its standard error, and the two-sided p-value."""

    statistic: float
    p_value: float


def selection_stability(
    selections: Iterable[ArrayLike], n_features: int, *, confidence: float = 0.95
) -> Stability:
    """Return the stability of selections: 1 if identical, about 0 if random.

    Parameters
    ----------
    selections : iterable of array-like
        At least two masks or index arrays of selected columns, such as those of one
        method on bootstrap samples. Their sizes may differ.
    n_features : int
        Number of columns of the table.
    confidence : float
        Level of the confidence interval. This is the published one: it is symmetric
        and may exceed 1, and it is asymptotic and too narrow for few selections.

    Examples
    --------
    >>> selection_stability([[0, 1], [0, 1], [0, 1]], 10).value
    1.0
    >>> round(selection_stability([[0, 1], [0, 2], [0, 1]], 10).value, 3)
    0.583
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence} is not between 0 and 1; use 0.95.")
    chosen = [checked_selection(selected, n_features) for selected in selections]
    if len(chosen) < 2:
        raise ValueError(
            f"{len(chosen)} selection(s) given; stability needs at least two."
        )
    z = np.zeros((len(chosen), n_features))
    for row, columns in zip(z, chosen, strict=True):
        row[columns] = 1.0
    if z.all() or not z.any():
        every = "all columns" if z.all() else "no column"
        raise ValueError(
            f"Every selection has {every}, so stability is not defined; give "
            "selections of some columns."
        )
    shares, sizes = z.mean(axis=0), z.mean(axis=1)
    q = shares.mean()
    spread = np.mean(shares * (1 - shares)) * len(z) / (len(z) - 1)
    value = float(1 - spread / (q * (1 - q)))
    variance = 0.0
    # For equal selections, rounding would make the variance nonzero.
    if not (z == z[0]).all():
        agreement = z @ shares / n_features
        correction = value / 2 * (2 * sizes * q - sizes - q + 1)
        parts = (agreement - sizes * q + correction) / (q * (1 - q))
        variance = float(4 / len(z) * parts.var())
    margin = float(norm.ppf((1 + confidence) / 2)) * variance**0.5
    return Stability(value, variance, value - margin, value + margin)


def stability_difference(first: Stability, second: Stability) -> StabilityTest:
    """Test whether two stabilities, each of many selections, are equal.

    Examples
    --------
    >>> steady = selection_stability([[0, 1], [0, 1], [0, 2], [0, 1]], 10)
    >>> shaky = selection_stability([[0, 1], [2, 3], [0, 2], [4, 1]], 10)
    >>> round(stability_difference(steady, shaky).p_value, 4)
    0.0001
    """
    difference = first.value - second.value
    error = float(np.sqrt(first.variance + second.variance))
    if error == 0.0:
        # With zero variance, any difference is significant.
        statistic = float(np.sign(difference) * np.inf) if difference else 0.0
    else:
        statistic = difference / error
    return StabilityTest(statistic, float(2 * norm.sf(abs(statistic))))
