"""Laplacian score: features that vary smoothly over a graph of the samples."""

from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from ufselect._sklearn_compat import COUNT, POSITIVE, Interval, StrOptions
from ufselect.matrix import DataMatrix, Float
from ufselect.selectors.base import Properties, UnsupervisedSelector
from ufselect.solvers.graph_scores import smoothness
from ufselect.solvers.graphs import neighbour_graph
from ufselect.solvers.landmarks import (
    explained_squares,
    find_landmarks,
    in_memory_if_few,
    is_not_an_array,
    landmark_sums,
)
from ufselect.solvers.preparation import steady_points


class LaplacianScore(UnsupervisedSelector):
    """Laplacian score (LS).

    Ranks each feature on its own by how little it changes between neighbouring
    samples, relative to its variance::

        LS(f) = g'Lg / g'Dg,   g = f - (f'D1 / 1'D1) 1                (small is good)

    with S a neighbour graph of the samples, ``D = diag(S1)`` and ``L = D - S``.
    docs/methods/laplacianscore.md says what it cannot find and what it costs.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, fraction of them, or None for half.
    n_neighbors : int, default=5
        Neighbours of each sample in the graph.
    weights : {"binary", "heat"}, default="binary"
        Weights of the edges: one, or ``exp(-d^2 / (2 sigma^2))``.
    sigma : float or None, default=None
        Bandwidth of the heat weights; None takes the median distance to a neighbour.
    n_landmarks : int, default=500
        Number of landmarks that connect the samples of a Dask collection, a Zarr array
        or an HDF5 data set, if these are more than the landmarks. The graph of such
        samples is approximate.

    Attributes
    ----------
    scores_ : ndarray of shape (p,)
        ``1 - LS``, higher is better.
    order_ : ndarray of shape (p,)
        Features from best to worst.

    References
    ----------
    X. He, D. Cai, P. Niyogi. Laplacian score for feature selection. Advances in Neural
    Information Processing Systems 18 (2005) 507-514.

    W. Liu, J. He, S.-F. Chang. Large graph construction for scalable semi-supervised
    learning. ICML 2010, 679-686.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ufselect import LaplacianScore
    >>> X = load_iris().data
    >>> LaplacianScore(n_features_to_select=2).fit(X).get_support()
    array([False, False,  True,  True])
    """

    PROPERTIES = Properties(similarity="explicit", joint_learning=True)
    READS_OUT_OF_CORE = True
    PARAM_GRID: ClassVar[dict[str, list[Any]]] = {"n_neighbors": [5], "sigma": [None]}

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **UnsupervisedSelector._parameter_constraints,
        "n_neighbors": [COUNT],
        "weights": [StrOptions({"binary", "heat"})],
        "sigma": [None, POSITIVE],
        "n_landmarks": [Interval(Integral, 2, None, closed="left")],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_neighbors: int = 5,
        weights: str = "binary",
        sigma: float | None = None,
        n_landmarks: int = 500,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.sigma = sigma
        self.n_landmarks = n_landmarks

    def _suited(self, matrix: DataMatrix) -> DataMatrix:
        return in_memory_if_few(matrix, self.n_landmarks)

    def _score_features(self, data: DataMatrix) -> Float:
        if is_not_an_array(data):
            return self._scores_by_landmarks(data)
        graph = neighbour_graph(
            steady_points(data),
            self.n_neighbors,
            weights="heat" if self.weights == "heat" else "binary",
            bandwidth=self.sigma,
        )
        forms = smoothness(data, graph)
        # A constant feature is no smoother than noise; the base class puts it last.
        ratio = np.ones(data.shape[1])
        varying = ~data.summary().constant & (forms.spread > 0)
        np.divide(forms.variation, forms.spread, out=ratio, where=varying)
        return 1 - ratio

    def _scores_by_landmarks(self, data: DataMatrix) -> Float:
        """Return ``f'Sf / f'f = 1 - f'(I - S)f / f'f`` for centred features f."""
        (n_samples, n_features), summary = data.shape, data.summary()
        # In this unit no square overflows.
        unit = float(summary.deviation.max())
        matrix = data.affine(summary.mean, np.full(n_features, 1 / unit))
        bandwidth = None if self.sigma is None else self.sigma / unit
        landmarks = find_landmarks(
            matrix,
            self.n_landmarks,
            self.n_neighbors,
            bandwidth=bandwidth if self.weights == "heat" else np.inf,
        )
        explained = explained_squares(landmark_sums(matrix, landmarks))
        spread = n_samples * (summary.deviation / unit) ** 2
        scores = np.zeros(n_features)
        varying = ~summary.constant & (spread > 0)
        np.divide(explained, spread, out=scores, where=varying)
        return scores
