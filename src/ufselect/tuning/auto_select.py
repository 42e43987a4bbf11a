"""AutoSelect: how many clusters and how many features, decided from X alone."""

import warnings
from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from ufselect._constraints import COUNT
from ufselect._sklearn_compat import (
    CallbackSupportMixin,
    FitProgress,
    Interval,
    StrOptions,
)
from ufselect.evaluation import skip_near_duplicates
from ufselect.matrix import ColumnSummary, DataMatrix, Float
from ufselect.selectors import all_selectors
from ufselect.selectors.base import UnsupervisedSelector
from ufselect.tuning.consensus import Consensus
from ufselect.tuning.deciding import (
    Following,
    columns_that_follow,
    decide_clusters,
    decide_number,
)
from ufselect.tuning.members import (
    EFFORT_CONSTRAINTS,
    LARGEST_SEED,
    checked_selector,
    seeded,
)

# No consensus that beats it on one half of the research data does so on the other; see
# docs/auto.md.
DEFAULT_SELECTOR = "SCFS"


class AutoSelect(CallbackSupportMixin, UnsupervisedSelector):
    """Selection with everything decided from X.

    Decides how many clusters there may be, lets a selector rank the features, and
    decides how many of them to keep.

    Parameters
    ----------
    selector : selector or None, default=None
        Who ranks. None is ``SCFS`` with the columns that stand apart put first, see
        Notes; the ranking of a selector that is given stays as it is.
    n_features_to_select : int, float, None or "auto", default="auto"
        "auto" keeps the columns that follow the clusters, see Notes; otherwise the
        number of features, fraction of them, or None for half.
    n_clusters : int, list of int or "auto", default="auto"
        "auto" counts directions, see Notes. A list is a consensus over its numbers.
        Selectors without such a parameter rank without it; the number of features
        still uses it.
    max_features : int or None, default=300
        Largest number of features for "auto".
    max_correlation : float or None, default=None
        Skip features whose absolute correlation with a better one exceeds this. Fewer
        than wanted may be left, which gives a warning.
    n_jobs : int or None, default=None
        Fits at once if ``n_clusters`` is a list, through joblib; None is one.
    time_budget : float or None, default=None
        Seconds after which no further fit for ``n_clusters`` is started.
    random_state : int, RandomState instance or None, default=None
        Seed, also of a selector that has none.
    verbose : bool, default=False
        Print what is decided.

    Attributes
    ----------
    scores_ : ndarray of shape (p,)
        Those of the selector. Features that were put behind the others, because they do
        not follow the clusters or because of ``max_correlation``, have theirs lowered.
    order_ : ndarray of shape (p,)
        Features from best to worst.
    n_clusters_ : int or list of int
        Numbers of clusters.
    n_selected_ : int
        Number of features.
    explained_ : ndarray of shape (p,)
        Share of the variance of each feature that the clusters explain.
    reasons_ : list of str
        What was decided, and why, in sentences.
    selector_ : selector
        Who ranked, fitted.

    Notes
    -----
    **Clusters.** One more than there are principal components with a larger variance
    than any component of the same table with its columns permuted; from 2 to 8.

    **Number of features.** k-means in the leading components gives clusters, and these
    explain a share of the variance of each column. By this share the columns are split
    into the two groups that differ most (Otsu). The upper group is kept, at most
    ``max_features`` of it and at least ten (or half of a narrow table). If the groups
    stand apart (the split explains 0.9 of the variance of the shares) the upper group
    also comes first in the ranking of the default selector: its regression takes up
    columns of noise where all that is useful says the same.

    **Parameters** of the selector stay as they are. Choosing them, or a method, per
    data set by a label-free criterion was measured and did not pay; see docs/auto.md
    and ``benchmarks/tuning_regret.py``.

    Examples
    --------
    >>> from ufselect import AutoSelect
    >>> from ufselect.data import planted
    >>> X = planted("blobs", n_samples=90, n_useful=20, n_noise=480).table
    >>> selector = AutoSelect(random_state=0).fit(X)
    >>> selector.n_clusters_, selector.n_selected_
    (3, 20)
    >>> print(selector.reasons_[-1])
    20 of 500 columns follow the clusters and stand apart from the others.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "selector": [None, UnsupervisedSelector],
        "n_features_to_select": [
            StrOptions({"auto"}),
            *UnsupervisedSelector._parameter_constraints["n_features_to_select"],
        ],
        "n_clusters": [
            StrOptions({"auto"}),
            COUNT,
            "array-like",
        ],
        "max_features": [None, COUNT],
        "max_correlation": [None, Interval(Real, 0, 1, closed="both")],
        **EFFORT_CONSTRAINTS,
    }

    n_features_to_select: Any

    def __init__(
        self,
        selector: UnsupervisedSelector | None = None,
        *,
        n_features_to_select: int | float | str | None = "auto",
        n_clusters: int | str | Sequence[int] = "auto",
        max_features: int | None = 300,
        max_correlation: float | None = None,
        n_jobs: int | None = None,
        time_budget: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.selector = selector
        self.n_features_to_select = n_features_to_select
        self.n_clusters = n_clusters
        self.max_features = max_features
        self.max_correlation = max_correlation
        self.n_jobs = n_jobs
        self.time_budget = time_budget
        self.random_state = random_state
        self.verbose = verbose

    def _resolve_number(self, n_features: int) -> int:
        if self.n_features_to_select == "auto":
            return n_features  # until it is decided
        return super()._resolve_number(n_features)

    def _score_features(self, data: DataMatrix, summary: ColumnSummary) -> Float:
        progress = FitProgress(self, 3, verbose=False, unit=1.0)
        try:
            return self._decide_and_rank(data, summary, progress)
        finally:
            progress.finish()

    def _decide_and_rank(
        self, data: DataMatrix, summary: ColumnSummary, progress: FitProgress
    ) -> Float:
        random = check_random_state(self.random_state)
        self.reasons_: list[str] = []
        self.n_clusters_ = self._decided_clusters(data, summary, random)
        progress.step("part", {"name": "clusters", "state": "done"})
        following = columns_that_follow(
            data, summary, int(np.max(self.n_clusters_)), random
        )
        self.explained_ = following.shares
        if self.n_features_to_select == "auto":
            self.n_selected_, reason = decide_number(following, self.max_features)
            self._say(reason)
        progress.step("part", {"name": "features", "state": "done"})
        self.selector_ = self._ranker(random.randint(LARGEST_SEED)).fit(data.raw)
        progress.step("part", {"name": "ranking", "state": "done"})
        scores = self._group_first(self.selector_.scores_, following)
        return self._without_duplicates(scores, data)

    def _decided_clusters(
        self, data: DataMatrix, summary: ColumnSummary, random: np.random.RandomState
    ) -> int | list[int]:
        if isinstance(self.n_clusters, str):
            number, reason = decide_clusters(data, summary, random)
            self._say(reason)
            return number
        if np.size(self.n_clusters) == 0:
            raise ValueError('n_clusters=[] holds no number; give one or "auto".')
        most = int(np.max(self.n_clusters))
        self._refuse_more_clusters_than_samples(most, data.shape[0])
        if np.ndim(self.n_clusters) == 0:
            return int(self.n_clusters)  # type: ignore[arg-type]
        return [int(number) for number in np.unique(self.n_clusters)]

    def _ranker(self, seed: int) -> UnsupervisedSelector:
        """Return the selector, told all that was decided."""
        selector = self.selector
        if selector is None:
            selector = all_selectors()[DEFAULT_SELECTOR]()
        checked_selector(selector, "AutoSelect")
        copy = seeded(clone(selector), seed)
        copy.set_params(n_features_to_select=self.n_selected_)
        takes_clusters = "n_clusters" in copy.get_params(deep=False)
        if isinstance(self.n_clusters_, list) and takes_clusters:
            return Consensus(
                [copy],
                self.n_selected_,
                n_clusters=self.n_clusters_,
                n_jobs=self.n_jobs,
                time_budget=self.time_budget,
                random_state=seed,
                verbose=self.verbose,
            )
        return copy.set_params(n_clusters=self.n_clusters_) if takes_clusters else copy

    def _group_first(self, scores: Float, following: Following) -> Float:
        if self.selector is not None or not following.apart:
            return scores
        falling = np.argsort(-following.shares, kind="stable")
        return lowered(scores, falling[following.group.size :])

    def _without_duplicates(self, scores: Float, data: DataMatrix) -> Float:
        if self.max_correlation is None:
            return scores
        order = np.argsort(-scores, kind="stable")
        with warnings.catch_warnings(record=True):
            kept = skip_near_duplicates(
                data.raw, order, self.n_selected_, self.max_correlation
            )
        if len(kept) < self.n_selected_:
            warnings.warn(
                f"Only {len(kept)} of {self.n_selected_} features are left when no two "
                f"may correlate above max_correlation={self.max_correlation}; these "
                "are selected.",
                UserWarning,
                # Past this class and scikit-learn's wrapper, to the caller of fit.
                stacklevel=6,
            )
        self.n_selected_ = max(1, len(kept))
        return lowered(scores, np.setdiff1d(order, kept)) if len(kept) else scores

    def _say(self, reason: str) -> None:
        self.reasons_.append(reason)
        if self.verbose:
            print(f"AutoSelect: {reason}")  # noqa: T201 - what verbose asks for


def lowered(scores: Float, behind: Any) -> Float:
    """Return scores in which some come strictly behind all others, in their order.

    Examples
    --------
    >>> import numpy as np
    >>> lowered(np.array([3.0, 1.0, 2.0]), np.array([0]))
    array([0.33333333, 1.        , 2.        ])
    """
    result = scores.copy()
    if len(behind) in (0, len(scores)):
        return result
    lowest = np.delete(scores, behind).min()
    gap = np.ptp(scores) / len(scores) or 1.0
    result[behind] -= max(0.0, scores[behind].max() - lowest) + gap
    return result
