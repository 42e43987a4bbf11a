"""REFS: greedy choice of the features from which all others are reconstructed.

With features as columns f of X, X_s those of the set and ``C = alpha I + beta X L X'``,
the learned map and the residual of all features are

    Theta = M X_s X_s',   X - Theta'X = C M X,   M = (C + X_s X_s')^-1

To add a feature changes C + X_s X_s' by a matrix of rank one (Sherman-Morrison), from
which the error after every possible addition follows without solving for it.
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ufselect._sklearn_compat import COUNT, NOT_NEGATIVE, POSITIVE
from ufselect.matrix import DataMatrix, Float, Index
from ufselect.selectors.base import (
    MemoryNeed,
    Properties,
    UnsupervisedSelector,
    square_arrays,
)
from ufselect.solvers.graphs import laplacian, neighbour_graph
from ufselect.solvers.rankings import distinct_columns_of

# Changes of rank one after which the inverse is computed again.
REFRESH = 100


class REFS(UnsupervisedSelector):
    """Reconstruction-based embedded feature selection (REFS, reconstructed).

    Chooses, one after the other, the features from which a map learned on them
    reconstructs all features best. With features as columns f of X, each centred and
    of unit length, and L the Laplacian of a neighbour graph of the features::

        minimise  |X - Theta'X|^2  over sets s of features, where
        Theta = argmin  sum_(i in s) |f_i - Theta'f_i|^2
                        + alpha |Theta|^2 + beta tr(Theta'X L X'Theta)

    The objective is written from the abstract of the paper; no source confirms it.
    docs/methods/refs.md says what it cannot find and what it costs.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number of features, fraction of them, or None for half.
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
        About how many bytes the fit may use for its own arrays. A fit that needs more
        is refused.

    Attributes
    ----------
    scores_ : ndarray of shape (p,)
        Number of features that come after this one, plus one. Constant ones, at the
        end, do not count.
    order_ : ndarray of shape (p,)
        Features in the order of selection; those not selected follow, by how much
        each would lower the error if it were added next.
    errors_ : ndarray of shape (n_selected_,)
        ``|X - Theta'X|^2`` after each choice. It usually falls.

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
        alpha: float = 1.0,
        beta: float = 1.0,
        n_neighbors: int = 5,
        sigma: float | None = None,
        max_memory: float = 2e9,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.beta = beta
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.max_memory = max_memory

    def _memory_needed(self, data: DataMatrix) -> MemoryNeed:
        # A sparse X is made dense.
        n_samples, n_features = data.shape
        dense = 16 * n_samples * n_features
        return square_arrays(9, min(data.shape), dense)

    def _score_features(self, data: DataMatrix) -> Float:
        varying = np.flatnonzero(~data.summary().constant)
        features = unit_features(data, varying)
        count = min(self.n_selected_, len(varying))
        # Neighbours of a feature are others, not copies of it.
        place = distinct_columns_of(data).place[varying]
        others = np.sort(np.unique(place, return_index=True)[1])
        ridge = self._ridge(features[:, others])
        choice = choose(Reconstruction(features, ridge), count)
        self.errors_ = choice.errors
        rest = np.argsort(-choice.gains, kind="stable")[: len(varying) - count]
        scores = np.zeros(data.shape[1])
        order = varying[np.concatenate([choice.chosen, rest])]
        scores[order] = np.arange(len(order), 0, -1.0)
        return scores

    def _ridge(self, features: Float) -> Float:
        """Return ``alpha I + beta X L X'``."""
        ridge = self.alpha * np.eye(len(features))
        if features.shape[1] > 1 and self.beta > 0:
            graph = neighbour_graph(
                features.T, self.n_neighbors, weights="heat", bandwidth=self.sigma
            )
            smooth = features @ (laplacian(graph) @ features.T)
            ridge += self.beta * (smooth + smooth.T) / 2
        return ridge


def unit_features(data: DataMatrix, index: Any) -> Float:
    """Return some columns, centred and of unit length, in at most as many rows."""
    features = data.columns(index)
    summary = data.summary()
    features -= summary.mean[index]
    features /= summary.deviation[index] * np.sqrt(data.shape[0])
    if data.shape[0] > len(index):
        # Nothing changes when the samples are rotated into as many rows as columns.
        triangle: Any = np.linalg.qr(features, mode="r")
        return np.asarray(triangle)
    return features


