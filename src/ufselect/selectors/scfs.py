"""SCFS: subspace clustering for unsupervised feature selection."""

import warnings
from collections.abc import Iterable, Iterator
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from ufselect._constraints import COUNT, ITERATIONS, POSITIVE
from ufselect._sklearn_compat import (
    CallbackSupportMixin,
    FitProgress,
    StrOptions,
    fit_context,
)
from ufselect.data.checkpoints import Checkpoint
from ufselect.matrix import ColumnSummary, DataMatrix, Float, as_matrix
from ufselect.matrix.sharing import once_for_all
from ufselect.numerics.parallel import in_parallel, limited_threads
from ufselect.numerics.partitions import SoftPartition
from ufselect.numerics.preparation import (
    non_negative,
    preparation_kind,
)
from ufselect.numerics.row_sparse import largest_penalty
from ufselect.numerics.rows import row_norms
from ufselect.numerics.scfs_exact import (
    ExactFit,
    ExactProblem,
    Keep,
    State,
    cluster_only,
    fit_apart,
    fit_exact,
    lower_of,
    sample_products,
    useful_penalty,
)
from ufselect.numerics.scfs_paper import PaperFit, fit_paper
from ufselect.numerics.scfs_path import ExactPath, by_penalty, checked_weights
from ufselect.numerics.scfs_units import (
    AUTO_ALPHA,
    AUTO_BETA,
    Outcome,
    Posed,
    auto_beta,
    pose,
)
from ufselect.numerics.soft_clustering import indicator, normalised_memberships
from ufselect.numerics.starts import (
    check_memberships,
    refuse_too_few_distinct,
    start_memberships,
)
from ufselect.selectors.base import Properties, UnsupervisedSelector

# Where noise in thousands of columns leaves no feature in the model at such a beta, a
# tenth of it is tried, and so on.
ATTEMPTS, LOWERED = 4, 10

# Parameters on which the result of a fit does not depend.
NOT_OF_THE_FIT = {
    *("n_features_to_select", "n_jobs", "checkpoint", "working_memory", "verbose"),
}

# The paper solver never reaches zero; a prediction this small is rounding.
ROUNDING = 1e-12


