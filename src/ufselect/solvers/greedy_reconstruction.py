"""Greedy choice of the features from which a learned map reconstructs all features.

With features as columns f of X, a set s and ``C = alpha I + beta X L X'``, the map
``Theta = argmin sum_(i in s) |f_i - Theta'f_i|^2 + alpha |Theta|^2
+ beta tr(Theta'X L X'Theta)`` leaves the residual ``C M X`` of all features, with
``M = (C + X_s X_s')^(-1)``. To add a feature changes M by a matrix of rank one, from
which the error after every possible addition follows without solving for it.
"""

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


class Forms(NamedTuple):
    """M, ``N = M C^2 M``, and ``f'Mf``, ``f'Nf``, ``f'MGMf``, ``f'NGMf`` of each f."""

    inverse: Float
    square: Float
    leverage: Float
    weight: Float
    reach: Float
    overlap: Float


def forms_of(features: Float, gram: Float, ridge: Float, chosen: Index) -> Forms:
    """Return the forms from a factorisation; ``gram = X X'``, ``ridge = C``."""
    selected = features[:, chosen]
    factor = cho_factor(ridge + selected @ selected.T, lower=True, check_finite=False)
    inverse = cho_solve(factor, np.eye(len(ridge)), check_finite=False)
    inverse = (inverse + inverse.T) / 2
    root = ridge @ inverse
    square = root.T @ root
    reach = inverse @ gram @ inverse
    kernels = inverse, square, reach, square @ gram @ inverse
    values = [np.einsum("ij,ij->j", features, kernel @ features) for kernel in kernels]
    return Forms(inverse, square, *values)


def gains_of(forms: Forms) -> Float:
    """Return by how much the error falls when a feature is added, for each."""
    grown = 1 + forms.leverage
    return 2 * forms.overlap / grown - forms.weight * forms.reach / grown**2


def added(forms: Forms, features: Float, gram: Float, ridge: Float, j: int) -> Forms:
    """Return the forms after feature j was added, in O(n^2 + n p)."""
    M, N = forms.inverse, forms.square
    u = M @ features[:, j]
    d = 1 + float(features[:, j] @ u)
    Cu, Gu = ridge @ u, gram @ u
    q, h = float(Cu @ Cu), float(u @ Gu)
    v, w = M @ (ridge @ Cu), M @ Gu
    z = M @ (gram @ v)
    square = N - (np.outer(u, v) + np.outer(v, u)) / d + (q / d**2) * np.outer(u, u)
    y = square @ Gu
    fu, fv, fw, fz, fy = np.stack([u, v, w, z, y]) @ features
    return Forms(
        M - np.outer(u, u) / d,
        square,
        forms.leverage - fu**2 / d,
        forms.weight - 2 * fu * fv / d + q * fu**2 / d**2,
        forms.reach - 2 * fu * fw / d + h * fu**2 / d**2,
        forms.overlap - (fu * fz + fv * fw + fy * fu) / d + q * fu * fw / d**2,
    )


def choose_greedily(features: Float, ridge: Float, count: int) -> GreedyChoice:
    """Add the feature after which the error ``|C M X|^2`` is least, count times.

    Parameters
    ----------
    features : ndarray of shape (n, p)
    ridge : ndarray of shape (n, n)
        C, positive definite.
    count : int
        How many; at most p.
    """
    gram = features @ features.T
    chosen: list[int] = []
    errors: list[float] = []
    left = np.ones(features.shape[1], dtype=bool)
    for step in range(count):
        if step % REFRESH == 0:
            index = np.array(chosen, dtype=np.intp)
            forms = forms_of(features, gram, ridge, index)
            error = float(np.vdot(forms.square, gram))
        gains = np.where(left, gains_of(forms), -np.inf)
        best = int(gains.argmax())
        left[best] = False
        chosen.append(best)
        error -= float(gains[best])
        errors.append(error)
        forms = added(forms, features, gram, ridge, best)
    gains = np.where(left, gains_of(forms), -np.inf)
    return GreedyChoice(np.array(chosen, dtype=np.intp), np.array(errors), gains)
