"""GraphEnergy: features that change slowly along the neighbour graph of the samples."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from ufselect._sklearn_compat import COUNT, Interval, StrOptions
from ufselect.matrix import DataMatrix, Float
from ufselect.selectors.base import Properties, UnsupervisedSelector
from ufselect.solvers.graph_scores import (
    MAX_SUBSAMPLE,
    draw_subsamples,
    relative_deviations,
    subsample_shares,
)
from ufselect.solvers.preparation import preparation_kind
from ufselect.solvers.rankings import lowered, redundant_features


class GraphEnergy(UnsupervisedSelector):
    """Energy of features in the leading eigenvectors of a neighbour graph.

    Joins each sample with its nearest neighbours, and asks which share of the variance
    of a feature changes slowly along this graph::

        W_ij = exp(-d_ij^2 / (s_i s_j))       for neighbours i, j
        V = eigenvectors 2 to K + 1 of D^(-1/2) W D^(-1/2), centred, orthonormal
        share_j = |V' x_j|^2 / |x_j|^2        of the centred feature x_j
        score_j = s(x_j) * share_j            with s(x_j) its standard deviation

    with s_i the distance to the last neighbour of sample i. Shares are averaged over
    random subsamples. A feature that correlates with a better one is ranked behind.
    docs/methods/graphenergy.md says what it cannot find and what it costs.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, fraction of them, or None for half.
    n_components : int, default=10
        Number K of eigenvectors.
    n_neighbors : int, default=5
        Neighbours of each sample in the graph.
    standardize : {"auto", "features", "samples"} or bool, default=False
        Preparation of X: scale features to unit variance ("features" or True), scale
        samples to unit length ("samples"), or neither (False). "auto" decides from X
        as ``SCFS`` does.
    max_correlation : float or None, default=0.8
        A feature whose absolute correlation with a better one exceeds this is ranked
        behind the others. None ranks by the score alone.
    n_subsamples : int, default=8
        Subsamples of two thirds of the samples, at most 1000 each.
    random_state : int, RandomState instance or None, default=None
        Seed of the subsamples.

    Attributes
    ----------
    scores_ : ndarray of shape (p,)
        The scores; those of features behind the others are lowered.
    order_ : ndarray of shape (p,)
        Features from best to worst.
    shares_ : ndarray of shape (p,)
        Mean energy share of each feature, from 0 to 1.
    standardize_ : {"features", "samples", "none"}
        The preparation used.

    References
    ----------
    L. Zelnik-Manor, P. Perona. Self-tuning spectral clustering. NIPS 2004, 1601-1608.

    X. He, D. Cai, P. Niyogi. Laplacian score for feature selection. NIPS 2005, 507-514.

    Examples
    --------
    >>> from ufselect import GraphEnergy
    >>> from ufselect.data import planted
    >>> data = planted("blobs", n_useful=10, n_noise=90)
    >>> selector = GraphEnergy(10, max_correlation=None, random_state=0).fit(data.table)
    >>> int(data.informative[selector.get_support()].sum())
    10
    """

    PROPERTIES = Properties(similarity="explicit")
    PARAM_GRID: ClassVar[dict[str, list[Any]]] = {"n_components": [5, 10, 20]}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **UnsupervisedSelector._parameter_constraints,
        "n_components": [COUNT],
        "n_neighbors": [COUNT],
        "standardize": ["boolean", StrOptions({"auto", "features", "samples"})],
        "max_correlation": [None, Interval(Real, 0, 1, closed="both")],
        "n_subsamples": [COUNT],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_components: int = 10,
        n_neighbors: int = 5,
        standardize: bool | str = False,
        max_correlation: float | None = 0.8,
        n_subsamples: int = 8,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.standardize = standardize
        self.max_correlation = max_correlation
        self.n_subsamples = n_subsamples
        self.random_state = random_state

    def _score_features(self, data: DataMatrix) -> Float:
        random = check_random_state(self.random_state)
        self.standardize_ = preparation_kind(self.standardize, data)
        subsamples = draw_subsamples(
            data.shape[0], self.n_subsamples, MAX_SUBSAMPLE, random
        )
        shares = [
            subsample_shares(
                data.take_rows(rows),
                self.standardize_,
                self.n_components,
                self.n_neighbors,
            )
            for rows in subsamples
        ]
        self.shares_ = np.mean(shares, axis=0)
        scores = self.shares_ * relative_deviations(data, self.standardize_)
        if self.max_correlation is None:
            return scores
        order = np.argsort(-scores, kind="stable")
        behind = redundant_features(data, order, self.max_correlation)
        return lowered(scores, behind, ~data.summary().constant)
