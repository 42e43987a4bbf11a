"""MFFS: feature selection by matrix factorisation; base class of SGFS and LDSSL."""

from abc import abstractmethod
from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from ufselect._sklearn_compat import (
    COUNT,
    ITERATIONS,
    NOT_NEGATIVE,
    POSITIVE,
    Interval,
    StrOptions,
)
from ufselect.matrix import DataMatrix, Float
from ufselect.selectors.base import IterativeSelector, Properties
from ufselect.solvers.factors import (
    FactorFit,
    SampleTerm,
    UnitProblem,
    Weights,
    fit_factors,
    random_factors,
    unit_problem,
)
from ufselect.solvers.ridge import row_norms

# Most components for n_components=None: each costs O(n p) per iteration.
MAX_AUTO_COMPONENTS = 50

# "auto", where |X| = 1: of sparsity and of orthogonality, for one component.
AUTO_SPARSITY = 1e-3
AUTO_ORTHOGONALITY = 0.1


class FactorSelector(IterativeSelector):
    """Fits the factor model from several starts and ranks by the rows of S.

    A method says what its weights are, and its feature graph or its term of the
    samples if it has one. Weights are those of
    ``|X - X S V|^2 + lam/2 |S'S - I|^2 + ...``.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **IterativeSelector._parameter_constraints,
        "n_components": [None, COUNT],
        "shift": [StrOptions({"features", "table"})],
        "exponent": [None, Interval(Real, 0, 1, closed="right")],
        "n_init": [COUNT],
        **ITERATIONS,
        "random_state": ["random_state"],
    }

    # The objective of the method, as a share of the one above.
    _share: ClassVar[float] = 1.0

    n_components: int | None
    shift: str
    exponent: float | None
    n_init: int
    random_state: Any

    @abstractmethod
    def _unit_weights(self, unit: float) -> Weights:
        """Return the weights where |X| = 1; ``unit`` is what X was multiplied by."""

    def _weight(self, name: str, auto: float, unit: float) -> float:
        """Return a weight for |X| = 1, and set it as an attribute in the units of X."""
        given: Any = getattr(self, name)
        weight = auto if given == "auto" else float(given) * unit * unit
        setattr(self, f"{name}_", weight / unit / unit)
        return weight

    def _feature_graph(self, problem: UnitProblem) -> sp.csr_array | None:
        """Return a graph of the varying features, or None."""
        return None

    def _sample_term(self, problem: UnitProblem) -> SampleTerm | None:
        """Return a matrix of the samples and its weight, or None."""
        return None

    def _score_features(self, data: DataMatrix) -> Float:
        each_column = self.shift == "features"
        problem = unit_problem(data, each_column=each_column)
        self.n_components_ = self._number_of_components(problem.matrix.shape)
        fits = list(self._fits(problem))
        best = min(fits, key=lambda fit: fit.history[-1])
        size = (data.shape[1], self.n_components_)
        self.coef_, loadings = np.zeros(size), np.zeros(size)
        self.coef_[problem.varying] = best.factors.selection
        loadings[problem.varying] = best.factors.loadings
        self.components_ = loadings.T
        self._keep_history(best.history, self._objective_unit(problem))
        self._warn_unless(best.converged)
        return row_norms(self.coef_)

    def _fits(self, problem: UnitProblem) -> Iterator[FactorFit]:
        weights = self._unit_weights(problem.unit)
        graph = self._feature_graph(problem)
        samples = self._sample_term(problem)
        random = check_random_state(self.random_state)
        callback = self._callback(self._objective_unit(problem))
        for _ in range(self.n_init):
            yield fit_factors(
                problem.matrix,
                random_factors(problem.matrix, self.n_components_, random),
                weights,
                graph=graph,
                samples=samples,
                exponent=self.exponent,
                max_iter=self.max_iter,
                tol=self.tol,
                callback=callback,
            )

    def _objective_unit(self, problem: UnitProblem) -> float:
        """Return the root of the number that objectives are divided by."""
        return problem.unit / float(np.sqrt(self._share))

    def _number_of_components(self, shape: tuple[int, int]) -> int:
        n_samples, n_varying = shape
        if self.n_components is None:
            largest = min(n_samples, n_varying, MAX_AUTO_COMPONENTS)
            return min(self.n_selected_, largest)
        if self.n_components > n_varying:
            raise ValueError(
                f"n_components={self.n_components} but X has {n_varying} features "
                f"that vary; ask for at most {n_varying} components."
            )
        return self.n_components


class MFFS(FactorSelector):
    """Matrix factorisation unsupervised feature selection.

    Looks for few features whose non-negative combinations give all others::

        minimise  1/2 |X - X W H|^2 + rho/4 |W'W - I|^2,   W >= 0,  H >= 0

    over W (p x K) and H (K x p) for a non-negative X. Features are ranked by the row
    norms of W. docs/methods/mffs.md says what it cannot find and what it costs.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, fraction of them, or None for half.
    n_components : int or None, default=None
        Inner dimension K, on which the scores depend. None is the number of features
        to select, at most 50 and at most the number of samples or varying features.
    rho : float or "auto", default="auto"
        Weight of orthogonality. A number is the objective as printed and depends on
        the units of X; "auto" is ``0.1 |X|^2 / K``, for X as shifted.
    shift : {"features", "table"}, default="features"
        How X is made non-negative: by subtracting the minimum of each feature, or
        that of all of X if it is negative ("table").
    exponent : float or None, default=None
        Power of the step for W. None takes the first of 1, 1/2 and 1/4 that does not
        raise the objective; a number is always used, and 1 is the published rule.
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
    scores_ : ndarray of shape (p,)
        Row norms of W.
    order_ : ndarray of shape (p,)
        Features from best to worst.
    coef_, components_ : ndarrays of shapes (p, K) and (K, p)
        W and H; they are zero for constant features.
    n_components_ : int
        The inner dimension K used.
    rho_ : float
        Weight in the objective as printed.
    objective_history_ : ndarray of shape (n_iter_,)
        The objective after each iteration.
    n_iter_ : int
        Number of iterations.

    References
    ----------
    S. Wang, W. Pedrycz, Q. Zhu, W. Zhu. Subspace learning for unsupervised feature
    selection via matrix factorization. Pattern Recognition 48 (2015) 10-19.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ufselect import MFFS
    >>> X = load_iris().data
    >>> MFFS(n_features_to_select=2, random_state=0).fit_transform(X).shape
    (150, 2)
    """

    PROPERTIES = Properties(self_expression="features")
    PARAM_GRID: ClassVar[dict[str, list[Any]]] = {
        "rho": [1e-4, 1e-2, 1.0, 1e2, 1e4, 1e6, 1e8]
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **FactorSelector._parameter_constraints,
        "rho": [StrOptions({"auto"}), POSITIVE],
    }

    _share = 0.5

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_components: int | None = None,
        rho: float | str = "auto",
        shift: str = "features",
        exponent: float | None = None,
        n_init: int = 1,
        max_iter: int = 3000,
        tol: float = 1e-4,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_components = n_components
        self.rho = rho
        self.shift = shift
        self.exponent = exponent
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def _unit_weights(self, unit: float) -> Weights:
        auto = AUTO_ORTHOGONALITY / self.n_components_
        return Weights(orthogonality=self._weight("rho", auto, unit))


class SparseFactorSelector(FactorSelector):
    """Adds the parameters that SGFS and LDSSL share."""

    PROPERTIES = Properties(
        self_expression="features",
        similarity="explicit",
        joint_learning=True,
        regularisation=True,
    )
    PARAM_GRID: ClassVar[dict[str, list[Any]]] = {
        "alpha": [1e-4, 1e-2, 1.0, 1e2, 1e4],
        "beta": [1e-4, 1e-2, 1.0, 1e2, 1e4],
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **FactorSelector._parameter_constraints,
        "alpha": [StrOptions({"auto"}), NOT_NEGATIVE],
        "beta": [StrOptions({"auto"}), NOT_NEGATIVE],
        "lam": [StrOptions({"auto"}), POSITIVE],
        "n_neighbors": [COUNT],
        "sigma": [None, POSITIVE],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_components: int | None = None,
        alpha: float | str = "auto",
        beta: float | str = "auto",
        lam: float | str = "auto",
        n_neighbors: int = 5,
        sigma: float | None = None,
        shift: str = "features",
        exponent: float | None = None,
        n_init: int = 1,
        max_iter: int = 3000,
        tol: float = 1e-4,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_components = n_components
        self.alpha = alpha
        self.beta = beta
        self.lam = lam
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.shift = shift
        self.exponent = exponent
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose
