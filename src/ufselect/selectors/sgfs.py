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

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, fraction of them, or None for half.
    n_components : int or None, default=None
        Inner dimension K. None is the number of features to select, but at most 50
        and at most the number of samples or of features that vary: time and memory
        grow with K. The scores depend on K, and through it on
        ``n_features_to_select``.
    alpha : float or "auto", default="auto"
        Weight of smoothness along the graph. A number is the objective as printed
        and depends on the units of X; "auto" is ``0.01 |X|^2``, for X as shifted.
    beta : float or "auto", default="auto"
        Weight of row sparsity; "auto" is ``0.001 |X|^2 / K``.
    lam : float or "auto", default="auto"
        Weight of orthogonality; "auto" is ``0.1 |X|^2 / K``.
    n_neighbors : int, default=5
        Neighbours of a feature in the graph.
    sigma : float or None, default=None
        Bandwidth of the weights ``exp(-d^2 / (2 sigma^2))`` of the graph. None is the
        median distance to a neighbour; published experiments use 1.
    shift : {"features", "table"}, default="features"
        How X is made non-negative: by subtracting the minimum of each feature, or
        that of all of X if it is negative ("table"). See Notes.
    exponent : float or None, default=None
        Power of the multiplicative step for S. None tries 1, then 1/2, then 1/4
        until the objective does not rise; a number is always used.
    n_init : int, default=1
        Number of starts; the one that ends with the lowest objective is kept.
    max_iter : int, default=3000
        Largest number of iterations.
    tol : float, default=1e-4
        Stop when the objective changes by less than this share of itself or, if it
        is nearly zero, of a thousandth of ``|X|^2``.
    random_state : int, RandomState instance or None, default=None
        Seed of the starts.
    verbose : bool, default=False
        Print the objective of each iteration.

    Attributes
    ----------
    scores_ : ndarray of shape (p,)
        Row norms of S.
    order_ : ndarray of shape (p,)
        Features from best to worst.
    coef_ : ndarray of shape (p, K)
        S; rows of constant columns are zero.
    components_ : ndarray of shape (K, p)
        V; columns of constant columns are zero.
    n_components_ : int
        The inner dimension K used.
    alpha_, beta_, lam_ : float
        Weights in the objective as printed.
    objective_history_ : ndarray of shape (n_iter_,)
        The objective after each iteration.
    n_iter_ : int
        Number of iterations.

    Notes
    -----
    **Optimised.** Columns of S are given unit length (V makes up for it) where that
    does not raise the objective, then S and V take one multiplicative step each. The
    objective never rises, unless ``exponent`` is given. It is not convex, so that the
    result depends on the start.

    **Differs.** Where and with what factor each term of the publication stands could
    not be compared with its text. X is made non-negative as in MFFS; features
    should share a unit. Constant columns take no part. The random start is that of
    MFFS. Without alpha and beta, SGFS is MFFS with rho = lam, and its
    objective twice that of MFFS. Degrees of the graph are sums of its weights; the
    public code of a successor of this method takes their norms.

    **Confidence.** Reconstructed: terms from the abstract and from sibling methods,
    update rules derived from the objective above.

    **Needs c.** No.

    **Invariant to.** offset of features; unit of X.

    **Not invariant to.** sign of features; unit of single features; order of
    samples; seed. X has to be non-negative: a feature whose sign is flipped is
    another one after the shift.

    **Cannot.** Correct for different units. X is taken in its own units: features of a
    large variance add more to the error that it minimises. On planted data whose
    columns differ in unit by up to a hundred to one, useful columns rank no better than
    noise in most geometries; standardise such X first. Much of the ranking depends on
    the start, and so on the seed and the order of the samples: compare several seeds,
    or use their `Consensus`.

    **Cost.** O(n p^2) once for the graph, which is sparse; O(n p K + p K^2) per
    iteration, or O(p^2 K) where p <= n; memory O(p K) beside X, and p x p only
    where that is no larger than X.

    References
    ----------
    R. Shang, W. Wang, R. Stolkin, L. Jiao. Subspace learning-based graph regularized
    feature selection. Knowledge-Based Systems 112 (2016) 152-165.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ufselect import SGFS
    >>> X = load_iris().data
    >>> SGFS(n_features_to_select=2, random_state=0).fit_transform(X).shape
    (150, 2)
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