class SCFS(CallbackSupportMixin, UnsupervisedSelector):
    """Subspace clustering unsupervised feature selection.

    Learns clusters of the samples together with a regression that predicts them
    from as few features as possible, and ranks features by their weight in it::

        minimise  |X - G G'X|^2 + alpha |X W - G|^2 + beta |W|_21
        subject to  G >= 0,  G G'1 = 1                             (Eq. 8)

    over G (n x c) and W (p x c). Features are ranked by the row norms of W; those
    whose row is zero follow, nearest to entering the model first.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, fraction of them, or None for half.
    n_clusters : int, default=8
        Number of clusters c. With one cluster G is constant and an intercept would
        leave nothing to explain, so that there is none; such a ranking says only
        which features lie far from zero.
    alpha : float or "auto", default="auto"
        Weight of the regression. A number is Eq. 8 as printed and depends on the
        units of X; "auto" is 0.1 in units where X is centred and ``|X|^2 = c``.
    beta : float or "auto", default="auto"
        Weight of sparsity. A number is Eq. 8 as printed; "auto" is 0.05 of the
        value from which on W = 0 at the start, or a tenth of that, and so on, if the
        fit would end with W = 0.
    solver : {"exact", "paper"}, default="exact"
        "exact" optimises Eq. 8 over soft partitions, which are exactly its feasible
        set; the objective never rises. "paper" is Algorithm 1 of the publication,
        for comparison; see Notes.
    gamma : float, default=1e6
        Weight of the constraint in the paper solver; the exact solver has none.
    init : {"k-means", "fuzzy", "random"} or ndarray of shape (n, c), default="k-means"
        Start. "k-means" clusters the leading principal components of X; for the
        paper solver, X itself, once. "fuzzy" is c-means with exponent 1.0005, as in
        the publication. An array holds memberships: non-negative, rows sum to one;
        ``memberships_`` of an earlier fit can be used.
    n_init : int, default=1
        Number of starts; the one that ends with the lowest objective is kept.
    n_jobs : int or None, default=None
        Starts fitted at once by the exact solver on an X in memory, through joblib;
        None is one. The first start is fitted alone, for it decides on beta, and is the
        only one that callbacks hear of. The result does not depend on it.
    standardize : {"auto", "features", "samples"} or bool, default="auto"
        Preparation of X for the fit: scale features to unit variance ("features" or
        True), scale samples to unit length ("samples"), or leave X as it is
        (False). "auto" decides from X: features for columns of measurements,
        samples for non-negative columns that mostly repeat one value (words,
        counts, drawings), nothing otherwise. With the paper solver "auto" is False.
    fit_intercept : bool, default=True
        Centre X and G in the second term. False is Eq. 8 as printed. The paper
        solver has no intercept.
    max_iter : int, default=1000
        Largest number of iterations.
    tol : float, default=1e-5
        Stop when the objective changes by less than this share of itself.
    random_state : int, RandomState instance or None, default=None
        Seed of the start.
    checkpoint : path or None, default=None
        A file that is replaced every few iterations, from which the same fit goes on
        if it was interrupted, and which is deleted when the fit is done. It takes the
        room of a few n x c arrays. For the exact solver with one start.
    working_memory : float, default=8e6
        Bytes of a block of rows, as float64, in which X is read from a memory-mapped
        array, a Zarr or HDF5 file or a backed AnnData. About two blocks are in memory
        at a time. What a file stores in one chunk is read at once, so that a block is
        never smaller than a chunk: where all rows are in one chunk, all of X. Chunks
        on Dask are as large as they are.
    verbose : bool, default=False
        Print the objective of each iteration.

    Attributes
    ----------
    scores_ : ndarray of shape (p,)
        Row norms of W. A feature with a zero row has a score between zero and the
        smallest non-zero norm, which says how near it is to entering the model.
    order_ : ndarray of shape (p,)
        Features from best to worst.
    coef_ : ndarray of shape (p, c)
        W, for X as prepared.
    memberships_ : ndarray or dask.array.Array of shape (n, c)
        Soft partition of the samples; beside them, if these are on Dask.
    labels_ : ndarray or dask.array.Array of shape (n,)
        Cluster of largest membership.
    objective_history_ : ndarray of shape (n_iter_,)
        Eq. 8 after each iteration, on X as given or, if it was prepared, as
        prepared. The paper solver adds ``gamma n |G G'1 - 1|^2``.
    n_iter_ : int
        Number of iterations.
    alpha_, beta_ : float
        Weights in Eq. 8 as printed.
    standardize_ : {"features", "samples", "none"}
        The preparation used.

    Notes
    -----
    **Optimised.** W and G together, alternately, by one of two solvers.

    **Exact solver.** Every feasible G is ``P diag(P'1)^(-1/2)`` for a soft partition
    P (non-negative, rows sum to one), and every soft partition without an empty
    column gives a feasible G. The fit alternates projected gradient steps for P, which
    W follows as a ridge regression would, with Newton steps of a row-sparse regression
    for W. Neither can raise the objective.

    **Paper solver.** On non-negative X (it is shifted if need be). Three things are
    known about it. A zero in G remains zero, so that from a crisp start no sample
    ever changes its cluster. From a dense start the objective may rise, in a
    two-cycle caused by gamma. Its result is therefore governed by its start. Where
    beta is too large for any feature its W shrinks without end instead of being
    zero, and the order of what is left is returned until it drowns in rounding.

    **Many fits.** ``path`` fits a grid of weights for the price of a few fits.

    **Precision.** Of a float32 X, whatever is multiplied in every step is float32;
    sums, factors and decisions are float64. On six sets that took 0.6 to 1.0 times as
    long, and 98 to 100 of the best 100 features were the same; another seed left 65 to
    100 of them.

    **Differs.** The paper's solver penalises the constraint; the default solves it.
    The default adds an intercept, weights without units and a preparation of X.

    **Confidence.** Confirmed: the paper solver equals the authors' code.

    **Needs c.** Yes.

    **Cannot.** Find, in a wide table, clusters that share their mean: no linear
    function of the features separates them, and by chance some function of many fits as
    well. For three planes through the origin, 40 samples and 150 columns, the ranking
    is little better than chance. Nor does it tell that clusters differ in fewer
    directions than there could be: the rest of W then follows noise. Of 12 standardised
    columns with three groups in a row along 3 of them, noise is among the best 3 with
    ``n_clusters=3``, and is not with ``n_clusters=2``.

    **Cost.** O(n p min(n, p)) once, then O(n min(n, p) c) per step; no n x n matrix
    unless 2 n <= p, and no p x p matrix unless p <= n. Of an X on disk, blocks are in
    memory (see ``working_memory``), a few numbers for each sample and cluster, and once
    up to 5,000 samples, by which ``standardize="auto"`` decides.

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
    READS_ELSEWHERE = True
    PARAM_GRID: ClassVar[dict[str, list[Any]]] = {
        "alpha": [1e-4, 1e-2, 1.0, 1e2, 1e4],
        "beta": [1e-4, 1e-2, 1.0, 1e2, 1e4],
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **UnsupervisedSelector._parameter_constraints,
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
        "checkpoint": [None, str, PathLike],
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
        checkpoint: str | PathLike[str] | None = None,
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
        self.checkpoint = checkpoint
        self.working_memory = working_memory
        self.verbose = verbose

    def _as_matrix(self, data: Any) -> DataMatrix:
        return as_matrix(data, block_bytes=max(1, int(self.working_memory)))

    def path(
        self,
        X: Any,
        alphas: Iterable[float] | None = None,
        betas: Iterable[float] | None = None,
    ) -> Iterator["SCFS"]:
        """Yield selectors fitted with all pairs of weights, each from the last one.

        X is read and prepared once, its Gram matrices are shared, and every fit goes on
        from the clusters and the coefficients of the one before. Each ends with about
        the objective of a fit of its own from the same start, for a fraction of the
        time. For the exact solver with one start.

        Parameters
        ----------
        X : {array-like, sparse matrix, memory-mapped array} of shape (n, p)
            As for ``fit``.
        alphas, betas : array-like of float or None, default=None
            Weights in Eq. 8 as printed. None is a quarter, half, once, twice and four
            times what "auto" is for both of them.

        Yields
        ------
        selector : SCFS
            A fitted copy of this selector with ``alpha`` and ``beta`` of the pair. They
            come as they are fitted: from the highest beta / alpha to the lowest, which
            lets ever more features in. A pair that leaves no feature in the model has
            no ranking; it is left out, which a warning says at the end.

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
        if self.solver == "paper" or self.n_init > 1 or self.checkpoint is not None:
            raise ValueError(
                "A path is for one start of the exact solver without checkpoint; now "
                f"there are solver={self.solver!r}, n_init={self.n_init} and "
                f"checkpoint={self.checkpoint!r}."
            )
        given = [checked_weights(alphas, "alphas"), checked_weights(betas, "betas")]
        return self._along_path(X, *given)

    def _along_path(
        self, X: Any, alphas: list[float] | None, betas: list[float] | None
    ) -> Iterator["SCFS"]:
        first = clone(self).set_params(beta="auto" if betas is None else betas[0])
        data, summary = first._read(X)
        with limited_threads(data):
            way = first._begin_path(data, summary)
            weights = way.posed.weights(way.path.partition, alphas, betas)
            pairs = list(by_penalty(*weights))
        left_out = []
        for alpha, beta in pairs:
            point = clone(self).set_params(alpha=alpha, beta=beta)
            point._adopt_columns(first)
            if point._fit_on_path(way):
                yield point
            else:
                left_out.append(f"({alpha:.3g}, {beta:.3g})")
        if left_out:
            warnings.warn(
                f"SCFS.path: {len(left_out)} of {len(pairs)} pairs of alpha and beta "
                "leave no feature in the model (W = 0) and have no ranking: "
                f"{', '.join(left_out)}; lower beta or raise alpha.",
                UserWarning,
                stacklevel=2,
            )

    def _begin_path(self, data: DataMatrix, summary: ColumnSummary) -> "_Way":
        """Return what the fits of a path have in common."""
        self._refuse_more_clusters_than_samples(self.n_clusters, data.shape[0])
        posed = self._posed(data, summary)
        random = check_random_state(self.random_state)
        partition = self._first_partition(posed.problem, random, None)
        path = ExactPath(posed.problem, partition)
        return _Way(data, summary, posed, path)

    @fit_context(prefer_skip_nested_validation=True)
    def _fit_on_path(self, way: "_Way") -> bool:
        """Fit from where the path is; return whether there is a ranking."""
        posed, unit = way.posed, way.posed.unit
        alpha, beta = posed.in_units(self.alpha, self.beta)
        assert beta is not None
        progress = FitProgress(self, self.max_iter, verbose=self.verbose, unit=unit)
        with limited_threads(way.data):
            fit = way.path.fit(
                alpha, beta, max_iter=self.max_iter, tol=self.tol, report=progress
            )
            outcome = posed.outcome(fit, alpha, beta)
        progress.finish()
        self.standardize_ = posed.kind
        # The next fit goes on from these.
        self._keep(outcome._replace(memberships=outcome.memberships.copy()))
        if outcome.vanished:
            return False
        if self.n_iter_ == self.max_iter and not outcome.converged:
            self._warn_not_converged(self.max_iter)
        self._keep_scores(outcome.scores, way.summary)
        return True

    def _score_features(self, data: DataMatrix, summary: ColumnSummary) -> Float:
        self._refuse_more_clusters_than_samples(self.n_clusters, data.shape[0])
        if self.checkpoint is not None and (self.solver == "paper" or self.n_init > 1):
            raise ValueError(
                f"checkpoint is for one start of the exact solver; now there are "
                f"n_init={self.n_init} of solver={self.solver!r}."
            )
        if self.solver == "paper" and data.scattered:
            raise ValueError(
                'solver="paper" needs X in one place; use solver="exact" for Dask.'
            )
        solve = self._solve_paper if self.solver == "paper" else self._solve_exact
        with limited_threads(data):
            outcome = solve(data, summary)
        self._keep(outcome)
        if outcome.vanished:
            otherwise = (
                "try another n_clusters" if self.beta == "auto" else 'use beta="auto"'
            )
            raise ValueError(
                f"beta={outcome.beta:.3g} leaves no feature in the model (W = 0), so "
                f"there is no ranking; at alpha={outcome.alpha:.3g} lower beta below "
                f"{outcome.largest_beta:.3g}, or {otherwise}."
            )
        if self.n_iter_ == self.max_iter and not outcome.converged:
            self._warn_not_converged(self.max_iter)
        return outcome.scores

    def _keep(self, outcome: Outcome) -> None:
        """Set what was learned."""
        self.alpha_, self.beta_ = outcome.alpha, outcome.beta
        self.coef_ = outcome.coef
        self.memberships_ = outcome.memberships
        self.labels_ = outcome.memberships.argmax(axis=1)
        self.objective_history_ = outcome.history
        self.n_iter_ = len(outcome.history)

    def _posed(self, data: DataMatrix, summary: ColumnSummary) -> Posed:
        """Return the problem, which fits on the same X may share."""
        intercept = self.fit_intercept and self.n_clusters > 1
        inputs = (data, summary, self.standardize, self.n_clusters, intercept)
        # What is elsewhere would have to be read to tell whether it is the same.
        return pose(*inputs) if data.streams else once_for_all(pose, *inputs)

    def _solve_exact(self, data: DataMatrix, summary: ColumnSummary) -> Outcome:
        posed = self._posed(data, summary)
        self.standardize_ = posed.kind
        alpha, beta = posed.in_units(self.alpha, self.beta)
        place = self._checkpoint(data, summary)
        best: ExactFit | None = None
        together = self.n_jobs is not None and not data.streams
        for random, progress in self._starts(posed.unit, alone=together):
            attempt = _Attempt(posed.problem, alpha, random, progress, place)
            if beta is None:
                fit, beta = self._fit_until_found(attempt)
            else:
                fit, _ = self._fit_once(attempt, beta)
            best = lower_of(best, fit)
            if together and not progress.stopped:
                best = self._fit_others(attempt, beta, best)
        assert best is not None
        assert beta is not None
        if place is not None:
            place.remove()
        return posed.outcome(best, alpha, beta)

    def _fit_others(self, attempt: "_Attempt", beta: float, best: ExactFit) -> ExactFit:
        """Fit from all starts but the first at once; return the best of all."""
        problem, alpha, random, _, _ = attempt
        calls = (
            (problem, start, alpha, beta, self.max_iter, self.tol)
            for start in self._other_starts(problem, random)
        )
        for fit in in_parallel(fit_apart, calls, self.n_jobs):
            start = problem.partition(problem.matrix.beside(fit.partition))
            best = lower_of(best, fit._replace(partition=start))
        return best

    def _other_starts(
        self, problem: ExactProblem, random: np.random.RandomState
    ) -> Iterator[Float]:
        for _ in range(self._n_starts - 1):
            yield self._first_partition(problem, random, None).memberships

    def _fit_until_found(self, attempt: "_Attempt") -> tuple[ExactFit, float]:
        """Fit with a penalty decided here, and again as long as it is too high."""
        drawn = attempt.random.get_state()
        fit, beta = self._fit_once(attempt, None)
        for _ in range(ATTEMPTS - 1):
            if fit.coef.any() or attempt.progress.stopped:
                break
            if attempt.place is not None:
                attempt.place.remove()
            attempt.random.set_state(drawn)
            fit, beta = self._fit_once(attempt, beta / LOWERED)
        return fit, beta

    def _fit_once(
        self, attempt: "_Attempt", beta: float | None
    ) -> tuple[ExactFit, float]:
        """Fit from one start, or from where it was interrupted."""
        problem, alpha, random, progress, place = attempt
        state = None if place is None else place.read()
        partition = self._first_partition(problem, random, state)
        if state is not None:
            beta = float(state["beta"])
        elif beta is None:
            beta = auto_beta(problem, partition, alpha)
        fit = fit_exact(
            problem,
            partition,
            alpha=alpha,
            beta=beta,
            max_iter=self.max_iter,
            tol=self.tol,
            report=progress,
            keep=_writer(place, beta),
            state=state,
        )
        return fit, beta

    def _refuse_immeasurable_weight(self, beta: float, size: float) -> None:
        if not 0 < beta < np.inf:
            raise ValueError(
                f'beta="auto" is {beta:g} for X of size {size:.3g}, whose third power '
                'floating point does not hold; rescale X, or use solver="exact".'
            )

    def _solve_paper(self, data: DataMatrix, summary: ColumnSummary) -> Outcome:
        self.standardize_ = "none"
        if self.standardize != "auto":
            self.standardize_ = preparation_kind(self.standardize, data, summary)
        matrix = non_negative(data, summary, self.standardize_)
        summary = matrix.summary()
        squares = data.shape[0] * (summary.deviation**2 + summary.mean**2)
        products = sample_products(matrix, float(squares.sum()))
        size = float(np.sqrt(data.shape[0] * np.sum(summary.deviation**2)))
        if self.alpha == "auto":
            alpha = AUTO_ALPHA * size**2 / self.n_clusters
        else:
            alpha = float(self.alpha)
        beta = None if self.beta == "auto" else float(self.beta)
        best: PaperFit | None = None
        for random, progress in self._starts():
            memberships = self._first_memberships(matrix, products.gram, random)
            if beta is None:
                cross = matrix.transpose_dot(indicator(memberships))
                beta = AUTO_BETA * alpha * useful_penalty(cross, size)
                self._refuse_immeasurable_weight(beta, size)
            fit = fit_paper(
                indicator(memberships),
                products,
                matrix,
                alpha=alpha,
                beta=beta,
                gamma=self.gamma,
                max_iter=self.max_iter,
                tol=self.tol,
                report=progress,
            )
            if best is None or fit.history[-1] < best.history[-1]:
                best, start = fit, memberships
        assert best is not None
        assert beta is not None
        norms = row_norms(best.coef)
        return Outcome(
            alpha=alpha,
            beta=beta,
            largest_beta=alpha * largest_penalty(matrix, best.indicators),
            memberships=normalised_memberships(best.indicators, start),
            coef=best.coef,
            scores=norms,
            history=np.array(best.history),
            converged=best.converged,
            vanished=bool(np.max(norms * np.sqrt(squares)) < ROUNDING),
        )

    @property
    def _n_starts(self) -> int:
        return self.n_init if isinstance(self.init, str) else 1

    def _starts(
        self, unit: float = 1.0, *, alone: bool = False
    ) -> Iterator[tuple[np.random.RandomState, FitProgress]]:
        """Yield, for each start, its source of chance and whom to tell about it.

        Or for the first one alone.
        """
        random = check_random_state(self.random_state)
        n_starts = 1 if alone else self._n_starts
        progress = FitProgress(
            self, n_starts * self.max_iter, verbose=self.verbose, unit=unit
        )
        for _ in range(n_starts):
            yield random, progress
            if progress.stopped:
                break
        progress.finish()

    def _checkpoint(
        self, data: DataMatrix, summary: ColumnSummary
    ) -> Checkpoint | None:
        """Return the file to go on from, which belongs to this X and these settings."""
        if self.checkpoint is None:
            return None
        settings = {
            name: value
            for name, value in self.get_params(deep=False).items()
            if name not in NOT_OF_THE_FIT
        }
        start = settings.pop("init")
        if isinstance(self.random_state, np.random.RandomState):
            # Where it was drawn from last time is not known.
            settings.pop("random_state")
        inputs = [data.shape, *summary.marks(), sorted(settings.items()), start]
        return Checkpoint(Path(self.checkpoint), inputs)

    def _first_partition(
        self,
        problem: ExactProblem,
        random: np.random.RandomState,
        state: State | None,
    ) -> SoftPartition:
        if state is not None:
            return problem.partition(problem.matrix.beside(state["memberships"]))
        if isinstance(self.init, str) and self.init == "k-means":
            return problem.clustered(self.n_clusters, random)
        kernel = problem.products.gram
        memberships = self._first_memberships(problem.matrix, kernel, random)
        partition = problem.partition(problem.matrix.beside(memberships))
        random_start = isinstance(self.init, str) and self.init == "random"
        if random_start and self.beta == "auto":
            # Random memberships are nearly the same for all samples: without
            # clusters there would be nothing to measure beta against.
            cluster_only(partition, problem.products.total)
        return partition

    def _first_memberships(
        self, matrix: DataMatrix, kernel: Float | None, random: np.random.RandomState
    ) -> Float:
        if not isinstance(self.init, str):
            return check_memberships(self.init, matrix.shape[0], self.n_clusters)
        refuse_too_few_distinct(matrix, self.n_clusters)
        return start_memberships(self.init, matrix, self.n_clusters, random, kernel)


class _Way(NamedTuple):
    """What the fits of a path have in common."""

    data: DataMatrix
    summary: ColumnSummary
    posed: Posed
    path: ExactPath


class _Attempt(NamedTuple):
    """What a fit from one start needs beside the penalty."""

    problem: ExactProblem
    alpha: float
    random: np.random.RandomState
    progress: FitProgress
    place: Checkpoint | None


def _writer(place: Checkpoint | None, beta: float) -> Keep | None:
    """Return what writes a state with the penalty that belongs to it."""
    if place is None:
        return None
    return lambda state: place.write(state | {"beta": np.array(beta)})
