"""Label-free test of whether a selection is better than random sets of columns."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from ufselect.evaluation.checks import checked_table, some_of
from ufselect.evaluation.criteria import CRITERIA
from ufselect.evaluation.subsamples import (
    MIN_SAMPLES,
    Compared,
    Split,
    compare_with_random_sets,
    is_selector,
    split_by_selector,
)
from ufselect.matrix import DataMatrix
from ufselect.solvers.preparation import UNITS

CriterionName = Literal[
    "kernel alignment",
    "explained variance",
    "neighbourhood preservation",
    "low redundancy",
]
CRITERION_NAMES: tuple[CriterionName, ...] = get_args(CriterionName)

# Criteria that need at least two selected columns.
ABOUT_PAIRS = {"kernel alignment", "low redundancy"}

# Largest number of samples for the comparison, whose cost is quadratic in it.
MAX_SAMPLES = 250

SIGNIFICANT = 0.05

# Words for the sentence of each criterion: verb, object, better and worse.
CLAIMS = {
    "kernel alignment": ("agree", "with one another", "more", "less"),
    "explained variance": ("predict", "all columns", "better", "worse"),
    "neighbourhood preservation": (
        "keep",
        "the neighbours of samples",
        "better",
        "worse",
    ),
    "low redundancy": ("repeat", "one another", "less", "more"),
}

# A high kernel alignment may also be due to copies.
COPIES = " Copies of one column would do so, too: check their redundancy."

CHOSEN_BEFOREHAND = (
    " The p-value is valid only if these columns were chosen on other samples, or from "
    "prior knowledge; give the selector if they were chosen on X."
)


class Verdict(NamedTuple):
    """Comparison of a selection with random sets of the same size.

    If all columns were selected, or none, no comparison is possible: the p-value is
    None, other values are NaN, and the sentence gives the reason.

    Attributes
    ----------
    criterion : str
    value : float
        Criterion of the selection; higher is better.
    random_mean, random_deviation : float
        Mean and standard deviation of the criterion over the random sets.
    effect_size : float
        Difference of the value and the mean, in units of the standard deviation.
    p_value : float or None
        Rank of the selection among the random sets and itself, 1 for the best, divided
        by their number. With several splits, twice their median, at most 1.
    band : tuple of float
        The 5th and the 95th percentile of the random sets.
    sentence : str
        The result in words.
    n_features : int
        Number of selected columns that were judged.
    n_samples : int
        Number of samples on which they were judged.
    standardize : {"features", "samples", "none"}
        Preparation of these samples.
    random_values : tuple of float
        Criterion of each random set, shifted by the difference of null values; see
        the notes of `verdict`.
    """

    criterion: str
    value: float
    random_mean: float
    random_deviation: float
    effect_size: float
    p_value: float | None
    band: tuple[float, float]
    sentence: str
    n_features: int
    n_samples: int
    standardize: str
    random_values: tuple[float, ...]

    def __repr__(self) -> str:
        """Return all fields except the values of the random sets."""
        shown = [f"{name}={getattr(self, name)!r}" for name in self._fields[:-1]]
        return f"Verdict({', '.join(shown)})"


def verdict(
    X: Any,
    selector: Any,
    *,
    criterion: CriterionName | None = None,
    standardize: bool | str = "auto",
    groups: ArrayLike | None = None,
    n_random: int = 199,
    n_splits: int = 1,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Verdict:
    """Test whether a selector finds better columns than a random selection.

    A clone of the selector is fitted to a random half of the samples. On the other
    half, the columns that it selects are compared with random sets of the same size.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, p)
        At least 20 samples. At most 250 samples, drawn at random, are used to judge.
    selector : selector, or array-like
        An object with ``fit`` and ``get_support``. If it is fitted, its clone selects
        the same number of columns (``n_features_to_select``). A mask or indices of
        columns are judged on all of X; **this p-value is valid only if the columns were
        chosen on other samples, or from prior knowledge**.
    criterion : {"kernel alignment", "explained variance", "neighbourhood \
preservation", "low redundancy"}, optional
        See the notes. By default "kernel alignment", or "explained variance" if only
        one column is selected.
    standardize : {"auto", "features", "samples", "none"} or bool
        Preparation of the judged samples. "auto" means that of the selector
        (``standardize_``), or the one that selectors would choose for these samples.
    groups : array-like of shape (n,), optional
        Group labels, such as patients: samples of one group are in the same half.
    n_random : int
        Number of random sets. The smallest p-value is ``1 / (n_random + 1)``.
    n_splits : int
        Number of random splits into halves. With several, the result is that of the
        split with the median p-value, with ``p_value`` doubled. This p-value depends
        less on a single split and is valid for dependent splits, but conservative.
    random_state : int, RandomState instance or None
        Seed of the splits, of the random sets, and of a selector without a seed.
    n_jobs : int, optional
        Number of threads, as in joblib. The verdict does not depend on it.

    Returns
    -------
    Verdict
        Without a p-value if the clone selects no column, or all non-constant ones.

    Notes
    -----
    **The test.** If the columns are independent, a selection on one half contains no
    information about the other half. All ranks of the selection among random sets are
    then equally likely, and p-values are uniform. On the samples on which it was
    chosen, a selection of noise would look significant.

    **Random sets.** Columns of large variance have high values of "explained variance"
    and "neighbourhood preservation" even in noise, because they are a large part of the
    total variance. If variances differ after preparation, each selected column is
    therefore replaced by a random one of similar variance. Sets are compared after
    subtracting their null value: the criterion of the same columns after permuting each
    (mean of two permuted tables). The random sets of the result are shifted to the null
    value of the selection. `python -m studies label_free --parts noise` checks that
    p-values are uniform on tables of noise.

    **kernel alignment**: mean squared distance correlation of the selected columns.
    Detects linear and non-linear dependence, such as common clusters, curves or planes,
    in any unit, even of few columns among much noise. Does not distinguish structure
    from copies of one column (see `redundancy`), and does not detect the value of
    columns that are chosen to be dissimilar, such as representatives of groups.

    **explained variance**: R2 on held-out samples of all columns, predicted from the
    selected ones by ridge regression; negative if the means predict better. Detects
    representatives and columns of large variance. Does not detect a structure of few
    columns that are independent of the others.

    **neighbourhood preservation**: `neighbourhood_agreement`, the agreement of nearest
    neighbours with those by all columns. Detects columns that dominate the distances.
    Does not detect structure that noise hides in the distances by all columns.

    **low redundancy**: one minus the `redundancy` of the selected columns. Detects
    columns that are copies up to sign and scale. Does not distinguish independent
    structures from noise, which is not redundant either.

    The criteria may disagree: near-duplicates have a high value of the first and low
    values of the others, representatives of groups the opposite. A set that is no
    better than random by one criterion may still be useful. If you try several
    criteria, the smallest p-value is too optimistic.

    Examples
    --------
    >>> from ufselect import LaplacianScore
    >>> from ufselect.data import planted
    >>> X = planted("blobs", n_samples=80, n_noise=90).table
    >>> found = verdict(X, LaplacianScore(10), n_random=99, random_state=0)
    >>> found.p_value, found.n_samples
    (0.01, 40)
    >>> print(found.sentence)
    The 10 selected columns agree with one another more than random ones (p = 0.01...
    """
    names = slice(1) if criterion is None else [criterion]
    return _verdicts(
        *(X, selector, names, standardize, groups),
        *(n_random, n_splits, random_state, n_jobs),
    )[0]


def verdicts(
    X: Any,
    selector: Any,
    *,
    criteria: Sequence[CriterionName] | None = None,
    standardize: bool | str = "auto",
    groups: ArrayLike | None = None,
    n_random: int = 199,
    n_splits: int = 1,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> list[Verdict]:
    """Return the `verdict` by each criterion, from the same fit and random sets.

    Parameters
    ----------
    criteria : sequence of str, optional
        By default all four, or the two for a single column.
    X, selector, standardize, groups, n_random, n_splits, random_state, n_jobs
        As in `verdict`.

    Examples
    --------
    >>> from ufselect import LaplacianScore
    >>> from ufselect.data import planted
    >>> X = planted("blobs", n_samples=80, n_noise=90).table
    >>> found = verdicts(X, LaplacianScore(10), n_random=19, random_state=0)
    >>> [each.criterion for each in found][:3]
    ['kernel alignment', 'explained variance', 'neighbourhood preservation']
    """
    names = slice(None) if criteria is None else criteria
    return _verdicts(
        *(X, selector, names, standardize, groups),
        *(n_random, n_splits, random_state, n_jobs),
    )


def _verdicts(
    X: Any,
    selector: Any,
    names: Sequence[str] | slice,
    standardize: bool | str,
    groups: ArrayLike | None,
    n_random: int,
    n_splits: int,
    random_state: Any,
    n_jobs: int | None,
) -> list[Verdict]:
    """Return verdicts by criteria; a slice selects from those that can be applied."""
    data = checked_table(X, "X")
    _check_numbers(
        () if isinstance(names, slice) else names, data.shape[0], n_random, n_splits
    )
    random = check_random_state(random_state)
    beforehand = not is_selector(selector)
    if beforehand:
        splits = [_chosen_beforehand(data, selector)]
    else:
        splits = [
            split_by_selector(data, selector, groups, random) for _ in range(n_splits)
        ]
    fewest = min(len(split.columns) for split in splits)
    if isinstance(names, slice):
        suited = [n for n in CRITERION_NAMES if fewest != 1 or n not in ABOUT_PAIRS]
        names = suited[names]
    for split in splits:
        if not 0 < len(split.columns) < len(split.pool):
            return [_without_comparison(name, split) for name in names]
    about_pairs = [name for name in names if name in ABOUT_PAIRS]
    if about_pairs and fewest == 1:
        raise ValueError(
            f"criterion={about_pairs[0]!r} compares selected columns with each other, "
            "but only one is selected; select at least two, or use "
            "criterion='explained variance'."
        )
    found: dict[str, list[Verdict]] = {name: [] for name in names}
    for split in splits:
        rows = split.judged
        if len(rows) > MAX_SAMPLES:
            rows = np.sort(random.choice(rows, MAX_SAMPLES, False))
        compared = compare_with_random_sets(
            *(data.take_rows(rows), split.columns, split.pool, names),
            standardize=split.standardize if standardize == "auto" else standardize,
            n_random=n_random,
            random=random,
            n_jobs=n_jobs,
        )
        for name, each in compared.items():
            counts = (len(split.columns), len(rows))
            found[name].append(_verdict(name, each, counts, random))
    return [_over_splits(several, beforehand) for several in found.values()]


def _chosen_beforehand(data: DataMatrix, columns: ArrayLike) -> Split:
    """Return the split for given columns, which are judged on all samples."""
    if hasattr(columns, "fit"):
        raise ValueError(
            f"{type(columns).__name__} has no get_support; give a selector, or "
            "a mask or indices of columns."
        )
    kept = some_of(columns, data.shape[1])
    pool = np.flatnonzero(~data.summary().constant)
    if len(kept) >= len(pool):
        raise ValueError(
            f"{len(kept)} columns are selected but only {len(pool)} columns of X are "
            "not constant, so there are no other sets; select fewer columns."
        )
    return Split(kept, pool, np.arange(data.shape[0]), "auto")


def _check_numbers(
    names: Sequence[str], n_samples: int, n_random: int, n_splits: int
) -> None:
    for name in names:
        if name not in CRITERIA:
            raise ValueError(
                f"criterion={name!r} is not known; use one of {', '.join(CRITERIA)}."
            )
    if n_samples < MIN_SAMPLES:
        raise ValueError(
            f"X has {n_samples} samples but a verdict needs {MIN_SAMPLES}, or twice "
            "as many to judge a selector; give more samples."
        )
    for title, number in {"n_random": n_random, "n_splits": n_splits}.items():
        if number < 1:
            raise ValueError(f"{title}={number} must be at least 1.")


def _without_comparison(name: str, split: Split) -> Verdict:
    """Return a verdict without a p-value, as there is no other set to compare with."""
    count = len(split.columns)
    which = "no column" if not count else f"all {count} non-constant columns"
    sentence = (
        f"On half of the samples the selector selects {which}, so there is nothing to "
        "compare with random sets and no p-value."
    )
    nan = float("nan")
    counts = count, len(split.judged)
    measured = (name, nan, nan, nan, nan, None, (nan, nan))
    return Verdict(*measured, sentence, *counts, split.standardize, ())


def _verdict(
    name: str, found: Compared, counts: tuple[int, int], random: Any
) -> Verdict:
    value, others, kind = found
    mean, deviation = float(others.mean()), float(others.std())
    # If all random sets have the same value, any difference is infinitely large.
    effect = float(np.sign(value - mean) * np.inf) if value != mean else 0.0
    if deviation > 0:
        effect = (value - mean) / deviation
    # Ties are broken at random, so that p-values are uniform.
    ahead = np.sum(others > value) + random.randint(1 + np.sum(others == value))
    lower, upper = np.quantile(others, [0.05, 0.95]).tolist()
    return Verdict(
        name,
        value,
        mean,
        deviation,
        effect,
        float((1 + ahead) / (1 + len(others))),
        (lower, upper),
        "",
        *counts,
        kind,
        tuple(others.tolist()),
    )


def _over_splits(several: Sequence[Verdict], beforehand: bool) -> Verdict:
    """Return the split of median p-value, with the combined p-value and the sentence.

    Twice the median is valid for p-values with any dependence (Meinshausen, Meier and
    Buehlmann, JASA 104, 2009).
    """
    ordered: list[Any] = sorted(several, key=lambda each: each.p_value)
    found = ordered[(len(several) - 1) // 2]
    if len(several) > 1:
        found = found._replace(p_value=min(1.0, 2 * found.p_value))
    return found._replace(sentence=sentence_of(found, len(several), beforehand))


def sentence_of(found: Any, n_splits: int, beforehand: bool) -> str:
    """Return a verdict in words.

    Parameters
    ----------
    found : Verdict
        With all fields except the sentence.
    n_splits : int
        Number of splits of the samples.
    beforehand : bool
        Whether the columns were given instead of selected on one half.
    """
    said = found.p_value
    if n_splits > 1:
        # Twice a median, however large, does not mean that the selection is worse.
        said = min(said, 1 - SIGNIFICANT)
    lower, upper = found.band
    halves = f", over {n_splits} splits" if n_splits > 1 else ""
    seen = "" if beforehand else " that the selection did not see"
    sentence = (
        f"{_opinion(found.criterion, found.n_features, said)} (p = "
        f"{found.p_value:.3g}, criterion {found.criterion!r}{halves}): "
        f"{found.value:.3g}, which is {abs(found.effect_size):.1f} standard deviations "
        f"{'above' if found.effect_size >= 0 else 'below'} the mean of "
        f"{len(found.random_values)} random sets, of which nine in ten lie between "
        f"{lower:.3g} and {upper:.3g}. Judged on {found.n_samples} samples{seen}, "
        f"{UNITS[found.standardize]}."
    )
    if found.criterion == "kernel alignment" and found.p_value < SIGNIFICANT:
        sentence += COPIES
    return sentence + CHOSEN_BEFOREHAND if beforehand else sentence


def _opinion(name: str, n_selected: int, p_value: float) -> str:
    verb, what, more, less = CLAIMS[name]
    if p_value < SIGNIFICANT:
        compared = more
    else:
        compared = less if p_value > 1 - SIGNIFICANT else f"not clearly {more}"
    if n_selected == 1:
        return f"The selected column {verb}s {what} {compared} than a random one"
    return (
        f"The {n_selected} selected columns {verb} {what} {compared} than random ones"
    )
