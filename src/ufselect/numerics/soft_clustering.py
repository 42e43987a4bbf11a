"""Self-expression over soft partitions: the G step of SCFS.

A soft partition is an n x c matrix P with non-negative entries and rows that sum to
one. Its indicator is ``G = P diag(P'1)^(-1/2)``; these are exactly the non-negative
matrices with ``G G'1 = 1`` and no zero column. With ``K = X X'`` the function

    |X - G G'X|^2 + alpha |T - G|^2
        = tr(K) - 2 tr(Q) + sum(Q * C) + alpha (tr(C) - 2 <G, T> + |T|^2),
    Q = G'KG,  C = G'G

is minimised over P by projected gradient steps of Barzilai-Borwein length. T is fixed,
or follows G as ``T = H G``: the prediction of a ridge regression, whose own penalty
makes the last bracket ``tr(C) - <G, H G>``. All that
is decided on the way (how far along a segment ``P + t D``, how long the next step) is
read off sums over the samples, of c x c numbers or fewer; only the steps themselves
touch the rows of P, wherever these are kept.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from ufselect.matrix.base import Float, column_sums

# Share of the uniform partition mixed into a step that would empty a cluster.
ALIVE = 1e-6


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


class Sums(NamedTuple):
    """Sums over the samples: ``P'1``, ``P'P``, ``P'KP`` and the diagonal of ``P'T``.

    Where T ``follows``, the last is the diagonal of ``P'HP``.
    """

    sizes: Float
    overlap: Float
    similarity: Float
    agreement: Float
    follows: bool = False

    def moved(self, change: "Change", step: float) -> "Sums":
        """Return the sums at ``P + t D``."""
        return Sums(
            self.sizes + step * change.sizes,
            _quadratic(self.overlap, change.overlap, change.square, step),
            _quadratic(self.similarity, change.cross, change.similarity, step),
            self.moved_agreement(change, step),
            self.follows,
        )

    def moved_agreement(self, change: "Change", step: float | Float) -> Float:
        """Return the agreement at ``P + t D``."""
        both = 1 + self.follows
        return self.agreement + step * (
            both * change.agreement + step * change.response
        )


class Change(NamedTuple):
    """Sums along D: ``D'1, P'D, D'D, P'KD, D'KD`` and the diagonal of ``D'T``.

    Where T follows, ``agreement`` and ``response`` are those of ``D'HP`` and ``D'HD``;
    otherwise the response is zero.
    """

    sizes: Float
    overlap: Float
    square: Float
    cross: Float
    similarity: Float
    agreement: Float
    response: Float


def _quadratic(
    constant: Float, linear: Float, square: Float, step: float | Float
) -> Float:
    return constant + step * (linear + linear.T + step * square)


def self_expression(sums: Sums, total: float) -> float:
    """Return ``|X - G G'X|^2``, where total is ``|X|^2``."""
    outer = _outer_root(sums)
    similarity, overlap = sums.similarity / outer, sums.overlap / outer
    value = total - 2 * np.trace(similarity) + np.sum(similarity * overlap)
    return max(float(value), 0.0)


class Slope(NamedTuple):
    """The gradient with respect to P, as ``K P A + P B - T diag(d) + 1 r'``.

    T is ``H P`` where it follows. The gradient with respect to G is
    ``E = -4 KG + 2 KG C + 2 G Q + 2 alpha (G - T)``, and this one is
    ``E / sqrt(s) - (column sums of E * G) / (2 s)``, s the cluster sizes.
    """

    of_product: Float
    of_memberships: Float
    of_fitted: Float
    of_ones: Float

    def along(self, change: Change, step: float = 0.0) -> float:
        """Return the inner product of D with this slope, taken at ``P + step D``."""
        product = change.cross.T + step * change.similarity
        memberships = change.overlap.T + step * change.square
        return float(
            np.sum(product * self.of_product.T)
            + np.sum(memberships * self.of_memberships.T)
            - (change.agreement + step * change.response) @ self.of_fitted
            + change.sizes @ self.of_ones
        )


def slope_at(sums: Sums, alpha: float) -> Slope:
    """Return what the gradient is made of."""
    root, outer = np.sqrt(sums.sizes), _outer_root(sums)
    identity = np.eye(len(root))
    of_product = (2 * sums.overlap / outer - 4 * identity) / outer
    of_memberships = (2 * sums.similarity / outer + 2 * alpha * identity) / outer
    of_fitted = 2 * alpha / (sums.sizes if sums.follows else root)
    columns = np.einsum("jk,kj->j", sums.similarity, of_product)
    columns += np.einsum("jk,kj->j", sums.overlap, of_memberships)
    columns -= sums.agreement * of_fitted
    return Slope(of_product, of_memberships, of_fitted, -columns / (2 * sums.sizes))


