"""SCFS with its exact constraint: alternate between a soft partition and a group lasso.

Minimises Eq. (3) of the paper,

    |X - G G'X|^2 + alpha |X W - G|^2 + beta |W|_21,   G >= 0,  G G'1 = 1,

over W and ``G = P diag(P'1)^(-1/2)``, where P is a soft partition (Theorem 1 of
docs/mathematics.md). With an intercept, X and G are centred in the second term; as
``|G - mean(G)|^2 = |G|^2 - 1`` for all such G, this changes the step for P only by a
constant. The objective never increases (Theorem 3).

X is centred and scaled to ``|X|^2 = c``, so that multiplying X by k changes weights and
coefficients only by powers of k. Numbers at line ends are equations of the paper as
printed, or those of docs/mathematics.md, which begin with E.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ufselect.matrix.base import AlignedRows, DataMatrix, Float
from ufselect.solvers.group_lasso import (
    INEXACT_CG_STEPS,
    GroupLasso,
    WorkingSetTooLarge,
    makes_gram,
)
from ufselect.solvers.iterations import Callback
from ufselect.solvers.preparation import Kind, preparation_kind, prepare
from ufselect.solvers.ridge import Ridge, SampleRidge, row_norms
from ufselect.solvers.soft_partition import SoftPartition
from ufselect.solvers.starts import kernel_matrix, start

# Default alpha for X scaled to |X|^2 = c; default beta as a share of the smallest beta
# at which W = 0.
AUTO_ALPHA, AUTO_BETA = 0.1, 0.05

# If W = 0 at the default beta, as with thousands of noise features, beta is divided by
# REDUCTION. A model with more than MAX_SHARE of the features is rejected.
REDUCTION, MAX_SHARE = 10, 0.5

# Default weights of a path, as multiples of the "auto" weights.
AROUND_AUTO = (0.25, 0.5, 1.0, 2.0, 4.0)

# Steps for P in an iteration, and the share of the tolerance below which they stop.
MAX_PARTITION_STEPS, PARTITION_TOLERANCE = 20, 0.03

# The same for clustering alone, without W.
MAX_CLUSTERING_STEPS, CLUSTERING_TOLERANCE = 50, 1e-5

# Duality gap of the last solve for W, relative to |G|^2, and its coordinate steps for
# the rows with the largest KKT ratios.
FINAL_GAP, FINAL_COORDINATE_STEPS = 3e-4, 20

# Correlations below this share of |X| count as rounding errors.
ROUNDING = 1e-10


class SCFSProblem:
    """Eq. (3) for one X, scaled to ``|X|^2 = c``, with the cheapest matrices for it.

    Parameters
    ----------
    data : DataMatrix
    standardize : {"auto", "features", "samples"} or bool
    n_clusters : int
    intercept : bool
        Whether X and G are centred in the second term.

    Attributes
    ----------
    X, regressors : DataMatrix
        X of the first term, which is centred, and of the second.
    K : ndarray of shape (n, n) or None
        Kernel matrix ``X X'``, if it saves work.
    gram : ndarray of shape (p, p) or None
        Gram matrix ``X'X`` of the second term, if all working sets use it.
    offset : ndarray of shape (p,) or None
        Means of the regressors, if they are not centred.
    unit : float
        The factor by which the prepared X is multiplied.
    kind : {"features", "samples", "none"}
        The preparation.
    """

    def __init__(
        self,
        data: DataMatrix,
        standardize: bool | str,
        n_clusters: int,
        intercept: bool,
    ) -> None:
        self.kind: Kind = preparation_kind(standardize, data)
        prepared = prepare(data, self.kind, float(n_clusters))
        self.X, self.unit = prepared.centred, prepared.unit
        self.n_clusters, self.intercept = n_clusters, intercept
        self.regressors = prepared.centred if intercept else prepared.uncentred
        self.offset = None if intercept else prepared.mean
        self.K = kernel_matrix(self.X)
        self.gram: Float | None = None
        if self.K is None and makes_gram(self.X.shape):
            gram = self.regressors.feature_gram()
            self.gram = gram.astype(self.X.precision, copy=False)

    def weights(
        self, alpha: float | str, beta: float | str
    ) -> tuple[float, float | None]:
        """Return weights for the scaled X; None for beta="auto", not yet known."""
        # One factor at a time: powers of a very small unit would underflow.
        unit = self.unit
        own_alpha = AUTO_ALPHA if alpha == "auto" else float(alpha) * unit * unit
        own_beta = None if beta == "auto" else float(beta) * unit * unit * unit
        return own_alpha, own_beta

    def begin(
        self, init: Any, random: np.random.RandomState, *, auto_beta: bool = False
    ) -> "Alternation":
        """Return the alternation at a starting point."""
        gram = self.gram if self.intercept else None
        P = start(init, self.X, self.n_clusters, random, K=self.K, gram=gram)
        alternation = Alternation(self, P)
        if auto_beta and isinstance(init, str) and init == "random":
            # Random memberships hardly correlate with any feature, which would make
            # the scale of beta arbitrary: cluster first.
            alternation.cluster_only()
        return alternation


class Fit(NamedTuple):
    """The result of a fit, for the scaled X.

    ``vanished`` means W = 0; ``largest_beta`` is then the smallest beta at which it is.
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
    """Alternating minimisation over G and W, for a sequence of weights.

    Parameters
    ----------
    problem : SCFSProblem
    P : AlignedRows
        Initial memberships, aligned with the rows of X; overwritten.
    """

    def __init__(self, problem: SCFSProblem, P: AlignedRows) -> None:
        self.problem = problem
        X, K = problem.X, problem.K
        if K is not None:
            # Products in every step use the precision of X.
            K = K.astype(X.precision, copy=False)
        self.partition = SoftPartition(X, P, K, problem.offset)
        self.lasso = GroupLasso(
            problem.regressors, problem.n_clusters, gram=problem.gram
        )
        self._set_target()

    def fit(
        self,
        alpha: float,
        beta: float,
        max_iter: int,
        tol: float,
        callback: Callback | None = None,
    ) -> Fit:
        """Alternate until the relative decrease of the objective is below tol.

        Parameters
        ----------
        alpha, beta : float
        max_iter : int
        tol : float
        callback : callable, optional
            Called with the iteration and the objective; returning True stops the fit.
        """
        partition, lasso, lam = self.partition, self.lasso, beta / alpha
        X, by_samples = self.problem.X, self.problem.K is not None
        step_size, history, converged = 1.0, list[float](), False
        for iteration in range(max_iter):
            # W for the current G, a group lasso: admit features, and take one step.
            # From an empty working set, a second round adds the features that violate
            # optimality once the first have entered.
            for _ in range(1 if len(lasso.S) else 2):
                lasso.admit(lasso.kkt_ratios(lam))  # (E5)
                lasso.descend(lam, 1, INEXACT_CG_STEPS)  # (E7)
            # G, the problem of Eq. (8), over soft partitions. W is minimised out by the
            # ridge regression that majorises the group lasso at W. One factorisation
            # serves this step and the new W (Theorem 2).
            wide = by_samples and 2 * len(lasso.S) > X.shape[0]
            ridge = lasso.ridge(lam, through_samples=wide)  # D of (7), (E3)
            hat = V = None
            if ridge is not None:
                hat = partial(self._hat, ridge)  # T = H G (E4)
            elif lasso.W.any():
                V = lasso.fitted() if by_samples else lasso.coef()  # T = X W (E1)
            step_size = partition.descend(
                alpha,
                V,
                hat,
                step_size=step_size,
                max_steps=MAX_PARTITION_STEPS,
                tol=PARTITION_TOLERANCE * tol * self.problem.n_clusters,
            )
            self._set_target()
            if ridge is not None:
                lasso.place(ridge.inverse(lasso.ZtY))  # (6)
            history.append(self.objective(alpha, beta))  # (3)
            fell = history[-2] - history[-1] if iteration else np.inf
            converged = fell < tol * history[-1]
            stopped = callback is not None and callback(iteration, history[-1])
            if stopped or converged:
                break
        solution = lasso.solve(
            lam, tol=FINAL_GAP, n_coordinate_steps=FINAL_COORDINATE_STEPS
        )
        history[-1] = min(history[-1], self.objective(alpha, beta))
        return Fit(
            X.as_array(partition.rows),
            solution.coef,
            solution.kkt_ratios,
            history,
            converged,
            beta,
            largest_beta=beta * float(solution.kkt_ratios.max()),
            vanished=not solution.coef.any(),
        )

    def objective(self, alpha: float, beta: float) -> float:
        """Return Eq. (3)."""
        first = self.problem.n_clusters + self.partition.self_expression()
        penalty = beta * float(row_norms(self.lasso.W).sum())
        return max(first, 0.0) + alpha * self.lasso.error() + penalty

    def _set_target(self) -> None:
        """Set G as the target of the group lasso, or X'G if that is sufficient."""
        P = self.partition
        root = np.sqrt(P.q)
        squared = float(np.sum(P.PtP.diagonal() / P.q)) - self.problem.intercept
        if self.problem.K is None:
            self.lasso.set_target(squared, XtY=P.shifted(P.BtP, P.q) / root)
        else:
            G = P.BtP / root
            mean = G.mean(axis=0) if self.problem.intercept else 0.0
            self.lasso.set_target(squared, Y=G - mean)

    def _hat(self, ridge: Ridge, BtP: Float) -> Float:
        """Return V with ``H P = B V`` from ``B'P``, for the hat matrix H (E4)."""
        lasso = self.lasso
        if self.problem.K is None:
            V = np.zeros_like(BtP)
            V[lasso.S] = ridge.inverse(BtP[lasso.S])
            return V
        # B is the identity matrix.
        if isinstance(ridge, SampleRidge):
            return BtP - ridge.residual(BtP)
        assert lasso.Z is not None
        return lasso.Z.dot(ridge.inverse(lasso.Z.transpose_dot(BtP)))

    def cluster_only(self) -> None:
        """Decrease ``|X - G G'X|^2`` without the other terms."""
        self.partition.descend(
            0.0,
            step_size=1.0,
            max_steps=MAX_CLUSTERING_STEPS,
            tol=CLUSTERING_TOLERANCE * self.problem.n_clusters,
        )
        self._set_target()

    def auto_beta(self, alpha: float) -> float:
        """Return a share of the smallest beta at which W = 0, for the initial G."""
        lam = float(self.lasso.kkt_ratios(1.0).max())  # (E6)
        n_clusters = self.problem.n_clusters
        size = math.sqrt(n_clusters)
        return AUTO_BETA * alpha * checked_penalty(lam, n_clusters, size)

    def fit_lowered(
        self, alpha: float, beta: float, max_iter: int, tol: float, callback: Callback
    ) -> Fit:
        """Fit with a tenth of a beta that gave W = 0, for data with weak clusters.

        If W = 0 again, or if most features would enter the model, return W = 0 with the
        initial G; its KKT ratios are correlations with G.
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
        self.lasso.max_rows = int(MAX_SHARE * self.problem.X.shape[1])
        try:
            fit = self.fit(alpha, beta / REDUCTION, max_iter, tol, callback)
        except WorkingSetTooLarge:
            return nothing
        return nothing if fit.vanished else fit


def checked_penalty(lam: float, n_clusters: int, size: float) -> float:
    """Return lam; raise ValueError if it is zero up to rounding, as then W = 0.

    ``lam`` is the smallest penalty at which W = 0, and ``size`` is ``|X - mean|``.
    """
    if lam <= ROUNDING * size:
        raise ValueError(
            'No feature correlates with the initial clusters, so beta="auto" cannot '
            f"be computed (n_clusters={n_clusters}); use more clusters or another init."
        )
    return lam


def path_weights(
    alternation: Alternation,
    alphas: Iterable[float] | None,
    betas: Iterable[float] | None,
) -> Iterator[tuple[float, float]]:
    """Yield pairs of weights, in units of the data, by falling ``lam = beta / alpha``.

    None stands for multiples of the "auto" weights. For a given G, W depends on the
    weights only through lam. Pairs with the same lam have nearly the same features, and
    along a decreasing lam few features leave the model. For one lam the alphas
    decrease, for the next they increase, and so on.
    """
    unit = alternation.problem.unit
    if alphas is None:
        alphas = [each * AUTO_ALPHA / unit / unit for each in AROUND_AUTO]
    if betas is None:
        usual = alternation.auto_beta(AUTO_ALPHA) / unit / unit / unit
        betas = [each * usual for each in AROUND_AUTO]
    pairs = defaultdict(list)
    for alpha, beta in product(sorted(alphas), betas):
        # Penalties that differ only by rounding are equal.
        pairs[float(f"{beta / alpha:.9e}")].append((alpha, beta))
    for place, lam in enumerate(sorted(pairs, reverse=True)):
        yield from pairs[lam] if place % 2 else reversed(pairs[lam])
