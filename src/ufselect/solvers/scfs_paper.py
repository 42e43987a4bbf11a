"""SCFS as published: Algorithm 1, with the constraint as a penalty gamma.

The updates are those of the paper; only their computation differs. The n x n matrix of
ones has rank one and is never formed, the p x p inverse is replaced by a Cholesky
factorisation of size min(n, p), and zero rows of W are removed.
"""

from typing import Any

import numpy as np

from ufselect.matrix.base import DataMatrix, Float
from ufselect.solvers.group_lasso import largest_penalty
from ufselect.solvers.iterations import Callback
from ufselect.solvers.preparation import Kind, non_negative, preparation_kind
from ufselect.solvers.ridge import (
    ReweightedRidge,
    column_lengths,
    has_vanished,
    row_norms,
)
from ufselect.solvers.scfs import (
    AUTO_ALPHA,
    AUTO_BETA,
    Fit,
    checked_penalty,
)
from ufselect.solvers.soft_partition import indicator
from ufselect.solvers.starts import kernel_matrix, start

# The epsilon of the paper, which keeps the weight of a zero row finite. Rows of W with
# a norm below it no longer change the fit.
EPSILON = 2e-16


def multiplicative_step(
    G: Float, XXtG: Float, XW: Float, alpha: float, weight: float
) -> Float:
    """Return G after the update of Eq. (11) of the paper, with ``weight = n gamma``."""
    M = XXtG + weight * G.sum(axis=0)
    numerator = np.maximum(2 * M + alpha * XW, 0.0)
    denominator = M @ (G.T @ G)
    denominator += G @ (G.T @ M)
    denominator += alpha * G
    ratio = np.zeros_like(numerator)
    np.divide(numerator, denominator, out=ratio, where=denominator > 0)
    return G * ratio


def fit_paper(
    G: Float,
    X: DataMatrix,
    K: Float | None = None,
    *,
    alpha: float,
    beta: float,
    gamma: float,
    max_iter: int,
    tol: float,
    callback: Callback | None = None,
) -> tuple[Float, Float, list[float], bool]:
    """Run Algorithm 1 on a non-negative X from the given G.

    Parameters
    ----------
    G : ndarray of shape (n, c)
    X : DataMatrix of shape (n, p)
    K : ndarray of shape (n, n), optional
        ``X X'``, if already computed.
    alpha, beta, gamma : float
    max_iter : int
    tol : float
        Stop when the relative change of the objective is smaller.
    callback : callable, optional
        Called with the iteration and the objective; returning True stops the loop.

    Returns
    -------
    G, W : ndarray of shape (n, c), (p, c)
    history : list of float
        The objective, Eq. (13), after each iteration.
    converged : bool
    """
    weight, squared = gamma * X.shape[0], float(np.sum(column_lengths(X) ** 2))
    # On the nonzero rows of W.
    ridge, active = ReweightedRidge(X), np.arange(X.shape[1])
    W, inverse_D = np.zeros((X.shape[1], G.shape[1])), np.ones(X.shape[1])
    XXtG = X.dot(X.transpose_dot(G)) if K is None else K @ G
    history: list[float] = []
    for iteration in range(max_iter):
        W[active], residual = ridge.solve(G, alpha / beta * inverse_D)  # (6)
        XW = G - residual
        G = multiplicative_step(G, XXtG, XW, alpha, weight)  # (11)
        XXtG = X.dot(X.transpose_dot(G)) if K is None else K @ G
        norms = row_norms(W[active])
        inverse_D = 2 * norms + EPSILON  # (7)
        Q, C = G.T @ XXtG, G.T @ G
        value = (
            max(float(squared - 2 * np.trace(Q) + np.sum(Q * C)), 0.0)
            + alpha * float(np.sum((XW - G) ** 2))
            + beta * float(norms.sum())
            + weight * float(np.sum((G @ G.sum(axis=0) - 1) ** 2))
        )
        history.append(value)  # (13)
        # Removing columns costs a copy: wait until half of them are zero.
        alive = np.flatnonzero(norms > EPSILON)
        if 0 < 2 * len(alive) <= len(active):
            active, inverse_D = active[alive], inverse_D[alive]
            ridge = ridge.only(alive)
        converged = iteration > 0 and abs(value - history[-2]) < tol * value
        stopped = callback is not None and callback(iteration, value)
        if stopped or converged:
            break
    return G, W, history, converged


