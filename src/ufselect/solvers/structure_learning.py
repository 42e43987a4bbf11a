"""FSASL: a projection of the samples and the structure it preserves, in turn."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

from ufselect.matrix import DataMatrix, Float
from ufselect.solvers.adaptive_graph import (
    neighbour_probabilities,
    neighbour_regulariser,
    self_representation,
)
from ufselect.solvers.graphs import laplacian
from ufselect.solvers.kernels import squared_distances_of
from ufselect.solvers.ridge import ridge_through_features, ridge_through_samples
from ufselect.solvers.rows import row_norms

# As published: so many reweighted steps from equal weights in each round.
REWEIGHTED_STEPS = 10
SMOOTHING = np.finfo(np.float64).eps


class StructureFit(NamedTuple):
    """W (p x c) and the objective after each round."""

    coef: Float
    history: Float


class Structure(NamedTuple):
    """What is kept of the samples: S, P and mu."""

    representation: Any
    graph: Any
    mu: float


def smallest_eigenvectors(matrix: Float, count: int) -> Float:
    """Return the eigenvectors of the smallest eigenvalues of a symmetric matrix."""
    few = (0, count - 1)
    return eigh(matrix, subset_by_index=few, check_finite=False)[1]


def reweighted_regression(
    matrix: DataMatrix,
    target: Float,
    penalty: float,
    *,
    gram: Float | None = None,
) -> Float:
    """Take the published reweighted steps for ``|X W - Y|^2 + penalty |W|_21``.

    With ``gram = X'X`` the steps go through features, else through samples.
    """
    slack = np.full(matrix.shape[1], 1 / penalty)
    cross = None if gram is None else matrix.transpose_dot(target)
    for _ in range(REWEIGHTED_STEPS):
        if gram is None or cross is None:
            coef, _ = ridge_through_samples(matrix, target, slack)
        else:
            coef = ridge_through_features(gram, cross, slack)
        slack = 2 * np.sqrt(row_norms(coef) ** 2 + SMOOTHING) / penalty
    return coef


def global_laplacian(representation: Any) -> Any:
    """Return ``(I - S)(I - S)'``."""
    rest = sp.eye_array(representation.shape[0]) - representation
    return rest @ rest.T


def learned_structure(
    projected: Float, alpha: float, n_neighbors: int, mu: float | None
) -> Structure:
    """Return who represents whom and who is near whom among the projected samples."""
    distances = squared_distances_of(projected @ projected.T)
    if mu is None:
        mu = neighbour_regulariser(distances, n_neighbors)
    graph = neighbour_probabilities(distances, n_neighbors, mu)
    return Structure(self_representation(projected, alpha), graph, mu)


def fit_structure(
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
    report: Callable[[int, float], bool] | None = None,
) -> StructureFit:
    """Alternate between the structure of the samples and their projection.

    The first round has the given graph for P and no global term. ``mu`` None is
    found anew in each round from the projected samples.
    """
    gram = matrix.feature_gram() if matrix.shape[1] <= matrix.shape[0] else None
    # No S yet: its part of L is zero, and not the identity.
    absent = sp.csr_array(graph.shape)
    structure, kernel = Structure(absent, graph, mu or 0.0), absent
    projected = np.zeros((matrix.shape[0], n_clusters))
    history: list[float] = []
    for iteration in range(max_iter):
        if iteration > 0:
            structure = learned_structure(projected, alpha, n_neighbors, mu)
            kernel = global_laplacian(structure.representation)
        kernel = (kernel + beta * laplacian(structure.graph)).toarray()
        target = smallest_eigenvectors(kernel, n_clusters)
        coef = reweighted_regression(matrix, target, gamma, gram=gram)
        projected = matrix.dot(coef)
        variation = float(np.vdot(projected, kernel @ projected))
        sparsity = gamma * float(row_norms(coef).sum())
        kept = structure_penalty(structure, alpha, beta)
        history.append(variation + kept + sparsity)
        stopped = report is not None and report(iteration, history[-1])
        if stopped or has_settled(history, tol):
            break
    return StructureFit(coef, np.array(history))


def structure_penalty(structure: Structure, alpha: float, beta: float) -> float:
    """Return ``alpha |S|_1 + beta mu |P|^2``."""
    sparsity = alpha * float(np.abs(structure.representation.data).sum())
    return sparsity + beta * structure.mu * float(np.sum(structure.graph.data**2))


def has_settled(history: list[float], tol: float) -> bool:
    """Tell whether the last change is less than a share of the objective."""
    if len(history) < 3:
        # The first round has another objective than those that follow.
        return False
    return abs(history[-1] - history[-2]) < tol * abs(history[-2])
