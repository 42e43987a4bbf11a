"""SCFS with its constraint solved: alternate over soft partitions and a group lasso.

Minimises Eq. 8 of the paper,

    |X - G G'X|^2 + alpha |X W - G|^2 + beta |W|_21,   G >= 0,  G G'1 = 1,

over W and ``G = P diag(P'1)^(-1/2)``, P a soft partition (Theorem 1 of
docs/mathematics.md). With an intercept, X and G are centred in the second term; as
``|G - mean(G)|^2 = |G|^2 - 1`` for every such G, this changes the step for P by a
constant only. The objective never rises (Theorem 3).

All is in units where X is centred and ``|X|^2 = c``, so that a fit of k X has the
weights and coefficients of a fit of X, up to powers of k.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ufselect.matrix.base import Beside, ColumnSummary, DataMatrix, Float
from ufselect.solvers.group_lasso import (
    FEW_CG_STEPS,
    GroupLasso,
    WorkingSetTooLarge,
    makes_gram,
)
from ufselect.solvers.iterations import Report
from ufselect.solvers.preparation import Kind, preparation_kind, prepare
from ufselect.solvers.ridge import Ridge, SampleRidge, row_norms
from ufselect.solvers.soft_partition import STATE_ARRAYS, SoftPartition
from ufselect.solvers.starts import kernel_matrix, start

State = dict[str, Float]
Keep = Callable[[State], None]

# Weights in units where X is centred and |X|^2 = c; beta as a share of the value from
# which on W = 0.
AUTO_ALPHA, AUTO_BETA = 0.1, 0.05

# Where noise in thousands of columns leaves no feature in the model at "auto", beta is
# divided by this. A model of more than this share of the features selects nothing.
REDUCTION, LARGEST_SHARE = 10, 0.5

# The weights of a path, where none are given, as multiples of these.
AROUND_AUTO = (0.25, 0.5, 1.0, 2.0, 4.0)

# Steps for P in an iteration, and the share of the tolerance that a step has to gain.
MAX_PARTITION_STEPS, PARTITION_TOLERANCE = 20, 0.03

# The same for P alone.
MAX_CLUSTERING_STEPS, CLUSTERING_TOLERANCE = 50, 1e-5

# Iterations from one state that is kept to the next.
ITERATIONS_PER_STATE = 5

# What is kept of a fit: of the alternation, of W and of P.
STATE_NAMES = (
    *("step_size", "history", "beta"),
    *("S", "W", "lipschitz"),
    *("P", *STATE_ARRAYS),
)

# W is finished to this duality gap, relative to |G|^2, once G has settled; the rows
# that keep it open are then minimised over by themselves.
FINAL_GAP, FINAL_COORDINATE_STEPS = 3e-4, 20

# Correlations below this share of |X| are rounding.
ROUNDING = 1e-10


class SCFSProblem:
    """Eq. 8 for one X, in units where ``|X|^2 = c`` and in the form that is cheapest.

    Parameters
    ----------
    data : DataMatrix
    summary : ColumnSummary
        Of the columns of the data.
    standardize : {"auto", "features", "samples"} or bool
    n_clusters : int
    intercept : bool
        Whether X and G are centred in the second term.

    Attributes
    ----------
    X, regressors : DataMatrix
        X of the first term, which is centred, and of the second.
    K : ndarray of shape (n, n) or None
        ``X X'``, where that saves work.
    gram : ndarray of shape (p, p) or None
        ``X'X`` of the second term, where it serves every working set.
    unit : float
        The factor by which the prepared X was multiplied.
    kind : {"features", "samples", "none"}
        The preparation.
    """

    def __init__(
        self,
        data: DataMatrix,
        summary: ColumnSummary,
        standardize: bool | str,
        n_clusters: int,
        intercept: bool,
    ) -> None:
        self.kind: Kind = preparation_kind(standardize, data, summary)
        prepared = prepare(data, summary, self.kind, float(n_clusters))
        self.X, self.unit = prepared.centred, prepared.unit
        self.n_clusters, self.intercept = n_clusters, intercept
        self.regressors = prepared.centred if intercept else prepared.uncentred
        self.K = kernel_matrix(self.X)
        self.gram: Float | None = None
        if self.K is None and makes_gram(self.X.shape):
            gram = self.regressors.feature_gram()
            self.gram = gram.astype(self.X.precision, copy=False)

    def weights(
        self, alpha: float | str, beta: float | str
    ) -> tuple[float, float | None]:
        """Return weights in the units of the problem; an "auto" beta is not known yet.

        One factor at a time: powers of a very small unit would vanish.
        """
        unit = self.unit
        own_alpha = AUTO_ALPHA if alpha == "auto" else float(alpha) * unit * unit
        own_beta = None if beta == "auto" else float(beta) * unit * unit * unit
        return own_alpha, own_beta

    def begin(
        self,
        init: Any,
        random: np.random.RandomState,
        state: State | None = None,
        *,
        auto_beta: bool = False,
    ) -> "Alternation":
        """Return the alternation at a start, or at a state that was kept."""
        if state is not None:
            return Alternation(self, self.X.beside(state["P"]), state)
        gram = self.gram if self.intercept else None
        P = start(init, self.X, self.n_clusters, random, K=self.K, gram=gram)
        alternation = Alternation(self, P)
        if auto_beta and isinstance(init, str) and init == "random":
            # Random memberships are nearly the same for all samples: without
            # clusters there would be nothing to measure beta against.
            alternation.cluster_only()
        return alternation


class Fit(NamedTuple):
    """What a fit ends with, in the units of the problem.

    ``vanished`` says that W = 0, and ``largest_beta`` then from which beta on.
    """

    memberships: Any
    coef: Float
    kkt_ratios: Float
    history: list[float]
    converged: bool
    beta: float
    largest_beta: float
    vanished: bool


class Alternation:
    """G and W for one problem, fitted for one pair of weights after another.

    Parameters
    ----------
    problem : SCFSProblem
    P : Beside
        Memberships to start from, beside the rows of X; they are used up.
    state : dict of ndarray, optional
        What ``fit`` has kept of a fit of the same problem, to go on from there.
    """

    def __init__(
        self, problem: SCFSProblem, P: Beside, state: State | None = None
    ) -> None:
        self.problem = problem
        X, K, offset = problem.X, problem.K, None
        if not problem.intercept:
            offset = (X.shift - problem.regressors.shift) * X.scale
        if K is not None:
            # What every step multiplies by has the digits of X.
            K = K.astype(X.precision, copy=False)
        self.partition = SoftPartition(X, P, K, offset)
        self.lasso = GroupLasso(
            problem.regressors, problem.n_clusters, gram=problem.gram
        )
        self.state = state
        if state is not None:
            self.partition.restore(state)
        self._set_target()
        if state is not None:
            self.lasso.restore(state)

    def _set_target(self) -> None:
        """Make G the target of the group lasso: itself, or X'G where that is enough."""
        P = self.partition
        root = np.sqrt(P.q)
        squared = float(np.sum(P.PtP.diagonal() / P.q)) - self.problem.intercept
        if self.problem.K is None:
            self.lasso.set_target(squared, XtY=P.shifted(P.BtP, P.q) / root)
        else:
            G = P.BtP / root
            mean = G.mean(axis=0) if self.problem.intercept else 0.0
            self.lasso.set_target(squared, Y=G - mean)

    def auto_beta(self, alpha: float) -> float:
        """Return a share of the beta from which on W = 0, for the G of the start."""
        lam = float(self.lasso.kkt_ratios(1.0).max())
        n_clusters = self.problem.n_clusters
        size = math.sqrt(n_clusters)
        return AUTO_BETA * alpha * checked_penalty(lam, n_clusters, size)

    def path_weights(
        self, alphas: list[float] | None, betas: list[float] | None
    ) -> tuple[list[float], list[float]]:
        """Return weights as given, or some around those of "auto", in units of X."""
        unit = self.problem.unit
        if alphas is None:
            alphas = [each * AUTO_ALPHA / unit / unit for each in AROUND_AUTO]
        if betas is None:
            usual = self.auto_beta(AUTO_ALPHA) / unit / unit / unit
            betas = [each * usual for each in AROUND_AUTO]
        return alphas, betas

    def cluster_only(self) -> None:
        """Lower ``|X - G G'X|^2`` alone."""
        self.partition.descend(
            0.0,
            step_size=1.0,
            max_steps=MAX_CLUSTERING_STEPS,
            tol=CLUSTERING_TOLERANCE * self.problem.n_clusters,
        )
        self._set_target()

    def objective(self, alpha: float, beta: float) -> float:
        """Return Eq. 8."""
        partition, lasso = self.partition, self.lasso
        first = self.problem.n_clusters + partition.self_expression()
        penalty = beta * float(row_norms(lasso.W).sum())
        return max(first, 0.0) + alpha * lasso.error() + penalty

    def _hat(self, ridge: Ridge) -> Callable[[Float], Float]:
        """Return what takes ``B'P`` to the V with ``H P = B V``, H the hat matrix."""
        lasso = self.lasso
        if self.problem.K is not None:
            # B is the identity matrix.
            if isinstance(ridge, SampleRidge):
                return lambda P: P - ridge.residual(P)
            Z = lasso.Z
            assert Z is not None
            return lambda P: Z.dot(ridge.inverse(Z.transpose_dot(P)))

        def hat(XtP: Float) -> Float:
            V = np.zeros_like(XtP)
            V[lasso.S] = ridge.inverse(XtP[lasso.S])
            return V

        return hat

    def fit(
        self,
        alpha: float,
        beta: float,
        max_iter: int,
        tol: float,
        report: Report | None = None,
        keep: Keep | None = None,
    ) -> Fit:
        """Alternate until the objective falls by less than tol, relative to itself.

        Parameters
        ----------
        alpha, beta : float
        max_iter : int
        tol : float
        report : callable, optional
            Called with the iteration and the objective; returning True stops the fit.
        keep : callable, optional
            Called every few iterations with what is needed to go on from there.
        """
        partition, lasso, lam = self.partition, self.lasso, beta / alpha
        n_samples, total = self.problem.X.shape[0], self.problem.n_clusters
        step_size, history, converged = 1.0, list[float](), False
        if self.state is not None:
            step_size = float(self.state["step_size"])
            history, self.state = self.state["history"].tolist(), None
        for iteration in range(len(history), max_iter):
            # The first features that enter show which others have to.
            for _ in range(1 if len(lasso.S) else 2):
                lasso.admit(lasso.kkt_ratios(lam))
                lasso.descend(lam, 1, FEW_CG_STEPS)
            # One factorisation serves G, which W follows, and the W there (Theorem 2).
            wide = self.problem.K is not None and 2 * len(lasso.S) > n_samples
            ridge = lasso.ridge(lam, through_samples=wide)
            hat = V = None
            if ridge is not None:
                hat = self._hat(ridge)
            elif lasso.W.any():
                V = lasso.coef() if self.problem.K is None else lasso.fitted()
            step_size = partition.descend(
                alpha,
                V,
                hat,
                step_size=step_size,
                max_steps=MAX_PARTITION_STEPS,
                tol=PARTITION_TOLERANCE * tol * total,
            )
            self._set_target()
            if ridge is not None:
                lasso.place(ridge.inverse(lasso.ZtY))
            history.append(self.objective(alpha, beta))
            fell = history[-2] - history[-1] if iteration else np.inf
            converged = fell < tol * history[-1]
            stopped = report is not None and report(iteration, history[-1])
            if stopped or converged:
                break
            if keep is not None and (iteration + 1) % ITERATIONS_PER_STATE == 0:
                reached = {
                    "step_size": np.array(step_size),
                    "history": np.array(history),
                    "beta": np.array(beta),
                }
                keep(reached | lasso.state() | partition.state())
        solution = lasso.solve(
            lam, tol=FINAL_GAP, n_coordinate_steps=FINAL_COORDINATE_STEPS
        )
        history[-1] = min(history[-1], self.objective(alpha, beta))
        return Fit(
            self.problem.X.as_array(partition.rows),
            solution.coef,
            solution.kkt_ratios,
            history,
            converged,
            beta,
            largest_beta=beta * float(solution.kkt_ratios.max()),
            vanished=not solution.coef.any(),
        )

    def fit_lowered(
        self, alpha: float, beta: float, max_iter: int, tol: float, report: Report
    ) -> Fit:
        """Fit at a tenth of a beta that left W = 0, for tables of weak clusters.

        If W = 0 again, or most features would be in the model, there are none: what is
        returned is W = 0 at the start, whose KKT ratios are correlations with G.
        """
        ratios = self.lasso.kkt_ratios(beta / alpha)
        nothing = Fit(
            self.problem.X.as_array(self.partition.rows).copy(),
            self.lasso.coef(),
            ratios,
            [self.objective(alpha, beta)],
            converged=True,
            beta=beta,
            largest_beta=beta * float(ratios.max()),
            vanished=True,
        )
        self.lasso.max_rows = int(LARGEST_SHARE * self.problem.X.shape[1])
        try:
            fit = self.fit(alpha, beta / REDUCTION, max_iter, tol, report)
        except WorkingSetTooLarge:
            return nothing
        return nothing if fit.vanished else fit


