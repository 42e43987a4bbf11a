"""Self-expression over soft partitions: the G step of SCFS.

A soft partition is an n x c matrix P with non-negative entries and rows that sum to
one. Its indicator is ``G = P diag(P'1)^(-1/2)``; these are exactly the non-negative
matrices with ``G G'1 = 1`` and no zero column. With ``K = X X'`` the function

    |X - G G'X|^2 + alpha |T - G|^2
        = tr(K) - 2 tr(Q) + sum(Q * C) + alpha (tr(C) - 2 <G, T> + |T|^2),
    Q = G'KG,  C = G'G

is minimised over P by projected gradient steps of Barzilai-Borwein length. Along a
segment ``P + t D`` it is a function of c x c matrices only, so that a search for the
best t needs no further product with K.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ufselect.matrix.base import Float, column_sums
from ufselect.numerics.simplex import project_rows_to_simplex

# Share of the uniform partition mixed into a step that would empty a cluster.
ALIVE = 1e-6


class Clustering(NamedTuple):
    """A soft partition with its product ``K P``, kept to save the next one."""

    memberships: Float
    product: Float


def indicator(memberships: Float) -> Float:
    """Return ``G = P diag(P'1)^(-1/2)``, which satisfies ``G G'1 = 1``."""
    return memberships / np.sqrt(column_sums(memberships))


def memberships_of(indicators: Float) -> Float:
    """Return the soft partition ``P = G diag(G'1)`` of a feasible indicator."""
    return indicators * column_sums(indicators)


def normalised_memberships(indicators: Float, start: Float) -> Float:
    """Return the soft partition nearest to indicators that may be infeasible.

    A sample whose indicators have all vanished stays where it started.
    """
    memberships = memberships_of(indicators)
    sums = memberships.sum(axis=1, keepdims=True)
    return np.where(sums > 0, memberships / np.where(sums > 0, sums, 1.0), start)


def self_expression(clustering: Clustering, total: float) -> float:
    """Return ``|X - G G'X|^2``, where total is ``|X|^2``."""
    memberships, product = clustering
    root = np.sqrt(column_sums(memberships))
    similarity = (memberships.T @ product) / np.outer(root, root)
    overlap = (memberships.T @ memberships) / np.outer(root, root)
    value = total - 2 * np.trace(similarity) + np.sum(similarity * overlap)
    return max(float(value), 0.0)


def gradient(clustering: Clustering, fitted: Float, alpha: float) -> Float:
    """Return the gradient with respect to P of the function above at T = fitted.

    With ``H = -4 KG + 2 KG C + 2 G Q + 2 alpha (G - T)``, the gradient with respect
    to G, it is ``H / sqrt(s) - (column sums of H * G) / (2 s)``, s the cluster sizes.
    """
    memberships, product = clustering
    sizes = column_sums(memberships)
    root = np.sqrt(sizes)
    outer = np.outer(root, root)
    identity = np.eye(len(sizes))
    overlap = (memberships.T @ memberships) / outer
    similarity = (memberships.T @ product) / outer
    result = product @ ((2 * overlap - 4 * identity) / outer)
    result += memberships @ ((2 * similarity + 2 * alpha * identity) / outer)
    if alpha:
        result -= fitted * (2 * alpha / root)
    result -= np.einsum("ij,ij->j", result, memberships) / (2 * sizes)
    return result


class Segment:
    """The function above along ``P + t D``, up to a constant."""

    def __init__(
        self,
        clustering: Clustering,
        direction: Float,
        direction_product: Float,
        fitted: Float,
        alpha: float,
    ) -> None:
        memberships, product = clustering
        cross = memberships.T @ direction_product
        shared = memberships.T @ direction
        self.alpha = alpha
        self.sizes = column_sums(memberships), column_sums(direction)
        self.similarity = (
            memberships.T @ product,
            cross + cross.T,
            direction.T @ direction_product,
        )
        self.overlap = (
            memberships.T @ memberships,
            shared + shared.T,
            direction.T @ direction,
        )
        self.agreement = (
            np.einsum("ij,ij->j", memberships, fitted),
            np.einsum("ij,ij->j", direction, fitted),
        )

    def __call__(self, steps: Float) -> Float:
        """Return the values at several t, which share one vectorised evaluation."""
        t = steps[:, np.newaxis, np.newaxis]
        root = np.sqrt(self.sizes[0] + steps[:, np.newaxis] * self.sizes[1])
        outer = root[:, :, np.newaxis] * root[:, np.newaxis, :]
        similarity = (
            self.similarity[0] + t * (self.similarity[1] + t * self.similarity[2])
        ) / outer
        overlap = (
            self.overlap[0] + t * (self.overlap[1] + t * self.overlap[2])
        ) / outer
        agreement = self.agreement[0] + steps[:, np.newaxis] * self.agreement[1]
        return (
            -2 * np.trace(similarity, axis1=1, axis2=2)
            + np.sum(similarity * overlap, axis=(1, 2))
            + self.alpha * np.trace(overlap, axis1=1, axis2=2)
            - 2 * self.alpha * np.sum(agreement / root, axis=1)
        )


_COARSE = np.concatenate([[0.0], np.linspace(0.1, 1.0, 10)])
_FINE = np.concatenate([[0.0], 0.5 ** np.arange(4, 30.0)])


def best_step(segment: Callable[[Float], Float]) -> float:
    """Return a t in [0, 1] with the lowest value found, 0 if none is below t = 0."""
    values = segment(_COARSE)
    best = int(values.argmin())
    if best == 0:
        values = segment(_FINE)
        best = int(values.argmin())
        return float(_FINE[best])
    if best == len(_COARSE) - 1:
        return 1.0
    around = _COARSE[best] + np.linspace(-0.1, 0.1, 9)
    refined = segment(around)
    return float(around[refined.argmin()])


def kept_alive(memberships: Float) -> Float:
    """Keep every cluster above a small size by mixing in the uniform partition."""
    n_samples, n_clusters = memberships.shape
    floor = ALIVE * n_samples / n_clusters
    if column_sums(memberships).min() >= floor:
        return memberships
    return (1 - ALIVE) * memberships + ALIVE / n_clusters


class Refined(NamedTuple):
    """A better clustering, and the step length to begin the next call with."""

    clustering: Clustering
    length: float


def refine_partition(
    clustering: Clustering,
    fitted: Float,
    alpha: float,
    multiply: Callable[[Float], Float],
    *,
    length: float,
    max_steps: int,
    tol: float,
) -> Refined:
    """Lower the function above by projected gradient steps; it never rises.

    Parameters
    ----------
    clustering : Clustering
        Start.
    fitted : ndarray of shape (n, c)
        T, what the regression predicts for G.
    alpha : float
    multiply : callable
        ``B -> K B``.
    length : float
        Length of the first step, as returned by an earlier call.
    max_steps : int
    tol : float
        Stop after a step that gains less.
    """
    # Own copies, changed in place: such arrays are what memory goes to.
    clustering = Clustering(clustering.memberships.copy(), clustering.product.copy())
    memberships, product = clustering
    slope = gradient(clustering, fitted, alpha)
    for _ in range(max_steps):
        direction = kept_alive(project_rows_to_simplex(memberships - length * slope))
        direction -= memberships
        moved = multiply(direction)
        segment = Segment(clustering, direction, moved, fitted, alpha)
        step = best_step(segment)
        if step == 0.0:
            break
        before, after = segment(np.array([0.0, step]))
        direction *= step
        moved *= step
        memberships += direction
        product += moved
        if before - after <= tol:
            break
        previous, slope = slope, gradient(clustering, fitted, alpha)
        previous -= slope
        length = spectral_length(direction, previous, length)
    return Refined(clustering, length)


def spectral_length(move: Float, slope_fall: Float, fallback: float) -> float:
    """Return the Barzilai-Borwein length after a move that changed the slope."""
    curvature = -np.vdot(move, slope_fall)
    if curvature <= 0:
        return 4 * fallback
    return float(np.clip(np.vdot(move, move) / curvature, 1e-10, 1e10))
