"""SPFS: similarity preserving feature selection.

"greedy" is SFS in the paper: with R the part of K that is left, a feature f changes the
error by ``(f'f)^2 - 2 f'R f``. "group-lasso" is NES, whose lam is found by bisection.
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ufselect._sklearn_compat import COUNT, ITERATIONS, POSITIVE, StrOptions
from ufselect.matrix import DataMatrix, Float, Index, Mask
from ufselect.matrix.base import BLOCK_BYTES
from ufselect.selectors.base import (
    IterativeSelector,
    MemoryNeed,
    Properties,
    prepared_bytes,
    square_arrays,
)
from ufselect.solvers.graphs import (
    centred_kernel,
    gaussian_kernel,
    kernel_root,
    squared_distances_of,
)
from ufselect.solvers.group_lasso import GroupLasso, largest_penalty, makes_gram
from ufselect.solvers.iterations import Callback
from ufselect.solvers.preparation import preparation_kind, prepare
from ufselect.solvers.ridge import ranked_below, row_norms

# The published search for lam: the first share of the largest useful one, the number
# of trials, and how near the number of features has to be, as a share of it.
FIRST_SHARE, N_TRIALS, NEAR_ENOUGH = 0.5, 10, 0.1


class SPFS(IterativeSelector):
    """Similarity preserving feature selection.

    Chooses features whose linear kernel reproduces the similarity of the samples, a
    Gaussian kernel K, either one by one or through a row-sparse regression::

        greedy       minimise  |K - sum_(j in F) f_j f_j'|^2  over sets F of k features
        group-lasso  minimise  1/2 |Y - X W|^2 + lam |W|_21,  Y Y' = K, c columns

    docs/methods/spfs.md says what it cannot find and what it costs.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, fraction of them, or None for half.
    strategy : {"greedy", "group-lasso"}, default="group-lasso"
        "greedy" adds the feature that brings the error lowest (SFS in the paper);
        "group-lasso" ranks features by the row norms of W (NES).
    n_clusters : int, default=8
        Number of leading columns c of Y; "greedy" does not use it.
    lam : float or "auto", default="auto"
        Weight of sparsity of "group-lasso". "auto" halves an interval, at most ten
        times, until about as many rows of W are left as features are wanted.
    sigma : float or None, default=None
        Bandwidth in ``K = exp(-d^2 / (2 sigma^2))``, in units of X as prepared. None
        is the median distance divided by the square root of two.
    scale : {"kernel", "unit"}, default="kernel"
        Size of the features next to K, on which "greedy" depends: "kernel" gives their
        linear kernel the trace of K, "unit" gives them unit norm on average.
    standardize : {"auto", "features", "samples"} or bool, default="auto"
        Preparation of X: features to unit variance ("features" or True), samples to
        unit length ("samples"), or neither (False). "auto" decides as :class:`SCFS`.
    max_iter : int, default=100
        Largest number of rounds of the solver of "group-lasso", for one lam.
    tol : float, default=1e-6
        Duality gap, relative to ``|Y|^2``, at which that solver stops.
    max_memory : float, default=2e9
        About how many bytes the fit may use. A fit that needs more is refused.
    verbose : bool, default=False
        Print the objective of each step.

    Attributes
    ----------
    scores_ : ndarray of shape (p,)
        "greedy": p for the first choice, p - 1 for the second and so on.
        "group-lasso": row norms of W; zero rows follow, nearest to entering first.
    order_ : ndarray of shape (p,)
        Features from best to worst.
    coef_, lam_ : ndarray of shape (p, r) and float
        W and lam, for X as prepared; only with "group-lasso".
    objective_history_ : ndarray of shape (n_iter_,)
        Error after each choice, or objective of each lam that was tried.
    n_iter_ : int
        Number of them.
    standardize_ : {"features", "samples", "none"}
        The preparation used.

    References
    ----------
    Z. Zhao, L. Wang, H. Liu, J. Ye. On similarity preserving feature selection. IEEE
    Transactions on Knowledge and Data Engineering 25 (2013) 619-632.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ufselect import SPFS
    >>> X = load_iris(as_frame=True).data
    >>> SPFS(n_features_to_select=2).fit_transform(X).shape
    (150, 2)
    """

    PROPERTIES = Properties(
        similarity="explicit", joint_learning=True, regression=True, regularisation=True
    )
    PARAM_GRID: ClassVar[dict[str, list[Any]]] = {
        "strategy": ["greedy", "group-lasso"],
        "scale": ["kernel", "unit"],
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **IterativeSelector._parameter_constraints,
        "strategy": [StrOptions({"greedy", "group-lasso"})],
        "n_clusters": [COUNT],
        "lam": [StrOptions({"auto"}), POSITIVE],
        "sigma": [None, POSITIVE],
        "scale": [StrOptions({"kernel", "unit"})],
        "standardize": ["boolean", StrOptions({"auto", "features", "samples"})],
        **ITERATIONS,
        "max_memory": [POSITIVE],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        strategy: str = "group-lasso",
        n_clusters: int = 8,
        lam: float | str = "auto",
        sigma: float | None = None,
        scale: str = "kernel",
        standardize: bool | str = "auto",
        max_iter: int = 100,
        tol: float = 1e-6,
        max_memory: float = 2e9,
        verbose: bool = False,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.strategy = strategy
        self.n_clusters = n_clusters
        self.lam = lam
        self.sigma = sigma
        self.scale = scale
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol
        self.max_memory = max_memory
        self.verbose = verbose

    def _memory_needed(self, data: DataMatrix) -> MemoryNeed:
        return square_arrays(4, data.shape[0], prepared_bytes(data))

    def _score_features(self, data: DataMatrix) -> Float:
        with data.limited_threads():
            return self._scored(data)

    def _scored(self, data: DataMatrix) -> Float:
        self.standardize_ = preparation_kind(self.standardize, data)
        # Features of unit norm, on average.
        varying = ~data.summary().constant
        size = float(np.count_nonzero(varying))
        prepared = prepare(data, self.standardize_, size)
        matrix, unit = prepared.centred, prepared.unit
        squared = squared_distances_of(matrix.sample_gram())
        sigma = None if self.sigma is None else self.sigma * unit
        kernel = centred_kernel(gaussian_kernel(squared, sigma))
        if self.scale == "kernel":
            factor = float(np.sqrt(np.trace(kernel) / size))
            matrix = matrix.affine(matrix.shift, factor * matrix.scale)
            unit *= factor
        if self.strategy == "greedy":
            return self._greedy(matrix, kernel, varying)
        return self._group_lasso(matrix, kernel, unit)

    def _greedy(self, matrix: DataMatrix, kernel: Float, varying: Mask) -> Float:
        fit = greedy_columns(
            matrix,
            kernel,
            self.n_selected_,
            candidates=varying,
            callback=self._callback(),
        )
        self._keep_history(fit.history)
        left = fit.change.copy()
        left[fit.order] = -np.inf
        scores = np.empty(len(left))
        scores[np.argsort(left, kind="stable")] = np.arange(len(left), 0, -1)
        scores[fit.order] = len(left) - np.arange(len(fit.order))
        return scores

    def _group_lasso(self, matrix: DataMatrix, kernel: Float, unit: float) -> Float:
        self._check_n_clusters(self.n_clusters, matrix.shape[0])
        target = kernel_root(kernel, n_columns=self.n_clusters)
        largest = largest_penalty(matrix, target) / 2
        if largest <= 1e-10 * np.sqrt(matrix.shape[1]) * np.linalg.norm(target):
            raise ValueError(
                f"No feature is related to the n_clusters={self.n_clusters} leading "
                "directions of the kernel; use more clusters or a larger sigma."
            )
        fit = row_sparse_columns(
            matrix,
            target,
            None if self.lam == "auto" else float(self.lam) * unit,
            self.n_selected_,
            tol=self.tol,
            max_rounds=self.max_iter,
            callback=self._callback(),
        )
        self._keep_history(fit.history)
        self.coef_, self.lam_ = fit.coef * unit, fit.lam / unit
        if not fit.coef.any():
            raise ValueError(
                f"lam={self.lam_:.3g} leaves no feature in the model (W = 0), so there "
                f'is no ranking; lower lam below {largest / unit:.3g}, or use "auto".'
            )
        if fit.gap > self.tol:
            self._warn_not_converged(self.max_iter)
        return ranked_below(row_norms(self.coef_), fit.kkt_ratios)


class GreedyFit(NamedTuple):
    """Columns in the order of selection, and the effect of each pick.

    ``change`` is what a column changes of the squared error, or would change after the
    last pick; ``history`` is that error after each pick.
    """

    order: Index
    change: Float
    history: list[float]


def greedy_columns(
    matrix: DataMatrix,
    kernel: Float,
    n_selected: int,
    *,
    candidates: NDArray[np.bool_] | None = None,
    callback: Callback | None = None,
) -> GreedyFit:
    """Pick columns one by one, each the one that lowers the error most.

    Picking s takes ``(f_j'f_s)^2`` from each ``f_j'R f_j``, so that R itself is never
    updated.
    """
    n_samples, n_features = matrix.shape
    change = np.empty(n_features)
    step = max(1, BLOCK_BYTES // (8 * n_samples))
    for start in range(0, n_features, step):
        piece = matrix.columns(slice(start, min(start + step, n_features)))
        squares = np.einsum("ij,ij->j", piece, piece)
        shared = np.einsum("ij,ij->j", piece, kernel @ piece)
        change[start : start + step] = squares**2 - 2 * shared
    available = np.ones(len(change), bool) if candidates is None else candidates.copy()
    order: list[int] = []
    history: list[float] = []
    error = float(np.vdot(kernel, kernel))
    while len(order) < n_selected and available.any():
        best = int(np.where(available, change, np.inf).argmin())
        available[best] = False
        error += float(change[best])
        order.append(best)
        history.append(error)
        overlap = matrix.transpose_dot(matrix.columns(np.array([best]))).ravel()
        # The entry of a picked column stays as it was.
        change[available] += 2 * overlap[available] ** 2
        if callback is not None and callback(len(order) - 1, error):
            break
    return GreedyFit(np.array(order, dtype=np.intp), change, history)


class SparseFit(NamedTuple):
    """The regression whose number of features is nearest to the one wanted."""

    coef: Float
    kkt_ratios: Float
    lam: float
    gap: float
    history: list[float]


def row_sparse_columns(
    matrix: DataMatrix,
    target: Float,
    lam: float | None = None,
    n_wanted: int = 0,
    *,
    tol: float = 1e-6,
    max_rounds: int = 100,
    callback: Callback | None = None,
) -> SparseFit:
    """Solve the group lasso for one lam, or search one that leaves about n_wanted."""
    gram = matrix.feature_gram() if makes_gram(matrix.shape) else None
    lasso = GroupLasso(matrix, target.shape[1], gram=gram)
    lasso.set_target(float(np.vdot(target, target)), Y=target)
    largest = largest_penalty(matrix, target) / 2
    lowest, highest, share = 0.0, 1.0, FIRST_SHARE
    best: SparseFit | None = None
    least = np.inf
    history: list[float] = []
    for trial in range(N_TRIALS if lam is None else 1):
        tried = share * largest if lam is None else lam
        # The group lasso has no half before its squared error.
        solution = lasso.solve(2 * tried, tol=tol, max_rounds=max_rounds)
        norms = row_norms(solution.coef)
        history.append(solution.error / 2 + tried * float(norms.sum()))
        found = int(np.count_nonzero(norms))
        if abs(found - n_wanted) < least:
            least = abs(found - n_wanted)
            best = SparseFit(
                solution.coef, solution.kkt_ratios, tried, solution.gap, history
            )
        stopped = callback is not None and callback(trial, history[-1])
        if stopped or least <= NEAR_ENOUGH * n_wanted:
            break
        lowest, highest = (share, highest) if found > n_wanted else (lowest, share)
        share = (lowest + highest) / 2
    assert best is not None
    return best
