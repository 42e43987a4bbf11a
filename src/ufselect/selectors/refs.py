"""REFS: the features from which a learned map reconstructs all features."""

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from ufselect._constraints import COUNT, NOT_NEGATIVE, POSITIVE
from ufselect._sklearn_compat import StrOptions
from ufselect.matrix import ColumnSummary, DataMatrix, Float
from ufselect.selectors.base import (
    MemoryNeed,
    Properties,
    UnsupervisedSelector,
    square_arrays,
)
from ufselect.solvers.graphs import laplacian, neighbour_graph
from ufselect.solvers.refs import GraphReconstruction, LinearReconstruction, choose


class REFS(UnsupervisedSelector):
    """Reconstruction-based embedded feature selection (REFS, reconstructed).

    Chooses, one after the other, the features from which a map learned on them
    reconstructs all features best. With features as columns f of X, each centred and
    of unit length, and L the Laplacian of a neighbour graph of the features::

        minimise  |X - Theta'X|^2  over sets s of features, where
        Theta = argmin  sum_(i in s) |f_i - Theta'f_i|^2
                        + alpha |Theta|^2 + beta tr(Theta'X L X'Theta)

    or, with ``reconstruction="transductive"``, from which all follow along the graph::

        minimise  |X - H|^2  over sets s of features, where
        H = argmin  sum_(i in s) |f_i - h_i|^2 + alpha |H|^2 + beta tr(H L H')

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, fraction of them, or None for half.
    reconstruction : {"linear", "transductive"}, default="linear"
        What is learned on the chosen features: a linear map Theta, or the features H
        themselves, each from its neighbours. The second holds p x p matrices.
    alpha : float, default=1.0
        Weight against over-fitting. It has no unit.
    beta : float, default=1.0
        Weight of the structure among features: features that are neighbours are
        reconstructed alike. It has no unit.
    n_neighbors : int, default=5
        Neighbours of each feature in the graph.
    sigma : float or None, default=None
        Bandwidth of the heat weights ``exp(-d^2 / (2 sigma^2))`` of the graph; None
        takes the median distance to a neighbour.
    max_memory : float, default=2e9
        Bytes that the fit may use for its own arrays, about. A fit that needs more
        is refused.

    Attributes
    ----------
    scores_ : ndarray of shape (p,)
        Number of features that come after this one, plus one.
    order_ : ndarray of shape (p,)
        Features in the order of selection; those not selected follow, by how much
        each would lower the error if it were added next.
    errors_ : ndarray of shape (n_selected_,)
        ``|X - Theta'X|^2`` or ``|X - H|^2`` after each choice. It usually falls.

    Notes
    -----
    **Optimised.** The set, greedily: each choice is the best single addition. The map
    is exact, and an addition changes its inverse by a matrix of rank one.

    **Differs.** Written from the abstract of the paper, which says that all features
    are reconstructed from the selected ones by a function learned from data with one
    regulariser against over-fitting and one for the structure among features, by
    greedy selection with the Sherman-Morrison formula. The form of the function and
    of both regularisers, the graph and the scaling of features are chosen here; the
    abstract fits both reconstructions, and neither is confirmed.

    **Confidence.** Reconstructed: the objective is not confirmed by any source.

    **Needs c.** No.

    **Invariant to.** offset of features; unit of X; unit of single features; order
    of samples.

    **Not invariant to.** sign of features. A feature and its negative are far from each
    other in the graph of features.

    **Cannot.** Rank all features that repeat others above noise: once one of them is
    chosen the rest can be rebuilt, while noise is rebuilt by nothing but itself.

    **Cost.** O(n p^2) for the graph of features; with m = min(n, p), O(m p) for each
    selected feature and O(m^2 p) after every hundred. Two dense copies of X and nine
    dense m x m matrices. "transductive": O(p^3) once and O(p^2 + n p) for each selected
    feature, with dense p x p matrices by which it is defined. Refused beyond
    ``max_memory``.

    References
    ----------
    J. Li, J. Tang, H. Liu. Reconstruction-based unsupervised feature selection: an
    embedded approach. International Joint Conference on Artificial Intelligence (2017)
    2159-2165.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ufselect import REFS
    >>> X = load_iris().data
    >>> REFS(n_features_to_select=2).fit_transform(X).shape
    (150, 2)
    """

    PROPERTIES = Properties(
        self_expression="features", similarity="explicit", joint_learning=True
    )
    PARAM_GRID: ClassVar[dict[str, list[Any]]] = {
        "alpha": [10.0**power for power in range(-3, 4)],
        "beta": [10.0**power for power in range(-3, 4)],
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **UnsupervisedSelector._parameter_constraints,
        "reconstruction": [StrOptions({"linear", "transductive"})],
        "alpha": [POSITIVE],
        "beta": [NOT_NEGATIVE],
        "n_neighbors": [COUNT],
        "sigma": [None, POSITIVE],
        "max_memory": [POSITIVE],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        reconstruction: str = "linear",
        alpha: float = 1.0,
        beta: float = 1.0,
        n_neighbors: int = 5,
        sigma: float | None = None,
        max_memory: float = 2e9,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.reconstruction = reconstruction
        self.alpha = alpha
        self.beta = beta
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.max_memory = max_memory

    def _memory_needed(self, data: DataMatrix) -> MemoryNeed:
        # X is made dense, whatever it was.
        n_samples, n_features = data.shape
        dense = 16 * n_samples * n_features
        if self.reconstruction == "transductive":
            return square_arrays(5, n_features, 2 * dense)
        return square_arrays(9, min(data.shape), dense)

    def _score_features(self, data: DataMatrix, summary: ColumnSummary) -> Float:
        varying = np.flatnonzero(~summary.constant)
        features = unit_features(data, summary, varying)
        count = min(self.n_selected_, len(varying))
        if self.reconstruction == "transductive":
            ridge = self._feature_ridge(features)
            choice = choose(GraphReconstruction(features, ridge), count)
        else:
            choice = choose(
                LinearReconstruction(features, self._ridge(features)), count
            )
        self.errors_ = choice.errors
        rest = np.argsort(-choice.gains, kind="stable")[: len(varying) - count]
        scores = np.zeros(data.shape[1])
        order = varying[np.concatenate([choice.chosen, rest])]
        scores[order] = np.arange(data.shape[1], data.shape[1] - len(order), -1.0)
        return scores

    def _ridge(self, features: Float) -> Float:
        """Return ``alpha I + beta X L X'``."""
        ridge = self.alpha * np.eye(len(features))
        if features.shape[1] > 1 and self.beta > 0:
            smooth = features @ (self._laplacian(features) @ features.T)
            ridge += self.beta * (smooth + smooth.T) / 2
        return ridge

    def _feature_ridge(self, features: Float) -> Float:
        """Return ``alpha I + beta L``."""
        ridge = self.alpha * np.eye(features.shape[1])
        if features.shape[1] > 1 and self.beta > 0:
            ridge += self.beta * self._laplacian(features).toarray()
        return ridge

    def _laplacian(self, features: Float) -> sp.csr_array:
        graph = neighbour_graph(
            features.T, self.n_neighbors, weights="heat", bandwidth=self.sigma
        )
        return laplacian(graph)


def unit_features(data: DataMatrix, summary: ColumnSummary, index: Any) -> Float:
    """Return some columns, centred and of unit length, in at most as many rows."""
    features = data.columns(index)
    features -= summary.mean[index]
    features /= summary.deviation[index] * np.sqrt(data.shape[0])
    if data.shape[0] > len(index):
        # Nothing changes when the samples are rotated into as many rows as columns.
        triangle: Any = np.linalg.qr(features, mode="r")
        return np.asarray(triangle)
    return features
