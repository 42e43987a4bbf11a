"""Consensus: combine the rankings of several selectors."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from ufselect._sklearn_compat import (
    COUNT,
    BaseComposition,
    StrOptions,
    name_estimators,
)
from ufselect.matrix import DataMatrix, Float
from ufselect.selectors.base import UnsupervisedSelector
from ufselect.solvers.rankings import (
    COMBINATIONS,
    combined_scores,
    rank_agreement,
    ranks_of,
)
from ufselect.tuning.fits import (
    EFFORT_CONSTRAINTS,
    MAX_SEED,
    Work,
    checked_selector,
    fit_all,
    seeded,
)

Named = list[tuple[str, UnsupervisedSelector]]


class Consensus(UnsupervisedSelector, BaseComposition):
    """Consensus ranking of several selectors.

    Every member ranks all features, and the ranks of each feature are combined. Members
    may be different methods, or one method with several preparations, each with several
    numbers of clusters.

    Parameters
    ----------
    selectors : list of selectors or of (name, selector), or None, default=None
        The members. A member without a name gets that of its class. None means ``SCFS``
        and ``LaplacianScore``. Their own ``n_features_to_select`` is ignored.
    n_features_to_select : int, float or None, default=None
        Number of features, fraction of them, or None for half. It is also set for
        members whose ranking depends on it.
    n_clusters : int, list of int or None, default=None
        Each member with this parameter is fitted once for every number. None does not
        change the members.
    combine : {"log-rank", "mean-rank", "reciprocal-rank", "best-rank"}, \
default="log-rank"
        The inverse of the geometric mean of the ranks, which favours features that all
        members rank high; the inverse of their mean, which gives the order of a Borda
        count; the mean of their inverses; or the best rank, which favours features that
        any member ranks high.
    n_jobs : int or None, default=None
        Number of members fitted in parallel by joblib; None means 1.
    time_budget : float or None, default=None
        Seconds after which no further member is fitted. The first one always is.
    random_state : int, RandomState instance or None, default=None
        Source of seeds for members without one.
    verbose : bool, default=False
        Print each member as it finishes.

    Attributes
    ----------
    scores_ : ndarray of shape (p,)
        The combined ranks; higher is better.
    order_ : ndarray of shape (p,)
        Features from best to worst.
    rankings_ : ndarray of shape (members, p)
        Rank of each feature for each member; 1 is the best, ties get the mean rank.
    members_ : dict
        Parameters of each member by its name, in the order of ``rankings_``. Members
        that failed or exceeded the time budget are excluded.
    agreement_ : ndarray of shape (members, members)
        Spearman's rank correlation between the rankings of members.

    Notes
    -----
    A member that fails, for example because it needs too much memory, is excluded with
    a warning that gives the reason. Prepared data, Gram matrices and neighbour graphs
    are computed once per process and cached. With ``n_jobs=2``, BLAS and OpenMP use
    half of the cores in each process.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ufselect import MCFS, SCFS, Consensus
    >>> X = load_iris().data
    >>> consensus = Consensus([SCFS(), MCFS()], 2, n_clusters=[2, 3], random_state=0)
    >>> consensus.fit_transform(X).shape
    (150, 2)
    >>> list(consensus.members_)
    ['scfs n_clusters=2', 'scfs n_clusters=3', 'mcfs n_clusters=2', 'mcfs n_clusters=3']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **UnsupervisedSelector._parameter_constraints,
        "selectors": [None, list, tuple],
        "n_clusters": [None, COUNT, "array-like"],
        "combine": [StrOptions(set(COMBINATIONS))],
        **EFFORT_CONSTRAINTS,
    }

    def __init__(
        self,
        selectors: Sequence[Any] | None = None,
        n_features_to_select: int | float | None = None,
        *,
        n_clusters: int | Sequence[int] | None = None,
        combine: str = "log-rank",
        n_jobs: int | None = None,
        time_budget: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.selectors = selectors
        self.n_features_to_select = n_features_to_select
        self.n_clusters = n_clusters
        self.combine = combine
        self.n_jobs = n_jobs
        self.time_budget = time_budget
        self.random_state = random_state
        self.verbose = verbose

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters and, if ``deep``, the members and their parameters.

        Parameters
        ----------
        deep : bool, default=True

        Returns
        -------
        params : dict
        """
        params: dict[str, Any] = self._get_params("_named_selectors", deep=deep)
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, members by name, or ``name__parameter`` of a member.

        Parameters
        ----------
        **params : dict

        Returns
        -------
        self : object
        """
        # Set members first: other parameters may belong to them.
        if "selectors" in params:
            self.selectors = params.pop("selectors")
        self._set_params("_named_selectors", **params)
        return self

    @property
    def _named_selectors(self) -> Named:
        """The given members with names; empty if ``selectors`` is None."""
        if not isinstance(self.selectors, list | tuple):
            return []
        given = list(self.selectors)
        if all(isinstance(entry, tuple) and len(entry) == 2 for entry in given):
            return given
        named: Named = name_estimators(given)
        return named

    @_named_selectors.setter
    def _named_selectors(self, named: Named) -> None:
        self.selectors = named

    def _in_ranking(self) -> dict[str, NDArray[Any]]:
        ranks = zip(self.members_, self.rankings_, strict=True)
        return {f"rank by {name}": ranking for name, ranking in ranks}

    def _score_features(self, data: DataMatrix) -> Float:
        works = self._works()
        finished = fit_all(
            data,
            works,
            title=type(self).__name__,
            n_jobs=self.n_jobs,
            time_budget=self.time_budget,
            verbose=self.verbose,
            share=True,
        )
        self.members_ = {
            work.name: work.selector.get_params() for work in finished.works
        }
        self.rankings_ = ranks_of(finished.scores)
        self.agreement_ = rank_agreement(self.rankings_)
        return combined_scores(self.rankings_, self.combine)

    def _works(self) -> list[Work]:
        """Return a fit for each member and number of clusters, each with its seed."""
        random = check_random_state(self.random_state)
        works = []
        for name, selector in self._members():
            for label, variant in self._variants(name, selector):
                checked_selector(variant, f"Consensus member {label!r}")
                variant = seeded(variant, random.randint(MAX_SEED))
                variant.set_params(n_features_to_select=self.n_selected_)
                works.append(Work(label, variant))
        return works

    def _members(self) -> Named:
        if self.selectors is None:
            from ufselect.selectors import SCFS, LaplacianScore

            return [("scfs", SCFS()), ("laplacianscore", LaplacianScore())]
        if len(self.selectors) == 0:
            raise ValueError("selectors=[] is empty; give a selector or None.")
        named = self._named_selectors
        self._validate_names([name for name, _ in named])
        for name, selector in named:
            checked_selector(selector, f"Consensus member {name!r}")
        return named

    def _variants(self, name: str, selector: UnsupervisedSelector) -> Named:
        if self.n_clusters is None or "n_clusters" not in selector.get_params(False):
            return [(name, selector)]
        if np.size(self.n_clusters) == 0:
            raise ValueError("n_clusters=[] is empty; give a number or None.")
        variants = []
        for number in np.unique(self.n_clusters):
            variant = clone(selector).set_params(n_clusters=number)
            variants.append((f"{name} n_clusters={number}", variant))
        return variants
