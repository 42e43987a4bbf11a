"""How far repeated selections agree, beyond chance.

The measure, its variance and its tests are those of Nogueira, Sechidis and Brown, "On
the stability of feature selection algorithms", JMLR 18 (174), 2018. With z the M x p
table of selections (1 if selected), p_f the share of selections that hold feature f,
k_i the size of selection i and q the mean of k_i / p::

    stability = 1 - mean_f(M / (M - 1) p_f (1 - p_f)) / (q (1 - q))
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm

from ufselect.evaluation.tables import checked_selection
from ufselect.matrix import Float


class Stability(NamedTuple):
    """A stability with its variance and its confidence interval."""

    value: float
    variance: float
    lower: float
    upper: float


class StabilityTest(NamedTuple):
    """Difference in standard errors, and the two-sided p value."""

    statistic: float
    p_value: float


def selection_stability(
    selections: Iterable[ArrayLike], n_features: int, *, confidence: float = 0.95
) -> Stability:
    """Return how far selections agree: 1 if identical, about 0 if drawn at random.

    Parameters
    ----------
    selections : iterable of array-like
        Two or more, each a mask or the indices of the selected columns, such as
        those of one method on bootstrap samples. Their sizes may differ.
    n_features : int
        The number of columns that could be selected.
    confidence : float
        Of the interval, which is the published one: symmetric, so that it may pass
        1, and too narrow for few selections, for it assumes that there are many.

    Examples
    --------
    >>> selection_stability([[0, 1], [0, 1], [0, 1]], 10).value
    1.0
    >>> round(selection_stability([[0, 1], [0, 2], [0, 1]], 10).value, 3)
    0.583
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence} is not between 0 and 1.")
    z = _indicators(selections, n_features)
    value = _value(z)
    variance = _variance(z, value)
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
        # Selections that never vary: any difference at all is certain.
        statistic = float(np.sign(difference) * np.inf) if difference else 0.0
    else:
        statistic = difference / error
    return StabilityTest(statistic, float(2 * norm.sf(abs(statistic))))


def _indicators(selections: Iterable[ArrayLike], n_features: int) -> Float:
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
            f"Every selection holds {every}, which leaves no choice to be stable; "
            "give selections of some columns."
        )
    return z


def _value(z: Float) -> float:
    shares = z.mean(axis=0)
    q = shares.mean()
    spread = np.mean(shares * (1 - shares)) * len(z) / (len(z) - 1)
    return float(1 - spread / (q * (1 - q)))


def _variance(z: Float, value: float) -> float:
    # Of equal selections, rounding would leave a variance that is not quite zero.
    if (z == z[0]).all():
        return 0.0
    sizes = z.mean(axis=1)
    q = sizes.mean()
    agreement = z @ z.mean(axis=0) / z.shape[1]
    correction = value / 2 * (2 * sizes * q - sizes - q + 1)
    parts = (agreement - sizes * q + correction) / (q * (1 - q))
    return float(4 / len(z) * parts.var())
