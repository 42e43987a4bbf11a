"""What the methods with a non-negative factor model X S V of X have in common."""

from abc import abstractmethod
from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from ufselect._constraints import COUNT, ITERATIONS
from ufselect._sklearn_compat import (
    CallbackSupportMixin,
    FitProgress,
    Interval,
    StrOptions,
)
from ufselect.matrix import ColumnSummary, DataMatrix, Float
from ufselect.selectors.base import UnsupervisedSelector
from ufselect.solvers.factor_selection import (
    FactorFit,
    SampleTerm,
    UnitProblem,
    Weights,
    fit_factors,
    random_factors,
    unit_problem,
)
from ufselect.solvers.rows import row_norms

# Components taken for n_components=None at most: each costs O(n p) per iteration.
LARGEST_AUTO_COMPONENTS = 50


class FactorSelector(CallbackSupportMixin, UnsupervisedSelector):
    """Fits the factor model from several starts and ranks by the rows of S.

    A method says what its weights are, and its feature graph or its term of the
    samples if it has one. Weights are those of
    ``|X - X S V|^2 + lam/2 |S'S - I|^2 + ...``.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **UnsupervisedSelector._parameter_constraints,
        "n_components": [None, COUNT],
        "shift": [StrOptions({"features", "table"})],
        "exponent": [None, Interval(Real, 0, 1, closed="right")],
        "n_init": [COUNT],
        **ITERATIONS,
        "random_state": ["random_state"],
    }

    # The objective of the method, as a share of the one above.
    _share: ClassVar[float] = 1.0

    n_components: int | None
    shift: str
    exponent: float | None
    n_init: int
    max_iter: int
    tol: float
    random_state: Any
    verbose: bool

    @abstractmethod
    def _unit_weights(self, unit: float) -> Weights:
        """Return the weights where |X| = 1; ``unit`` is what X was multiplied by."""

    def _feature_graph(self, problem: UnitProblem) -> sp.csr_array | None:
        """Return a graph of the varying features, or None."""
        return None

    def _sample_term(self, problem: UnitProblem) -> SampleTerm | None:
        """Return a matrix of the samples and its weight, or None."""
        return None

    def _score_features(self, data: DataMatrix, summary: ColumnSummary) -> Float:
        each_column = self.shift == "features"
        problem = unit_problem(data, summary, each_column=each_column)
        self.n_components_ = self._number_of_components(problem.matrix.shape)
        fits = list(self._fits(problem))
        best = min(fits, key=lambda fit: fit.history[-1])
        size = (data.shape[1], self.n_components_)
        self.coef_, loadings = np.zeros(size), np.zeros(size)
        self.coef_[problem.varying] = best.factors.selection
        loadings[problem.varying] = best.factors.loadings
        self.components_ = loadings.T
        scale = self._share / problem.unit / problem.unit
        self.objective_history_ = np.array(best.history) * scale
        self.n_iter_ = len(best.history)
        if self.n_iter_ == self.max_iter and not best.converged:
            self._warn_not_converged(self.max_iter)
        return row_norms(self.coef_)

    def _fits(self, problem: UnitProblem) -> Iterator[FactorFit]:
        weights = self._unit_weights(problem.unit)
        graph = self._feature_graph(problem)
        samples = self._sample_term(problem)
        random = check_random_state(self.random_state)
        progress = FitProgress(
            self,
            self.n_init * self.max_iter,
            verbose=self.verbose,
            unit=problem.unit / float(np.sqrt(self._share)),
        )
        for _ in range(self.n_init):
            yield fit_factors(
                problem.matrix,
                random_factors(problem.matrix, self.n_components_, random),
                weights,
                graph=graph,
                samples=samples,
                exponent=self.exponent,
                max_iter=self.max_iter,
                tol=self.tol,
                report=progress,
            )
            if progress.stopped:
                break
        progress.finish()

    def _number_of_components(self, shape: tuple[int, int]) -> int:
        n_samples, n_varying = shape
        if self.n_components is None:
            largest = min(n_samples, n_varying, LARGEST_AUTO_COMPONENTS)
            return min(self.n_selected_, largest)
        if self.n_components > n_varying:
            raise ValueError(
                f"n_components={self.n_components} but X has {n_varying} features "
                f"that vary; ask for at most {n_varying} components."
            )
        return self.n_components
