"""SCFS in units that do not depend on those of X, and what a fit has found, in both.

X is centred and ``|X|^2 = c``. A fit on k X then has weights and coefficients that a
fit on X has, up to powers of k.
"""

from typing import NamedTuple

import numpy as np

from ufselect.matrix.base import ColumnSummary, DataMatrix, Float
from ufselect.numerics.partitions import SoftPartition
from ufselect.numerics.preparation import Kind, preparation_kind, prepare
from ufselect.numerics.rows import ranked_below, row_norms
from ufselect.numerics.scfs_exact import ExactFit, ExactProblem, useful_penalty

# Defaults in units where X is centred and |X|^2 = c; see "auto" in the docstring.
AUTO_ALPHA = 0.1
AUTO_BETA = 0.05

# The weights of a path, where none are given, as multiples of these.
AROUND_AUTO = (0.25, 0.5, 1.0, 2.0, 4.0)


class Outcome(NamedTuple):
    """What either solver ends with, in the units of Eq. 8 as printed."""

    alpha: float
    beta: float
    largest_beta: float
    memberships: Float
    coef: Float
    scores: Float
    history: Float
    converged: bool
    vanished: bool


class Posed(NamedTuple):
    """The problem in units where X is centred and ``|X|^2 = c``."""

    problem: ExactProblem
    unit: float
    kind: Kind

    def in_units(
        self, alpha: float | str, beta: float | str
    ) -> tuple[float, float | None]:
        """Return weights as the problem has them; beta may depend on the start."""
        unit = self.unit
        own_alpha = AUTO_ALPHA if alpha == "auto" else float(alpha) * unit * unit
        own_beta = None if beta == "auto" else float(beta) * unit * unit * unit
        return own_alpha, own_beta

    def weights(
        self,
        partition: SoftPartition,
        alphas: list[float] | None,
        betas: list[float] | None,
    ) -> tuple[list[float], list[float]]:
        """Return weights as given, or some around those of "auto" for a start."""
        unit = self.unit
        if alphas is None:
            alphas = [each * AUTO_ALPHA / unit / unit for each in AROUND_AUTO]
        if betas is None:
            usual = auto_beta(self.problem, partition, AUTO_ALPHA) / unit / unit / unit
            betas = [each * usual for each in AROUND_AUTO]
        return alphas, betas

    def outcome(self, fit: ExactFit, alpha: float, beta: float) -> Outcome:
        """Return what a fit has found, in the units of Eq. 8 as printed."""
        problem, unit = self.problem, self.unit
        largest = 2 * float(row_norms(fit.partition.cross(problem.regressors)).max())
        coef = fit.coef * unit
        return Outcome(
            # One factor at a time: powers of a very small unit would vanish.
            alpha=alpha / unit / unit,
            beta=beta / unit / unit / unit,
            largest_beta=alpha * largest / unit / unit / unit,
            memberships=fit.memberships,
            coef=coef,
            scores=ranked_below(row_norms(coef), fit.proximity),
            history=np.array(fit.history) / unit / unit,
            converged=fit.converged,
            vanished=not fit.coef.any(),
        )


def auto_beta(problem: ExactProblem, partition: SoftPartition, alpha: float) -> float:
    """Return the weight of the penalty for a start: a share of what makes W zero."""
    size = float(np.sqrt(len(partition.sums.sizes)))
    return AUTO_BETA * alpha * useful_penalty(partition.cross(problem.regressors), size)


def pose(
    data: DataMatrix,
    summary: ColumnSummary,
    standardize: bool | str,
    n_clusters: int,
    intercept: bool,
) -> Posed:
    """Return the problem for data that are prepared here."""
    kind = preparation_kind(standardize, data, summary)
    prepared = prepare(data, summary, kind, float(n_clusters))
    problem = ExactProblem(prepared, float(n_clusters), intercept=intercept)
    return Posed(problem, prepared.unit, kind)
