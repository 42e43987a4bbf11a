"""LDSSL: local discriminative based sparse subspace learning."""

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from ufselect._sklearn_compat import POSITIVE
from ufselect.selectors.mffs import (
    AUTO_ORTHOGONALITY,
    AUTO_SPARSITY,
    SparseFactorSelector,
)
from ufselect.solvers.factors import SampleTerm, UnitProblem, Weights
from ufselect.solvers.graphs import (
    diagonal_of_scatter,
    gaussian_matrices,
    local_discriminant_matrix,
    neighbourhoods_of,
    scatter_matrices,
)

# "auto", as a share of what S = I would give. Ten times this takes twice the iterations
# and finds fewer planted columns.
AUTO_ALPHA = 0.01


class LDSSL(SparseFactorSelector):
    """Local discriminative based sparse subspace learning (reconstructed).

    MFFS with a local discriminant model, by which the samples in the subspace X S
    should differ little from their neighbours, and with sparsity of the selection S::

        minimise  |X - X S V|^2 + alpha tr(S' X' L X S) + beta |S|_1
                  + lam/2 |S'S - I|^2,   S >= 0,  V >= 0

    over S (p x K) and V (K x p) for a non-negative X. L is the local discriminant
    matrix of the samples. Features are ranked by the row norms of S.
    docs/methods/ldssl.md defines L, and says what the method cannot find.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, fraction of them, or None for half.
    n_components : int or None, default=None
        Inner dimension K, on which the scores depend. None is the number of features
        to select, at most 50 and at most the number of samples or varying features.
    alpha, beta, lam : float or "auto", default="auto"
        Weights of the local model, sparsity and orthogonality. Numbers for beta and
        lam depend on the units of X. "auto" is ``0.01 |X|^2 / tr(X'L X)``,
        ``0.001 |X|^2 / K`` and ``0.1 |X|^2 / K``, for X as shifted.
    mu : float, default=1.0
        Ridge in L, beside kernels whose largest value is 1.
    n_neighbors : int, default=5
        Neighbours of each sample.
    sigma : float or None, default=None
        Bandwidth of the kernel ``exp(-d^2 / (2 sigma^2))``. None is the median
        distance to a neighbour; published experiments use 1.
    shift : {"features", "table"}, default="features"
        How X is made non-negative: by subtracting the minimum of each feature, or
        that of all of X if it is negative ("table").
    exponent : float or None, default=None
        Power of the step for S. None takes the first of 1, 1/2 and 1/4 that does not
        raise the objective; a number is always used.
    n_init : int, default=1
        Number of starts; the one that ends with the lowest objective is kept.
    max_iter : int, default=3000
        Largest number of iterations.
    tol : float, default=1e-4
        Stop when the objective changes by less than this share of itself.
    random_state : int, RandomState instance or None, default=None
        Seed of the starts.
    verbose : bool, default=False
        Print the objective of each iteration.

    Attributes
    ----------
    scores_, order_ : ndarrays of shape (p,)
        Row norms of S, and features from best to worst.
    coef_, components_ : ndarrays of shapes (p, K) and (K, p)
        S and V; they are zero for constant features.
    n_components_ : int
        The inner dimension K used.
    alpha_, beta_, lam_ : float
        Weights in the objective as printed.
    objective_history_ : ndarray of shape (n_iter_,)
        The objective after each iteration.
    n_iter_ : int
        Number of iterations.

    References
    ----------
    R. Shang, Y. Meng, W. Wang, F. Shang, L. Jiao. Local discriminative based sparse
    subspace learning for feature selection. Pattern Recognition 92 (2019) 219-230.

    Examples
    --------
    >>> from ufselect import LDSSL
    >>> from ufselect.data import planted
    >>> LDSSL(2, random_state=0).fit_transform(planted("blobs").table).shape[1]
    2
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SparseFactorSelector._parameter_constraints,
        "mu": [POSITIVE],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_components: int | None = None,
        alpha: float | str = "auto",
        beta: float | str = "auto",
        lam: float | str = "auto",
        mu: float = 1.0,
        n_neighbors: int = 5,
        sigma: float | None = None,
        shift: str = "features",
        exponent: float | None = None,
        n_init: int = 1,
        max_iter: int = 3000,
        tol: float = 1e-4,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            n_features_to_select,
            n_components=n_components,
            alpha=alpha,
            beta=beta,
            lam=lam,
            n_neighbors=n_neighbors,
            sigma=sigma,
            shift=shift,
            exponent=exponent,
            n_init=n_init,
            max_iter=max_iter,
            tol=tol,
            random_state=random_state,
            verbose=verbose,
        )
        self.mu = mu

    def _unit_weights(self, unit: float) -> Weights:
        K = self.n_components_
        return Weights(
            orthogonality=self._weight("lam", AUTO_ORTHOGONALITY / K, unit),
            entry_sparsity=self._weight("beta", AUTO_SPARSITY / K, unit),
        )

    def _sample_term(self, problem: UnitProblem) -> SampleTerm | None:
        discriminant = self._discriminant(problem)
        if self.alpha == "auto":
            spread = float(diagonal_of_scatter(problem.matrix, discriminant).sum())
            # No spread: samples equal all of their neighbours, up to rounding.
            self.alpha_ = AUTO_ALPHA / spread if spread > 1e-14 else 0.0
        else:
            self.alpha_ = float(self.alpha)
        return SampleTerm(discriminant, self.alpha_) if self.alpha_ > 0 else None

    def _discriminant(self, problem: UnitProblem) -> sp.csr_array:
        """Return L, which does not depend on the unit of X."""
        matrix = problem.matrix
        neighbourhoods = neighbourhoods_of(matrix.points(), self.n_neighbors)
        bandwidth = None if self.sigma is None else self.sigma * problem.unit
        K = gaussian_matrices(scatter_matrices(matrix, neighbourhoods), bandwidth)
        return local_discriminant_matrix(K, neighbourhoods, self.mu)
