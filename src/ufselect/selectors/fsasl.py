"""FSASL: feature selection with adaptive structure learning.

The objective (1) is in the docstring of the class. Each round computes, from the
projected samples Z = X W of the round before,

    (2)  S: column i is a lasso of z_i on the other z_j
    (3)  P: row i is the simplex projection of -|z_i - z_j|^2 / (2 mu)
    (4)  L = (I - S)(I - S)' + beta L_P,   Y = its c smallest eigenvectors
    (5)  W = ten reweighted ridge steps for |X W - Y|^2 + gamma |W|_21

Equation numbers are those of this file.
"""

from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh, lstsq
from scipy.optimize import nnls

from ufselect._sklearn_compat import COUNT, POSITIVE, Interval, StrOptions
from ufselect.matrix import DataMatrix, Float, Index
from ufselect.selectors.base import MemoryNeed, Properties, graph_bytes, square_arrays
from ufselect.selectors.regression import Iterate, Problem, RegressionSelector
from ufselect.solvers.graphs import (
    directed_graph,
    laplacian,
    neighbour_graph,
    squared_distances_of,
)
from ufselect.solvers.group_lasso import largest_penalty
from ufselect.solvers.preparation import preparation_kind, prepare
from ufselect.solvers.ridge import ReweightedRidge, row_norms
from ufselect.solvers.soft_partition import project_rows_to_simplex

# Share of the penalty above which W = 0 in the first round.
AUTO_GAMMA = 0.5

# A penalty this small is rounding: no feature is related to the first graph.
ROUNDING = 1e-10

# Reweighted steps of each round, starting from equal weights, as published.
REWEIGHTED_STEPS = 10
SMOOTHING = np.finfo(np.float64).eps

# Number of atoms that enter the working set of a lasso at once.
N_ATOMS_AT_ONCE = 50


