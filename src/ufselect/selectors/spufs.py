"""SPUFS: structure preserving unsupervised feature selection.

The problem is that of ``solvers/structured_ridge.py``, whose target is here X itself.
"""

from typing import Any, ClassVar

from ufselect._sklearn_compat import NOT_NEGATIVE, POSITIVE, StrOptions
from ufselect.matrix import DataMatrix
from ufselect.selectors.base import MemoryNeed, Properties, graph_bytes, square_arrays
from ufselect.selectors.regression import ConvexRegressionSelector, Problem
from ufselect.solvers.graphs import laplacian
from ufselect.solvers.preparation import preparation_kind, prepare
from ufselect.solvers.structured_ridge import self_expression

# Share of the penalty above which W = 0; see "auto" in the docstring.
AUTO_ALPHA = 0.6


class SPUFS(ConvexRegressionSelector):
    """Structure preserving unsupervised feature selection.

    Expresses all features by few of them, and keeps near neighbours near each other::

        minimise  |X - X W|^2 + alpha |W|_21 + beta tr(W'X'L X W)

    over W (p x p), for centred X, with the Laplacian L of a graph of neighbours.
    Features are ranked by the row norms of W. docs/methods/spufs.md says what it cannot
    find and what it costs.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, fraction of them, or None for half.
    alpha : float or "auto", default="auto"
        Weight of sparsity. "auto" is 0.6 of the value above which W = 0.
    beta : float, default=1.0
        Weight of the local structure. It has no unit.
    n_neighbors : int, default=5
        Neighbours of each sample in the graph.
    sigma : float or None, default=None
        Width of the weights ``exp(-d^2 / (2 sigma^2))``, in the unit of X as prepared.
        None is the median distance to a neighbour.
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
    alpha_ : float
        Weight of sparsity, for X as prepared.
    objective_history_ : ndarray of shape (n_iter_,)
        Objective after each iteration, for X as prepared.
    n_iter_ : int
        Number of iterations.
    standardize_ : {"features", "samples", "none"}
        The preparation used.

    References
    ----------
    Q. Lu, X. Li, Y. Dong. Structure preserving unsupervised feature selection.
    Neurocomputing 301 (2018) 36-45.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ufselect import SPUFS
    >>> X = load_iris().data
    >>> SPUFS(2).fit_transform(X).shape
    (150, 2)
    """

    PROPERTIES = Properties(
        self_expression="features",
        similarity="explicit",
        joint_learning=True,
        regularisation=True,
    )
    PARAM_GRID: ClassVar[dict[str, list[Any]]] = {
        "alpha": [10.0**power for power in range(-3, 4)],
        "beta": [10.0**power for power in range(-3, 4)],
    }

    PENALTY = "alpha"

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ConvexRegressionSelector._parameter_constraints,
        "alpha": [StrOptions({"auto"}), POSITIVE],
        "beta": [NOT_NEGATIVE],
        "sigma": [None, POSITIVE],
        "standardize": ["boolean", StrOptions({"auto", "features", "samples"})],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        alpha: float | str = "auto",
        beta: float = 1.0,
        n_neighbors: int = 5,
        sigma: float | None = None,
        standardize: bool | str = "auto",
        max_iter: int = 200,
        tol: float = 1e-5,
        max_memory: float = 2e9,
        verbose: bool = False,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.beta = beta
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol
        self.max_memory = max_memory
        self.verbose = verbose

    def _memory_needed(self, data: DataMatrix) -> MemoryNeed:
        n_samples, n_features = data.shape
        if n_features <= n_samples:
            return square_arrays(5, n_features, graph_bytes(data))
        # W has as many columns as there are samples.
        return square_arrays(6, n_samples, 24 * n_samples * n_features)

    def _prepare(self, data: DataMatrix) -> Problem:
        self.standardize_ = preparation_kind(self.standardize, data)
        # Features of unit norm, on average.
        X, unit, *_ = prepare(data, self.standardize_, float(data.shape[1]))
        L = laplacian(self._heat_graph(X, unit))
        problem, largest = self_expression(X, L, self.beta)
        alpha = self._convex_penalty(AUTO_ALPHA, largest, unit * unit)
        return Problem(X, problem, alpha, objective_unit=unit)
