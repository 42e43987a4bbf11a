"""NDFS: a non-negative cluster indicator and its row-sparse regression, in turns."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ufselect.matrix.base import DataMatrix, Float
from ufselect.solvers.reweighted import (
    Report,
    ReweightedRidge,
    settled,
    smoothed_slack_of,
)
from ufselect.solvers.rows import row_norms

# Keeps quotients of zeros finite, as the public code does.
EPSILON = 2.2e-16

# A multiplicative step that still raises the objective at this exponent is dropped.
SMALLEST_EXPONENT = 1 / 64


class NdfsFit(NamedTuple):
    """What the alternation ends with."""

    indicators: Float
    coef: Float
    history: list[float]
    converged: bool


class _Terms(NamedTuple):
    """The parts of the objective that depend on F alone."""

    normalised: sp.csr_array
    gamma: float

    def value(self, indicators: Float) -> float:
        """Return ``tr(F'Ln F) + gamma / 2 |F'F - I|^2``."""
        excess = indicators.T @ indicators - np.eye(indicators.shape[1])
        smoothness = float(np.vdot(indicators, self.normalised @ indicators))
        return smoothness + self.gamma / 2 * float(np.vdot(excess, excess))


def fit_ndfs(
    matrix: DataMatrix,
    normalised: sp.csr_array,
    indicators: Float,
    *,
    alpha: float,
    beta: float,
    gamma: float,
    slack: Float,
    exponent: float = 1.0,
    damped: bool = True,
    max_iter: int,
    tol: float,
    report: Report,
    wide: bool | None = None,
) -> NdfsFit:
    """Lower ``tr(F'Ln F) + alpha (|XW - F|^2 + beta |W|_21) + gamma/2 |F'F - I|^2``.

    Each iteration solves for W with the weights of the W before it, and then takes a
    multiplicative step for F >= 0, whose columns are scaled to unit length. The n x n
    matrix M of the published rule is not formed: ``M F = Ln F + alpha (F - X W)``.

    Parameters
    ----------
    matrix : DataMatrix
    normalised : sparse array of shape (n, n)
        Ln, the normalised Laplacian.
    indicators : ndarray of shape (n, c)
        F to start from; positive, since a zero stays zero.
    alpha, beta, gamma : float
    slack : ndarray of shape (p,)
        Where the reweighting starts; ones is D = I.
    exponent : float
        Of the damped multiplicative step, before it is halved.
    damped : bool
        Halve the exponent while the step would raise the objective, and move negative
        parts of M F to the numerator, so that F stays non-negative. False is the
        published rule, with exponent one.
    max_iter, tol, report
        The loop ends when the objective changes by no more than tol, relative to
        itself, or when report returns True.
    wide : bool, optional
        Go through samples; by default where p > n.
    """
    ridge = ReweightedRidge(matrix, wide=wide)
    terms = _Terms(normalised, gamma)
    history: list[float] = []
    converged = False
    for iteration in range(max_iter):
        coef, residual = ridge.solve(indicators, slack / beta)
        slack = smoothed_slack_of(coef)
        fitted = indicators - residual
        pull = normalised @ indicators + alpha * residual
        if damped:
            indicators, value = damped_step(
                indicators, pull, fitted, terms, alpha, exponent
            )
        else:
            indicators = published_step(indicators, pull, gamma)
            value = partial_objective(indicators, fitted, terms, alpha)
        history.append(value + alpha * beta * float(row_norms(coef).sum()))
        converged = settled(history, tol)
        if report(iteration, history[-1]) or converged:
            break
    return NdfsFit(indicators, coef, history, converged)


def published_step(indicators: Float, pull: Float, gamma: float) -> Float:
    """Return F after ``F (gamma F) / (M F + gamma F F'F)``, scaled; pull is M F.

    Where gamma is small the denominator may be negative, and then F is.
    """
    numerator = gamma * indicators + EPSILON
    denominator = pull + gamma * indicators @ (indicators.T @ indicators) + EPSILON
    return unit_columns(indicators * numerator / denominator)


def split_step(indicators: Float, pull: Float, gamma: float, exponent: float) -> Float:
    """Return F after the rule with negative parts of M F in the numerator, scaled."""
    numerator = gamma * indicators + np.maximum(-pull, 0.0) + EPSILON
    denominator = gamma * indicators @ (indicators.T @ indicators)
    denominator += np.maximum(pull, 0.0) + EPSILON
    return unit_columns(indicators * (numerator / denominator) ** exponent)


def damped_step(
    indicators: Float,
    pull: Float,
    fitted: Float,
    terms: _Terms,
    alpha: float,
    exponent: float,
) -> tuple[Float, float]:
    """Return F after a step that does not raise the objective, and its value."""
    before = partial_objective(indicators, fitted, terms, alpha)
    while exponent >= SMALLEST_EXPONENT:
        moved = split_step(indicators, pull, terms.gamma, exponent)
        value = partial_objective(moved, fitted, terms, alpha)
        if value <= before:
            return moved, value
        exponent /= 2
    return indicators, before


def partial_objective(
    indicators: Float, fitted: Float, terms: _Terms, alpha: float
) -> float:
    """Return the objective without its term in W alone, where fitted is X W."""
    error = fitted - indicators
    return terms.value(indicators) + alpha * float(np.vdot(error, error))


def unit_columns(matrix: Float) -> Float:
    """Scale columns to unit length; a zero column stays zero."""
    lengths = np.linalg.norm(matrix, axis=0)
    lengths[lengths == 0] = 1.0
    return matrix / lengths
