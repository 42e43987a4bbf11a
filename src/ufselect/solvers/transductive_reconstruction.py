"""Greedy choice of the features from which all follow along a graph of features.

With features as rows of F, a set s, ``Lam = diag(s)`` and ``B = alpha I + beta L``, the
reconstruction ``H = argmin sum_(i in s) |F_i - H_i|^2 + beta tr(H'L H) + alpha |H|^2``
is ``(Lam + B)^(-1) Lam F`` and leaves the residual ``R = (Lam + B)^(-1) B F``. To add a
feature changes ``P = (Lam + B)^(-1)``, which is p x p, by a matrix of rank one.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ufselect.matrix import Float
from ufselect.solvers.greedy_reconstruction import GreedyChoice


class Forms(NamedTuple):
    """P, the residual R, ``T = P R`` and the squared lengths of the columns of P."""

    inverse: Float
    residual: Float
    pulled: Float
    lengths: Float


def forms_of(features: Float, ridge: Float) -> Forms:
    """Return the forms of no features at all; features are columns, ``ridge = B``."""
    factor = cho_factor(ridge, lower=True, check_finite=False)
    inverse = cho_solve(factor, np.eye(len(ridge)), check_finite=False)
    inverse = (inverse + inverse.T) / 2
    residual = features.T.copy()
    lengths = np.einsum("ij,ij->j", inverse, inverse)
    return Forms(inverse, residual, inverse @ residual, lengths)


def gains_of(forms: Forms) -> Float:
    """Return by how much the error falls when a feature is added, for each."""
    grown = 1 + np.diagonal(forms.inverse)
    along = np.einsum("ij,ij->i", forms.pulled, forms.residual)
    squares = np.einsum("ij,ij->i", forms.residual, forms.residual)
    return 2 * along / grown - forms.lengths * squares / grown**2


def added(forms: Forms, j: int) -> Forms:
    """Return the forms after feature j was added, in O(p^2 + p n)."""
    P, R, T, lengths = forms
    u, r = P[:, j], R[j]
    d = 1 + float(u[j])
    v, w, square = P @ u, u @ R, float(u @ u)
    return Forms(
        P - np.outer(u, u) / d,
        R - np.outer(u, r) / d,
        T - (np.outer(v, r) + np.outer(u, w)) / d + (square / d**2) * np.outer(u, r),
        lengths - 2 * v * u / d + square * u**2 / d**2,
    )


def choose_transductively(features: Float, ridge: Float, count: int) -> GreedyChoice:
    """Add the feature after which the error ``|F - H|^2`` is least, count times.

    Parameters
    ----------
    features : ndarray of shape (n, p)
        F', with features as columns.
    ridge : ndarray of shape (p, p)
        B, positive definite.
    count : int
        How many; at most p.
    """
    forms = forms_of(features, ridge)
    error = float(np.vdot(features, features))
    chosen: list[int] = []
    errors: list[float] = []
    left = np.ones(features.shape[1], dtype=bool)
    for _ in range(count):
        gains = np.where(left, gains_of(forms), -np.inf)
        best = int(gains.argmax())
        left[best] = False
        chosen.append(best)
        error -= float(gains[best])
        errors.append(error)
        forms = added(forms, best)
    gains = np.where(left, gains_of(forms), -np.inf)
    return GreedyChoice(np.array(chosen, dtype=np.intp), np.array(errors), gains)