def normalised_memberships(G: Float, start: Float) -> Float:
    """Return the soft partition that is nearest to a possibly infeasible G.

    A sample whose entries are all zero keeps its initial memberships.
    """
    P = G * G.sum(axis=0)
    sums = P.sum(axis=1, keepdims=True)
    return np.where(sums > 0, P / np.where(sums > 0, sums, 1.0), start)


class PaperProblem:
    """Eq. (3) for a non-negative X, for the published algorithm.

    Parameters
    ----------
    data : DataMatrix
    standardize : {"auto", "features", "samples"} or bool
        "auto" means no scaling.
    n_clusters : int
    gamma : float
        Weight of the constraint.
    """

    unit = 1.0

    def __init__(
        self,
        data: DataMatrix,
        standardize: bool | str,
        n_clusters: int,
        gamma: float,
    ) -> None:
        if data.scattered:
            raise ValueError(
                'solver="paper" does not support Dask; use solver="exact".'
            )
        self.kind: Kind = "none"
        if standardize != "auto":
            self.kind = preparation_kind(standardize, data)
        self.X = non_negative(data, self.kind)
        self.K, deviation = kernel_matrix(self.X), self.X.summary().deviation
        # |X - mean|.
        self.size = float(np.sqrt(data.shape[0] * np.sum(deviation**2)))
        self.n_clusters, self.gamma = n_clusters, gamma

    def weights(
        self, alpha: float | str, beta: float | str
    ) -> tuple[float, float | None]:
        """Return weights as numbers; None for beta="auto", not yet known."""
        auto = AUTO_ALPHA * self.size**2 / self.n_clusters
        own_alpha = auto if alpha == "auto" else float(alpha)
        return own_alpha, None if beta == "auto" else float(beta)

    def begin(
        self,
        init: Any,
        random: np.random.RandomState,
        *,
        auto_beta: bool = False,
    ) -> "PaperAlgorithm":
        """Return Algorithm 1 at a starting point from one run of k-means on X."""
        X, c, K = self.X, self.n_clusters, self.K
        P = start(init, X, c, random, K=K, components=False)
        return PaperAlgorithm(self, X.gather(P))


class PaperAlgorithm:
    """Algorithm 1 from one start."""

    def __init__(self, problem: PaperProblem, P: Float) -> None:
        self.problem, self.P = problem, P

    def auto_beta(self, alpha: float) -> float:
        """Return a share of the smallest beta at which W = 0, for the initial G."""
        problem = self.problem
        lam = largest_penalty(problem.X, indicator(self.P))
        lam = checked_penalty(lam, problem.n_clusters, problem.size)
        beta = AUTO_BETA * alpha * lam
        if not 0 < beta < np.inf:
            raise ValueError(
                f'beta="auto" is {beta:g} for X of norm {problem.size:.3g}, whose '
                "third power is outside the range of floating point; rescale X, or "
                'use solver="exact".'
            )
        return beta

    def fit(
        self,
        alpha: float,
        beta: float,
        max_iter: int,
        tol: float,
        callback: Callback | None = None,
    ) -> Fit:
        """Run Algorithm 1."""
        X = self.problem.X
        G, W, history, converged = fit_paper(
            indicator(self.P),
            X,
            self.problem.K,
            alpha=alpha,
            beta=beta,
            gamma=self.problem.gamma,
            max_iter=max_iter,
            tol=tol,
            callback=callback,
        )
        return Fit(
            normalised_memberships(G, self.P),
            W,
            np.zeros(len(W)),
            history,
            converged,
            beta,
            largest_beta=alpha * largest_penalty(X, G),
            # Reweighting never makes W exactly zero.
            vanished=has_vanished(W, column_lengths(X)),
        )
