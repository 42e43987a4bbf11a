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
The objectives are reconstructed from the abstract; the paper's equations were not at
hand.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ufselect.matrix import Float, Index

# After so many changes of rank one, start again from a factorisation.
REFRESH = 100


class GreedyChoice(NamedTuple):
    """Features in the order chosen, the error after each, and the gain of each left."""

    chosen: Index
    errors: Float
    gains: Float


class Reconstruction(ABC):
    """A set of features that grows, and the squared error of what it reconstructs."""

    n_features: int
    error: float

    @abstractmethod
    def gains(self) -> Float:
        """Return by how much the error falls when a feature is added, for each."""

    @abstractmethod
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


class LinearReconstruction(Reconstruction):
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
        """Compute the forms and the error ``|C M X|^2`` of the set anew."""
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


class GraphReconstruction(Reconstruction):
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
