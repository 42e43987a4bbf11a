"""SCFS: subspace clustering for unsupervised feature selection."""

from collections.abc import Iterable, Iterator
from copy import copy
from itertools import chain
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from ufselect._sklearn_compat import (
    COUNT,
    ITERATIONS,
    POSITIVE,
    StrOptions,
    fit_context,
)
from ufselect._warn import warn
from ufselect.matrix import DataMatrix, Float
from ufselect.matrix.cache import active, cached_unchanged
from ufselect.selectors.base import IterativeSelector, Properties
from ufselect.solvers import scfs
from ufselect.solvers.iterations import in_parallel
from ufselect.solvers.ridge import ranked_below, row_norms


class SCFS(IterativeSelector):
    """Subspace clustering unsupervised feature selection.

    Learns clusters of the samples together with a regression that predicts them
    from as few features as possible, and ranks features by their weight in it::

        minimise  |X - G G'X|^2 + alpha |X W - G|^2 + beta |W|_21
        subject to  G >= 0,  G G'1 = 1                             (3)

    over G (n x c) and W (p x c); (3) is its number in the paper. Features are ranked by
    the row norms of W; those whose row is zero follow, nearest to the model first.
    docs/methods/scfs.md says what it cannot find and what it costs.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, fraction of them, or None for half.
    n_clusters : int, default=8
        Number of clusters c. With one there is no intercept, and the ranking says only
        which features lie far from zero.
    alpha : float or "auto", default="auto"
        Weight of the regression. A number is that of (3) and depends on the unit of X;
        "auto" is 0.1 in units where X is centred and ``|X|^2 = c``.
    beta : float or "auto", default="auto"
        Weight of sparsity. A number is that of (3); "auto" is 0.05 of the value above
        which W = 0 at the start, or a tenth of that if W would end as 0. If no clusters
        depend on some of the features, a warning says so, and features are ranked by
        their correlation with the clusters of the start.
    solver : {"exact", "paper"}, default="exact"
        "exact" optimises (3) over its feasible set; the objective never rises.
        "paper" is Algorithm 1 of the publication, for comparison.
    gamma : float, default=1e6
        Weight of the constraint in the paper solver; the exact solver has none.
    init : {"k-means", "fuzzy", "random"} or ndarray of shape (n, c), default="k-means"
        Start. "k-means" clusters the leading principal components of X; for the paper
        solver, X itself, once. "fuzzy" is c-means with exponent 1.0005, as published.
        An array holds memberships, such as ``memberships_`` of an earlier fit.
    n_init : int, default=1
        Number of starts; the one that ends with the lowest objective is kept.
    n_jobs : int or None, default=None
        Parallel jobs, one for each start, of the exact solver on an X in memory. The
        first start, which decides on beta, is fitted alone; progress is that of it.
    standardize : {"auto", "features", "samples"} or bool, default="auto"
        Scale features to unit variance ("features" or True), samples to unit length
        ("samples"), or nothing (False). "auto": features of measurements, samples of
        words, counts and drawings, else nothing; with the paper solver, nothing.
    fit_intercept : bool, default=True
        Centre X and G in the second term. False is (3) as printed, as for "paper".
    max_iter : int, default=1000
        Largest number of iterations.
    tol : float, default=1e-5
        Stop when the objective changes by less than this share of itself.
    random_state : int, RandomState instance or None, default=None
        Seed of the start.
    working_memory : float, default=8e6
        Bytes of a block of rows in which X is read if it is out-of-core; about two are
        in memory at a time. A block is never smaller than a chunk of the file.
    verbose : bool, default=False
        Print the objective of each iteration.

    Attributes
    ----------
    scores_ : ndarray of shape (p,)
        Row norms of W; where these are zero, how near a feature is to the model.
    order_ : ndarray of shape (p,)
        Features from best to worst.
    coef_ : ndarray of shape (p, c)
        W, for X as prepared.
    memberships_, labels_ : ndarrays or dask arrays of shapes (n, c) and (n,)
        Cluster memberships P of the samples, and the cluster of the largest.
    objective_history_ : ndarray of shape (n_iter_,)
        (3), or for the paper solver (13), after each iteration, for X as prepared.
    n_iter_ : int
        Number of iterations.
    alpha_, beta_ : float
        Weights in (3) as printed.
    standardize_ : {"features", "samples", "none"}
        The preparation used.

    References
    ----------
    M. Ghassemi Parsa, H. Zare, M. Ghatee. Unsupervised feature selection based on
    adaptive similarity learning and subspace clustering. Engineering Applications of
    Artificial Intelligence 95 (2020) 103855.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ufselect import SCFS
    >>> X = load_iris(as_frame=True).data
    >>> selector = SCFS(n_features_to_select=2, n_clusters=3, random_state=0)
    >>> selector.set_output(transform="pandas").fit_transform(X).shape
    (150, 2)
    """

    PROPERTIES = Properties(
        self_expression="samples",
        similarity="implicit",
        adaptive_graph=True,
        joint_learning=True,
        clustering=True,
        regression=True,
        regularisation=True,
    )
    READS_OUT_OF_CORE = True
    PARAM_GRID: ClassVar[dict[str, list[Any]]] = {
        "alpha": [1e-4, 1e-2, 1.0, 1e2, 1e4],
        "beta": [1e-4, 1e-2, 1.0, 1e2, 1e4],
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **IterativeSelector._parameter_constraints,
        "n_clusters": [COUNT],
        "alpha": [StrOptions({"auto"}), POSITIVE],
        "beta": [StrOptions({"auto"}), POSITIVE],
        "solver": [StrOptions({"exact", "paper"})],
        "gamma": [POSITIVE],
        "init": [StrOptions({"k-means", "fuzzy", "random"}), "array-like"],
        "n_init": [COUNT],
        "n_jobs": [None, Integral],
        "standardize": ["boolean", StrOptions({"auto", "features", "samples"})],
        "fit_intercept": ["boolean"],
        **ITERATIONS,
        "random_state": ["random_state"],
        "working_memory": [POSITIVE],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_clusters: int = 8,
        alpha: float | str = "auto",
        beta: float | str = "auto",
        solver: str = "exact",
        gamma: float = 1e6,
        init: str | Float = "k-means",
        n_init: int = 1,
        n_jobs: int | None = None,
        standardize: bool | str = "auto",
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-5,
        random_state: int | np.random.RandomState | None = None,
        working_memory: float = 8e6,
        verbose: bool = False,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.beta = beta
        self.solver = solver
        self.gamma = gamma
        self.init = init
        self.n_init = n_init
        self.n_jobs = n_jobs
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.working_memory = working_memory
        self.verbose = verbose

    def _suited(self, matrix: DataMatrix) -> DataMatrix:
        if matrix.out_of_core and not matrix.scattered:
            matrix = copy(matrix)
            matrix.block_bytes = max(1, int(self.working_memory))
        return matrix

    def _score_features(self, data: DataMatrix) -> Float:
        self._check_n_clusters(self.n_clusters, data.shape[0])
        random = check_random_state(self.random_state)
        exact, auto = self.solver == "exact", self.beta == "auto"
        n_starts = self.n_init if isinstance(self.init, str) else 1
        limits = self.max_iter, self.tol
        with data.limited_threads():
            # Prepare X, and what every start needs of it, once.
            problem = self._problem(data)
            alpha, beta = problem.weights(self.alpha, self.beta)
            callback = self._callback(problem.unit)
            # The first start decides on beta="auto".
            drawn = random.get_state()
            first = problem.begin(self.init, random, auto_beta=auto)
            if beta is None:
                beta = first.auto_beta(alpha)
            best = first.fit(alpha, beta, *limits, callback)
            lowered = best.vanished and exact and auto
            if lowered:
                random.set_state(drawn)
                first = problem.begin(self.init, random, auto_beta=auto)
                best = first.fit_lowered(alpha, beta, *limits, callback)
            n_others = 0 if lowered and best.vanished else n_starts - 1
            others = (
                problem.begin(self.init, random, auto_beta=auto)
                for _ in range(n_others)
            )
            settings = alpha, best.beta, *limits
            if exact and self.n_jobs is not None and not data.out_of_core:
                calls = ((each, *settings) for each in others)
                fits = in_parallel(scfs.Alternation.fit, calls, self.n_jobs)
            else:
                fits = (each.fit(*settings, callback) for each in others)
            best = min(chain([best], fits), key=lambda each: each.history[-1])
        scores = self._keep(problem, best, alpha)
        if best.vanished and lowered:
            sentence = (
                f"SCFS finds no {self.n_clusters} clusters in X that depend on some "
                "of the features, and ranks features by their correlation with the "
                "clusters that it starts from; try another n_clusters, or set beta."
            )
            warn(sentence)
        elif best.vanished:
            otherwise = "try another n_clusters" if auto else 'use beta="auto"'
            raise ValueError(
                f"beta={self.beta_:.3g} leaves no feature in the model (W = 0), so "
                f"there is no ranking; at alpha={self.alpha_:.3g} lower beta below "
                f"{best.largest_beta / best.beta * self.beta_:.3g}, or {otherwise}."
            )
        self._warn_unless(best.converged)
        return scores

    def _problem(self, data: DataMatrix) -> Any:
        """Return Eq. (3) for X, which fits on the same X in memory may share."""
        inputs = (data, self.standardize, self.n_clusters)
        if self.solver == "paper":
            from ufselect.solvers.scfs_paper import PaperProblem

            return PaperProblem(*inputs, self.gamma)
        # With one cluster G is constant and an intercept would explain all of it.
        intercept = self.fit_intercept and self.n_clusters > 1
        if data.out_of_core or active.get() is None:
            return scfs.SCFSProblem(*inputs, intercept)
        return cached_unchanged(scfs.SCFSProblem, *inputs, intercept)

    def _keep(self, problem: Any, fit: scfs.Fit, alpha: float) -> Float:
        """Set the learned attributes, in the units of X; return the scores."""
        unit = problem.unit
        # One factor at a time, as powers of a small unit may vanish.
        self.alpha_, self.beta_ = alpha / unit / unit, fit.beta / unit / unit / unit
        self.standardize_, self.coef_ = problem.kind, fit.coef * unit
        self.memberships_ = fit.memberships
        self.labels_ = fit.memberships.argmax(axis=1)
        self._keep_history(fit.history, unit)
        return ranked_below(row_norms(self.coef_), fit.kkt_ratios)

    def path(
        self,
        X: Any,
        alphas: Iterable[float] | None = None,
        betas: Iterable[float] | None = None,
    ) -> Iterator["SCFS"]:
        """Yield selectors for all pairs of weights, each fitted from the last one.

        Each ends with about the objective of a fit of its own, for a fraction of the
        time. For the exact solver with one start.

        Parameters
        ----------
        X : as for ``fit``
        alphas, betas : array-like of float or None, default=None
            Weights in Eq. (3) as printed. None is a quarter, half, once, twice and four
            times what "auto" is.

        Yields
        ------
        selector : SCFS
            A fitted copy of this selector with ``alpha`` and ``beta`` of the pair, from
            the highest beta / alpha to the lowest. A pair that leaves no feature in the
            model is left out, which a warning says at the end.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from ufselect import SCFS
        >>> selector = SCFS(2, n_clusters=3, random_state=0)
        >>> path = selector.path(load_iris().data, alphas=[10, 100], betas=[1, 5])
        >>> [(fitted.alpha, fitted.beta) for fitted in path]
        [(10.0, 5.0), (10.0, 1.0), (100.0, 5.0), (100.0, 1.0)]
        """
        self._validate_params()
        if self.solver == "paper" or self.n_init > 1:
            raise ValueError(
                "A path is for one start of the exact solver; now there are "
                f"solver={self.solver!r} and n_init={self.n_init}."
            )
        weights = {"alphas": alphas, "betas": betas}
        for name, given in weights.items():
            weights[name] = found = None if given is None else [float(w) for w in given]
            if found is not None and not (found and all(0 < w < np.inf for w in found)):
                raise ValueError(
                    f"{name}={found} must be a list of positive, finite numbers."
                )
        return self._along_path(X, **weights)

    def _along_path(
        self, X: Any, alphas: Iterable[float] | None, betas: Iterable[float] | None
    ) -> Iterator["SCFS"]:
        auto = betas is None
        first = clone(self)
        data = first._accepted(first._checked(X))
        first._check_n_clusters(self.n_clusters, data.shape[0])
        with data.limited_threads():
            problem = first._problem(data)
            random = check_random_state(self.random_state)
            alternation = problem.begin(first.init, random, auto_beta=auto)
            pairs = list(scfs.path_weights(alternation, alphas, betas))
        left_out = []
        for alpha, beta in pairs:
            point = clone(self).set_params(alpha=alpha, beta=beta)
            point._adopt_columns(first)
            if point._fit_on_path(data, alternation):
                yield point
            else:
                left_out.append(f"({alpha:.3g}, {beta:.3g})")
        if left_out:
            sentence = (
                f"SCFS.path: {len(left_out)} of {len(pairs)} pairs of alpha and beta "
                "leave no feature in the model (W = 0) and have no ranking: "
                f"{', '.join(left_out)}; lower beta or raise alpha."
            )
            warn(sentence)

    @fit_context(prefer_skip_nested_validation=True)
    def _fit_on_path(self, data: DataMatrix, alternation: scfs.Alternation) -> bool:
        """Fit from the current point of the path; tell whether there is a ranking."""
        problem = alternation.problem
        alpha, beta = problem.weights(self.alpha, self.beta)
        assert beta is not None
        with data.limited_threads():
            callback = self._callback(problem.unit)
            fit = alternation.fit(alpha, beta, self.max_iter, self.tol, callback)
        # The next fit starts from these memberships.
        fit = fit._replace(memberships=fit.memberships.copy())
        scores = self._keep(problem, fit, alpha)
        if fit.vanished:
            return False
        self._warn_unless(fit.converged)
        self._keep_scores(scores, data)
        return True