def checked_penalty(lam: float, n_clusters: int, size: float) -> float:
    """Return the penalty from which on W = 0, or say that any penalty does that.

    ``size`` is ``|X - mean|``, next to which rounding is told from correlation.
    """
    if lam <= ROUNDING * size:
        raise ValueError(
            "No feature is related to the clusters that the fit starts from, so that "
            f'beta="auto" has no scale (n_clusters={n_clusters}); use more '
            "clusters or an init whose clusters differ."
        )
    return lam


def checked_weights(weights: Iterable[float] | None, name: str) -> list[float] | None:
    """Return the weights of a path as floats, or say which of them is none."""
    if weights is None:
        return None
    found = [float(weight) for weight in weights]
    if not found or not all(0 < weight < math.inf for weight in found):
        raise ValueError(f"{name}={found} must hold numbers above 0; give some.")
    return found


def by_penalty(
    alphas: Iterable[float], betas: Iterable[float]
) -> Iterator[tuple[float, float]]:
    """Yield all pairs from the highest ``lam = beta / alpha`` to the lowest.

    But for its target, W depends on the weights through lam only: pairs of one lam
    have nearly the same features, and a path on which lam never rises has to let few
    of them go. Among pairs of one lam, alphas go up and down in turns.

    Examples
    --------
    >>> list(by_penalty([1, 2], [1, 2]))
    [(1, 2), (1, 1), (2, 2), (2, 1)]
    """
    pairs = defaultdict(list)
    for alpha, beta in product(sorted(alphas), betas):
        # Rounding must not tell penalties apart.
        pairs[float(f"{beta / alpha:.9e}")].append((alpha, beta))
    for place, lam in enumerate(sorted(pairs, reverse=True)):
        yield from pairs[lam] if place % 2 else reversed(pairs[lam])
