"""SPEC: features that agree with the spectrum of a graph of the samples."""

from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from ufselect._sklearn_compat import COUNT, POSITIVE, Options, StrOptions
from ufselect.matrix import DataMatrix, Float
from ufselect.selectors.base import Properties, UnsupervisedSelector
from ufselect.solvers.graph_scores import leading_agreement, smoothness
from ufselect.solvers.graphs import neighbour_graph
from ufselect.solvers.preparation import steady_points


class SPEC(UnsupervisedSelector):
    """Spectral feature selection (SPEC).

    Ranks each feature by its consistency with the normalised Laplacian Ln of a graph
    of the samples. With ``h = D^(1/2) f / |D^(1/2) f|``, eigenvalues
    ``l_1 <= l_2 <= ..`` of Ln and ``a_j`` the product of h with the j-th
    eigenvector::

        phi1 = sum_j a_j^2 l_j^r                           (small is good)
        phi2 = sum_(j > 1) a_j^2 l_j^r / (1 - a_1^2)       (small is good)
        phi3 = sum_(1 < j <= c) a_j^2 (2^r - l_j^r)        (large is good)

    docs/methods/spec.md says what it cannot find and what it costs.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, fraction of them, or None for half.
    phi : {1, 2, 3}, default=2
        Which of the three.
    exponent : float, default=1.0
        The power r of the spectral function; the published experiments use 0.25, 1
        and 4. The larger it is, the less the smooth part of a feature costs.
    n_clusters : int, default=8
        Number c of eigenvectors that phi3 looks at; not used by the others.
    n_neighbors : int, default=5
        Neighbours of each sample in the graph.
    weights : {"binary", "heat"}, default="heat"
        Weights of the edges: one, or ``exp(-d^2 / (2 sigma^2))``.
    sigma : float or None, default=None
        Bandwidth of the heat weights; None takes the median distance to a neighbour.

    Attributes
    ----------
    scores_ : ndarray of shape (p,)
        ``1 - phi1``, ``1 - phi2`` or ``phi3``: higher is better, always.
    order_ : ndarray of shape (p,)
        Features from best to worst.

    References
    ----------
    Z. Zhao, H. Liu. Spectral feature selection for supervised and unsupervised
    learning. International Conference on Machine Learning (2007) 1151-1157.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ufselect import SPEC
    >>> X = load_iris().data
    >>> SPEC(n_features_to_select=2, phi=2).fit(X).get_support()
    array([False, False,  True,  True])
    """

    PROPERTIES = Properties(similarity="explicit", joint_learning=True)
    PARAM_GRID: ClassVar[dict[str, list[Any]]] = {
        "phi": [1, 2, 3],
        "exponent": [0.25, 1.0, 4.0],
    }

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **UnsupervisedSelector._parameter_constraints,
        "phi": [Options(Integral, {1, 2, 3})],
        "exponent": [POSITIVE],
        "n_clusters": [COUNT],
        "n_neighbors": [COUNT],
        "weights": [StrOptions({"binary", "heat"})],
        "sigma": [None, POSITIVE],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        phi: int = 2,
        exponent: float = 1.0,
        n_clusters: int = 8,
        n_neighbors: int = 5,
        weights: str = "heat",
        sigma: float | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.phi = phi
        self.exponent = exponent
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.sigma = sigma

    def _score_features(self, data: DataMatrix) -> Float:
        graph = neighbour_graph(
            steady_points(data),
            self.n_neighbors,
            weights="heat" if self.weights == "heat" else "binary",
            bandwidth=self.sigma,
        )
        if self.phi == 3:
            return leading_agreement(data, graph, self.n_clusters, self.exponent)
        forms = smoothness(data, graph, self.exponent)
        size = forms.squares if self.phi == 1 else forms.spread
        ratio = np.ones(data.shape[1])
        varying = ~data.summary().constant & (size > 0)
        np.divide(forms.variation, size, out=ratio, where=varying)
        return 1 - ratio