class GreedyChoice(NamedTuple):
    """Features in the order chosen, the error after each, and the gain of each left."""

    chosen: Index
    errors: Float
    gains: Float


def choose(reconstruction: "Reconstruction", count: int) -> GreedyChoice:
    """Add the feature after which the error is least, count times; at most p."""
    chosen: list[int] = []
    errors: list[float] = []
    left = np.ones(reconstruction.n_features, dtype=bool)
    for _ in range(count):
        gains = np.where(left, reconstruction.gains(), -np.inf)
        best = int(gains.argmax())
        left[best] = False
        chosen.append(best)
        errors.append(reconstruction.error - float(gains[best]))
        reconstruction.error = errors[-1]
        reconstruction.add(best)
    gains = np.where(left, reconstruction.gains(), -np.inf)
    return GreedyChoice(np.array(chosen, dtype=np.intp), np.array(errors), gains)


class Forms(NamedTuple):
    """M, ``N = M C^2 M``, and ``f'Mf``, ``f'Nf``, ``f'MGMf``, ``f'NGMf`` of each f."""

    inverse: Float
    square: Float
    leverage: Float
    weight: Float
    reach: Float
    overlap: Float


class Reconstruction:
    """A set of features that grows, and the squared error of all features.

    Parameters
    ----------
    features : ndarray of shape (n, p)
    ridge : ndarray of shape (n, n)
        C, positive definite.
    """

    def __init__(self, features: Float, ridge: Float) -> None:
        self.features, self.ridge = features, ridge
        self.gram = features @ features.T
        self.n_features = features.shape[1]
        self._chosen: list[int] = []
        self._factorise()

    def _factorise(self) -> None:
        """Compute the forms and the error ``|C M X|^2`` of the set from scratch."""
        selected = self.features[:, self._chosen]
        factor = cho_factor(
            self.ridge + selected @ selected.T, lower=True, check_finite=False
        )
        inverse = cho_solve(factor, np.eye(len(self.ridge)), check_finite=False)
        inverse = (inverse + inverse.T) / 2
        root = self.ridge @ inverse
        square = root.T @ root
        reach = inverse @ self.gram @ inverse
        kernels = inverse, square, reach, square @ self.gram @ inverse
        values = [
            np.einsum("ij,ij->j", self.features, kernel @ self.features)
            for kernel in kernels
        ]
        self.forms = Forms(inverse, square, *values)
        self.error = float(np.vdot(square, self.gram))

    def gains(self) -> Float:
        """Return by how much the error falls when a feature is added, for each."""
        forms, grown = self.forms, 1 + self.forms.leverage
        return 2 * forms.overlap / grown - forms.weight * forms.reach / grown**2

    def add(self, j: int) -> None:
        """Add feature j to the set, and update the forms in O(n^2 + n p)."""
        self._chosen.append(j)
        if len(self._chosen) % REFRESH == 0:
            self._factorise()
            return
        forms, features = self.forms, self.features
        M, N = forms.inverse, forms.square
        u = M @ features[:, j]
        d = 1 + float(features[:, j] @ u)
        Cu, Gu = self.ridge @ u, self.gram @ u
        q, h = float(Cu @ Cu), float(u @ Gu)
        v, w = M @ (self.ridge @ Cu), M @ Gu
        z = M @ (self.gram @ v)
        square = N - (np.outer(u, v) + np.outer(v, u)) / d + (q / d**2) * np.outer(u, u)
        y = square @ Gu
        fu, fv, fw, fz, fy = np.stack([u, v, w, z, y]) @ features
        self.forms = Forms(
            M - np.outer(u, u) / d,
            square,
            forms.leverage - fu**2 / d,
            forms.weight - 2 * fu * fv / d + q * fu**2 / d**2,
            forms.reach - 2 * fu * fw / d + h * fu**2 / d**2,
            forms.overlap - (fu * fz + fv * fw + fy * fu) / d + q * fu * fw / d**2,
        )
