"""Whether a selection is better than random ones, by a test that needs no labels."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from ufselect.evaluation.criteria import CRITERIA
from ufselect.evaluation.split_half import (
    FEWEST_SAMPLES,
    Compared,
    Split,
    compare_with_random_sets,
    is_selector,
    split_by_selector,
)
from ufselect.evaluation.tables import UNITS, checked_table, some_of
from ufselect.matrix import as_matrix

CriterionName = Literal["structure", "reconstruction", "neighbours", "distinctness"]
CRITERION_NAMES: tuple[CriterionName, ...] = get_args(CriterionName)

# Criteria about pairs of selected columns.
ABOUT_PAIRS = {"structure", "distinctness"}

# Sets are compared on this many samples at most: the cost grows with their square.
MOST_SAMPLES = 250

SIGNIFICANT = 0.05

# What a good value of each criterion means, and its opposite. A sentence claims no
# more than what was tested.
CLAIMS = {
    "structure": ("agree", "with one another", "more", "less"),
    "reconstruction": ("predict", "all columns", "better", "worse"),
    "neighbours": ("keep", "the neighbours of samples", "better", "worse"),
    "distinctness": ("repeat", "one another", "less", "more"),
}

# A high value of structure may also mean copies.
COPIES = " Copies of one column would do so too: look at their redundancy."

CHOSEN_BEFOREHAND = (
    " The p value is valid only if these columns were chosen on other samples, or by "
    "knowledge; give the selector if they were chosen on X."
)


class Verdict(NamedTuple):
    """How a selection compares with random sets of as many columns.

    Where nothing can be compared, because all features were selected or none, there is
    no p value: it is None, other measurements are NaN, and the sentence says why.

    Attributes
    ----------
    criterion : str
    value : float
        Criterion of the selection, the larger the better.
    random_mean, random_deviation : float
        Mean and standard deviation of the criterion over the random sets.
    effect_size : float
        By how many of these deviations the value exceeds the mean.
    p_value : float or None
        Rank of the selection among the random sets and itself, the best first,
        divided by their number. With several splits, twice their median, at most 1.
    band : tuple of float
        The 5th and the 95th percentile of the random sets.
    sentence : str
        All of this, for people.
    n_features : int
        Selected columns that were judged.
    n_samples : int
        Samples that they were judged on.
    standardize : {"features", "samples", "none"}
        How these samples were prepared.
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
        """Return all but the many values of the random sets."""
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
    """Tell whether a selector finds better columns than chance does.

    A clone of the selector is fitted to a random half of the samples. What it selects
    is compared with random sets of as many columns on the other half, which took no
    part in the selection.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, p)
        Twenty samples at least. Of more than 250 to judge on, 250 are drawn.
    selector : selector, or array-like
        Anything with ``fit`` and ``get_support``. If it is fitted, its clone selects
        as many columns (``n_features_to_select``). A mask or indices of columns are
        judged on all of X; **that p value is valid only if the columns were chosen on
        other samples, or by knowledge**.
    criterion : {"structure", "reconstruction", "neighbours", "distinctness"}, optional
        See the notes. By default "structure", or "reconstruction" if one column is
        selected, which has no other to agree with.
    standardize : {"auto", "features", "samples", "none"} or bool
        Units in which samples are judged. "auto" takes those of the selector
        (``standardize_``), or what selectors would choose for these samples.
    groups : array-like of shape (n,), optional
        Patients, for instance: samples of one group are in the same half.
    n_random : int
        Random sets. No p value is below ``1 / (n_random + 1)``.
    n_splits : int
        Random halvings. With several, everything is that of the split with the median
        p value, and ``p_value`` is twice that: valid whatever the splits share, less
        dependent on one of them, and larger than need be.
    random_state : int, RandomState instance or None
        Of the halves, the random sets, and a selector without a seed.
    n_jobs : int, optional
        Threads, as joblib counts them. The verdict does not depend on it.

    Returns
    -------
    Verdict
        Without a p value if the clone selects no column, or all that vary.

    Notes
    -----
    **The test.** If the columns have nothing to do with one another, what was selected
    on one half says nothing about the other, and each rank of the selection among
    random sets is as likely as any other: p values are uniform. Tested on samples
    that it was chosen on, noise looks like a discovery.

    **Random sets.** Columns of large variance do well by "reconstruction" and
    "neighbours" even in noise: they are a large part of what is to be predicted. Where
    variances differ in the judged units, each selected column is therefore replaced by
    a random one of similar variance. And each set is compared after subtracting its
    null value: the criterion of the same columns, each permuted on its own (mean of
    two copies of the table). The random sets of the result are shifted to the null
    value of the selection. `studies/quality/verdict_noise.py` measures that p values
    are uniform on tables of noise.

    **structure**: mean squared distance correlation of the selected columns. Sees
    columns that share clusters, curves, planes or spreads, linear or not, in any
    units, also where they are few among many columns of noise. Cannot tell a
    structure from copies of one column (see `redundancy`), nor see the use of columns
    chosen not to resemble one another, as representatives of groups are.

    **reconstruction**: R2 on held-out samples of all columns, predicted from the
    selected ones by ridge regression; below 0 where the means predict better. Sees
    representatives, and columns of large variance. Cannot see a structure of few
    columns that no other column shares.

    **neighbours**: `neighbourhood_agreement`, the share of the nearest neighbours by
    all columns that remain. Sees columns that make up the distances. Cannot see what
    is hidden by noise in the distances by all columns.

    **distinctness**: one minus the `redundancy` of the selected columns. Sees columns
    that say the same, up to sign and scale. Cannot tell independent structures from
    noise, which is as distinct as can be.

    The criteria disagree about real selections: near-duplicates score high on the
    first and low on the others, representatives of groups the other way round. A set
    may be no better than random by one and still be useful; but if several are
    tried, the smallest p value is too optimistic.

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
        By default all four, or those two that can judge a single column.
    X, selector, standardize, groups, n_random, n_splits, random_state, n_jobs
        As for `verdict`.

    Examples
    --------
    >>> from ufselect import LaplacianScore
    >>> from ufselect.data import planted
    >>> X = planted("blobs", n_samples=80, n_noise=90).table
    >>> found = verdicts(X, LaplacianScore(10), n_random=19, random_state=0)
    >>> [each.criterion for each in found]
    ['structure', 'reconstruction', 'neighbours', 'distinctness']
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
    """Return verdicts by some criteria; a slice is of those that suit the selection."""
    table = checked_table(X, "X")
    _check_numbers(
        () if isinstance(names, slice) else names, table.shape[0], n_random, n_splits
    )
    random = check_random_state(random_state)
    beforehand = not is_selector(selector)
    if beforehand:
        splits = [_chosen_beforehand(table, selector)]
    else:
        splits = [
            split_by_selector(table, selector, groups, random) for _ in range(n_splits)
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
            f"criterion={about_pairs[0]!r} compares selected columns with each other "
            "but one is selected; select two, or use criterion='reconstruction'."
        )
    found: dict[str, list[Verdict]] = {name: [] for name in names}
    for split in splits:
        rows = split.judged
        if len(rows) > MOST_SAMPLES:
            rows = np.sort(random.choice(rows, MOST_SAMPLES, False))
        compared = compare_with_random_sets(
            *(table[rows], split.columns, split.pool, names),
            standardize=split.standardize if standardize == "auto" else standardize,
            n_random=n_random,
            random=random,
            n_jobs=n_jobs,
        )
        for name, each in compared.items():
            counts = (len(split.columns), len(rows))
            found[name].append(_verdict(name, each, counts, random))
    return [_over_splits(several, beforehand) for several in found.values()]


def _chosen_beforehand(table: Any, columns: ArrayLike) -> Split:
    """Return columns that are given, to be judged on all samples."""
    if hasattr(columns, "fit"):
        raise ValueError(
            f"{type(columns).__name__} has no get_support; give a selector, or "
            "a mask or indices of columns."
        )
    kept = some_of(columns, table.shape[1])
    pool = np.flatnonzero(~as_matrix(table).summary().constant)
    if len(kept) >= len(pool):
        raise ValueError(
            f"{len(kept)} columns are selected and {len(pool)} columns of X are not "
            "constant, so that random sets would have no choice; select fewer columns."
        )
    return Split(kept, pool, np.arange(table.shape[0]), "auto")


def _check_numbers(
    names: Sequence[str], n_samples: int, n_random: int, n_splits: int
) -> None:
    for name in names:
        if name not in CRITERIA:
            raise ValueError(
                f"criterion={name!r} is not known; use one of {', '.join(CRITERIA)}."
            )
    if n_samples < FEWEST_SAMPLES:
        raise ValueError(
            f"X has {n_samples} samples but a verdict needs {FEWEST_SAMPLES}, or twice "
            "as many to judge a selector; give more samples."
        )
    for title, number in {"n_random": n_random, "n_splits": n_splits}.items():
        if number < 1:
            raise ValueError(f"{title}={number} must be at least 1.")


def _without_comparison(name: str, split: Split) -> Verdict:
    """Return a verdict without a p value, for no random set could be another one."""
    count = len(split.columns)
    which = "no column" if not count else f"all {count} columns that vary"
    sentence = (
        f"On half of the samples the selector selects {which}, so that there is "
        "nothing to compare with random sets and no p value."
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
    # Random sets that never vary: any difference at all is beyond measure.
    effect = float(np.sign(value - mean) * np.inf) if value != mean else 0.0
    if deviation > 0:
        effect = (value - mean) / deviation
    # Among equals the selection has any place with the same chance.
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
    """Return the split of median p value, with a p value for all and the sentence.

    Twice the median is valid for p values that depend on one another in any way
    (Meinshausen, Meier and Buehlmann, JASA 104, 2009).
    """
    ordered: list[Any] = sorted(several, key=lambda each: each.p_value)
    found = ordered[(len(several) - 1) // 2]
    if len(several) > 1:
        found = found._replace(p_value=min(1.0, 2 * found.p_value))
    return found._replace(sentence=sentence_of(found, len(several), beforehand))


def sentence_of(found: Any, n_splits: int, beforehand: bool) -> str:
    """Return what a verdict says, for people.

    Parameters
    ----------
    found : Verdict
        With everything but its sentence.
    n_splits : int
        How often the samples were split.
    beforehand : bool
        Whether columns were judged that were given, and not selected on a half.
    """
    said = found.p_value
    if n_splits > 1:
        # Twice a median, however large, does not say that a selection is worse.
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
    if found.criterion == "structure" and found.p_value < SIGNIFICANT:
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