class FSASL(RegressionSelector):
    """Feature selection with adaptive structure learning (FSASL).

    Learns which samples represent which (S, global structure) and which are near each
    other (P, local structure), and the projection Z = X W that keeps both::

        (1)  minimise  |Z' - Z'S|^2 + alpha |S|_1
                       + beta sum_ij (|z_i - z_j|^2 P_ij + mu P_ij^2) + gamma |W|_21
             subject to  S_ii = 0,  P >= 0,  P1 = 1,  Z'Z = I

    over W (p x c), S and P (n x n), for centred X. Features are ranked by the row norms
    of W. docs/methods/fsasl.md says what it cannot find and what it costs.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, fraction of them, or None for half.
    n_clusters : int, default=8
        Number c of columns of W. With one, X is not centred.
    alpha : float, default=0.05
        Sparsity of S, between 0 and 1: for each sample, a share of the penalty from
        which on no other represents it.
    beta : float, default=1.0
        Weight of the local structure against the global one. It has no unit.
    gamma : float or "auto", default="auto"
        Weight of sparsity of W, for X as prepared. "auto" is 0.5 of the value above
        which W = 0 in the first round.
    mu : float or {"projected", "samples"}, default="projected"
        Spread of the neighbour probabilities. "projected" is the mu at which samples
        keep about n_neighbors neighbours, found in each round among the projected
        samples; "samples" finds it once among the samples, as the authors' code.
    n_neighbors : int, default=5
        Neighbours of each sample.
    standardize : {"auto", "features", "samples"} or bool, default="auto"
        Preparation of X: features to unit variance ("features" or True), samples to
        unit length ("samples"), or neither (False). "auto" decides as :class:`SCFS`.
    max_iter : int, default=20
        Rounds of structure and projection. Ending with the published number is no
        reason for a warning.
    tol : float, default=1e-4
        Stop when the objective changes by no more than this share of itself.
    max_memory : float, default=2e9
        About how many bytes the fit may use. A fit that needs more is refused.
    verbose : bool, default=False
        Print the objective of each round.

    Attributes
    ----------
    scores_ : ndarray of shape (p,)
        Row norms of W.
    order_ : ndarray of shape (p,)
        Features from best to worst.
    coef_ : ndarray of shape (p, c)
        W, for X as prepared.
    objective_history_ : ndarray of shape (n_iter_,)
        The objective after each round. It need not fall, and the first round has a
        binary graph and no S.
    n_iter_ : int
        Number of rounds.
    gamma_ : float
        The weight used, for X as prepared.
    standardize_ : {"features", "samples", "none"}
        The preparation used.

    References
    ----------
    L. Du, Y.-D. Shen. Unsupervised feature selection with adaptive structure learning.
    ACM SIGKDD Conference on Knowledge Discovery and Data Mining (2015) 209-218.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ufselect import FSASL
    >>> X = load_iris().data
    >>> FSASL(n_features_to_select=2, n_clusters=3).fit_transform(X).shape
    (150, 2)
    """

    PROPERTIES = Properties(
        similarity="explicit",
        adaptive_graph=True,
        joint_learning=True,
        regression=True,
        regularisation=True,
    )
    PARAM_GRID: ClassVar[dict[str, list[Any]]] = {
        "alpha": [0.001, 0.005, 0.01, 0.05, 0.1],
        "beta": [10.0**power for power in range(-5, 6)],
        "gamma": [10.0**power for power in range(-5, 6)],
    }

    PENALTY = "gamma"
    # The first round has a binary graph and no S.
    N_INCOMPARABLE = 1

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RegressionSelector._parameter_constraints,
        "n_clusters": [COUNT],
        "alpha": [Interval(Real, 0, 1, closed="neither")],
        "beta": [POSITIVE],
        "gamma": [StrOptions({"auto"}), POSITIVE],
        "mu": [StrOptions({"projected", "samples"}), POSITIVE],
        "standardize": ["boolean", StrOptions({"auto", "features", "samples"})],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_clusters: int = 8,
        alpha: float = 0.05,
        beta: float = 1.0,
        gamma: float | str = "auto",
        mu: float | str = "projected",
        n_neighbors: int = 5,
        standardize: bool | str = "auto",
        max_iter: int = 20,
        tol: float = 1e-4,
        max_memory: float = 2e9,
        verbose: bool = False,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.mu = mu
        self.n_neighbors = n_neighbors
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol
        self.max_memory = max_memory
        self.verbose = verbose

    def _memory_needed(self, data: DataMatrix) -> MemoryNeed:
        return square_arrays(5, data.shape[0], graph_bytes(data))

    def _score_features(self, data: DataMatrix) -> Float:
        with data.limited_threads():
            return super()._score_features(data)

    def _warn_unless(self, converged: bool) -> None:
        """Do nothing: a fit that ends with max_iter is the published algorithm."""

    def _prepare(self, data: DataMatrix) -> Problem:
        self._check_n_clusters(self.n_clusters, data.shape[0])
        self.standardize_ = preparation_kind(self.standardize, data)
        # Of order one in any units of X.
        prepared = prepare(data, self.standardize_, float(data.shape[0]))
        centred, unit = prepared.centred, prepared.unit
        X = centred if self.n_clusters > 1 else prepared.uncentred
        graph = neighbour_graph(centred.points(), self.n_neighbors)
        mu: float | None = None
        if self.mu == "samples":
            squares = squared_distances_of(centred.sample_gram()) / unit / unit
            mu = neighbour_regulariser(squares, self.n_neighbors)
        elif self.mu != "projected":
            mu = float(self.mu)
        if self.gamma == "auto":
            largest = self._largest_penalty(X, graph)
        else:
            # As printed: in the units of X, like the start and the smoothing.
            X, unit, largest = X.affine(X.shift, X.scale / unit), 1.0, np.inf
        gamma = self._penalty(AUTO_GAMMA, largest, unit)
        return Problem(X, (graph, mu), gamma, largest / unit, unit)

    def _largest_penalty(self, X: DataMatrix, graph: sp.csr_array) -> float:
        """Return the penalty above which W = 0 in the first round."""
        first = smallest_eigenvectors(laplacian(graph).toarray(), self.n_clusters)
        largest = largest_penalty(X, first)
        if largest <= ROUNDING:
            raise ValueError(
                "No feature is related to the graph that the fit starts from, so that "
                f'gamma="auto" has no scale (n_clusters={self.n_clusters}); use more '
                "clusters or another n_neighbors."
            )
        return largest

    def _iterate(
        self, X: DataMatrix, structure: tuple[sp.csr_array, float | None], gamma: float
    ) -> Iterator[Iterate]:
        P, given_mu = structure
        alpha, beta, mu, k = self.alpha, self.beta, given_mu or 0.0, self.n_neighbors
        ridge = ReweightedRidge(X)
        # Without S, its term of L is zero, and not the identity.
        S: Any = sp.csr_array(P.shape)
        of_S = S
        while True:
            L = (of_S + beta * laplacian(P)).toarray()
            Y = smallest_eigenvectors(L, self.n_clusters)  # (4)
            W = reweighted_regression(ridge, Y, gamma)  # (5)
            Z = X.dot(W)
            objective = (  # (1)
                float(np.vdot(Z, L @ Z))
                + alpha * float(np.abs(S.data).sum())
                + beta * mu * float(np.sum(P.data**2))
                + gamma * float(row_norms(W).sum())
            )
            yield Iterate((S, P), W, objective)
            distances = squared_distances_of(Z @ Z.T)
            if given_mu is None:
                mu = neighbour_regulariser(distances, k)
            P = neighbour_probabilities(distances, k, mu)  # (3)
            S = self_representation(Z, alpha)  # (2)
            rest = sp.eye_array(S.shape[0]) - S
            of_S = rest @ rest.T


