"""LDSSL: local discriminative based sparse subspace learning."""

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from ufselect._sklearn_compat import POSITIVE
from ufselect.selectors.mffs import (
    AUTO_ORTHOGONALITY,
    AUTO_SPARSITY,
    SparseFactorSelector,
)
from ufselect.solvers.factors import SampleTerm, UnitProblem, Weights
from ufselect.solvers.graphs import (
    gaussian_matrices,
    local_discriminant_matrix,
    neighbourhoods_of,
    scatter_matrices,
)
from ufselect.solvers.udfs import diagonal_of_scatter

# "auto", as a share of what S = I would give. Ten times this takes twice the iterations
# and finds fewer planted columns.
AUTO_ALPHA = 0.01


class LDSSL(SparseFactorSelector):
    """Local discriminative based sparse subspace learning (reconstructed).

    MFFS with a local discriminant model, by which the samples in the subspace X S
    should differ little from their neighbours where these are alike, and with sparsity
    of the selection S::

        minimise  |X - X S V|^2 + alpha tr(S' X' L X S) + beta |S|_1
                  + lam/2 |S'S - I|^2,   S >= 0,  V >= 0

    over S (p x K) and V (K x p) for a non-negative X. L is the sum over samples i of
    ``H (H Q_i H + mu I)^-1 H``, put into the places of a sample and its neighbours,
    where Q_i is their Gaussian kernel and H centres. Features are ranked by the row
    norms of S.

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
        Weight of the local discriminant model; a number does not depend on the units
        of X. "auto" is ``0.01 |X|^2 / tr(X' L X)``, for X as shifted.
    beta : float or "auto", default="auto"
        Weight of sparsity. A number is the objective as printed and depends on the
        units of X; "auto" is ``0.001 |X|^2 / K``.
    lam : float or "auto", default="auto"
        Weight of orthogonality; "auto" is ``0.1 |X|^2 / K``.
    mu : float, default=1.0
        Ridge in L, beside kernels whose largest value is 1.
    n_neighbors : int, default=5
        Neighbours of each sample.
    sigma : float or None, default=None
        Bandwidth of the kernel ``exp(-d^2 / (2 sigma^2))``. None is the median
        distance to a neighbour; published experiments use 1.
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
    objective never rises, unless ``exponent`` is given: columns then always get unit
    length. It is not convex, so that the result depends on the start. A large alpha
    needs many iterations and does little but shrink S, which V makes up for: only lam
    keeps S from it. On planted clusters alpha = 0 finds as many useful columns as the
    default.

    **Differs.** Where and with what factor each term of the publication stands could
    not be compared with its text; nor could the kernel, its bandwidth and the ridge.
    The step for S splits L, rather than ``X' L X``, by sign: for a non-negative X
    this is as safe and needs no p x p matrix, but steps are shorter. X is made
    non-negative as in MFFS; features should share a unit. Constant columns
    take no part. The random start is that of MFFS. Without alpha and beta, LDSSL is
    MFFS with rho = lam, and its objective twice that of MFFS.

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

    **Cost.** O(n^2 p) at most for the neighbours and O(n k^2 (p + k)) for L, which is
    sparse; O(n p K + p K^2) per iteration; memory O((n + p) K + n k^2) beside X, and
    p x p only where that is no larger than X.

    References
    ----------
    R. Shang, Y. Meng, W. Wang, F. Shang, L. Jiao. Local discriminative based sparse
    subspace learning for feature selection. Pattern Recognition 92 (2019) 219-230.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ufselect import LDSSL
    >>> X = load_iris().data
    >>> LDSSL(n_features_to_select=2, random_state=0).fit_transform(X).shape
    (150, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SparseFactorSelector._parameter_constraints,
        "mu": [POSITIVE],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_components: int | None = None,
        alpha: float | str = "auto",
        beta: float | str = "auto",
        lam: float | str = "auto",
        mu: float = 1.0,
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
        super().__init__(
            n_features_to_select,
            n_components=n_components,
            alpha=alpha,
            beta=beta,
            lam=lam,
            n_neighbors=n_neighbors,
            sigma=sigma,
            shift=shift,
            exponent=exponent,
            n_init=n_init,
            max_iter=max_iter,
            tol=tol,
            random_state=random_state,
            verbose=verbose,
        )
        self.mu = mu

    def _unit_weights(self, unit: float) -> Weights:
        K = self.n_components_
        return Weights(
            orthogonality=self._weight("lam", AUTO_ORTHOGONALITY / K, unit),
            entry_sparsity=self._weight("beta", AUTO_SPARSITY / K, unit),
        )

    def _sample_term(self, problem: UnitProblem) -> SampleTerm | None:
        discriminant = self._discriminant(problem)
        if self.alpha == "auto":
            spread = float(diagonal_of_scatter(problem.matrix, discriminant).sum())
            # No spread: samples equal all of their neighbours, up to rounding.
            self.alpha_ = AUTO_ALPHA / spread if spread > 1e-14 else 0.0
        else:
            self.alpha_ = float(self.alpha)
        return SampleTerm(discriminant, self.alpha_) if self.alpha_ > 0 else None

    def _discriminant(self, problem: UnitProblem) -> sp.csr_array:
        """Return L, which does not depend on the unit of X."""
        matrix = problem.matrix
        neighbourhoods = neighbourhoods_of(matrix.points(), self.n_neighbors)
        bandwidth = None if self.sigma is None else self.sigma * problem.unit
        K = gaussian_matrices(scatter_matrices(matrix, neighbourhoods), bandwidth)
        return local_discriminant_matrix(K, neighbourhoods, self.mu)
