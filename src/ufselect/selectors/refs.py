"""REFS: greedy choice of the features from which all others are reconstructed.

With a feature graph of Laplacian L, two reconstructions of all features from a set s:

*A learned linear map.* With features as columns f of X, ``C = alpha I + beta X L X'``,

    (1)  Theta = argmin sum_(i in s) |f_i - Theta'f_i|^2 + alpha |Theta|^2
                        + beta tr(Theta'X L X'Theta)
    (2)  residual of all features = C M X,   M = (C + X_s X_s')^-1

*Along the graph* (transductive). With features as rows of F, ``Lam = diag(s)`` and
``B = alpha I + beta L``

    (3)  H = argmin sum_(i in s) |F_i - H_i|^2 + beta tr(H'L H) + alpha |H|^2
           = (Lam + B)^-1 Lam F
    (4)  residual R = P B F,   P = (Lam + B)^-1

In both, to add a feature changes an inverse by a matrix of rank one (Sherman-Morrison),
from which the error after every possible addition follows without solving for it.
The objectives are reconstructed from the abstract; the equations of the paper were not
available.
"""

from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve

from ufselect._sklearn_compat import COUNT, NOT_NEGATIVE, POSITIVE, StrOptions
from ufselect.matrix import ColumnSummary, DataMatrix, Float, Index
from ufselect.selectors.base import (
    MemoryNeed,
    Properties,
    UnsupervisedSelector,
    square_arrays,
)
from ufselect.solvers.graphs import laplacian, neighbour_graph

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
        About how many bytes the fit may use for its own arrays. A fit that needs more
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
        # A sparse X is made dense.
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


class GreedyChoice(NamedTuple):
    """Features in the order chosen, the error after each, and the gain of each left."""

    chosen: Index
    errors: Float
    gains: Float


class Reconstruction(Protocol):
    """A set of features that grows, and the squared error of what it reconstructs."""

    n_features: int
    error: float

    def gains(self) -> Float:
        """Return by how much the error falls when a feature is added, for each."""

    def add(self, j: int) -> None:
        """Add feature j to the set; the error is lowered by its gain."""


def choose(reconstruction: Reconstruction, count: int) -> GreedyChoice:
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


class LinearForms(NamedTuple):
    """M, ``N = M C^2 M``, and ``f'Mf``, ``f'Nf``, ``f'MGMf``, ``f'NGMf`` of each f."""

    inverse: Float
    square: Float
    leverage: Float
    weight: Float
    reach: Float
    overlap: Float


class LinearReconstruction:
    """(1) and (2), whose matrices are n x n.

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
        self.forms = LinearForms(inverse, square, *values)
        self.error = float(np.vdot(square, self.gram))

    def gains(self) -> Float:
        """Read them off the forms."""
        forms, grown = self.forms, 1 + self.forms.leverage
        return 2 * forms.overlap / grown - forms.weight * forms.reach / grown**2

    def add(self, j: int) -> None:
        """Update the forms, in O(n^2 + n p)."""
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
        self.forms = LinearForms(
            M - np.outer(u, u) / d,
            square,
            forms.leverage - fu**2 / d,
            forms.weight - 2 * fu * fv / d + q * fu**2 / d**2,
            forms.reach - 2 * fu * fw / d + h * fu**2 / d**2,
            forms.overlap - (fu * fz + fv * fw + fy * fu) / d + q * fu * fw / d**2,
        )


class GraphForms(NamedTuple):
    """P, the residual R, ``T = P R`` and the squared lengths of the columns of P."""

    inverse: Float
    residual: Float
    pulled: Float
    squares: Float


class GraphReconstruction:
    """(3) and (4), whose matrices are p x p.

    Parameters
    ----------
    features : ndarray of shape (n, p)
        F', with features as columns.
    ridge : ndarray of shape (p, p)
        B, positive definite.
    """

    def __init__(self, features: Float, ridge: Float) -> None:
        factor = cho_factor(ridge, lower=True, check_finite=False)
        inverse = cho_solve(factor, np.eye(len(ridge)), check_finite=False)
        inverse = (inverse + inverse.T) / 2
        residual = features.T.copy()
        squares = np.einsum("ij,ij->j", inverse, inverse)
        self.forms = GraphForms(inverse, residual, inverse @ residual, squares)
        self.n_features = features.shape[1]
        self.error = float(np.vdot(features, features))

    def gains(self) -> Float:
        """Read them off the forms."""
        forms = self.forms
        grown = 1 + np.diagonal(forms.inverse)
        along = np.einsum("ij,ij->i", forms.pulled, forms.residual)
        squares = np.einsum("ij,ij->i", forms.residual, forms.residual)
        return 2 * along / grown - forms.squares * squares / grown**2

    def add(self, j: int) -> None:
        """Update the forms, in O(p^2 + p n)."""
        P, R, T, squares = self.forms
        u, r = P[:, j], R[j]
        d = 1 + float(u[j])
        v, w, square = P @ u, u @ R, float(u @ u)
        ur = np.outer(u, r)
        self.forms = GraphForms(
            P - np.outer(u, u) / d,
            R - ur / d,
            T - (np.outer(v, r) + np.outer(u, w)) / d + (square / d**2) * ur,
            squares - 2 * v * u / d + square * u**2 / d**2,
        )
