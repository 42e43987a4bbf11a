"""MFFS: feature selection by matrix factorisation."""

from typing import Any, ClassVar

import numpy as np

from ufselect._constraints import POSITIVE
from ufselect._sklearn_compat import StrOptions
from ufselect.selectors.base import Properties
from ufselect.selectors.factor_model import AUTO_ORTHOGONALITY, FactorSelector
from ufselect.solvers.factors import Weights


class MFFS(FactorSelector):
    """Matrix factorisation unsupervised feature selection.

    Looks for few features of which all others are non-negative combinations::

        minimise  1/2 |X - X W H|^2 + rho/4 |W'W - I|^2,   W >= 0,  H >= 0

    over W (p x K) and H (K x p) for a non-negative X. Were W made of K columns of the
    identity, X W would be K of the features. Features are ranked by the row norms
    of W.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, fraction of them, or None for half.
    n_components : int or None, default=None
        Inner dimension K. None is the number of features to select, as published,
        but at most 50 and at most the number of samples or of features that vary:
        time and memory grow with K. The scores depend on K, and through it on
        ``n_features_to_select``.
    rho : float or "auto", default="auto"
        Weight of orthogonality. A number is the objective as printed and depends on
        the units of X; "auto" is ``0.1 |X|^2 / K``, for X as shifted.
    shift : {"features", "table"}, default="features"
        How X is made non-negative: by subtracting the minimum of each feature, or
        that of all of X if it is negative ("table"). See Notes.
    exponent : float or None, default=None
        Power of the multiplicative step for W. None tries 1, then 1/2, then 1/4
        until the objective does not rise; a number is taken whatever happens, and 1
        is the published rule.
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
        Row norms of W.
    order_ : ndarray of shape (p,)
        Features from best to worst.
    coef_ : ndarray of shape (p, K)
        W; rows of constant columns are zero.
    components_ : ndarray of shape (K, p)
        H; columns of constant columns are zero.
    n_components_ : int
        The inner dimension K used.
    rho_ : float
        Weight in the objective as printed.
    objective_history_ : ndarray of shape (n_iter_,)
        The objective after each iteration.
    n_iter_ : int
        Number of iterations.

    Notes
    -----
    **Optimised.** Columns of W are given unit length (H makes up for it), then W and H
    take one multiplicative step each. The objective never rises, unless ``exponent``
    is given. It is not convex, so that the result depends on the start; the more so
    the larger rho is, because W then turns orthogonal before X has had a say.

    **Differs.** X is made non-negative feature by feature: one shift for all of
    X, which ``shift="table"`` does, is so large beside the spread of most features
    that any of them rebuilds all, and planted features in wide data then rank no
    better than noise. Features should share a unit. Constant columns take no part.
    The published step for W raises the objective if rho is large, and so may unit
    length: both are refused here where they do. The random start is scaled to the
    size of X, more peaked for a larger K than the uniform one of the publication, and
    gives a column the same numbers wherever it stands. The objective that the public
    code prints is another one.

    **Confidence.** Confirmed: update rules and numbers agree with public code that is
    not by the authors.

    **Needs c.** No.

    **Invariant to.** offset of features; unit of X.

    **Not invariant to.** sign of features; unit of single features; order of
    samples; seed. X has to be non-negative: a feature whose sign is flipped is
    another one after the shift.

    **Cannot.** X is taken in its own units: features of a large variance are worth more
    to rebuild. On planted data whose columns differ in unit by up to a hundred to one,
    useful columns rank no better than noise in most geometries; standardise such X
    first. The start, and
    with it the seed and the order of the samples, decides much of the ranking: look at
    several seeds, or at their `Consensus`.

    **Cost.** O(n p K + p K^2) per iteration, or O(p^2 K) where p <= n; memory O(p K)
    beside X, and p x p only where that is no larger than X.

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
        "rho": [1e-4, 1e-2, 1.0, 1e2, 1e4, 1e6, 1e8],
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