def smallest_eigenvectors(matrix: Float, count: int) -> Float:
    """Return the eigenvectors of the smallest eigenvalues of a symmetric matrix."""
    few = (0, count - 1)
    return eigh(matrix, subset_by_index=few, check_finite=False)[1]


def reweighted_regression(
    ridge: ReweightedRidge, target: Float, penalty: float
) -> Float:
    """Return W after ten reweighted steps for ``|X W - Y|^2 + penalty |W|_21``."""
    inverse_weights = np.full(ridge.matrix.shape[1], 1 / penalty)
    for _ in range(REWEIGHTED_STEPS):
        coef, _ = ridge.solve(target, inverse_weights)
        inverse_weights = 2 * np.sqrt(row_norms(coef) ** 2 + SMOOTHING) / penalty
    return coef


def nearest(distances: Float, count: int) -> Index:
    """Return the n x count nearest neighbours in order, the point itself excluded."""
    others = distances.copy()
    np.fill_diagonal(others, np.inf)
    return np.argsort(others, axis=1, kind="stable")[:, :count]


def neighbour_regulariser(distances: Float, n_neighbors: int) -> float:
    """Return the mean weight mu at which each point keeps about k neighbours.

    For point i with squared distances ``d_1 <= d_2 <= ..`` to the others it is
    ``(k d_(k+1) - d_1 - .. - d_k) / 2``. If there is no neighbour k + 1, k is
    reduced.
    """
    count = max(1, min(n_neighbors, len(distances) - 2))
    index = nearest(distances, count + 1)
    near = np.take_along_axis(distances, index, axis=1)
    return float(np.mean(count * near[:, -1] - near[:, :count].sum(axis=1)) / 2)


def neighbour_probabilities(distances: Float, n_neighbors: int, mu: float) -> Any:
    """Return the symmetric graph of ``min_P sum d_ij P_ij + mu P_ij^2``.

    Each row of P is a distribution over the nearest points; the graph is
    ``(P + P') / 2``.
    """
    index = nearest(distances, min(n_neighbors, len(distances) - 1))
    near = np.take_along_axis(distances, index, axis=1)
    if mu > 0:
        weights = project_rows_to_simplex(-near / (2 * mu))
    else:
        weights = np.full(near.shape, 1.0 / near.shape[1])
    directed = directed_graph(index, weights)
    return sp.csr_array((directed + directed.T) / 2)