def _outer_root(sums: Sums) -> Float:
    root = np.sqrt(sums.sizes)
    return np.outer(root, root)


class Segment:
    """The function above along ``P + t D``, up to a constant."""

    def __init__(self, sums: Sums, change: Change, alpha: float) -> None:
        self.sums, self.change, self.alpha = sums, change, alpha

    def __call__(self, steps: Float) -> Float:
        """Return the values at several t, which share one vectorised evaluation."""
        sums, change, t = self.sums, self.change, steps[:, np.newaxis]
        root = np.sqrt(sums.sizes + t * change.sizes)
        outer = root[:, :, np.newaxis] * root[:, np.newaxis, :]
        t = t[:, :, np.newaxis]
        similarity = _quadratic(sums.similarity, change.cross, change.similarity, t)
        similarity /= outer
        overlap = _quadratic(sums.overlap, change.overlap, change.square, t) / outer
        agreement = sums.moved_agreement(change, steps[:, np.newaxis])
        agreement /= root * root if sums.follows else 0.5 * root
        return (
            -2 * np.trace(similarity, axis1=1, axis2=2)
            + np.sum(similarity * overlap, axis=(1, 2))
            + self.alpha * np.trace(overlap, axis1=1, axis2=2)
            - self.alpha * np.sum(agreement, axis=1)
        )


_ENDS = np.array([0.0, 1.0])
_COARSE = np.concatenate([[0.0], np.linspace(0.1, 1.0, 10)])
_FINE = np.concatenate([[0.0], 0.5 ** np.arange(4, 30.0)])


def good_step(segment: Callable[[Float], Float]) -> tuple[float, float]:
    """Return a t in [0, 1] and how far its value lies below that at t = 0.

    A full step that gains is taken: the lengths of later steps depend on it more than
    on the last bit of gain. If no step gains, t is 0.
    """
    here, there = segment(_ENDS)
    if there < here:
        return 1.0, float(here - there)
    return best_step(segment)


def best_step(segment: Callable[[Float], Float]) -> tuple[float, float]:
    """Return the t in [0, 1] with the lowest value found, and how far below t = 0."""
    values = segment(_COARSE)
    here, best = values[0], int(values.argmin())
    if best == 0:
        values = segment(_FINE)
        best = int(values.argmin())
        return float(_FINE[best]), float(values[0] - values[best])
    if best == len(_COARSE) - 1:
        return 1.0, float(here - values[best])
    around = _COARSE[best] + np.linspace(-0.1, 0.1, 9)
    refined = segment(around)
    best = int(refined.argmin())
    return float(around[best]), float(here - refined[best])


class Partition(Protocol):
    """A soft partition, wherever its rows are; see ``partitions``."""

    @property
    def sums(self) -> Sums:
        """The sums over its samples."""

    def propose(self, slope: Slope, length: float) -> Change:
        """Project a step against the slope; return the sums along it."""

    def move(self, step: float) -> None:
        """Go so far along what was proposed last."""


def refine_partition(
    partition: Partition, alpha: float, *, length: float, max_steps: int, tol: float
) -> float:
    """Lower the function above by projected gradient steps; it never rises.

    Parameters
    ----------
    partition : Partition
        Start; it is changed.
    alpha : float
    length : float
        Length of the first step, as returned by an earlier call.
    max_steps : int
    tol : float
        Stop after a step that gains less.

    Returns
    -------
    length : float
        The step length to begin the next call with.
    """
    slope = slope_at(partition.sums, alpha)
    for _ in range(max_steps):
        change = partition.propose(slope, length)
        segment = Segment(partition.sums, change, alpha)
        step, gain = good_step(segment)
        if step == 0.0:
            break
        partition.move(step)
        if gain <= tol:
            break
        previous, slope = slope, slope_at(partition.sums, alpha)
        rise = slope.along(change, step) - previous.along(change)
        length = spectral_length(step, change, rise, length)
    return length


def spectral_length(
    step: float, change: Change, slope_rise: float, fallback: float
) -> float:
    """Return the Barzilai-Borwein length after a step that changed the slope."""
    if slope_rise <= 0:
        return 4 * fallback
    length = step * float(np.trace(change.square)) / slope_rise
    return float(np.clip(length, 1e-10, 1e10))
