"""SCFS as published: Algorithm 1, with the constraint as a penalty gamma.

The rules are those of the paper; only the way they are computed differs. The n x n
matrix of ones has rank one and is never formed, the p x p inverse becomes a Cholesky
factorisation of the smaller side, and rows of W that have vanished are left out.
"""

from typing import NamedTuple

import numpy as np

from ufselect.matrix.base import DataMatrix, Float
from ufselect.numerics.reweighted import ReweightedRidge
from ufselect.numerics.rows import row_norms
from ufselect.numerics.scfs_exact import Products, Report

# Keeps the reweighting of a zero row finite; the paper's epsilon. Rows of W that are
# no longer than this live on it alone, and no longer touch the fit.
EPSILON = 2e-16


class PaperFit(NamedTuple):
    """What Algorithm 1 ends with."""

    indicators: Float
    coef: Float
    history: list[float]
    converged: bool


class _WeightedRidge:
    """The W step, on the rows of W that have not vanished."""

    def __init__(self, matrix: DataMatrix, n_targets: int) -> None:
        self.ridge = ReweightedRidge(matrix)
        self.active = np.arange(matrix.shape[1])
        self.coef: Float = np.zeros((matrix.shape[1], n_targets))
        self.slack: Float = np.ones(matrix.shape[1])

    def solve(self, target: Float, ratio: float) -> Float:
        """Update W for slacks times ratio; return the fitted ``X W``."""
        coef, residual = self.ridge.solve(target, ratio * self.slack)
        self.coef[self.active] = coef
        return target - residual

    def reweight(self) -> float:
        """Set the slacks from the row norms of W; return ``|W|_21``."""
        norms = row_norms(self.coef[self.active])
        self.slack = 2 * norms + EPSILON
        alive = np.flatnonzero(norms > EPSILON)
        # Cutting out columns costs a copy: wait until half of them are gone.
        if 0 < 2 * len(alive) <= len(self.active):
            self.active = self.active[alive]
            self.slack = self.slack[alive]
            self.ridge = self.ridge.only(alive)
        return float(norms.sum())


def multiplicative_step(
    indicators: Float, expressed: Float, fitted: Float, alpha: float, weight: float
) -> Float:
    """Return G after Eq. 16, where expressed is ``X X'G`` and weight is n gamma."""
    mixed = expressed + weight * indicators.sum(axis=0)
    numerator = np.maximum(2 * mixed + alpha * fitted, 0.0)
    denominator = mixed @ (indicators.T @ indicators)
    denominator += indicators @ (indicators.T @ mixed)
    denominator += alpha * indicators
    ratio = np.zeros_like(numerator)
    np.divide(numerator, denominator, out=ratio, where=denominator > 0)
    return indicators * ratio


def fit_paper(
    indicators: Float,
    products: Products,
    matrix: DataMatrix,
    *,
    alpha: float,
    beta: float,
    gamma: float,
    max_iter: int,
    tol: float,
    report: Report,
) -> PaperFit:
    """Run Algorithm 1 on a non-negative matrix from the indicators given.

    The history is Eq. 8 plus ``gamma n |G G'1 - 1|^2``; the loop ends when it
    changes by less than tol, relative to itself.
    """
    weight = gamma * matrix.shape[0]
    ridge = _WeightedRidge(matrix, indicators.shape[1])
    expressed = products.multiply(indicators)
    history: list[float] = []
    converged = False
    for iteration in range(max_iter):
        fitted = ridge.solve(indicators, alpha / beta)
        indicators = multiplicative_step(indicators, expressed, fitted, alpha, weight)
        expressed = products.multiply(indicators)
        norm = ridge.reweight()
        value = (
            _self_expression(indicators, expressed, products.total)
            + alpha * float(np.sum((fitted - indicators) ** 2))
            + beta * norm
            + weight * float(np.sum((indicators @ indicators.sum(axis=0) - 1) ** 2))
        )
        history.append(value)
        change = abs(history[-1] - history[-2]) if iteration else np.inf
        converged = change < tol * value
        if report(iteration, value) or converged:
            break
    return PaperFit(indicators, ridge.coef, history, converged)


def _self_expression(indicators: Float, expressed: Float, total: float) -> float:
    similarity = indicators.T @ expressed
    overlap = indicators.T @ indicators
    value = total - 2 * np.trace(similarity) + np.sum(similarity * overlap)
    return max(float(value), 0.0)
