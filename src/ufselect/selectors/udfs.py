"""UDFS: unsupervised discriminative feature selection.

The objective (1) is in the docstring of the class. Its two steps are

    (2)  W = eigenvectors of the c smallest eigenvalues of M + gamma D,   M = X'L X
    (3)  D = diag(1 / (2 sqrt(|w_i|^2 + epsilon)))

With exact eigenvectors, neither raises it. Equation numbers are those of this file.

The smallest eigenvectors of ``M + gamma D`` are those of the largest eigenvalues of the
inverse, which is applied by a p x p or an n x n factorisation, whichever is smaller.
"""

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh

from ufselect._sklearn_compat import COUNT, POSITIVE, StrOptions
from ufselect.matrix import DataMatrix, DenseMatrix, Float
from ufselect.selectors.base import MemoryNeed, Properties, graph_bytes, square_arrays
from ufselect.selectors.regression import Iterate, Problem, RegressionSelector
from ufselect.solvers.graphs import (
    diagonal_of_scatter,
    local_discriminant_matrix,
    neighbourhoods_of,
    scatter_matrices,
)
from ufselect.solvers.preparation import preparation_kind, prepare
from ufselect.solvers.ridge import FeatureRidge, SampleRidge, row_norms
from ufselect.solvers.spectral import Operator, block_width, largest_eigenvectors

# Weight of sparsity by default, as a share of the mean diagonal of M. More than a few
# hundredths and W holds little more than one feature per column.
AUTO_GAMMA = 0.01

# The epsilon of (3), as published.
SMOOTHING = np.finfo(np.float64).eps

# Up to this many features, M is always formed: a p x p matrix is then small.
MIN_SCATTER_FEATURES = 200

# If p > n, M is formed up to these numbers of features, per eigenvector and in total.
MAX_FEATURES_PER_VECTOR, MAX_SCATTER_FEATURES = 32, 2048

# Up to these numbers of features, in total or per eigenvector, a dense decomposition is
# as fast as an iteration with a warm start.
MAX_DECOMPOSED_FEATURES, MAX_DECOMPOSED_PER_VECTOR = 500, 24

# Smallest weight for which M + diag(weights) is positive definite despite rounding
# errors, as a share of the trace of M.
MIN_WEIGHT = 1e-10

# Share of the smallest weight that remains after the shift of the inverse: a smaller
# one gives faster convergence, but less accurate eigenvectors.
MARGIN = 1e-2

# Largest residual of an eigenvector, relative to its eigenvalue. Errors grow from
# iteration to iteration, up to about the smoothing. A larger tolerance is sufficient if
# the first eigenvectors come from a dense decomposition.
TOLERANCE, WARM_TOLERANCE = 1e-9, 1e-6

# Size of random numbers that distinguish equal features, relative to entries of one.
TIE_BREAK = 1e-3

# Maps row weights to the smallest eigenvectors of M + diag(weights).
Eigenvectors = Callable[[Float], Float]

# Maps positive weights to the inverse of M + diag(weights).
Inverse = Callable[[Float], Operator]


class UDFS(RegressionSelector):
    """Unsupervised discriminative feature selection.

    Looks for a projection on few features in which samples differ little from their
    neighbours, by the measure of what the neighbours differ in at all::

        (1)  minimise  tr(W'M W) + gamma |W|_21,  M = X'L X,  subject to  W'W = I
             L = sum_i P_i H (H X_i X_i' H + lam I)^-1 H P_i'

    over W (p x c), where X_i holds sample i and its neighbours, H centres them and
    P_i puts them into their places. Features are ranked by the row norms of W.
    docs/methods/udfs.md says what it cannot find and what it costs.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, fraction of them, or None for half.
    n_clusters : int, default=8
        Number c of columns of W; p - 1 at most are used.
    n_neighbors : int, default=5
        Neighbours of each sample.
    lam : float or "auto", default="auto"
        Ridge in L, in units of X as prepared. "auto" is the mean non-trivial
        eigenvalue of ``H X_i X_i' H``.
    gamma : float or "auto", default="auto"
        Weight of sparsity. "auto" is 0.01 of the mean diagonal of M.
    start : {"auto", "identity", "scatter"}, default="auto"
        D to start from: I ("identity", as published), or as if row norms fell with the
        square root of ``M_ii`` ("scatter"). "auto" is the first if p < n.
    standardize : {"auto", "features", "samples"} or bool, default="features"
        Preparation of X: features to unit variance ("features" or True), samples to
        unit length ("samples"), or neither (False). "auto" decides as :class:`SCFS`.
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
    coef_ : ndarray of shape (p, c)
        W, for X as prepared.
    objective_history_ : ndarray of shape (n_iter_,)
        The objective after each iteration.
    n_iter_ : int
        Number of iterations.
    lam_, gamma_ : float
        The weights used.
    standardize_ : {"features", "samples", "none"}
        The preparation used.

    References
    ----------
    Y. Yang, H. T. Shen, Z. Ma, Z. Huang, X. Zhou. l2,1-norm regularized
    discriminative feature selection for unsupervised learning. IJCAI 2011,
    1589-1594.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ufselect import UDFS
    >>> X = load_iris().data
    >>> UDFS(2, n_clusters=3).fit_transform(X).shape
    (150, 2)
    """

    PROPERTIES = Properties(
        similarity="explicit", joint_learning=True, regression=True, regularisation=True
    )
    PARAM_GRID: ClassVar[dict[str, list[Any]]] = {
        "gamma": [10.0**power for power in range(-5, 6)],
        "lam": [10.0**power for power in range(-5, 6)],
    }

    PENALTY = "gamma"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **RegressionSelector._parameter_constraints,
        "n_clusters": [COUNT],
        "lam": [StrOptions({"auto"}), POSITIVE],
        "gamma": [StrOptions({"auto"}), POSITIVE],
        "start": [StrOptions({"auto", "identity", "scatter"})],
        "standardize": ["boolean", StrOptions({"auto", "features", "samples"})],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_clusters: int = 8,
        n_neighbors: int = 5,
        lam: float | str = "auto",
        gamma: float | str = "auto",
        start: str = "auto",
        standardize: bool | str = "features",
        max_iter: int = 200,
        tol: float = 1e-4,
        max_memory: float = 2e9,
        verbose: bool = False,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.lam = lam
        self.gamma = gamma
        self.start = start
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol
        self.max_memory = max_memory
        self.verbose = verbose

    def _memory_needed(self, data: DataMatrix) -> MemoryNeed:
        n_samples, n_features = data.shape
        local = 64 * n_samples * (self.n_neighbors + 1) ** 2
        if forms_scatter(data.shape, self.n_clusters):
            # Two dense arrays of the shape of X, sparse or not.
            return square_arrays(4, n_features, local + 16 * n_samples * n_features)
        # Beside a copy without constant columns, one that is transformed.
        transformed = 8 * n_samples * n_features if isinstance(data, DenseMatrix) else 0
        return square_arrays(4, n_samples, local + transformed + graph_bytes(data))

    def _score_features(self, data: DataMatrix) -> Float:
        with data.limited_threads():
            return super()._score_features(data)

    def _prepare(self, data: DataMatrix) -> Problem:
        self.standardize_ = preparation_kind(self.standardize, data)
        constant = data.summary().constant
        varying = np.flatnonzero(~constant)
        X, unit, *_ = prepare(data, self.standardize_, float(len(varying)))
        L = self._discriminant(X, unit)
        # A constant feature would have M w = 0, the best of all.
        if len(varying) < data.shape[1]:
            X = X.take(varying)
        diagonal = diagonal_of_scatter(X, L)
        gamma = self._penalty(AUTO_GAMMA, float(diagonal.mean()))
        return Problem(X, (L, diagonal, constant), gamma)

    def _discriminant(self, X: DataMatrix, unit: float) -> sp.csr_array:
        """Return L for the prepared matrix; M does not depend on its unit."""
        neighbourhoods = neighbourhoods_of(X.points(), self.n_neighbors)
        K = scatter_matrices(X, neighbourhoods)
        mean = float(np.trace(K, axis1=1, axis2=2).mean())
        if mean <= 1e-14:
            raise ValueError(
                f"No sample differs from its n_neighbors={self.n_neighbors} nearest "
                "ones, so that there is nothing to compare; raise n_neighbors."
            )
        if self.lam == "auto":
            lam = mean / (neighbourhoods.shape[1] - 1)
        else:
            lam = float(self.lam) * unit * unit
        self.lam_ = lam / unit / unit
        return local_discriminant_matrix(K, neighbourhoods, lam)

    def _iterate(
        self, X: DataMatrix, structure: tuple[sp.csr_array, Float, Any], gamma: float
    ) -> Iterator[Iterate]:
        L, diagonal, _ = structure
        n_samples, n_features = X.shape
        n_vectors = max(1, min(self.n_clusters, n_features - 1))
        eigenvectors = smallest_eigenvectors(X, L, n_vectors)
        tall = n_features < n_samples
        if self.start == "identity" or (self.start == "auto" and tall):
            D: Float = np.ones(n_features)
        else:
            D = start_weights(diagonal, n_vectors)
        while True:
            W = eigenvectors(gamma * D)  # (2)
            norms = np.sqrt(np.einsum("ij,ij->i", W, W) + SMOOTHING)
            D = 1 / (2 * norms)  # (3)
            XW = X.dot(W)
            scatter = float(np.vdot(XW, L @ XW))
            yield Iterate(None, W, scatter + gamma * float(norms.sum()))  # (1)

    def _keep(self, problem: Problem, found: Iterate) -> Float:
        constant = problem.structure[2]
        self.coef_ = np.zeros((len(constant), found.W.shape[1]))
        self.coef_[~constant] = found.W
        return row_norms(self.coef_)


