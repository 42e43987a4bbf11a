"""The pattern of six methods: a row-sparse regression on the structure of the samples.

NDFS, JELSR, FSASL, GLSPFS, SPUFS and UDFS minimise, each in its own way,

    structure of the samples + |X W - F|^2 + penalty |W|_21

by reweighting rows of W, and rank features by the row norms of W. A method prepares X
and the structure in ``_prepare`` and yields its iterations in ``_iterate``, which reads
like the paper. This file has the rest.
"""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp

from ufselect._sklearn_compat import COUNT, ITERATIONS, POSITIVE
from ufselect.matrix import DataMatrix, Float
from ufselect.selectors.base import IterativeSelector
from ufselect.solvers.graphs import neighbour_graph
from ufselect.solvers.iterations import Iterations
from ufselect.solvers.ridge import (
    column_lengths,
    has_vanished,
    ranked_below,
    row_norms,
)

# Reweighting shrinks rows without making them exactly zero: in a convex problem, a row
# whose norm is below this share of the largest counts as zero.
ROUNDING = 1e-12


class Problem(NamedTuple):
    """What a method makes of X before it iterates.

    ``structure`` is what the method has about the samples, such as the Laplacian of a
    graph. ``penalty`` is the weight of ``|W|_21`` in the unit of ``X`` here, and
    ``largest`` the one above which W = 0, in the unit of the data. ``unit`` times W are
    the coefficients, and the objective over ``objective_unit`` squared is the
    objective, in the unit of the data.
    """

    X: DataMatrix
    structure: Any
    penalty: float
    largest: float = np.inf
    unit: float = 1.0
    objective_unit: float = 1.0


class Iterate(NamedTuple):
    """What is learned about the samples, or None; W; and the objective there."""

    structure: Any
    W: Float
    objective: float


class RegressionSelector(IterativeSelector):
    """Base class: runs ``_iterate``, keeps its history, and scores by row norms.

    A method has the parameters of ``_parameter_constraints`` below. ``PENALTY`` names
    the parameter that weighs ``|W|_21``; its value, in the unit of the data, is kept
    under this name and an underscore.
    """

    PENALTY: ClassVar[str]
    # First iterations whose objective cannot be compared with later ones.
    N_INCOMPARABLE: ClassVar[int] = 0

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **IterativeSelector._parameter_constraints,
        "n_neighbors": [COUNT],
        **ITERATIONS,
        "max_memory": [POSITIVE],
    }

    n_neighbors: int
    sigma: float | None
    coef_: Float

    @abstractmethod
    def _prepare(self, data: DataMatrix) -> Problem:
        """Prepare X, the structure of the samples and the penalty."""

    @abstractmethod
    def _iterate(
        self, X: DataMatrix, structure: Any, penalty: float
    ) -> Iterator[Iterate]:
        """Yield the iterations, without end."""

    def _score_features(self, data: DataMatrix) -> Float:
        problem = self._prepare(data)
        X, structure, penalty = problem[:3]
        unit = problem.objective_unit
        loop = Iterations(
            self.max_iter,
            self.tol,
            self._callback(unit),
            n_incomparable=self.N_INCOMPARABLE,
        )
        iterates = self._iterate(X, structure, penalty)
        for _, found in zip(loop, iterates, strict=False):
            loop.record(found.objective)
        self._keep_history(loop.history, unit)
        if has_vanished(found.W, column_lengths(X)):
            self._raise_zero_coefficients(problem.largest)
        scores = self._keep(problem, found)
        self._warn_unless(loop.converged)
        return scores

    def _keep(self, problem: Problem, found: Iterate) -> Float:
        """Set what the last iteration learned, and return the scores."""
        self.coef_ = found.W * problem.unit
        return row_norms(self.coef_)

    def _heat_graph(self, X: DataMatrix, unit: float) -> sp.csr_array:
        """Return the graph of neighbours, with weights of width ``sigma``."""
        width = None if self.sigma is None else self.sigma * unit
        return neighbour_graph(
            X.points(), self.n_neighbors, weights="heat", bandwidth=width
        )

    def _penalty(self, share: float, largest: float, unit: float = 1.0) -> float:
        """Return the weight of ``|W|_21``: a share of the largest, or a number.

        A number is multiplied by ``unit``; the weight is kept divided by it.
        """
        given = getattr(self, self.PENALTY)
        penalty = share * largest if given == "auto" else float(given) * unit
        setattr(self, f"{self.PENALTY}_", penalty / unit)
        return penalty

    def _raise_zero_coefficients(self, largest: float) -> None:
        name = self.PENALTY
        weight = getattr(self, f"{name}_")
        auto = "" if getattr(self, name) == "auto" else f', or use {name}="auto"'
        raise ValueError(
            f"{name}={weight:.3g} leaves no feature in the model (W = 0), so there is "
            f"no ranking; lower {name} well below {min(weight, largest):.3g}{auto}."
        )


class ConvexRegressionSelector(RegressionSelector):
    """Base class of GLSPFS and SPUFS, whose structure and target Y are fixed.

    The problem is then convex in W. The structure is the problem as
    ``solvers/structured_ridge.py`` has it, and equation numbers are those of that file.
    """

    def _convex_penalty(self, share: float, largest: float, unit: float) -> float:
        """Return the penalty, of which it is known here whether it leaves W = 0."""
        penalty = self._penalty(share, largest, unit)
        if penalty >= largest:
            self._raise_zero_coefficients(largest / unit)
        return penalty

    def _iterate(
        self, X: DataMatrix, structure: Any, penalty: float
    ) -> Iterator[Iterate]:
        inverse_D: Float = np.ones(X.shape[1])
        while True:
            W, error = structure.solve(inverse_D / penalty)  # (2)
            norms = row_norms(W)
            inverse_D = 2 * norms  # (3)
            yield Iterate(None, W, error + penalty * float(norms.sum()))  # (1)

    def _keep(self, problem: Problem, found: Iterate) -> Float:
        """Return the row norms, with zero rows ranked by their KKT ratios.

        A zero row is optimal if ``2 |x_i'(Y - M X W)| / penalty`` is at most one.
        """
        W, norms = found.W, row_norms(found.W)
        W[norms <= ROUNDING * norms.max()] = 0.0
        ratios = 2 * row_norms(problem.structure.gradient(W)) / problem.penalty
        return ranked_below(row_norms(W), ratios) * problem.unit
