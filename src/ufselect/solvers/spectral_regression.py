"""JELSR and NDFS: an embedding of the samples and its row-sparse regression, in turns.

Both learn a matrix with one row per sample that is smooth along a graph, together with
the W that predicts it from few features; the l2,1 norm is reweighted, with
``D = diag(1 / (2 |w_i|))``. JELSR minimises

    (1)  tr(Y'L Y) + beta (|X W - Y|^2 + alpha |W|_21),   Y'Y = I

where, with the hat matrix ``H = X (X'X + alpha D)^-1 X'``,

    (2)  Y = eigenvectors of the smallest eigenvalues of L + beta (I - H)
    (3)  W = (X'X + alpha D)^-1 X'Y

and NDFS minimises, over F >= 0,

    (4)  tr(F'Ln F) + alpha (|X W - F|^2 + beta |W|_21) + gamma/2 |F'F - I|^2
    (5)  W = (X'X + beta D)^-1 X'F
    (6)  F <- F (gamma F) / (M F + gamma F F'F),   M F = Ln F + alpha (F - X W)

entry by entry, after which the columns of F are scaled to unit length. M is n x n and
never formed. Equation numbers are this file's own.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from sklearn.cluster import KMeans

from ufselect.matrix.base import DataMatrix, Float, Index
from ufselect.solvers.iterations import Iterations, Report
from ufselect.solvers.ridge import (
    ReweightedRidge,
    inverse_D_of,
    row_norms,
    smoothed_inverse_D,
)
from ufselect.solvers.spectral import smoothest_vectors, unit_columns
from ufselect.solvers.starts import N_RUNS, crisp_memberships, with_every_cluster

# Keeps quotients of zeros finite, as the public code does.
EPSILON = 2.2e-16

# A multiplicative step that still raises the objective at this exponent is dropped.
SMALLEST_EXPONENT = 1 / 64

# Added to every entry of F at the start: a multiplicative rule never moves a zero.
OFFSET = 0.2


class JelsrFit(NamedTuple):
    """Y, W and the objective (1) after each iteration."""

    embedding: Float
    coef: Float
    history: list[float]
    converged: bool


class NdfsFit(NamedTuple):
    """F, W and the objective (4) after each iteration."""

    indicators: Float
    coef: Float
    history: list[float]
    converged: bool


def fit_jelsr(
    matrix: DataMatrix,
    structure: sp.csr_array,
    n_components: int,
    *,
    alpha: float,
    beta: float,
    ridge_weights: Float,
    drop_constant: bool,
    max_iter: int,
    tol: float,
    report: Report | None = None,
    wide: bool | None = None,
) -> JelsrFit:
    """Minimise (1). Neither of the two steps raises it.

    Parameters
    ----------
    matrix : DataMatrix
    structure : sparse array of shape (n, n)
        L, positive semi-definite.
    n_components : int
        Columns of Y.
    alpha, beta : float
    ridge_weights : ndarray of shape (p,)
        The diagonal of D that the reweighting starts from; ones is the published start.
    drop_constant : bool
        Keep the vector of ones out of Y. It is an eigenvector where X is centred and L
        has rows of sum zero.
    max_iter, tol, report
        See ``Iterations``.
    wide : bool, optional
        Go through samples; by default where p > n.
    """
    ridge = ReweightedRidge(matrix, wide=wide)
    dense = structure.toarray()
    inverse_D = 1 / ridge_weights
    loop = Iterations(max_iter, tol, report)
    for _ in loop:
        residual_matrix = ridge.residual_matrix(inverse_D / alpha)
        Y = lowest_vectors(  # (2)
            dense + beta * residual_matrix, n_components, drop_constant=drop_constant
        )
        W, residual = ridge.solve_with(  # (3)
            residual_matrix, Y, inverse_D / alpha
        )
        inverse_D = inverse_D_of(W)
        loop.record(  # (1)
            float(np.vdot(Y, structure @ Y))
            + beta * float(np.vdot(residual, residual))
            + beta * alpha * float(row_norms(W).sum())
        )
    return JelsrFit(Y, W, loop.history, loop.converged)


def lowest_vectors(matrix: Float, count: int, *, drop_constant: bool) -> Float:
    """Return eigenvectors of the smallest eigenvalues of a symmetric matrix.

    The constant vector is dropped by lifting its eigenvalue above all the others.
    The matrix is overwritten.
    """
    if drop_constant:
        matrix += 2 * np.linalg.norm(matrix, 1) / len(matrix)
    vectors: Float = eigh(
        matrix, subset_by_index=[0, count - 1], overwrite_a=True, check_finite=False
    )[1]
    return vectors


def fit_ndfs(
    matrix: DataMatrix,
    normalised: sp.csr_array,
    indicators: Float,
    *,
    alpha: float,
    beta: float,
    gamma: float,
    ridge_weights: Float,
    exponent: float = 1.0,
    damped: bool = True,
    max_iter: int,
    tol: float,
    report: Report | None = None,
    wide: bool | None = None,
) -> NdfsFit:
    """Lower (4) by steps (5) and (6).

    Parameters
    ----------
    matrix : DataMatrix
    normalised : sparse array of shape (n, n)
        Ln, the normalised Laplacian.
    indicators : ndarray of shape (n, c)
        F to start from; positive, since a zero stays zero.
    alpha, beta, gamma : float
    ridge_weights : ndarray of shape (p,)
        The diagonal of D that the reweighting starts from; ones is the published start.
    exponent : float
        Of the damped multiplicative step, before it is halved.
    damped : bool
        Halve the exponent while the step would raise the objective, and move negative
        parts of M F to the numerator, so that F stays non-negative. False is the
        published rule, with exponent one.
    max_iter, tol, report
        See ``Iterations``.
    wide : bool, optional
        Go through samples; by default where p > n.
    """

    def objective(F: Float, fitted: Float) -> float:
        """Return (4) without its term in W alone, where fitted is X W."""
        excess = F.T @ F - np.eye(F.shape[1])
        error = fitted - F
        return (
            float(np.vdot(F, normalised @ F))
            + gamma / 2 * float(np.vdot(excess, excess))
            + alpha * float(np.vdot(error, error))
        )

    ridge = ReweightedRidge(matrix, wide=wide)
    F, inverse_D = indicators, 1 / ridge_weights
    loop = Iterations(max_iter, tol, report)
    for _ in loop:
        W, residual = ridge.solve(F, inverse_D / beta)  # (5)
        inverse_D = smoothed_inverse_D(W)
        fitted = F - residual
        MF = normalised @ F + alpha * residual
        if damped:
            F, value = damped_step(
                F, MF, gamma, exponent, partial(objective, fitted=fitted)
            )
        else:
            F = published_step(F, MF, gamma)
            value = objective(F, fitted)
        loop.record(value + alpha * beta * float(row_norms(W).sum()))  # (4)
    return NdfsFit(F, W, loop.history, loop.converged)


def published_step(F: Float, MF: Float, gamma: float) -> Float:
    """Return F after (6), with columns of unit length.

    Where gamma is small the denominator may be negative, and then F is.
    """
    numerator = gamma * F + EPSILON
    denominator = MF + gamma * F @ (F.T @ F) + EPSILON
    return unit_columns(F * numerator / denominator)


def split_step(F: Float, MF: Float, gamma: float, exponent: float) -> Float:
    """Return F after (6) to a power, with negative parts of M F in the numerator."""
    numerator = gamma * F + np.maximum(-MF, 0.0) + EPSILON
    denominator = gamma * F @ (F.T @ F)
    denominator += np.maximum(MF, 0.0) + EPSILON
    return unit_columns(F * (numerator / denominator) ** exponent)


def damped_step(
    F: Float,
    MF: Float,
    gamma: float,
    exponent: float,
    objective: Callable[[Float], float],
) -> tuple[Float, float]:
    """Return F after a step that does not raise the objective, and its value."""
    before = objective(F)
    while exponent >= SMALLEST_EXPONENT:
        moved = split_step(F, MF, gamma, exponent)
        value = objective(moved)
        if value <= before:
            return moved, value
        exponent /= 2
    return F, before


def indicator_from_labels(
    labels: Index, n_clusters: int, offset: float = OFFSET
) -> Float:
    """Return ``Y (Y'Y)^(-1/2) + offset``, where Y has a one at the label.

    Examples
    --------
    >>> import numpy as np
    >>> indicator_from_labels(np.array([0, 0, 0, 0, 1]), 2, 0.0)[3:]
    array([[0.5, 0. ],
           [0. , 1. ]])
    """
    memberships = crisp_memberships(labels, n_clusters)
    return memberships / np.sqrt(memberships.sum(axis=0)) + offset


def clusters_of_graph(
    graph: sp.csr_array, n_clusters: int, random: np.random.RandomState
) -> Index:
    """Return the labels of spectral clustering with the normalised Laplacian.

    k-means, from ten starts, on the lowest eigenvectors with rows of unit length.
    """
    vectors = smoothest_vectors(graph, n_clusters)
    norms = row_norms(vectors)
    norms[norms == 0] = 1.0
    points = vectors / norms[:, np.newaxis]
    model = KMeans(n_clusters, n_init=N_RUNS, random_state=random).fit(points)
    return with_every_cluster(model.labels_, n_clusters)
