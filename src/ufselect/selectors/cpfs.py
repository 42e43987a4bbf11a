"""CPFS: features that reconstruct all features.

The objective in the docstring of the class is minimised along a path of decreasing lam
that starts where W = 0. W has rows only for the a features of a working set: it is
a x p, and p x p only if the model has all features.
"""

from collections.abc import Iterable
from numbers import Real
from typing import Any, ClassVar, NamedTuple, NoReturn

import numpy as np
from scipy.linalg import eigh

from ufselect._sklearn_compat import COUNT, ITERATIONS, POSITIVE, Interval, StrOptions
from ufselect.matrix import DataMatrix, DenseMatrix, Float, Index
from ufselect.selectors.base import IterativeSelector, MemoryNeed, Properties
from ufselect.solvers.group_lasso import L21, GroupLasso, WorkingSetTooLarge
from ufselect.solvers.iterations import Callback
from ufselect.solvers.preparation import prepare
from ufselect.solvers.soft_partition import CACHED_VALUES

# Gradient steps between two computations of the duality gap.
STEPS_PER_GAP = 10

# Arrays of the size of W that a step holds in memory: W and X'X W for the current, the
# previous and the extrapolated iterate, X'Y, and temporary arrays.
ARRAYS_PER_STEP = 10

# Above this share of lam_max, rounding decides whether a feature enters.
MAX_FRACTION = 1 - 1e-9


