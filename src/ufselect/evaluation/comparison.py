"""Comparison of methods over several data sets.

Methods are compared as in Demsar (JMLR 7, 2006): a table of scores has a row for each
method and a column for each data set; higher is better. Error messages use the names
of a pandas DataFrame.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import chi2, f, rankdata, studentized_range

from ufselect.matrix import Float, Index

# Number of cells that an error message names; the others are counted.
MAX_SHOWN = 5


def checked_scores(table: Any) -> Float:
    """Return the scores as an array; raise ValueError if cells are missing."""
    dense = table.toarray() if hasattr(table, "toarray") else table
    scores = np.asarray(dense, dtype=np.float64)
    if scores.ndim != 2 or scores.shape[0] < 2 or scores.shape[1] < 2:
        raise ValueError(
            f"The table of scores has shape {scores.shape} but needs at least two "
            "methods (rows) and two data sets (columns)."
        )
    missing = np.argwhere(~np.isfinite(scores))
    if len(missing):
        rows, columns = _names(table, scores.shape)
        shown = missing[:MAX_SHOWN]
        cells = ", ".join(f"({rows[i]!r}, {columns[j]!r})" for i, j in shown)
        if len(missing) > len(shown):
            cells += f" and {len(missing) - len(shown)} others"
        raise ValueError(
            f"The table of scores has no finite value for (method, data set) {cells}; "
            "fill these cells, or drop their methods or data sets."
        )
    return scores


def _names(table: Any, shape: tuple[int, ...]) -> tuple[list[Any], list[Any]]:
    if hasattr(table, "columns") and hasattr(table, "index"):
        return table.index.tolist(), table.columns.tolist()
    return list(range(shape[0])), list(range(shape[1]))


class Friedman(NamedTuple):
    """Friedman's chi-square and the F of Iman and Davenport, each with its p-value."""

    chi_square: float
    chi_square_p: float
    f: float
    f_p: float


class AgainstReference(NamedTuple):
    """Differences of the other methods from the reference, with p-values.

    ``others`` are rows of the table, ``median_difference`` is the median of their
    scores minus those of the reference, ``p_value`` is that of each test, and
    ``adjusted`` is adjusted for all tests (Holm).
    """

    others: Index
    median_difference: Float
    p_value: Float
    adjusted: Float


def average_ranks(table: Any) -> Float:
    """Return the mean rank of each method: 1 is the best, ties get the mean rank.

    Examples
    --------
    >>> average_ranks([[0.9, 0.8], [0.7, 0.8], [0.1, 0.2]])
    array([1.25, 1.75, 3.  ])
    """
    return _ranks(checked_scores(table)).mean(axis=1)


def friedman(table: Any) -> Friedman:
    """Test whether the methods differ by Friedman's test, corrected for ties.

    The F of Iman and Davenport is less conservative than the chi-square, and Demsar
    recommends it. It is infinite if all data sets rank the methods in the same order.

    Examples
    --------
    >>> test = friedman([[3.0, 3.0, 3.0, 2.0], [2.0, 2.0, 2.0, 3.0], [1.0] * 4])
    >>> round(test.chi_square, 3), round(test.f_p, 4)
    (6.5, 0.0066)
    """
    ranks = _ranks(checked_scores(table))
    n_methods, n_sets = ranks.shape
    middle = (n_methods + 1) / 2
    between = n_sets * float(np.sum((ranks.mean(axis=1) - middle) ** 2))
    # If all methods are tied on all sets, the statistic is 0 / 0: no difference.
    whole = float(np.sum((ranks - middle) ** 2)) or 1.0
    freedom = n_methods - 1
    chi_square = n_sets * freedom * between / whole
    left = n_sets * freedom - chi_square
    ratio = (n_sets - 1) * chi_square / left if left > 1e-12 * n_sets else np.inf
    return Friedman(
        chi_square,
        float(chi2.sf(chi_square, freedom)),
        float(ratio),
        float(f.sf(ratio, freedom, freedom * (n_sets - 1))),
    )


