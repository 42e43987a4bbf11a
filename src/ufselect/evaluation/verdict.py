"""Whether a selection is better than random ones, by a test that needs no labels."""

from typing import Any, Literal, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from ufselect.evaluation.criteria import CRITERIA
from ufselect.evaluation.tables import checked_table, some_of
from ufselect.matrix import Float, Index, as_matrix

CriterionName = Literal["structure", "reconstruction", "neighbours", "distinctness"]

# Criteria about pairs of selected columns.
ABOUT_PAIRS = {"structure", "distinctness"}

# Fewer samples leave criteria with hardly a neighbour, a fold or a pair to count.
FEWEST_SAMPLES = 10

# Sets are compared on this many samples at most: the cost grows with their square.
MOST_SAMPLES = 400

SIGNIFICANT = 0.05

# What a good value of each criterion means, and its opposite. A sentence claims no
# more than what was tested.
CLAIMS = {
    "structure": ("agree", "with one another", "more", "less"),
    "reconstruction": ("predict", "all columns", "better", "worse"),
    "neighbours": ("keep", "the neighbours of samples", "better", "worse"),
    "distinctness": ("repeat", "one another", "less", "more"),
}

# A high value of structure has a dull explanation too.
COPIES = " Copies of one column would do so too: look at their redundancy."


class Verdict(NamedTuple):
    """How a selection compares with random sets of as many columns.

    Attributes
    ----------
    criterion : str
    value : float
        Criterion of the selection, the larger the better.
    random_mean, random_deviation : float
        Mean and standard deviation of the criterion over the random sets.
    effect_size : float
        By how many of these deviations the value exceeds the mean.
    p_value : float
        Rank of the selection among the random sets and itself, the best first,
        divided by their number.
    band : tuple of float
        The 5th and the 95th percentile of the random sets.
    sentence : str
        All of this, for people.
    random_values : tuple of float
        Criterion of each random set.
    """

    criterion: str
    value: float
    random_mean: float
    random_deviation: float
    effect_size: float
    p_value: float
    band: tuple[float, float]
    sentence: str
    random_values: tuple[float, ...]

    def __repr__(self) -> str:
        """Return all but the many values of the random sets."""
        shown = [f"{name}={getattr(self, name)!r}" for name in self._fields[:-1]]
        return f"Verdict({', '.join(shown)})"


