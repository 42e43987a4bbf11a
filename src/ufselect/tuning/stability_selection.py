"""Stability selection: the features that a selector selects on most subsamples."""

from numbers import Real
from operator import methodcaller
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ufselect._sklearn_compat import COUNT, Interval
from ufselect.evaluation import selection_stability
from ufselect.evaluation.subsamples import Stability, rows_of_groups
from ufselect.matrix import DataMatrix, Float
from ufselect.selectors.base import UnsupervisedSelector
from ufselect.solvers.rankings import frequency_scores
from ufselect.tuning.fits import (
    EFFORT_CONSTRAINTS,
    MAX_SEED,
    FitsGroups,
    Work,
    checked_selector,
    fit_all,
    seeded,
)


class StabilitySelection(FitsGroups):
    """Stability selection with any selector.

    Fits the selector to many subsamples of the rows and keeps the features that are
    selected most often.

    Parameters
    ----------
    selector : selector or None, default=None
        The selector to fit; None means ``LaplacianScore``. Its own
        ``n_features_to_select`` is ignored.
    n_features_to_select : int, float or None, default=None
        Number of features, fraction of them, or None for half.
    n_subsamples : int, default=50
        Number of subsamples.
    fraction : float, default=0.5
        Share of the rows in a subsample, drawn without replacement; at least two rows.
    n_jobs : int or None, default=None
        Number of subsamples fitted in parallel by joblib; None means 1.
    time_budget : float or None, default=None
        Seconds after which no further subsample is fitted. The first one always is.
    random_state : int, RandomState instance or None, default=None
        Seed of the subsamples, and source of seeds for a selector without one.
    verbose : bool, default=False
        Print each subsample as it finishes.

    Attributes
    ----------
    scores_ : ndarray of shape (p,)
        ``(m + 1 / g) / (M + 1)`` for a feature that is selected on m of M subsamples
        and whose ranks have the geometric mean g, which breaks ties between features
        that are selected equally often.
    order_ : ndarray of shape (p,)
        Features from best to worst.
    frequency_ : ndarray of shape (p,)
        Share of the subsamples on which each feature is selected.
    stability_ : Stability or None
        The index of Nogueira, Sechidis and Brown with its variance and 95 % confidence
        interval. None if all features are selected, or if only one subsample was
        fitted.
    n_subsamples_ : int
        Number of subsamples that were fitted.

    Notes
    -----
    A subsample for which the fit fails, such as one with fewer rows than clusters, is
    left out with a warning that gives the reason. Rows of a memory-mapped X are read
    into memory, one subsample at a time for each job.

    References
    ----------
    N. Meinshausen, P. Buehlmann. Stability selection. Journal of the Royal Statistical
    Society B 72 (2010) 417-473.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ufselect import LaplacianScore, StabilitySelection
    >>> X = load_iris().data
    >>> selector = StabilitySelection(LaplacianScore(), 2, random_state=0).fit(X)
    >>> selector.frequency_
    array([0., 0., 1., 1.])
    >>> selector.stability_.value
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **UnsupervisedSelector._parameter_constraints,
        "selector": [None, UnsupervisedSelector],
        "n_subsamples": [COUNT],
        "fraction": [Interval(Real, 0, 1, closed="neither")],
        **EFFORT_CONSTRAINTS,
    }

    def __init__(
        self,
        selector: UnsupervisedSelector | None = None,
        n_features_to_select: int | float | None = None,
        *,
        n_subsamples: int = 50,
        fraction: float = 0.5,
        n_jobs: int | None = None,
        time_budget: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.selector = selector
        self.n_features_to_select = n_features_to_select
        self.n_subsamples = n_subsamples
        self.fraction = fraction
        self.n_jobs = n_jobs
        self.time_budget = time_budget
        self.random_state = random_state
        self.verbose = verbose

    def _in_ranking(self) -> dict[str, NDArray[Any]]:
        return {"frequency": self.frequency_}

    def _score_features(self, data: DataMatrix) -> Float:
        works = self._works(data.shape[0])
        scores = fit_all(
            data,
            works,
            title=type(self).__name__,
            n_jobs=self.n_jobs,
            time_budget=self.time_budget,
            verbose=self.verbose,
        ).scores
        self.n_subsamples_, n_features = scores.shape
        best = np.argsort(-scores, axis=1, kind="stable")[:, : self.n_selected_]
        times = np.bincount(best.ravel(), minlength=n_features)
        self.frequency_ = times / self.n_subsamples_
        self.stability_: Stability | None = None
        if self.n_subsamples_ > 1 and self.n_selected_ < n_features:
            self.stability_ = selection_stability(best, n_features)
        return frequency_scores(scores, times)

    def _works(self, n_samples: int) -> list[Work]:
        random = check_random_state(self.random_state)
        selector = self.selector
        if selector is None:
            from ufselect.selectors import LaplacianScore

            # Fast, and without n_clusters, which may exceed the samples of a subsample.
            selector = LaplacianScore()
        checked_selector(selector, "StabilitySelection")
        groups = self._groups_of(n_samples)
        # A fit needs at least two samples.
        size = max(2, round(self.fraction * n_samples))
        works = []
        for number in range(self.n_subsamples):
            if groups is None:
                rows = np.sort(random.choice(n_samples, size, replace=False))
            else:
                rows = rows_of_groups(groups, size, random)
            copy = seeded(selector, random.randint(MAX_SEED))
            copy.set_params(n_features_to_select=self.n_selected_)
            part = methodcaller("take_rows", rows)
            works.append(Work(f"subsample {number}", copy, part))
        return works