class CPFS(IterativeSelector):
    """Convex principal feature selection.

    Looks for the features whose linear combinations rebuild all features, as one
    convex problem in which whole rows of W become zero::

        minimise  |X - X W|^2 + lam sum_i max_j |W_ij|

    over W (p x p), for centred X, and for a geometric sequence of lam from the value
    above which W = 0 downwards. Features are ranked by when they enter. Those that
    enter together are ranked by the largest entry of their row, those that never enter
    by their KKT ratio. docs/methods/cpfs.md says what it cannot find and what it costs.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, fraction of them, or None for half.
    lam : float or "auto", default="auto"
        Weight of sparsity at the end of the path. A number depends on the unit of X;
        "auto" is ``lam_fraction`` of the value above which W = 0.
    lam_fraction : float, default=0.2
        See ``lam``; not used when that is a number.
    n_lams : int, default=20
        Number of values of lam. More of them tell more features apart.
    max_iter : int, default=10000
        Largest number of gradient steps, over the whole path.
    tol : float, default=1e-4
        For each lam, stop when the objective is proven to be within this share of
        ``|X|^2`` (X centred) of its minimum.
    max_memory : float, default=2e9
        About how many bytes the fit may use. A fit that needs more is refused.
    verbose : bool, default=False
        Print the objective of each step.

    Attributes
    ----------
    scores_ : ndarray of shape (p,)
        A feature that enters between one lam of the path and the next has a score
        between them, as shares of ``lam_max_``; one that never enters has a score
        below the last.
    order_ : ndarray of shape (p,)
        Features from best to worst.
    entry_ : ndarray of shape (p,)
        Place in ``lams_`` where each feature enters, -1 if it does not.
    lams_ : ndarray
        The path.
    lam_max_ : float
        The value of lam above which W = 0.
    lam_ : float
        The last value of the path.
    active_ : ndarray of shape (a,)
        Features in the model at the end of the path.
    coef_ : ndarray of shape (a, p)
        Their rows of W; the other rows are zero.
    objective_history_ : ndarray of shape (n_iter_,)
        The objective after each step, at the lam of that step; it never rises.
    n_iter_ : int
        Number of gradient steps, over the whole path.

    References
    ----------
    M. Masaeli, Y. Yan, Y. Cui, G. Fung, J. G. Dy. Convex principal feature selection.
    SIAM International Conference on Data Mining (2010) 619-628.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ufselect import CPFS
    >>> X = load_iris().data
    >>> CPFS(n_features_to_select=2).fit(X).get_support()
    array([ True, False,  True, False])
    """

    # The published grid is not known; this one ranges from few features to most.
    PROPERTIES = Properties(self_expression="features", regularisation=True)
    PARAM_GRID: ClassVar[dict[str, list[Any]]] = {
        "lam_fraction": [0.5, 0.2, 0.1, 0.05, 0.01]
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **IterativeSelector._parameter_constraints,
        "lam": [StrOptions({"auto"}), POSITIVE],
        "lam_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_lams": [COUNT],
        **ITERATIONS,
        "max_memory": [POSITIVE],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        lam: float | str = "auto",
        lam_fraction: float = 0.2,
        n_lams: int = 20,
        max_iter: int = 10_000,
        tol: float = 1e-4,
        max_memory: float = 2e9,
        verbose: bool = False,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.lam = lam
        self.lam_fraction = lam_fraction
        self.n_lams = n_lams
        self.max_iter = max_iter
        self.tol = tol
        self.max_memory = max_memory
        self.verbose = verbose

    def _memory_needed(self, data: DataMatrix) -> MemoryNeed:
        """Return the need with one row of W; the number of rows is known only later."""
        n_features = data.shape[1]
        least = fixed_bytes(*data.shape) + 8 * ARRAYS_PER_STEP * n_features
        return MemoryNeed(least, f"X with {n_features} features")

    def _score_features(self, data: DataMatrix) -> Float:
        max_rows = self._affordable_rows(*data.shape)
        prepared = prepare(data, "none", 1.0)
        factor = thin_factor(prepared.centred)
        # A centred constant column is nothing but rounding errors.
        factor[:, data.summary().constant] = 0.0
        unit, lasso = prepared.unit, self_representation(factor, max_rows)
        # The lam above which W = 0.
        largest = float(lasso.kkt_ratios(1.0).max())
        fractions = self._fractions(largest, unit)
        try:
            fit = fit_path(
                lasso,
                largest * fractions,
                max_iter=self.max_iter,
                tol=self.tol,
                callback=self._callback(unit),
            )
        except WorkingSetTooLarge as error:
            self._refuse(data.shape, error, unit)
        self.lam_max_ = largest / unit / unit
        self.lams_ = fit.lams / unit / unit
        self.lam_ = float(self.lams_[-1])
        self.entry_, self.active_, self.coef_ = fit.entry, fit.active, fit.coef
        self._keep_history(fit.history, unit)
        if not fit.converged:
            self._warn_not_converged(self.max_iter)
        return path_scores(fit, fractions)

    def _fractions(self, largest: float, unit: float) -> Float:
        """Return the path of lam / lam_max, from one (left out) downwards."""
        end = self.lam_fraction
        if self.lam != "auto":
            # One factor at a time: the square of a very small unit would vanish.
            end = float(self.lam) * unit * unit / largest
        if not 0 < end <= MAX_FRACTION:
            raise ValueError(
                f"lam={self.lam:.3g} leaves no feature in the model (W = 0), or is too "
                "small to have an effect on X; choose it well between 0 and "
                f'{largest / unit / unit:.3g}, or use lam="auto".'
            )
        return np.geomspace(1.0, end, self.n_lams + 1)[1:]

    def _affordable_rows(self, n_samples: int, n_features: int) -> int:
        """Return how many rows of W fit into max_memory."""
        fixed = fixed_bytes(n_samples, n_features)
        row = 8 * ARRAYS_PER_STEP * n_features
        return int(min((self.max_memory - fixed) // row, n_features))

    def _refuse(
        self, shape: tuple[int, int], error: WorkingSetTooLarge, unit: float
    ) -> NoReturn:
        needed = fixed_bytes(*shape) + 8 * ARRAYS_PER_STEP * shape[1] * error.n_rows
        raise ValueError(
            f"CPFS needs about {needed:.3g} bytes for {error.n_rows} of {shape[1]} "
            f"features at lam={error.lam / unit / unit:.3g} but "
            f"max_memory={self.max_memory:.3g}; raise max_memory, or end the path "
            f"earlier with lam={error.last_lam / unit / unit:.3g} or more."
        ) from error


def fixed_bytes(n_samples: int, n_features: int) -> int:
    """Return the bytes of the thin factor, its residual and one array in between."""
    return 24 * n_features * min(n_samples, n_features)


class L1Inf(L21):
    """``|W|_1inf = sum_i max_j |W_ij|``, whose rows have the l1 norm as dual."""

    smooth = False

    def sizes(self, W: Float) -> Float:
        """Return the largest absolute value of each row."""
        return np.maximum(W.max(axis=1), -W.min(axis=1))

    def prox(self, W: Float, amount: float) -> Float:
        """Return the proximal operator of ``amount Omega`` at W, overwriting W.

        By Moreau's identity it is the row minus its projection onto the l1 ball of
        radius ``amount``: the row, clipped at the threshold of that projection.

        >>> import numpy as np
        >>> L1Inf().prox(np.array([[3.0, -1.0], [0.5, 0.25]]), 1.0)
        array([[ 2., -1.],
               [ 0.,  0.]])
        """
        rows_per_block = max(1, CACHED_VALUES // W.shape[1])
        for start in range(0, len(W), rows_per_block):
            block = W[start : start + rows_per_block]
            limits = ball_thresholds(np.abs(block), amount)[:, np.newaxis]
            np.clip(block, -limits, limits, out=block)
        return W

    def dual_norms(self, blocks: Iterable[Float]) -> Float:
        """Return the l1 norm of each row from blocks of columns, overwriting them."""
        sums = (np.abs(block, out=block).sum(axis=1) for block in blocks)
        return np.asarray(sum(sums))


def ball_thresholds(sizes: Float, amount: float) -> Float:
    """Return t >= 0 with ``sum_j max(sizes_j - t, 0) = amount`` for each row.

    Zero if the row has a smaller sum. The function is convex and piecewise linear:
    Newton's method is exact once the set of entries above t no longer changes.
    """
    sums = sizes.sum(axis=1)
    # Two lower bounds of t, exact if all entries or only one of them are above t.
    t = np.maximum((sums - amount) / sizes.shape[1], sizes.max(axis=1) - amount)
    previous = np.full(len(sizes), -1)
    for _ in range(sizes.shape[1] + 2):
        excess = sizes - t[:, np.newaxis]
        np.maximum(excess, 0.0, out=excess)
        above = np.maximum(np.count_nonzero(excess, axis=1), 1)
        t += (excess.sum(axis=1) - amount) / above
        if np.array_equal(above, previous):
            break
        previous = above
    return np.where(sums <= amount, 0.0, np.maximum(t, 0.0))


class PathFit(NamedTuple):
    """The regularisation path: where each feature entered, and the last solution.

    ``entry`` is the index of the first lam at which the row of a feature is not zero,
    -1 if there is none; ``size`` is the largest absolute value of the row there.
    ``kkt_ratios`` and ``coef`` belong to the last lam; ``active`` are the features of
    the rows of ``coef``. ``gaps`` are the duality gaps, relative to ``|X|^2``.
    """

    lams: Float
    entry: Index
    size: Float
    kkt_ratios: Float
    active: Index
    coef: Float
    history: Float
    gaps: Float
    converged: bool


def thin_factor(matrix: DataMatrix) -> Float:
    """Return F with ``F'F = X'X`` and at most min(n, p) rows."""
    n_samples, n_features = matrix.shape
    if n_samples <= n_features:
        return matrix.rows(slice(0, n_samples))
    values, vectors = eigh(matrix.feature_gram())
    kept = values > n_features * np.finfo(np.float64).eps * values[-1]
    return np.sqrt(values[kept])[:, np.newaxis] * vectors[:, kept].T


def self_representation(F: Float, max_rows: int | None = None) -> GroupLasso:
    """Return the group lasso that regresses F on itself, with W = 0."""
    lasso = GroupLasso(DenseMatrix(F), F.shape[1], L1Inf(), max_rows=max_rows)
    lasso.set_target(float(np.vdot(F, F)), Y=F)
    return lasso


def fit_path(
    lasso: GroupLasso, lams: Float, *, max_iter: int, tol: float, callback: Callback
) -> PathFit:
    """Solve for decreasing lam, each with a warm start from the solution before.

    Parameters
    ----------
    lasso : GroupLasso
        With W = 0.
    lams : ndarray
        Below the largest KKT ratio at lam = 1, the smallest lam at which W = 0.
    max_iter : int
        Number of gradient steps in total; the path ends when they are used.
    tol : float
        Largest duality gap, relative to ``|X|^2``.
    callback : callable
        Called with each step and its objective; the path ends if it returns True.
    """
    n_features = lasso.X.shape[1]
    entry, size = np.full(n_features, -1, dtype=np.intp), np.zeros(n_features)
    history, gaps = list[float](), list[float]()
    largest = float(lasso.kkt_ratios(1.0).max())
    stopped = False

    def closed(lam: float, share: float) -> bool:
        """Return whether the gap over the working set is below its tolerance."""
        rows = lasso.ZtZW - lasso.ZtY
        ratio = 2 * lasso.penalty.dual_norms([rows]).max() / lam
        return lasso.gap(lam, float(ratio)) <= share * tol

    for place, lam in enumerate(lams):

        def after_step(value: float, lam: float = lam) -> bool:
            nonlocal stopped
            history.append(value)
            stopped = callback(len(history) - 1, value) or len(history) >= max_iter
            # Half of the tolerance is left for rounding in the gap over all features.
            look = len(history) % STEPS_PER_GAP == 0
            return stopped or (look and closed(lam, 0.5))

        gap, ratios = np.inf, lasso.kkt_ratios(lam)
        while gap > tol and not stopped:
            try:
                lasso.admit(ratios)
            except WorkingSetTooLarge as error:
                error.lam = float(lam)
                error.last_lam = float(lams[place - 1]) if place else largest
                raise
            if not len(lasso.S):
                # No feature violates the optimality condition: the solution is W = 0.
                gap = 0.0
                break
            lasso.gradient_steps(lam, max_iter, after_step)
            ratios = lasso.kkt_ratios(lam)
            gap = lasso.gap(lam, float(ratios.max()))
        gaps.append(gap)
        sizes = lasso.penalty.sizes(lasso.W)
        fresh = (sizes > 0) & (entry[lasso.S] < 0)
        entry[lasso.S[fresh]], size[lasso.S[fresh]] = place, sizes[fresh]
        if stopped:
            break
    active = np.flatnonzero(sizes > 0)
    active = active[np.argsort(lasso.S[active])]
    return PathFit(
        lams=lams[: len(gaps)],
        entry=entry,
        size=size,
        kkt_ratios=ratios,
        active=lasso.S[active],
        coef=lasso.W[active],
        history=np.array(history),
        gaps=np.array(gaps),
        converged=len(gaps) == len(lams) and gaps[-1] <= tol,
    )


def path_scores(fit: PathFit, fractions: Float) -> Float:
    """Return scores between the fractions of the path where features enter.

    The largest feature that enters at a place gets nearly the fraction before.
    """
    before = np.concatenate([[1.0], fractions[:-1]])
    last = fractions[len(fit.lams) - 1]
    scores = 0.999 * last * np.minimum(fit.kkt_ratios, 1.0)
    for place in np.unique(fit.entry[fit.entry >= 0]):
        members = np.flatnonzero(fit.entry == place)
        share = 0.999 * fit.size[members] / fit.size[members].max()
        low, high = fractions[place], before[place]
        scores[members] = low + share * (high - low)
    return scores
