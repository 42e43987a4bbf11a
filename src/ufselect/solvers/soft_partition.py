"""The G step of SCFS: projected gradient descent over soft partitions of the samples.

A soft partition is an n x c matrix P of cluster memberships, ``P >= 0`` and
``P 1 = 1``. With cluster sizes ``q = P'1``, the matrices ``G = P diag(q)^(-1/2)`` are
exactly those with ``G >= 0``, ``G G'1 = 1`` and no zero column (Theorem 1 of
docs/mathematics.md). With ``K = X X'``, ``Q = G'KG`` and ``C = G'G``, the part of
Eq. (3) that depends on G is

    tr K - 2 tr Q + <Q, C> + alpha (tr C - 2 <G, T> + |T|^2)                 (E1)

for fixed fitted values T. If W is minimised out by a ridge regression with the hat
matrix H, it is, up to a constant,

    tr K - 2 tr Q + <Q, C> + alpha (tr C - <G, H G>).                        (E4)

X enters as ``K = B M B'`` and fitted values as ``T = B V``. Either B is X, in memory or
out-of-core, and M is the identity; or B is the identity and M is the n x n matrix K, if
that is smaller. A step takes one pass over the rows of B; its step size and that of the
next step depend only on c x c sums.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ufselect.matrix.base import (
    AlignedRows,
    Arrays,
    DataMatrix,
    Float,
    Step,
    column_sums,
    product_with,
)

# Number of values of a block of rows that fits into the processor cache.
CACHED_VALUES = 32_768

# Share of the uniform partition that is mixed into a step that would empty a cluster.
UNIFORM_SHARE = 1e-6

# Step sizes tried along a segment if the full step does not decrease the objective.
SEGMENT = np.concatenate([[0.0], 0.5 ** np.arange(29, 3.0, -1), np.arange(1, 11) / 10])

# Limits of the step size.
MIN_STEP, MAX_STEP = 1e-10, 1e10


def indicator(P: Float) -> Float:
    """Return ``G = P diag(P'1)^(-1/2)``, which satisfies ``G G'1 = 1`` (Theorem 1)."""
    return P / np.sqrt(column_sums(P))


def project_rows_to_simplex(points: Float) -> Float:
    """Return the simplex projection of each row: entries >= 0 that sum to 1.

    The projection is ``max(row - threshold, 0)``, with the threshold computed from the
    sorted row (Held, Wolfe and Crowder, 1974).

    >>> import numpy as np
    >>> project_rows_to_simplex(np.array([[0.4, 0.6], [2.0, 0.0]]))
    array([[0.4, 0.6],
           [1. , 0. ]])
    """
    result = np.empty_like(points)
    step = max(1, CACHED_VALUES // max(1, points.shape[1]))
    for start in range(0, len(points), step):
        rows = points[start : start + step]
        # The projection does not depend on a constant; subtracting it saves digits.
        rows = rows - rows.max(axis=1, keepdims=True)
        descending = -np.sort(-rows, axis=1)
        excess = np.cumsum(descending, axis=1)
        excess -= 1.0
        excess /= np.arange(1, rows.shape[1] + 1)
        support = np.count_nonzero(descending > excess, axis=1)
        # The largest entry is always in the support, despite rounding.
        last = np.maximum(support, 1)[:, np.newaxis] - 1
        rows -= np.take_along_axis(excess, last, axis=1)
        np.maximum(rows, 0.0, out=result[start : start + step])
    return result


class Sums(NamedTuple):
    """``P'1``, ``P'P``, ``P'KP`` and the diagonal of ``P'T``, or of ``P'HP`` for E4."""

    q: Float
    PtP: Float
    PtKP: Float
    PtT: Float
    hat: bool

    def objective(self, alpha: float) -> Float:
        """Return E4, or E1 without ``|T|^2``; both without ``tr K``."""
        root = np.sqrt(self.q)
        outer = root[..., :, np.newaxis] * root[..., np.newaxis, :]
        Q, C = self.PtKP / outer, self.PtP / outer
        GtT = self.PtT / (self.q if self.hat else 0.5 * root)
        trace = np.trace(alpha * C - 2 * Q, axis1=-2, axis2=-1)
        return np.asarray(
            trace + np.sum(Q * C, axis=(-2, -1)) - alpha * GtT.sum(axis=-1)
        )

    def gradient(self, alpha: float) -> "Gradient":
        """Return the gradient of the objective with respect to P (E2)."""
        root = np.sqrt(self.q)
        outer, identity = np.outer(root, root), np.eye(len(root))
        of_KP = (2 * self.PtP / outer - 4 * identity) / outer
        of_P = (2 * self.PtKP / outer + 2 * alpha * identity) / outer
        of_T = 2 * alpha / (self.q if self.hat else root)
        columns = np.sum(self.PtKP * of_KP.T + self.PtP * of_P.T, axis=1)
        columns -= self.PtT * of_T
        return Gradient(of_KP, of_P, of_T, -columns / (2 * self.q))


class Gradient(NamedTuple):
    """The gradient ``K P A + P M - T diag(d) + 1 r'``, stored as A, M, d and r."""

    of_KP: Float
    of_P: Float
    of_T: Float
    of_ones: Float


class Direction(NamedTuple):
    """The sums of P with a direction D, and of D with D, for steps from P along D."""

    dq: Float
    PtD: Float
    DtD: Float
    PtKD: Float
    DtKD: Float
    DtT: Float
    DtHD: Float

    def sums(self, start: Sums, t: float | Float) -> Sums:
        """Return the sums at ``P + t D``, quadratic in t, for one t or an array."""
        t = np.asarray(t)[..., np.newaxis]
        tt = t[..., np.newaxis]
        both = 1 + start.hat
        return Sums(
            start.q + t * self.dq,
            start.PtP + tt * (self.PtD + self.PtD.T + tt * self.DtD),
            start.PtKP + tt * (self.PtKD + self.PtKD.T + tt * self.DtKD),
            start.PtT + t * (both * self.DtT + t * self.DtHD),
            start.hat,
        )

    def slope(self, gradient: Gradient, t: float) -> float:
        """Return the inner product of D with the gradient at ``P + t D``."""
        return float(
            np.sum((self.PtKD.T + t * self.DtKD) * gradient.of_KP.T)
            + np.sum((self.PtD.T + t * self.DtD) * gradient.of_P.T)
            - (self.DtT + t * self.DtHD) @ gradient.of_T
            + self.dq @ gradient.of_ones
        )


class SoftPartition:
    """A soft partition P, stored like the rows of X, or in memory if K is given.

    Parameters
    ----------
    X : DataMatrix of shape (n, p)
        Centred.
    P : AlignedRows
        Memberships, aligned with the rows of X; overwritten.
    K : ndarray of shape (n, n), optional
        ``X X'``, if already computed.
    offset : ndarray of shape (p,), optional
        Added to every row of X in the regression, if that is not centred. Not needed
        with K.

    Attributes
    ----------
    BtP, q, PtP : ndarray of shape (r, c), (c,), (c, c)
        ``B'P``, ``P'1`` and ``P'P``.
    """

    def __init__(
        self,
        X: DataMatrix,
        P: AlignedRows,
        K: Float | None = None,
        offset: Float | None = None,
    ) -> None:
        self.X, self.K, self.offset = X, K, None if K is not None else offset
        if K is not None:
            P = (X.gather(P),)
        self._over_rows: Step = X.over_rows if K is None else _over_identity
        self._rows: AlignedRows
        self._rows, (self.BtP, self.q, self.PtP) = self._over_rows(_first_sums, P)
        self.MBtP = self.BtP if K is None else product_with(K, self.BtP)
        # Step along D that the next pass over the rows applies to P.
        self._pending = 0.0

    @property
    def rows(self) -> AlignedRows:
        """P, aligned with the rows of B."""
        if self._pending:
            self._rows, _ = self._over_rows(_moved, self._rows, self._pending)
            self._pending = 0.0
        return self._rows

    def shifted(self, BtP: Float, q: Float) -> Float:
        """Return ``B'P`` for the B of the regression, which need not be centred."""
        return BtP if self.offset is None else BtP + np.outer(self.offset, q)

    def self_expression(self) -> float:
        """Return ``|X - G G'X|^2 - |X|^2``."""
        PtKP = self.BtP.T @ self.MBtP
        sums = Sums(self.q, self.PtP, PtKP, np.zeros_like(self.q), hat=False)
        return float(sums.objective(0.0))

    def descend(
        self,
        alpha: float,
        V: Float | None = None,
        hat: Callable[[Float], Float] | None = None,
        *,
        step_size: float,
        max_steps: int,
        tol: float,
    ) -> float:
        """Decrease E1 or E4 by projected gradient steps; it never increases.

        Parameters
        ----------
        alpha : float
        V : ndarray of shape (r, c), optional
            Fixed fitted values ``T = B V`` (E1); zero if neither V nor hat is given.
        hat : callable, optional
            Returns V with ``H P = B V`` from ``B'P``, to minimise W out (E4).
        step_size : float
            Of the first step, as returned by an earlier call.
        max_steps : int
        tol : float
            Stop after a step that decreases the objective by less.

        Returns
        -------
        step_size : float
            For the next call.
        """
        shifted = self.shifted(self.BtP, self.q)
        if hat is not None:
            V = hat(shifted)
        elif V is None:
            V = np.zeros_like(self.BtP)
        PtKP, PtT = self.BtP.T @ self.MBtP, np.einsum("ij,ij->j", shifted, V)
        sums = Sums(self.q, self.PtP, PtKP, PtT, hat is not None)
        gradient, value = sums.gradient(alpha), sums.objective(alpha)
        for _ in range(max_steps):
            # D leads from P to the projection of a gradient step on the simplex.
            factor = self.MBtP @ gradient.of_KP
            factor -= V * gradient.of_T
            constant = gradient.of_ones
            if self.offset is not None:
                constant = constant - (self.offset @ V) * gradient.of_T
            step = step_size, factor, gradient.of_P, constant
            self._rows, (BtD, dq, PtD, DtD) = self._over_rows(
                _projected, self._rows, self._pending, *step
            )
            self._pending = 0.0
            smallest = UNIFORM_SHARE * self.X.shape[0] / len(dq)
            if (self.q + dq).min() < smallest:
                self._rows, (BtD, dq, PtD, DtD) = self._over_rows(
                    _projected, self._rows, 0.0, *step, UNIFORM_SHARE
                )
            MBtD = BtD if self.K is None else product_with(self.K, BtD)
            shifted = self.shifted(BtD, dq)
            VD, DtHD = np.zeros_like(V), np.zeros_like(dq)
            if hat is not None:
                VD = hat(shifted)
                DtHD = np.einsum("ij,ij->j", shifted, VD)
            DtT = np.einsum("ij,ij->j", shifted, V)
            PtKD, DtKD = self.BtP.T @ MBtD, BtD.T @ MBtD
            along = Direction(dq, PtD, DtD, PtKD, DtKD, DtT, DtHD)
            # Accept any full step that decreases the objective: later step sizes gain
            # more from it than from an exact line search.
            t, end = 1.0, along.sums(sums, 1.0)
            gain = value - end.objective(alpha)
            if gain <= 0:
                values = along.sums(sums, SEGMENT).objective(alpha)
                t, gain = float(SEGMENT[values.argmin()]), values[0] - values.min()
                end = along.sums(sums, t)
            if t == 0.0:
                break
            self.BtP, self._pending = self.BtP + t * BtD, t
            self.MBtP = self.BtP if self.K is None else self.MBtP + t * MBtD
            V = V + t * VD
            self.q, self.PtP = end.q, end.PtP
            sums, value = end, value - gain
            if gain <= tol:
                break
            # Barzilai-Borwein step size.
            before, gradient = gradient, sums.gradient(alpha)
            rise = along.slope(gradient, t) - along.slope(before, 0.0)
            step_size *= 4
            if rise > 0:
                step_size = t * float(np.trace(DtD)) / rise
                step_size = min(max(step_size, MIN_STEP), MAX_STEP)
        return step_size


# Functions of a block of rows of B, None for the identity matrix, and of the same rows
# of P and D.


def _over_identity(step: Step, rows: Arrays, *arguments: Any) -> tuple[Arrays, Arrays]:
    return step(None, rows, *arguments)


def _first_sums(B: DataMatrix | None, rows: Arrays) -> tuple[Arrays, Arrays]:
    P = rows[0]
    BtP = P if B is None else B.transpose_dot(P)
    return (P, np.zeros_like(P)), (BtP, column_sums(P), P.T @ P)


def _moved(B: DataMatrix | None, rows: Arrays, t: float) -> tuple[Arrays, Arrays]:
    P, D = rows
    return (P + t * D, D), ()


def _projected(
    B: DataMatrix | None,
    rows: Arrays,
    pending: float,
    step_size: float,
    factor: Float,
    of_P: Float,
    constant: Float,
    uniform_share: float = 0.0,
) -> tuple[Arrays, Arrays]:
    """Apply the pending step to P, and project its next gradient step.

    A little of the uniform partition, mixed into the projection, keeps all clusters.
    """
    P, D = rows
    if pending:
        P = P + pending * D
    gradient = factor if B is None else B.dot(factor)
    gradient = gradient + P @ of_P
    gradient += constant
    gradient *= -step_size
    gradient += P
    D = project_rows_to_simplex(gradient)
    D -= P
    if uniform_share:
        D = (1 - uniform_share) * D + uniform_share * (1 / P.shape[1] - P)
    BtD = D if B is None else B.transpose_dot(D)
    return (P, D), (BtD, column_sums(D), P.T @ D, D.T @ D)
