"""JELSR: joint embedding learning and sparse regression.

The objective (1) in the docstring of the class is minimised by reweighting, with the
hat matrix ``H = X (X'X + alpha D)^-1 X'``:

    (2)  Y = eigenvectors of the smallest eigenvalues of L + beta (I - H)
    (3)  W = (X'X + alpha D)^-1 X'Y
    (4)  D = diag(1 / (2 |w_i|))

Neither step raises it. Equation numbers are those of this file.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

from ufselect._sklearn_compat import COUNT, POSITIVE, StrOptions
from ufselect.matrix import DataMatrix, Float
from ufselect.matrix.base import BLOCK_BYTES
from ufselect.selectors.base import MemoryNeed, Properties, graph_bytes, square_arrays
from ufselect.selectors.regression import Iterate, Problem, RegressionSelector
from ufselect.solvers.graphs import local_linear_matrix
from ufselect.solvers.preparation import prepare
from ufselect.solvers.ridge import ReweightedRidge, column_lengths, row_norms

# Share of the alpha above which W = 0 for any embedding.
AUTO_ALPHA = 0.2

# Keeps the weight of a zero row finite.
EPSILON = 2.2e-16


class JELSR(RegressionSelector):
    """Joint embedding learning and sparse regression.

    Learns an embedding Y of the samples that keeps them where their neighbours put
    them, and a regression W that predicts it from few features::

        (1)  minimise  tr(Y'L Y) + beta (|X W - Y|^2 + alpha |W|_21)
             subject to  Y'Y = I

    over Y (n x c) and W (p x c), for centred X, where L is the matrix of locally linear
    embedding. Features are ranked by the row norms of W. docs/methods/jelsr.md says
    what it cannot find and what it costs.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, fraction of them, or None for half.
    n_clusters : int, default=8
        Dimensions c of the embedding, usually the number of clusters; n - 1 at most
        are used.
    alpha : float or "auto", default="auto"
        Weight of sparsity. A number depends on the unit of X; "auto" is 0.2 of
        ``2 max_i |x_i|``, above which W = 0 for any embedding.
    beta : float, default=1.0
        Weight of the regression. It has no unit.
    n_neighbors : int, default=5
        Neighbours of each sample, from which L is made; n - 1 at most are used.
    max_iter : int, default=200
        Largest number of iterations.
    tol : float, default=1e-4
        Stop when the objective changes by no more than this share of itself.
    max_memory : float, default=2e9
        About how many bytes the fit may use. A fit that needs more is refused.
    verbose : bool, default=False
        Print the objective of each iteration.

    Attributes
    ----------
    scores_ : ndarray of shape (p,)
        Row norms of W.
    order_ : ndarray of shape (p,)
        Features from best to worst.
    coef_ : ndarray of shape (p, min(c, n - 1))
        W.
    embedding_ : ndarray of shape (n, min(c, n - 1))
        Y.
    alpha_ : float
        The weight of sparsity, in the unit of X.
    objective_history_ : ndarray of shape (n_iter_,)
        The objective after each iteration; it never rises.
    n_iter_ : int
        Number of iterations.

    References
    ----------
    C. Hou, F. Nie, D. Yi, Y. Wu. Feature selection via joint embedding learning and
    sparse regression. IJCAI 2011, 1324-1329.

    C. Hou, F. Nie, X. Li, D. Yi, Y. Wu. Joint embedding learning and sparse
    regression: a framework for unsupervised feature selection. IEEE Transactions on
    Cybernetics 44 (2014) 793-804.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ufselect import JELSR
    >>> X = load_iris().data
    >>> JELSR(2, n_clusters=3).fit_transform(X).shape
    (150, 2)
    """

    PROPERTIES = Properties(
        similarity="explicit", joint_learning=True, regression=True, regularisation=True
    )
    PARAM_GRID: ClassVar[dict[str, list[Any]]] = {
        "alpha": [10.0**power for power in range(-5, 6)],
        "beta": [10.0**power for power in range(-5, 6)],
    }

    PENALTY = "alpha"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RegressionSelector._parameter_constraints,
        "n_clusters": [COUNT],
        "alpha": [StrOptions({"auto"}), POSITIVE],
        "beta": [POSITIVE],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_clusters: int = 8,
        alpha: float | str = "auto",
        beta: float = 1.0,
        n_neighbors: int = 5,
        max_iter: int = 200,
        tol: float = 1e-4,
        max_memory: float = 2e9,
        verbose: bool = False,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.beta = beta
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.tol = tol
        self.max_memory = max_memory
        self.verbose = verbose

    def _memory_needed(self, data: DataMatrix) -> MemoryNeed:
        n_samples, n_features = data.shape
        # The neighbourhoods for L are processed in blocks.
        offsets = 8 * n_samples * self.n_neighbors * n_features
        blocks = 3 * min(BLOCK_BYTES, offsets)
        return square_arrays(5, n_samples, graph_bytes(data) + blocks)

    def _prepare(self, data: DataMatrix) -> Problem:
        self._check_n_clusters(self.n_clusters, data.shape[0])
        X, unit, *_ = prepare(data, "none", float(self.n_clusters))
        largest = 2 * float(column_lengths(X).max()) / unit
        alpha = self._penalty(AUTO_ALPHA, largest) * unit
        L = local_linear_matrix(X.points(), self.n_neighbors)
        return Problem(X, L, alpha, largest, unit)

    def _iterate(
        self, X: DataMatrix, L: sp.csr_array, alpha: float
    ) -> Iterator[Iterate]:
        n_samples, n_features = X.shape
        beta, n_components = self.beta, min(self.n_clusters, n_samples - 1)
        ridge, dense_L, inverse_D = ReweightedRidge(X), L.toarray(), np.ones(n_features)
        while True:
            I_H = ridge.residual_matrix(inverse_D / alpha)
            Y = lowest_vectors(dense_L + beta * I_H, n_components)  # (2)
            W, residual = ridge.solve(Y, inverse_D / alpha, I_H)  # (3)
            norms = row_norms(W)
            inverse_D = 2 * norms + EPSILON  # (4)
            objective = (  # (1)
                float(np.vdot(Y, L @ Y))
                + beta * float(np.vdot(residual, residual))
                + beta * alpha * float(norms.sum())
            )
            yield Iterate(Y, W, objective)

    def _keep(self, problem: Problem, found: Iterate) -> Float:
        self.embedding_ = found.structure
        return super()._keep(problem, found)


def lowest_vectors(matrix: Float, count: int) -> Float:
    """Return eigenvectors of the smallest eigenvalues, without the vector of ones.

    The vector of ones is an eigenvector where X is centred and L has rows of sum zero.
    It is left out by lifting its eigenvalue above all the others. The matrix is
    overwritten.
    """
    matrix += 2 * np.linalg.norm(matrix, 1) / len(matrix)
    vectors: Float = eigh(
        matrix, subset_by_index=[0, count - 1], overwrite_a=True, check_finite=False
    )[1]
    return vectors