def nemenyi_critical_difference(
    n_methods: int, n_sets: int, level: float = 0.05
) -> float:
    """Return the smallest significant difference of average ranks (Nemenyi test).

    Examples
    --------
    >>> round(nemenyi_critical_difference(4, 14), 2)
    1.25
    """
    if n_methods < 2 or n_sets < 1:
        raise ValueError(
            f"{n_methods} method(s) on {n_sets} data set(s) cannot be compared; give "
            "at least two methods and one data set."
        )
    if not 0 < level < 1:
        raise ValueError(f"level={level} is not between 0 and 1; use 0.05.")
    q = float(studentized_range.ppf(1 - level, n_methods, np.inf)) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_sets)))


def indistinguishable_groups(
    ranks: ArrayLike, critical_difference: float
) -> list[tuple[int, ...]]:
    """Return the groups of methods whose average ranks do not differ significantly.

    Groups are maximal, have at least two methods, best first, and are the bars of a
    critical difference diagram.

    Examples
    --------
    >>> indistinguishable_groups([1.0, 3.9, 1.8, 2.7], 1.25)
    [(0, 2), (2, 3), (3, 1)]
    """
    values = np.asarray(ranks, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    groups: list[tuple[int, ...]] = []
    reached = 0
    for start in range(len(order)):
        reach = values[order[start]] + critical_difference
        end = int(np.count_nonzero(values < reach))
        if end > max(reached, start + 1):
            groups.append(tuple(int(method) for method in order[start:end]))
        reached = max(reached, end)
    return groups


def wilcoxon_against(table: Any, reference: Any) -> AgainstReference:
    """Test each method against a reference by Wilcoxon's signed-rank test.

    The test is two-sided and exact, also with ties; data sets without a difference are
    excluded. The p-values are adjusted for the number of tests (Holm).

    Parameters
    ----------
    table : array-like of shape (n_methods, n_sets)
    reference : int or name
        Row of the reference, or its name if the table is a DataFrame.

    Examples
    --------
    >>> scores = [[0.5] * 6, [0.6, 0.7, 0.8, 0.9, 0.65, 0.75], [0.4, 0.6] * 3]
    >>> result = wilcoxon_against(scores, reference=0)
    >>> result.p_value
    array([0.03125, 1.     ])
    >>> result.adjusted
    array([0.0625, 1.    ])
    """
    scores = checked_scores(table)
    rows, _ = _names(table, scores.shape)
    if reference not in rows:
        raise ValueError(
            f"reference={reference!r} is not a method of the table; choose from "
            f"{', '.join(map(repr, rows))}."
        )
    row = rows.index(reference)
    others = np.delete(np.arange(len(scores)), row)
    differences = scores[others] - scores[row]
    # Differences that are equal up to rounding are ties.
    steps = np.round(differences / (np.abs(scores).max() or 1.0), 12)
    p_values = np.array([signed_rank_p(values) for values in steps])
    medians = np.median(differences, axis=1)
    return AgainstReference(others, medians, p_values, holm(p_values))


def signed_rank_p(differences: Float) -> float:
    """Return the exact two-sided p-value of Wilcoxon's signed-rank test.

    With ties, whether SciPy computes an exact or an approximate p-value depends on its
    version; here, the null distribution given the ranks is computed exactly.

    Examples
    --------
    >>> signed_rank_p(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    0.0625
    """
    differences = differences[differences != 0]
    # Ranks are doubled, so that those of ties are integers, too.
    doubled = np.rint(2 * rankdata(np.abs(differences))).astype(int)
    chance = np.ones(1)
    for rank in doubled:
        # Each rank is in the positive sum with probability 1/2.
        halves = np.pad(chance / 2, (0, rank)), np.pad(chance / 2, (rank, 0))
        chance = halves[0] + halves[1]
    positive = int(doubled[differences > 0].sum())
    tails = chance[: positive + 1].sum(), chance[positive:].sum()
    return float(min(1.0, 2 * min(tails)))


def holm(p_values: ArrayLike) -> Float:
    """Return p-values adjusted for their number by Holm's step-down procedure.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(values)
    stepped = values[order] * np.arange(len(values), 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return adjusted


def _ranks(scores: Float) -> NDArray[np.float64]:
    ranks: NDArray[np.float64] = rankdata(-scores, axis=0)
    return ranks