def start_weights(scatter_diagonal: Float, n_vectors: int) -> Float:
    """Return row weights for ``|w_i|`` proportional to ``1 / sqrt(M_ii)``.

    With equal weights, the vectors with ``M w = 0``, of which there are many if p > n,
    would be equally good. These weights make the solution unique and do not depend on
    the order of the features.
    """
    floor = 1e-6 * float(scatter_diagonal.mean())
    norms = 1 / np.sqrt(np.maximum(scatter_diagonal, floor))
    norms *= np.sqrt(n_vectors) / np.linalg.norm(norms)
    return 1 / (2 * norms)


def inverse_through_features(scatter: Float) -> Inverse:
    """Return the inverse by Cholesky factorisation of p x p matrices.

    Examples
    --------
    >>> import numpy as np
    >>> inverse = inverse_through_features(np.array([[1.0, 1.0], [1.0, 1.0]]))
    >>> inverse(np.array([1.0, 2.0]))(np.array([[2.0], [1.0]])).round(6) + 0.0
    array([[1.],
           [0.]])
    """
    return lambda weights: FeatureRidge(scatter, 1 / weights).inverse


def inverse_through_samples(matrix: DataMatrix, discriminant: sp.csr_array) -> Inverse:
    """Return the inverse by Cholesky factorisation of n x n matrices.

    With ``L = R'R``, M is the Gram matrix of the columns of ``R X``.
    """
    values, vectors = eigh(discriminant.toarray())
    root = np.sqrt(np.maximum(values, 0.0))[:, np.newaxis] * vectors.T
    product: DataMatrix | TransformedMatrix = TransformedMatrix(root, matrix)
    if isinstance(matrix, DenseMatrix):
        # R X is as large as X, and saves a product with R in every product with X.
        product = DenseMatrix(matrix.transpose_dot(root.T).T)
    return lambda weights: SampleRidge(product, 1 / weights).inverse


class TransformedMatrix:
    """``R X`` for a square R, as products; X may be sparse or on disk."""

    def __init__(self, root: Float, matrix: DataMatrix) -> None:
        self._root, self._matrix = root, matrix

    def weighted_gram(self, weights: Float) -> Float:
        """Return ``R X diag(w) X' R'``."""
        return np.asarray(
            self._root @ self._matrix.weighted_gram(weights) @ self._root.T
        )

    def dot(self, right: Float) -> Float:
        """Return ``R X right``."""
        return np.asarray(self._root @ self._matrix.dot(right))

    def transpose_dot(self, left: Float) -> Float:
        """Return ``X' R' left``."""
        return self._matrix.transpose_dot(self._root.T @ left)


