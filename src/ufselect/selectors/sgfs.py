"""SGFS: subspace learning-based graph regularised feature selection."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from ufselect.matrix import DataMatrix
from ufselect.selectors.mffs import (
    AUTO_ORTHOGONALITY,
    AUTO_SPARSITY,
    SparseFactorSelector,
)
from ufselect.solvers.factors import UnitProblem, Weights
from ufselect.solvers.graphs import neighbour_graph

# "auto", where |X| = 1.
AUTO_ALPHA = 1e-2


class SGFS(SparseFactorSelector):
    """Subspace learning-based graph regularised feature selection (reconstructed).

    MFFS with a graph of the features, along which the coefficients V are smooth, and
    with row sparsity of the selection S::

        minimise  |X - X S V|^2 + alpha tr(V L V') + beta |S|_21
                  + lam/2 |S'S - I|^2,   S >= 0,  V >= 0

    over S (p x K) and V (K x p) for a non-negative X, where L is the Laplacian of a
    graph of near features. Features are ranked by the row norms of S.
    docs/methods/sgfs.md says what it cannot find and what it costs.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, fraction of them, or None for half.
    n_components : int or None, default=None
        Inner dimension K, on which the scores depend. None is the number of features
        to select, at most 50 and at most the number of samples or varying features.
    alpha, beta, lam : float or "auto", default="auto"
        Weights of smoothness along the graph, row sparsity and orthogonality. A number
        is the objective as printed and depends on the units of X. "auto" is
        ``0.01 |X|^2``, ``0.001 |X|^2 / K`` and ``0.1 |X|^2 / K``, for X as shifted.
    n_neighbors : int, default=5
        Neighbours of a feature in the graph.
    sigma : float or None, default=None
        Bandwidth of the weights ``exp(-d^2 / (2 sigma^2))`` of the graph. None is the
        median distance to a neighbour; published experiments use 1.
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
    R. Shang, W. Wang, R. Stolkin, L. Jiao. Subspace learning-based graph regularized
    feature selection. Knowledge-Based Systems 112 (2016) 152-165.

    Examples
    --------
    >>> from ufselect import SGFS
    >>> from ufselect.data import planted
    >>> SGFS(2, random_state=0).fit_transform(planted("blobs").table).shape[1]
    2
    """

    def _unit_weights(self, unit: float) -> Weights:
        K = self.n_components_
        return Weights(
            orthogonality=self._weight("lam", AUTO_ORTHOGONALITY / K, unit),
            smoothness=self._weight("alpha", AUTO_ALPHA, unit),
            sparsity=self._weight("beta", AUTO_SPARSITY / K, unit),
        )

    def _feature_graph(self, problem: UnitProblem) -> sp.csr_array | None:
        if problem.matrix.shape[1] == 1:
            return None
        return neighbour_graph(
            feature_points(problem.matrix),
            self.n_neighbors,
            weights="heat",
            bandwidth=self.sigma,
        )


def feature_points(matrix: DataMatrix) -> Any:
    """Return the features as rows, in the unit of the raw data."""
    if np.ptp(matrix.shift) == 0:
        # One shift and one factor for all of X: neighbours are those in raw data.
        return matrix.raw.T
    return matrix.affine(matrix.shift, np.ones(matrix.shape[1])).columns(slice(None)).T
