"""JELSR: an embedding of the samples and its row-sparse regression, in turns."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

from ufselect.matrix.base import DataMatrix, Float
from ufselect.solvers.reweighted import Report, ReweightedRidge, settled, slack_of
from ufselect.solvers.rows import row_norms


class JelsrFit(NamedTuple):
    """What the alternation ends with."""

    embedding: Float
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
    slack: Float,
    drop_constant: bool,
    max_iter: int,
    tol: float,
    report: Report,
    wide: bool | None = None,
) -> JelsrFit:
    """Minimise ``tr(Y'LY) + beta (|X W - Y|^2 + alpha |W|_21)``, ``Y'Y = I``.

    For given weights the best W is linear in Y, and the best Y are eigenvectors of
    ``K = L + beta (I - X (X'X + alpha U)^-1 X')``, where U = diag(1 / slack).

    Parameters
    ----------
    matrix : DataMatrix
    structure : sparse array of shape (n, n)
        L, positive semi-definite.
    n_components : int
        Columns of Y.
    alpha, beta : float
    slack : ndarray of shape (p,)
        Where the reweighting starts; ones is the published start.
    drop_constant : bool
        Keep the vector of ones out of Y. It is an eigenvector of K where X is
        centred and L has rows of sum zero.
    max_iter, tol, report
        The loop ends when the objective changes by no more than tol, relative to
        itself, or when report returns True.
    wide : bool, optional
        Go through samples; by default where p > n.
    """
    ridge = ReweightedRidge(matrix, wide=wide)
    dense = structure.toarray()
    history: list[float] = []
    converged = False
    for iteration in range(max_iter):
        leftover = ridge.residual_matrix(slack / alpha)
        embedding = lowest_vectors(
            dense + beta * leftover, n_components, drop_constant=drop_constant
        )
        coef, residual = ridge.solve_with(leftover, embedding, slack / alpha)
        slack = slack_of(coef)
        history.append(
            float(np.vdot(embedding, structure @ embedding))
            + beta * float(np.vdot(residual, residual))
            + beta * alpha * float(row_norms(coef).sum())
        )
        converged = settled(history, tol)
        if report(iteration, history[-1]) or converged:
            break
    return JelsrFit(embedding, coef, history, converged)


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
