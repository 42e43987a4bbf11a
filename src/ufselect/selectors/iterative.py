"""What selectors that iterate have in common: progress, objectives, warnings."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse as sp

from ufselect._sklearn_compat import CallbackSupportMixin, FitProgress
from ufselect.matrix import DataMatrix, Float
from ufselect.selectors.base import UnsupervisedSelector
from ufselect.solvers.graphs import laplacian, neighbour_graph
from ufselect.solvers.structured_ridge import (
    StructuredFit,
    StructuredProblem,
    fit_structured,
)


class IterativeSelector(CallbackSupportMixin, UnsupervisedSelector):
    """Reports the iterations of a fit, keeps their objectives, warns when they end."""

    max_iter: int
    tol: float
    verbose: bool
    n_iter_: int
    objective_history_: Float

    @contextmanager
    def _progress(
        self, max_iter: int | None = None, unit: float = 1.0
    ) -> Iterator[FitProgress]:
        """Yield what a solver reports to; objectives are in units where |X| is unit."""
        most = self.max_iter if max_iter is None else max_iter
        progress = FitProgress(self, most, verbose=self.verbose, unit=unit)
        yield progress
        progress.finish()

    def _keep_history(self, history: Sequence[float], unit: float = 1.0) -> None:
        """Set the number of iterations, and the objective after each."""
        self.objective_history_ = np.array(history) / unit / unit
        self.n_iter_ = len(history)

    def _warn_unless(self, converged: bool) -> None:
        """Warn of a fit that ended with its last iteration, and not for a callback."""
        if self.n_iter_ == self.max_iter and not converged:
            self._warn_not_converged(self.max_iter, stacklevel=6)


class StructuredSelector(IterativeSelector):
    """Fits ``|X W - Y|^2 + rho tr(W'X'L X W) + penalty |W|_21``: GLSPFS and SPUFS."""

    n_neighbors: int
    sigma: float | None

    def _laplacian(self, matrix: DataMatrix, unit: float) -> sp.csr_array:
        """Return the Laplacian of the neighbour graph with heat kernel weights."""
        graph = neighbour_graph(
            matrix.points(),
            self.n_neighbors,
            weights="heat",
            bandwidth=None if self.sigma is None else self.sigma * unit,
        )
        return laplacian(graph)

    def _penalty(self, name: str, share: float, largest: float, unit: float) -> float:
        """Return the penalty that a parameter asks for, where W is not zero.

        ``largest`` is the penalty from which on W = 0, and "auto" a share of it; a
        number is multiplied by ``unit``.
        """
        given: Any = getattr(self, name)
        penalty = share * largest if given == "auto" else float(given) * unit
        if penalty >= largest:
            raise ValueError(
                f"{name}={given} leaves no feature in the model (W = 0), so there is "
                f"no ranking; lower {name} below {largest / unit:.3g}, or use "
                f'{name}="auto".'
            )
        return penalty

    def _fit_rows(
        self, problem: StructuredProblem, penalty: float, unit: float = 1.0
    ) -> StructuredFit:
        """Minimise; objectives are kept in units where ``|X| = 1 / unit``."""
        with self._progress(unit=unit) as progress:
            fit = fit_structured(
                problem, penalty, max_iter=self.max_iter, tol=self.tol, report=progress
            )
        self._keep_history(fit.history, unit)
        return fit
