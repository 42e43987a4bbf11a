"""FSASL: feature selection with adaptive structure learning."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from ufselect._sklearn_compat import COUNT, ITERATIONS, POSITIVE, Interval, StrOptions
from ufselect.matrix import ColumnSummary, DataMatrix, Float
from ufselect.selectors.base import (
    IterativeSelector,
    MemoryNeed,
    Properties,
    graph_bytes,
    square_arrays,
)
from ufselect.solvers.fsasl import (
    FsaslFit,
    fit_fsasl,
    neighbour_regulariser,
    smallest_eigenvectors,
)
from ufselect.solvers.graphs import laplacian, neighbour_graph, squared_distances_of
from ufselect.solvers.group_lasso import largest_penalty
from ufselect.solvers.preparation import preparation_kind, prepare
from ufselect.solvers.ridge import row_norms

# The share of the penalty above which W = 0 in the first round.
AUTO_GAMMA = 0.5

# Reweighted steps never reach zero; a prediction this small is rounding.
ROUNDING = 1e-10


class FSASL(IterativeSelector):
    """Feature selection with adaptive structure learning (FSASL).

    Learns, among the samples projected by W, which samples represent which (S, global
    structure) and which are near each other (P, local structure), together with the
    projection that preserves both. Features are ranked by their weight in it. With
    Z = XW::

        minimise  |Z' - Z'S|^2 + alpha |S|_1
                  + beta sum_ij (|z_i - z_j|^2 P_ij + mu P_ij^2) + gamma |W|_21
        subject to  S_ii = 0,  P >= 0,  P1 = 1,  Z'Z = I

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, fraction of them, or None for half.
    n_clusters : int, default=8
        Number of columns of W, c. With one, X is not centred: the first embedding is
        then the constant vector, which centred features cannot predict.
    alpha : float, default=0.05
        Sparsity of S, between 0 and 1: for each sample the share of the penalty from
        which on no other represents it. It has no unit.
    beta : float, default=1.0
        Weight of the local structure against the global one. It has no unit.
    gamma : float or "auto", default="auto"
        Weight of sparsity of W. A number is the objective as printed, for X as
        prepared; "auto" is 0.5 of the value above which W = 0 in the first round.
    mu : float or {"projected", "samples"}, default="projected"
        Spread of the neighbour probabilities. "projected" finds the mu at which
        samples keep about n_neighbors of their neighbours among the projected samples
        of each round; "samples", as in the authors' code, once among the samples.
    n_neighbors : int, default=5
        Neighbours of each sample.
    standardize : {"auto", "features", "samples"} or bool, default="auto"
        Preparation of X for the fit: scale features to unit variance ("features" or
        True), scale samples to unit length ("samples"), or leave X as it is
        (False). "auto" decides from X, as in SCFS.
    max_iter : int, default=20
        Rounds of structure and projection. The published number; see Notes.
    tol : float, default=1e-4
        Stop before max_iter when the objective changes by less than this share of
        itself.
    max_memory : float, default=2e9
        About how many bytes the fit may use for its own arrays. A fit that needs more
        is refused.
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
        The objective after each round, with P symmetrised. It need not fall, and the
        first value stands apart: that round has a binary graph and no S.
    n_iter_ : int
        Number of rounds.
    gamma_ : float
        The weight used, for X as prepared.
    standardize_ : {"features", "samples", "none"}
        The preparation used.

    Notes
    -----
    **Optimised.** In turn: S by a lasso for each sample, solved exactly; P by
    projection on the simplex; W by ten reweighted ridge steps towards the c smallest
    eigenvectors of ``(I - S)(I - S)' + beta L_P``, a relaxation of the constraint. The
    objective is therefore not monotone, and a fit that ends with max_iter is the
    published algorithm and no reason for a warning.

    **Differs.** The lasso of the authors' code stops early, which changes rankings; it
    is exact here. Their mu is measured among samples but used among projected
    samples, whose distances have another size, so that probabilities become uniform;
    ``mu="samples"`` does that. X is centred here. With it centred,
    ``standardize=False``, ``mu="samples"``, ``tol=0`` and gamma as a number, the fit
    is theirs except for the lasso. With ``gamma="auto"`` the fit works in units where
    ``|X|^2 = n``, so that nothing depends on the units of X.

    **Confidence.** Confirmed, against the authors' code with an exact lasso.

    **Needs c.** Yes.

    **Invariant to.** sign of features; offset of features; unit of X; unit of
    single features; order of samples. This is for X standardised by features, as
    "auto" does with measurements.

    **Cannot.** Find, in a wide table, clusters that share their mean: no linear
    function of the features separates them, and among many functions some fit noise as
    well. For three planes through the origin, 40 samples and 150 columns, the ranking
    is little better than chance.

    **Cost.** O(n p min(n, p)) for each of the ten steps of a round when p > n, once
    when p <= n; O(n^3) for eigenvectors and about n^2 c^2 for the lassos of a round.
    Dense n x n matrices, by which the method is defined, five at once and refused
    beyond ``max_memory``; no p x p matrix unless p <= n.

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **IterativeSelector._parameter_constraints,
        "n_clusters": [COUNT],
        "alpha": [Interval(Real, 0, 1, closed="neither")],
        "beta": [POSITIVE],
        "gamma": [StrOptions({"auto"}), POSITIVE],
        "mu": [StrOptions({"projected", "samples"}), POSITIVE],
        "n_neighbors": [COUNT],
        "standardize": ["boolean", StrOptions({"auto", "features", "samples"})],
        **ITERATIONS,
        "max_memory": [POSITIVE],
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

    def _score_features(self, data: DataMatrix, summary: ColumnSummary) -> Float:
        with data.limited_threads():
            return self._scored(data, summary)

    def _scored(self, data: DataMatrix, summary: ColumnSummary) -> Float:
        self._refuse_more_clusters_than_samples(self.n_clusters, data.shape[0])
        self.standardize_ = preparation_kind(self.standardize, data, summary)
        # Of order one in any units of X.
        prepared = prepare(data, summary, self.standardize_, float(data.shape[0]))
        graph = neighbour_graph(prepared.centred.points(), self.n_neighbors)
        regressors = prepared.centred if self.n_clusters > 1 else prepared.uncentred
        unit = prepared.unit
        if self.gamma == "auto":
            gamma = useful_penalty(regressors, graph, self.n_clusters)
        else:
            # As printed: in the units of X, like the start and the smoothing.
            regressors = regressors.affine(regressors.shift, regressors.scale / unit)
            gamma, unit = float(self.gamma), 1.0
        self.gamma_ = gamma / unit
        mu: float | None = None
        if self.mu == "samples":
            squares = squared_distances_of(prepared.centred.sample_gram())
            squares = squares / prepared.unit / prepared.unit
            mu = neighbour_regulariser(squares, self.n_neighbors)
        elif self.mu != "projected":
            mu = float(self.mu)
        fit = self._fit(regressors, graph, gamma, mu)
        self.coef_ = fit.coef * unit
        self._keep_history(fit.history)
        if np.abs(regressors.dot(fit.coef)).max() < ROUNDING:
            raise ValueError(
                f"gamma={self.gamma_:.3g} leaves no feature in the model (W = 0), so "
                'there is no ranking; lower gamma, or use gamma="auto".'
            )
        return row_norms(self.coef_)

    def _fit(
        self,
        regressors: DataMatrix,
        graph: sp.csr_array,
        gamma: float,
        mu: float | None,
    ) -> FsaslFit:
        with self._progress() as progress:
            return fit_fsasl(
                regressors,
                graph,
                n_clusters=self.n_clusters,
                alpha=self.alpha,
                beta=self.beta,
                gamma=gamma,
                mu=mu,
                n_neighbors=self.n_neighbors,
                max_iter=self.max_iter,
                tol=self.tol,
                report=progress,
            )


def useful_penalty(
    regressors: DataMatrix, graph: sp.csr_array, n_clusters: int
) -> float:
    """Return a share of the penalty above which W = 0 in the first round."""
    first = smallest_eigenvectors(laplacian(graph).toarray(), n_clusters)
    largest = largest_penalty(regressors, first)
    if largest <= ROUNDING:
        raise ValueError(
            "No feature is related to the graph that the fit starts from, so that "
            f'gamma="auto" has no scale (n_clusters={n_clusters}); use more clusters '
            "or another n_neighbors."
        )
    return AUTO_GAMMA * largest