def verdict(
    X: Any,
    selected: ArrayLike,
    *,
    criterion: CriterionName | None = None,
    n_random: int = 199,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Verdict:
    """Compare a selection with random sets of as many columns.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, p)
        In the units in which distances and variances are to be measured. Of more
        than 400 samples, 400 are drawn at random and used for all sets.
    selected : array-like
        Mask or indices of the selected columns.
    criterion : {"structure", "reconstruction", "neighbours", "distinctness"}, optional
        See the notes. By default "structure", or "reconstruction" if one column is
        selected, which has no other to agree with.
    n_random : int
        Random sets. No p value is below ``1 / (n_random + 1)``.
    random_state : int, RandomState instance or None
        Of the random sets.
    n_jobs : int, optional
        Threads, as joblib counts them. The verdict does not depend on it.

    Returns
    -------
    Verdict

    Notes
    -----
    **The test.** Random sets are drawn without replacement from the columns that are
    not constant. If the selection were drawn likewise, each of its ranks among them
    would be as likely as any other: p values of random selections are uniform, ties
    being broken at random. A small p value says that the set is unlike a random one;
    it does not correct for the search that found it. A method that maximises the
    criterion itself finds a small p value in pure noise.

    **structure**: mean squared distance correlation of the selected columns. Sees
    columns that share clusters, curves, planes or spreads, linear or not, in any
    units, also where they are few among many columns of noise. Cannot tell a
    structure from copies of one column (see `redundancy`), nor see the use of columns
    chosen not to resemble one another, as representatives of groups are.

    **reconstruction**: share of the variance of all columns that the selected ones
    predict in samples not seen, by ridge regression. Sees representatives, and
    columns of large variance. Cannot see a structure of few columns that no other
    column shares.

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
    >>> from ufselect.data import planted
    >>> data = planted("rings", n_samples=40, n_noise=90)
    >>> found = verdict(data.table, data.informative, n_random=99, random_state=0)
    >>> found.p_value
    0.01
    >>> print(found.sentence)
    The 10 selected columns agree with one another more than random ones (p = 0.01...
    """
    table = checked_table(X, "X")
    kept, pool = _checked_sets(table, selected)
    name = criterion or ("structure" if len(kept) > 1 else "reconstruction")
    _check_question(name, len(kept), table.shape[0], n_random)
    random = check_random_state(random_state)
    judge = CRITERIA[name](_some_samples(table, random))
    sets = [np.sort(random.choice(pool, len(kept), False)) for _ in range(n_random)]
    jobs = Parallel(n_jobs=n_jobs, prefer="threads")
    value, *others = jobs(delayed(judge)(columns) for columns in [kept, *sets])
    return _verdict(name, len(kept), value, np.array(others), random)


def _checked_sets(table: Any, selected: ArrayLike) -> tuple[Index, Index]:
    """Return the selected columns and those from which random sets are drawn."""
    kept = some_of(selected, table.shape[1])
    pool = np.flatnonzero(~as_matrix(table).summary().constant)
    if len(kept) >= len(pool):
        raise ValueError(
            f"{len(kept)} columns are selected and {len(pool)} columns of X are not "
            "constant, so that random sets would have no choice; select fewer columns."
        )
    return kept, pool


def _check_question(name: str, n_selected: int, n_samples: int, n_random: int) -> None:
    if name not in CRITERIA:
        raise ValueError(
            f"criterion={name!r} is not known; use one of {', '.join(CRITERIA)}."
        )
    if name in ABOUT_PAIRS and n_selected == 1:
        raise ValueError(
            f"criterion={name!r} compares selected columns with each other but one "
            "is selected; select two, or use criterion='reconstruction'."
        )
    if n_samples < FEWEST_SAMPLES:
        raise ValueError(
            f"X has {n_samples} samples but a verdict needs {FEWEST_SAMPLES}; give "
            "more samples."
        )
    if n_random < 1:
        raise ValueError(f"n_random={n_random} must be at least 1.")


def _some_samples(table: Any, random: np.random.RandomState) -> Any:
    if table.shape[0] <= MOST_SAMPLES:
        return table
    return table[np.sort(random.choice(table.shape[0], MOST_SAMPLES, False))]


def _verdict(
    name: str, n_selected: int, value: float, others: Float, random: Any
) -> Verdict:
    mean, deviation = float(others.mean()), float(others.std())
    # Among equals the selection has any place with the same chance.
    ahead = np.sum(others > value) + random.randint(1 + np.sum(others == value))
    p_value = float((1 + ahead) / (1 + len(others)))
    lower, upper = np.quantile(others, [0.05, 0.95]).tolist()
    effect = _effect(value - mean, deviation)
    sentence = (
        f"{_opinion(name, n_selected, p_value)} (p = {p_value:.3g}, criterion "
        f"{name!r}): {value:.3g}, which is {abs(effect):.1f} standard deviations "
        f"{'above' if effect >= 0 else 'below'} the mean of {len(others)} random sets, "
        f"of which nine in ten lie between {lower:.3g} and {upper:.3g}."
    )
    if name == "structure" and p_value < SIGNIFICANT:
        sentence += COPIES
    return Verdict(
        name,
        value,
        mean,
        deviation,
        effect,
        p_value,
        (lower, upper),
        sentence,
        tuple(others.tolist()),
    )


def _effect(difference: float, deviation: float) -> float:
    if deviation > 0:
        return difference / deviation
    # Random sets that never vary: any difference at all is beyond measure.
    return float(np.sign(difference) * np.inf) if difference else 0.0


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
