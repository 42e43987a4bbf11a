"""GLSPFS: global and local structure preservation for feature selection.

The problem is that of ``solvers/structured_ridge.py``, whose target is here a root of a
kernel matrix.
"""

from typing import Any, ClassVar

from ufselect._sklearn_compat import COUNT, NOT_NEGATIVE, POSITIVE, StrOptions
from ufselect.matrix import DataMatrix, Float
from ufselect.selectors.base import MemoryNeed, Properties, graph_bytes, square_arrays
from ufselect.selectors.regression import (
    ConvexRegressionSelector,
    Iterate,
    Problem,
)
from ufselect.solvers.graphs import (
    centred_kernel,
    gaussian_kernel,
    kernel_root,
    laplacian,
    local_linear_matrix,
    squared_distances_of,
    tangent_alignment_matrix,
)
from ufselect.solvers.group_lasso import largest_penalty
from ufselect.solvers.preparation import preparation_kind, prepare
from ufselect.solvers.structured_ridge import structured_problem

# Share of the penalty above which W = 0; see "auto" in the docstring.
AUTO_R1 = 0.6

# Columns of the root of the kernel are left out beyond this share of its trace.
KEPT_SHARE = 0.999


class GLSPFS(ConvexRegressionSelector):
    """Global and local structure preservation for feature selection.

    Predicts the similarity of all samples, a Gaussian kernel K, from few features, and
    keeps near neighbours near each other in the prediction::

        minimise  |X W - Y|^2 + r2 tr(W'X'L X W) + r1 |W|_21,   Y Y' = K

    over W (p x r), for centred X, with a matrix L of local structure. Features are
    ranked by the row norms of W. docs/methods/glspfs.md says what it cannot find and
    what it costs.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, fraction of them, or None for half.
    r1 : float or "auto", default="auto"
        Weight of sparsity. "auto" is 0.6 of the value above which W = 0.
    r2 : float, default=1.0
        Weight of the local structure. It has no unit.
    local : {"neighbours", "lle", "ltsa"}, default="neighbours"
        The Laplacian of the graph of neighbours (LPP in the paper), the matrix of
        locally linear embedding, or the alignment matrix of local tangent spaces.
    n_components : int, default=2
        Dimension of the tangent spaces of "ltsa", at most ``n_neighbors - 1``.
    n_neighbors : int, default=5
        Neighbours of each sample in the graph.
    sigma : float or None, default=None
        Width of the weights ``exp(-d^2 / (2 sigma^2))``, in the unit of X as prepared.
        None is the median distance to a neighbour.
    kernel_sigma : float or None, default=None
        Width of K, likewise. None is the median distance over the square root of two,
        as published.
    standardize : {"auto", "features", "samples"} or bool, default="auto"
        Preparation of X: features to unit variance ("features" or True), samples to
        unit length ("samples"), or neither (False). "auto" decides as :class:`SCFS`.
    max_iter : int, default=200
        Largest number of iterations.
    tol : float, default=1e-5
        Stop when the objective changes by no more than this share of itself.
    max_memory : float, default=2e9
        About how many bytes the fit may use. A fit that needs more is refused.
    verbose : bool, default=False
        Print the objective of each iteration.

    Attributes
    ----------
    scores_ : ndarray of shape (p,)
        Row norms of W; where these are zero, how near a feature is to the model.
    order_ : ndarray of shape (p,)
        Features from best to worst.
    coef_ : ndarray of shape (p, r)
        W, for X as prepared.
    r1_ : float
        Weight of sparsity, for X as prepared.
    objective_history_ : ndarray of shape (n_iter_,)
        Objective after each iteration.
    n_iter_ : int
        Number of iterations.
    standardize_ : {"features", "samples", "none"}
        The preparation used.

    References
    ----------
    X. Liu, L. Wang, J. Zhang, J. Yin, H. Liu. Global and local structure preservation
    for feature selection. IEEE Transactions on Neural Networks and Learning Systems
    25 (2014) 1083-1095.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ufselect import GLSPFS
    >>> X = load_iris().data
    >>> GLSPFS(2).fit_transform(X).shape
    (150, 2)
    """

    PROPERTIES = Properties(
        similarity="explicit", joint_learning=True, regression=True, regularisation=True
    )
    PARAM_GRID: ClassVar[dict[str, list[Any]]] = {
        "r1": [10.0**power for power in range(-5, 6)],
        "r2": [10.0**power for power in range(-5, 6)],
    }

    PENALTY = "r1"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ConvexRegressionSelector._parameter_constraints,
        "r1": [StrOptions({"auto"}), POSITIVE],
        "r2": [NOT_NEGATIVE],
        "local": [StrOptions({"neighbours", "lle", "ltsa"})],
        "n_components": [COUNT],
        "sigma": [None, POSITIVE],
        "kernel_sigma": [None, POSITIVE],
        "standardize": ["boolean", StrOptions({"auto", "features", "samples"})],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        r1: float | str = "auto",
        r2: float = 1.0,
        local: str = "neighbours",
        n_components: int = 2,
        n_neighbors: int = 5,
        sigma: float | None = None,
        kernel_sigma: float | None = None,
        standardize: bool | str = "auto",
        max_iter: int = 200,
        tol: float = 1e-5,
        max_memory: float = 2e9,
        verbose: bool = False,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.r1 = r1
        self.r2 = r2
        self.local = local
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.kernel_sigma = kernel_sigma
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol
        self.max_memory = max_memory
        self.verbose = verbose

    def _memory_needed(self, data: DataMatrix) -> MemoryNeed:
        n_samples, n_features = data.shape
        if n_features <= n_samples:
            return square_arrays(5, n_samples, graph_bytes(data))
        # W may have as many columns as there are samples.
        return square_arrays(6, n_samples, 24 * n_samples * n_features)

    def _prepare(self, data: DataMatrix) -> Problem:
        self.standardize_ = preparation_kind(self.standardize, data)
        X, unit, *_ = prepare(data, self.standardize_, float(data.shape[0]))
        width = None if self.kernel_sigma is None else self.kernel_sigma * unit
        kernel = gaussian_kernel(squared_distances_of(X.sample_gram()), width)
        Y = kernel_root(centred_kernel(kernel), share=KEPT_SHARE)
        L = self._local_structure(X, unit)
        r1 = self._convex_penalty(AUTO_R1, largest_penalty(X, Y), unit)
        return Problem(X, structured_problem(X, Y, L, self.r2), r1, unit=unit)

    def _local_structure(self, X: DataMatrix, unit: float) -> Any:
        """Return L, a sparse n x n matrix."""
        points, k = X.points(), self.n_neighbors
        if self.local == "lle":
            return local_linear_matrix(points, k)
        if self.local == "ltsa":
            return tangent_alignment_matrix(points, k, n_components=self.n_components)
        return laplacian(self._heat_graph(X, unit))

    def _keep(self, problem: Problem, found: Iterate) -> Float:
        scores = super()._keep(problem, found)
        self.coef_ = found.W * problem.unit
        return scores
