"""NDFS: non-negative discriminative feature selection.

The objective (1) in the docstring of the class is lowered by reweighting, and entry by
entry, with ``M F = Ln F + alpha (F - X W)``, so that M (n x n) is never formed:

    (2)  W = (X'X + beta D)^-1 X'F
    (3)  D = diag(1 / (2 |w_i|))
    (4)  F <- F (gamma F) / (M F + gamma F F'F), with columns of unit length

Equation numbers are those of this file.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state

from ufselect._sklearn_compat import COUNT, POSITIVE, StrOptions
from ufselect.matrix import DataMatrix, Float, Index
from ufselect.selectors.base import MemoryNeed, Properties, graph_bytes, square_arrays
from ufselect.selectors.regression import Iterate, Problem, RegressionSelector
from ufselect.solvers.graphs import normalised_laplacian
from ufselect.solvers.preparation import prepare
from ufselect.solvers.ridge import ReweightedRidge, column_lengths, row_norms
from ufselect.solvers.spectral import smoothest_vectors, unit_columns
from ufselect.solvers.starts import N_RUNS, crisp_memberships, with_every_cluster

# Share of the beta above which W = 0 for any clusters.
AUTO_BETA = 0.2

# Keeps quotients and weights of zeros finite, as the public code does.
EPSILON = 2.2e-16

# A multiplicative step that still raises the objective at this exponent is dropped.
MIN_EXPONENT = 1 / 64

# Added to every entry of F at the start: a multiplicative rule never moves a zero.
OFFSET = 0.2


class NDFS(RegressionSelector):
    """Non-negative discriminative feature selection.

    Learns a non-negative, nearly orthogonal matrix F of clusters that is smooth on a
    graph of the samples, and a regression W that predicts it from few features::

        (1)  minimise  tr(F'Ln F) + alpha (|X W - F|^2 + beta |W|_21)
                       + gamma/2 |F'F - I|^2      subject to  F >= 0

    over F (n x c) and W (p x c), for centred X, where Ln is the normalised Laplacian of
    a graph of nearest neighbours. Features are ranked by the row norms of W.
    docs/methods/ndfs.md says what it cannot find and what it costs.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, fraction of them, or None for half.
    n_clusters : int, default=8
        Number of clusters c. With one, F is nearly constant and X is not centred: the
        ranking then says only which features are far from zero.
    alpha : float, default=1.0
        Weight of the regression. It has no unit.
    beta : float or "auto", default="auto"
        Weight of sparsity. A number depends on the unit of X; "auto" is 0.2 of
        ``2 max_i |x_i|``, above which W = 0 for any orthonormal F.
    gamma : float, default=1e8
        Weight of orthogonality. The published default keeps F near its start; with 10,
        graph and regression change it. Between, a fit takes many more iterations.
    n_neighbors : int, default=5
        Neighbours of each sample in the graph; n - 1 at most are used.
    sigma : float or None, default=None
        Width of the weights ``exp(-d^2 / (2 sigma^2))``, in the unit of X. None is the
        median distance to a neighbour.
    max_iter : int, default=500
        Largest number of iterations.
    tol : float, default=1e-5
        Stop when the objective changes by no more than this share of itself.
    random_state : int, RandomState instance or None, default=None
        Seed of the k-means that makes the start.
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
    coef_ : ndarray of shape (p, c)
        W.
    indicators_ : ndarray of shape (n, c)
        F.
    labels_ : ndarray of shape (n,)
        Cluster of the largest entry of F.
    beta_ : float
        The weight of sparsity, in the unit of X.
    objective_history_ : ndarray of shape (n_iter_,)
        The objective after each iteration; it does not rise.
    n_iter_ : int
        Number of iterations.

    References
    ----------
    Z. Li, Y. Yang, J. Liu, X. Zhou, H. Lu. Unsupervised feature selection using
    nonnegative spectral analysis. AAAI 2012, 1026-1032.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ufselect import NDFS
    >>> X = load_iris().data
    >>> NDFS(2, n_clusters=3, random_state=0).fit_transform(X).shape
    (150, 2)
    """

    PROPERTIES = Properties(
        similarity="explicit",
        joint_learning=True,
        clustering=True,
        regression=True,
        regularisation=True,
    )
    PARAM_GRID: ClassVar[dict[str, list[Any]]] = {
        "alpha": [10.0**power for power in range(-6, 7, 2)],
        "beta": [10.0**power for power in range(-6, 7, 2)],
        "gamma": [1e8],
    }

    PENALTY = "beta"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RegressionSelector._parameter_constraints,
        "n_clusters": [COUNT],
        "alpha": [POSITIVE],
        "beta": [StrOptions({"auto"}), POSITIVE],
        "gamma": [POSITIVE],
        "sigma": [None, POSITIVE],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_clusters: int = 8,
        alpha: float = 1.0,
        beta: float | str = "auto",
        gamma: float = 1e8,
        n_neighbors: int = 5,
        sigma: float | None = None,
        max_iter: int = 500,
        tol: float = 1e-5,
        random_state: int | np.random.RandomState | None = None,
        max_memory: float = 2e9,
        verbose: bool = False,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.max_memory = max_memory
        self.verbose = verbose

    def _memory_needed(self, data: DataMatrix) -> MemoryNeed:
        return square_arrays(4, min(data.shape), graph_bytes(data))

    def _prepare(self, data: DataMatrix) -> Problem:
        self._check_n_clusters(self.n_clusters, data.shape[0])
        prepared = prepare(data, "none", float(self.n_clusters))
        centred, unit = prepared.centred, prepared.unit
        X = centred if self.n_clusters > 1 else prepared.uncentred
        largest = 2 * float(column_lengths(X).max()) / unit
        beta = self._penalty(AUTO_BETA, largest) * unit
        graph = self._heat_graph(centred, unit)
        random = check_random_state(self.random_state)
        labels = clusters_of_graph(graph, self.n_clusters, random)
        start = indicator_from_labels(labels, self.n_clusters)
        return Problem(X, (normalised_laplacian(graph), start), beta, largest, unit)

    def _iterate(
        self, X: DataMatrix, structure: tuple[sp.csr_array, Float], beta: float
    ) -> Iterator[Iterate]:
        Ln, F = structure
        alpha, gamma, identity = self.alpha, self.gamma, np.eye(F.shape[1])

        def without_sparsity(F: Float, LF: Float, XW: Float) -> float:
            """Return (1) without its term in W alone; LF is Ln F."""
            excess, error = F.T @ F - identity, XW - F
            return (
                float(np.vdot(F, LF))
                + gamma / 2 * float(np.vdot(excess, excess))
                + alpha * float(np.vdot(error, error))
            )

        ridge, LF, inverse_D = ReweightedRidge(X), Ln @ F, np.ones(X.shape[1])
        while True:
            W, residual = ridge.solve(F, inverse_D / beta)  # (2)
            norms = row_norms(W)
            # Tiny rows stay further from zero than by adding epsilon to their norms.
            inverse_D = 2 * np.hypot(norms, np.sqrt(EPSILON))  # (3)
            XW, MF = F - residual, LF + alpha * residual
            value, exponent = without_sparsity(F, LF, XW), 1.0
            while exponent >= MIN_EXPONENT:
                moved = multiplicative_step(F, MF, gamma, exponent)  # (4)
                L_moved = Ln @ moved
                reached = without_sparsity(moved, L_moved, XW)
                if reached <= value:
                    F, LF, value = moved, L_moved, reached
                    break
                exponent /= 2
            yield Iterate(F, W, value + alpha * beta * float(norms.sum()))  # (1)

    def _keep(self, problem: Problem, found: Iterate) -> Float:
        self.indicators_ = found.structure
        self.labels_ = self.indicators_.argmax(axis=1)
        return super()._keep(problem, found)


def multiplicative_step(F: Float, MF: Float, gamma: float, exponent: float) -> Float:
    """Return F after (4) to a power, with negative parts of M F in the numerator.

    In the denominator, as published, they may make it negative where gamma is small,
    and then F.
    """
    numerator = gamma * F + np.maximum(-MF, 0.0) + EPSILON
    denominator = gamma * F @ (F.T @ F)
    denominator += np.maximum(MF, 0.0) + EPSILON
    return unit_columns(F * (numerator / denominator) ** exponent)


def indicator_from_labels(
    labels: Index, n_clusters: int, offset: float = OFFSET
) -> Float:
    """Return ``Y (Y'Y)^(-1/2) + offset``, where Y has a one at the label.

    Examples
    --------
    >>> import numpy as np
    >>> indicator_from_labels(np.array([0, 0, 0, 0, 1]), 2, 0.0)[3:]
    array([[0.5, 0. ],
           [0. , 1. ]])
    """
    memberships = crisp_memberships(labels, n_clusters)
    return memberships / np.sqrt(memberships.sum(axis=0)) + offset


def clusters_of_graph(
    graph: sp.csr_array, n_clusters: int, random: np.random.RandomState
) -> Index:
    """Return the labels of spectral clustering with the normalised Laplacian.

    k-means, from ten starts, on the lowest eigenvectors with rows of unit length.
    """
    vectors = smoothest_vectors(graph, n_clusters)
    norms = row_norms(vectors)
    norms[norms == 0] = 1.0
    points = vectors / norms[:, np.newaxis]
    model = KMeans(n_clusters, n_init=N_RUNS, random_state=random).fit(points)
    return with_every_cluster(model.labels_, n_clusters)