def smallest_through_features(
    matrix: DataMatrix, discriminant: sp.csr_array, n_vectors: int
) -> Eigenvectors:
    """Return the eigensolver that forms M, which is p x p."""
    columns = matrix.columns(slice(None))
    scatter = columns.T @ (discriminant @ columns)
    scatter = (scatter + scatter.T) / 2

    def decompose(weights: Float) -> Float:
        weighted = scatter.copy()
        weighted.flat[:: len(weighted) + 1] += weights
        wanted = [0, n_vectors - 1]
        # The transpose of the symmetric matrix needs no copy for LAPACK.
        return eigh(weighted.T, subset_by_index=wanted, overwrite_a=True)[1]

    n_samples, n_features = columns.shape
    if n_features <= max(
        MAX_DECOMPOSED_FEATURES, MAX_DECOMPOSED_PER_VECTOR * n_vectors
    ):
        return decompose
    inverse = (
        inverse_through_features(scatter)
        if n_features <= n_samples
        else inverse_through_samples(DenseMatrix(columns), discriminant)
    )
    start = start_block(matrix, n_vectors)
    least = MIN_WEIGHT * float(np.trace(scatter))
    correct = warm_started(start, inverse, n_vectors, WARM_TOLERANCE)
    known = False

    def solve(weights: Float) -> Float:
        nonlocal known
        if known and weights.min() > least:
            return correct(weights)
        start[:, :n_vectors] = decompose(weights)
        known = True
        return start[:, :n_vectors].copy()

    return solve


def smallest_through_samples(
    matrix: DataMatrix, discriminant: sp.csr_array, n_vectors: int
) -> Eigenvectors:
    """Return the eigensolver with n x n and no p x p matrices, for p > n."""
    inverse = inverse_through_samples(matrix, discriminant)
    return warm_started(start_block(matrix, n_vectors), inverse, n_vectors)


def warm_started(
    start: Float, inverse: Inverse, n_vectors: int, tol: float = TOLERANCE
) -> Eigenvectors:
    """Return the eigensolver with a warm start from its last result, kept in start.

    The smallest eigenvectors are the leading ones of the inverse. No eigenvalue is
    below the smallest weight, so all weights can be lowered by nearly that much; this
    shift separates the wanted eigenvalues from the others.
    """

    def solve(weights: Float) -> Float:
        lowered = weights - (1 - MARGIN) * weights.min()
        found = largest_eigenvectors(inverse(lowered), start, n_vectors, tol)
        # Keep the extra columns, for directions orthogonal to the result.
        start[:, :n_vectors] = found
        return found

    return solve


def start_block(matrix: DataMatrix, n_vectors: int) -> Float:
    """Return start vectors whose rows are permuted with the features.

    Small random numbers are added, without which equal features i and j would have
    equal rows, and the eigenvector ``w = e_i - e_j`` with ``M w = 0`` would be missed.
    """
    n_samples, n_features = matrix.shape
    random = np.random.RandomState(0)
    width = block_width(n_vectors, n_features)
    block = 1.0 + matrix.transpose_dot(random.standard_normal((n_samples, width)))
    return block + TIE_BREAK * random.standard_normal(block.shape)


def smallest_eigenvectors(
    matrix: DataMatrix, discriminant: sp.csr_array, n_vectors: int
) -> Eigenvectors:
    """Return the eigensolver for the shape of the matrix."""
    dense = forms_scatter(matrix.shape, n_vectors)
    make = smallest_through_features if dense else smallest_through_samples
    return make(matrix, discriminant, n_vectors)


def forms_scatter(shape: tuple[int, int], n_vectors: int) -> bool:
    """Return whether the p x p matrix M is formed."""
    n_samples, n_features = shape
    if n_features <= max(n_samples, MIN_SCATTER_FEATURES):
        return True
    # For many eigenvectors, a dense decomposition is faster than an iteration.
    return n_features <= min(MAX_FEATURES_PER_VECTOR * n_vectors, MAX_SCATTER_FEATURES)