def self_representation(points: Float, fraction: float) -> sp.csc_array:
    """Return S whose column i represents point i sparsely by the other points.

    ``minimise 1/2 |z_i - sum_(j != i) s_j z_j|^2 + penalty |s|_1``, where the penalty
    is the given fraction of ``max_(j != i) |z_j'z_i|``, the smallest one at which
    s = 0. The Gram matrix is computed once for all points.
    """
    gram = points @ points.T
    np.fill_diagonal(gram, 0.0)
    penalties = fraction * np.abs(gram).max(axis=1)
    np.einsum("ii->i", gram)[:] = np.einsum("ij,ij->i", points, points)
    found: list[tuple[Index, Float]] = []
    for i, penalty in enumerate(penalties):
        if penalty == 0.0:
            # The point is orthogonal to all others: s = 0.
            found.append((np.empty(0, dtype=np.intp), np.empty(0)))
            continue
        others, correlation = points.copy(), gram[:, i].copy()
        others[i] = correlation[i] = 0.0
        coef = lasso(others, points[i], penalty)
        support = np.flatnonzero(coef)
        values = polished(coef[support], support, gram, correlation, penalty)
        found.append((support, values))
    starts = np.cumsum([0, *(len(support) for support, _ in found)])
    support = np.concatenate([support for support, _ in found])
    values = np.concatenate([values for _, values in found])
    return sp.csc_array((values, support, starts), shape=gram.shape)


def lasso(atoms: Float, target: Float, penalty: float) -> Float:
    """Return ``argmin 1/2 |target - atoms' s|^2 + penalty |s|_1``.

    Atoms that violate the optimality condition enter a working set until none is
    left.
    """
    slope = np.abs(atoms @ target)
    chosen = np.empty(0, dtype=np.intp)
    values = np.empty(0)
    while (slope > penalty * (1 + 1e-9)).any():
        strongest = np.argsort(-slope, kind="stable")[:N_ATOMS_AT_ONCE]
        chosen = np.concatenate([chosen, strongest[slope[strongest] > 0]])
        values = small_lasso(atoms[chosen], target, penalty)
        slope = np.abs(atoms @ (target - values @ atoms[chosen]))
        slope[chosen] = 0.0
    coef = np.zeros(len(atoms))
    coef[chosen] = values
    return coef


def small_lasso(atoms: Float, target: Float, penalty: float) -> Float:
    """Return the solution of ``lasso`` for few atoms, by non-negative least squares.

    The residual is the point of ``|atoms r| <= penalty`` nearest to the target. This
    least distance problem is equivalent to non-negative least squares (Lawson and
    Hanson, 1974, chapter 23), whose solution contains the coefficients.
    """
    # With the target scaled to unit length, the distance is at most one, so that the
    # last component of the residual is between one half and one.
    norm = float(np.linalg.norm(target))
    if norm == 0.0:  # so small that its squares vanish
        return np.zeros(len(atoms))
    largest = float(np.sqrt(np.einsum("ij,ij->i", atoms, atoms).max()))
    unit_atoms = atoms.T / largest
    signed = np.hstack([unit_atoms, -unit_atoms])
    excess = (target / norm) @ signed - penalty / (largest * norm)
    system = np.vstack([-signed, excess])
    goal = np.zeros(len(system))
    goal[-1] = 1.0
    weights, _ = nnls(system, goal, maxiter=100 + 10 * system.shape[1])
    weights /= 1.0 - float(excess @ weights)
    return (weights[: len(atoms)] - weights[len(atoms) :]) * (norm / largest)


def polished(
    coef: Float, support: Index, gram: Float, correlation: Float, penalty: float
) -> Float:
    """Return the coefficients of a support, solved again to reduce rounding errors.

    If a sign changes, the support is too large for that, and coef is returned.
    """
    signs = np.sign(coef)
    right = correlation[support] - penalty * signs
    square = gram[np.ix_(support, support)]
    values: Float = lstsq(square, right, check_finite=False)[0]
    return values if (np.sign(values) == signs).all() else coef
