"""FSASL: alternating estimation of a projection and of the structure of the samples.

With ``Z = X W`` (n x c) the objective is

    (1)  |Z' - Z'S|^2 + alpha |S|_1 + beta sum_ij (|z_i - z_j|^2 P_ij + mu P_ij^2)
         + gamma |W|_21,   diag(S) = 0,  P 1 = 1,  P >= 0

Each iteration computes, from the Z of the iteration before,

    (2)  S: column i is a lasso of z_i on the other z_j
    (3)  P: row i is the simplex projection of -|z_i - z_j|^2 / (2 mu)
    (4)  L = (I - S)(I - S)' + beta L_P,   Y = its c smallest eigenvectors
    (5)  W = ten reweighted ridge steps for |X W - Y|^2 + gamma |W|_21

Equation numbers are those of this file.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh, lstsq
from scipy.optimize import nnls

from ufselect.matrix import DataMatrix, Float, Index
from ufselect.solvers.graphs import directed_graph, laplacian, squared_distances_of
from ufselect.solvers.iterations import Iterations, Report
from ufselect.solvers.ridge import ReweightedRidge, row_norms
from ufselect.solvers.soft_partition import project_rows_to_simplex

# Reweighted steps of each iteration, starting from equal weights, as published.
REWEIGHTED_STEPS = 10
SMOOTHING = np.finfo(np.float64).eps

# Number of atoms that enter the working set of a lasso at once.
N_ATOMS_AT_ONCE = 50


class FsaslFit(NamedTuple):
    """W (p x c) and the objective after each iteration."""

    coef: Float
    history: list[float]
    converged: bool


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


def fit_fsasl(
    matrix: DataMatrix,
    graph: sp.csr_array,
    *,
    n_clusters: int,
    alpha: float,
    beta: float,
    gamma: float,
    mu: float | None = None,
    n_neighbors: int = 5,
    max_iter: int = 20,
    tol: float = 0.0,
    report: Report | None = None,
) -> FsaslFit:
    """Alternate between the structure of the samples and their projection.

    The first iteration uses the given graph for P, and no S. If ``mu`` is None, each
    iteration computes it from the projected samples.
    """
    ridge = ReweightedRidge(matrix)
    # Without S, its term of L is zero, and not the identity.
    S: Any = sp.csr_array(graph.shape)
    of_S, P, own_mu = S, graph, mu or 0.0
    Z = np.zeros((matrix.shape[0], n_clusters))
    # The objective of the first iteration has no S and cannot be compared.
    loop = Iterations(max_iter, tol, report, n_incomparable=1)
    for iteration in loop:
        if iteration > 0:
            distances = squared_distances_of(Z @ Z.T)
            own_mu = neighbour_regulariser(distances, n_neighbors) if mu is None else mu
            P = neighbour_probabilities(distances, n_neighbors, own_mu)  # (3)
            S = self_representation(Z, alpha)  # (2)
            rest = sp.eye_array(S.shape[0]) - S
            of_S = rest @ rest.T
        L = (of_S + beta * laplacian(P)).toarray()
        Y = smallest_eigenvectors(L, n_clusters)  # (4)
        W = reweighted_regression(ridge, Y, gamma)  # (5)
        Z = matrix.dot(W)
        loop.record(  # (1)
            float(np.vdot(Z, L @ Z))
            + alpha * float(np.abs(S.data).sum())
            + beta * own_mu * float(np.sum(P.data**2))
            + gamma * float(row_norms(W).sum())
        )
    return FsaslFit(W, loop.history, loop.converged)


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
