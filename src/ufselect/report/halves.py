"""Fits to halves of the samples, which stability and verdicts have in common."""

from operator import methodcaller
from typing import Any, NamedTuple

import numpy as np

from ufselect.matrix import DataMatrix, Float, Index
from ufselect.selectors.base import UnsupervisedSelector
from ufselect.tuning.fits import (
    MAX_SEED,
    Work,
    fit_all,
    seeded,
    user_warnings,
)

# Of AutoSelect on a half: with fewer copies no p value would be below 5 %.
N_SUBSAMPLES, N_PERMUTATIONS = 3, 20


class SplitHalves(NamedTuple):
    """Samples of halves, scores of all features by fits to them, and warnings."""

    rows: list[Index]
    scores: Float
    warned: list[str]

    def best(self, count: int) -> Index:
        """Return the best features of each half."""
        return np.argsort(-self.scores, axis=1, kind="stable")[:, :count]


def fit_halves(
    data: DataMatrix,
    selector: UnsupervisedSelector,
    n_fits: int,
    seed: int,
    *,
    number: int = 1,
    groups: Any = None,
    n_jobs: int | None = None,
    time_budget: float | None = None,
) -> SplitHalves:
    """Fit to random halves of the samples, each followed by the other half.

    Samples of one group are in the same half. Every half makes all decisions by itself,
    so that a verdict can judge it on samples that had no part in any.

    Parameters
    ----------
    data : DataMatrix
    selector : selector
        Copies of it are fitted.
    n_fits : int
    seed : int
    number : int
        How many features to select. `AutoSelect` without a selector has the same
        scores for every number.
    groups : array-like of shape (n,), optional
    n_jobs, time_budget
        As in `fit_all`.
    """
    random = np.random.RandomState(seed)
    kinds, members = np.unique(
        np.arange(data.shape[0]) if groups is None else groups, return_inverse=True
    )
    works, rows, first = [], {}, np.empty(0, dtype=np.intp)
    for place in range(n_fits):
        if place % 2 == 0:
            first = random.permutation(len(kinds))[: (len(kinds) + 1) // 2]
        inside = np.isin(members, first) == (place % 2 == 0)
        copy: Any = seeded(selector, random.randint(MAX_SEED))
        copy.set_params(n_features_to_select=number)
        # AutoSelect is faster with fewer copies and subsamples. Its ranking then varies
        # more, so that stability is underestimated rather than overestimated.
        if hasattr(copy, "_n_subsamples"):
            copy._n_subsamples, copy._n_permutations = N_SUBSAMPLES, N_PERMUTATIONS
        name = f"half {place + 1}"
        rows[name] = np.flatnonzero(inside)
        works.append(Work(name, copy, methodcaller("take_rows", rows[name])))
    with user_warnings() as warned:
        done, scores = fit_all(
            data,
            works,
            title="selection_report",
            n_jobs=n_jobs,
            time_budget=time_budget,
        )
    return SplitHalves([rows[work.name] for work in done], scores, warned)
