"""Group lasso with one row of W per feature: ``minimise |X W - Y|^2 + lam Omega(W)``.

Omega is ``|W|_21``, the sum of the norms of the rows (the W step of SCFS, and SPFS),
or ``|W|_1inf``, the sum of their largest absolute values (CPFS). A row is zero if

    2 |x_i'(Y - X W)|* <= lam                                               (E5)

in the dual norm of a row; the left side divided by lam is the KKT ratio of the feature.
The problem is solved on a working set S of features, with Z = X_S; for the others, only
E5 is checked. On S, proximal gradient steps change which rows are zero; for ``|W|_21``,
Newton steps update the other rows. See docs/mathematics.md, "The step for W".
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from ufselect.matrix.base import Arrays, DataMatrix, Float, Index, product_with
from ufselect.solvers.ridge import (
    FeatureRidge,
    Ridge,
    SampleRidge,
    row_norms,
)

# Up to MAX_GRAM features, and no more than samples, X'X is computed once, for all
# working sets; up to SMALL_GRAM features, also with a third as many samples.
MAX_GRAM, SMALL_GRAM = 4096, 2048

# A Cholesky factorisation saves about this many gradients; the second number is that
# of the products with each factorisation.
GRADIENTS_PER_FACTORISATION, PRODUCTS_PER_FACTORISATION = 100, 10

# Number of features that may always enter the working set at once; share of its rows
# that may be zero before they are dropped.
MIN_GROWTH, MAX_ZERO_SHARE = 200, 0.1

# Rounds without a smaller duality gap after which the solver stops.
MAX_IDLE_ROUNDS = 20

# Conjugate gradient steps of a Newton step: INEXACT while Y still changes; in a solve,
# from FIRST to MAX, with MORE in every round.
INEXACT_CG_STEPS, FIRST_CG_STEPS, MORE_CG_STEPS, MAX_CG_STEPS = 4, 14, 2, 30

# Conjugate gradients stop at this residual, relative to the right-hand side, or at this
# second derivative, relative to that of the ridge regression.
CG_TOLERANCE, MIN_SECOND_DERIVATIVE = 1e-2, 1e-10

# Proximal gradient steps of a round without Newton steps; with Newton steps there is
# one, and one more after every ROUNDS_PER_GRADIENT rounds.
GRADIENTS_WITHOUT_NEWTON, ROUNDS_PER_GRADIENT = 10, 4

# Power iterations for a Lipschitz constant.
POWER_ITERATIONS = 12

# Step sizes tried in a Newton step until the objective decreases; norm of a step, as a
# share of that of W, up to which its gain may be below rounding.
NEWTON_SIZES, MIN_STEP = (1.0, 0.5, 0.25, 0.125, 0.0625), 1e-5

# Changes of the objective below ROUNDING |Y|^2 are rounding errors; an increase above
# OVERSHOOT |Y|^2 means that the step size was too large.
ROUNDING, OVERSHOOT = 1e-15, 1e-10

# Number of values in a block of X'(Y - XW), of which only norms are kept.
BLOCK_VALUES = 1_000_000


class L21:
    """``|W|_21 = sum_i |w_i|``. Other penalties override the three methods."""

    # Whether the penalty is smooth where no row is zero, so that Newton steps help.
    smooth = True
    # Returns the norm of each row, whose sum is Omega.
    sizes = staticmethod(row_norms)

    def prox(self, W: Float, amount: float) -> Float:
        """Return the proximal operator of ``amount Omega`` at W, overwriting W."""
        norms = row_norms(W)
        factors = np.zeros_like(norms)
        np.divide(norms - amount, norms, out=factors, where=norms > amount)
        W *= factors[:, np.newaxis]
        return W

    def dual_norms(self, blocks: Iterable[Float]) -> Float:
        """Return the dual norm of each row from blocks of columns, overwriting them."""
        return np.sqrt(sum(np.einsum("ij,ij->i", block, block) for block in blocks))


def largest_penalty(X: DataMatrix, Y: Float) -> float:
    """Return the smallest lam of ``|W|_21`` at which W = 0 (E6)."""
    return 2 * float(row_norms(X.transpose_dot(Y)).max())


def makes_gram(shape: tuple[int, int]) -> bool:
    """Return whether X'X is computed once for all working sets."""
    n_samples, n_features = shape
    if n_features <= SMALL_GRAM:
        return n_features <= 3 * n_samples
    return n_features <= min(n_samples, MAX_GRAM)


class WorkingSetTooLarge(Exception):
    """The working set needs more than ``max_rows`` rows at a lam of the path."""

    lam = last_lam = 0.0

    def __init__(self, n_rows: int) -> None:
        super().__init__(f"{n_rows} rows")
        self.n_rows = n_rows


class Solution(NamedTuple):
    """W, ``|X W - Y|^2``, KKT ratios, and the duality gap relative to ``|Y|^2``."""

    coef: Float
    error: float
    kkt_ratios: Float
    gap: float


class GroupLasso:
    """A group lasso on one X, solved for a sequence of Y or lam.

    The working set, its W and its Gram matrix are kept between calls as a warm start.

    Parameters
    ----------
    X : DataMatrix of shape (n, p)
    n_targets : int
    penalty : L21 or a subclass, optional
    gram : ndarray of shape (p, p), optional
        ``X'X``, if it is to be used instead of X; see ``makes_gram``.
    max_rows : int, optional
        Largest size of the working set; above it, ``WorkingSetTooLarge`` is raised.

    Attributes
    ----------
    S : ndarray of shape (a,)
        The working set.
    W, ZtZW, ZtY : ndarray of shape (a, c)
        The rows of W in the working set, and ``Z'Z W`` and ``Z'Y`` with Z = X_S.
    """

    def __init__(
        self,
        X: DataMatrix,
        n_targets: int,
        penalty: L21 | None = None,
        gram: Float | None = None,
        max_rows: int | None = None,
    ) -> None:
        self.X, self.gram = X, gram
        self.max_rows = X.shape[1] if max_rows is None else max_rows
        self.penalty = L21() if penalty is None else penalty
        self.S: Index = np.zeros(0, dtype=np.intp)
        self.W: Float = np.zeros((0, n_targets))
        self.ZtZW = self.ZtY = self.W
        self.lipschitz, self.side = 0.0, "features"
        # Z in memory, unless Z'X is taken from X'X or X is read in blocks of rows.
        self.Z: DataMatrix | None = None
        self._ZtX: Float | None = None
        # Z'Z, unless a factorisation on the side of the samples is cheaper.
        self._ZtZ: Float | None = np.zeros((0, 0))

    def set_target(
        self, squared: float, *, Y: Float | None = None, XtY: Float | None = None
    ) -> None:
        """Set the target by ``|Y|^2`` and either Y or ``X'Y``.

        If X is read in blocks of rows, ``X'Y`` is sufficient.
        """
        if XtY is None and Y is not None and self.gram is not None:
            XtY = self.X.transpose_dot(Y)
        self.squared, self.Y, self.XtY = squared, Y, XtY
        if XtY is not None:
            self.ZtY = XtY[self.S]
        elif self.Z is not None and Y is not None:
            self.ZtY = self.Z.transpose_dot(Y)

    def place(self, W: Float) -> None:
        """Set the rows of W in the working set."""
        self.W, self.ZtZW = W, self.normal(W)

    def normal(self, V: Float) -> Float:
        """Return ``Z'Z V``."""
        if self._ZtZ is not None:
            return product_with(self._ZtZ, V)
        assert self.Z is not None
        return self.Z.transpose_dot(self.Z.dot(V))

    def objective(self, lam: float, W: Float, ZtZW: Float) -> float:
        """Return ``|X W - Y|^2 + lam Omega(W) - |Y|^2``."""
        loss = float(np.vdot(W, ZtZW - 2 * self.ZtY))
        return loss + lam * float(self.penalty.sizes(W).sum())

    def fitted(self) -> Float:
        """Return ``X W``, for X in memory."""
        return self.X.dot(self.coef()) if self.Z is None else self.Z.dot(self.W)

    def coef(self) -> Float:
        """Return W with a row for every feature."""
        coef = np.zeros((self.X.shape[1], self.W.shape[1]))
        coef[self.S] = self.W
        return coef

    def kkt_ratios(self, lam: float) -> Float:
        """Return ``2 |x_i'(Y - X W)|* / lam`` of all features (E5)."""
        blocks: Iterable[Float]
        if self.XtY is None:
            assert self.Y is not None
            R = self.Y - self.fitted() if len(self.S) else self.Y
            width = max(1, BLOCK_VALUES // self.X.shape[1])
            places = range(0, R.shape[1], width)
            blocks = (self.X.transpose_dot(R[:, at : at + width]) for at in places)
        elif not len(self.S):
            blocks = [self.XtY.copy()]
        elif self._ZtX is not None:
            blocks = [self.XtY - product_with(self._ZtX.T, self.W)]
        elif self.Z is not None:
            blocks = [self.XtY - self.X.transpose_dot(self.Z.dot(self.W))]
        else:
            blocks = [self.XtY - self.X.normal_dot(self.coef())]
        return 2 * self.penalty.dual_norms(blocks) / lam

    def gap(self, lam: float, ratio: float) -> float:
        """Return the duality gap relative to ``|Y|^2``, for the largest KKT ratio.

        ``R = Y - X W``, scaled down until no KKT ratio exceeds one, is feasible for the
        dual problem ``maximise 2 <Y, R> - |R|^2`` (E8).
        """
        shared = self.squared - float(np.vdot(self.W, self.ZtY))
        error, weight = self.error(), lam * float(self.penalty.sizes(self.W).sum())
        shorter = 1.0 if ratio <= 1 else 1 / ratio
        if error > 0:
            shorter = min(shorter, max(shared, 0.0) / error)
        excess = error + weight - 2 * shorter * shared + shorter**2 * error
        return excess / max(self.squared, np.finfo(np.float64).tiny)

    def error(self) -> float:
        """Return ``|X W - Y|^2``."""
        change = float(np.vdot(self.W, self.ZtZW - 2 * self.ZtY))
        return max(self.squared + change, 0.0)

    def admit(self, ratios: Float) -> None:
        """Add the features that violate E5 most to the working set.

        Rows that are zero and satisfy E5 are dropped once there are many.
        """
        staying = np.flatnonzero(self.W.any(axis=1))
        violates = ratios > 1.0
        violates[self.S[staying]] = False
        entering = np.flatnonzero(violates)
        violates[self.S] = False
        n_needed = len(staying) + len(entering)
        can_shrink = 0 < n_needed < (1 - MAX_ZERO_SHARE) * len(self.S)
        if not violates.any() and not can_shrink:
            return
        growth = max(MIN_GROWTH, len(self.S) // 2)
        if len(entering) > growth:
            strongest = np.argsort(-ratios[entering], kind="stable")[:growth]
            entering = entering[strongest]
        if len(staying) + len(entering) > self.max_rows:
            raise WorkingSetTooLarge(len(staying) + len(entering))
        self.S = np.concatenate([self.S[staying], entering])
        W = np.zeros((len(self.S), self.W.shape[1]))
        W[: len(staying)] = self.W[staying]
        self._take_columns(staying, entering)
        self.set_target(self.squared, Y=self.Y, XtY=self.XtY)
        self.place(W)
        if not len(entering):
            # Removing features does not increase the Lipschitz constant.
            return
        # Start the power iteration from the correlations with the target: they are not
        # random and do not depend on the order of the features.
        largest = int(np.einsum("ij,ij->j", self.ZtY, self.ZtY).argmax())
        vector = self.ZtY @ (self.ZtY.T @ self.ZtY[:, [largest]])
        for _ in range(POWER_ITERATIONS):
            norm = max(np.linalg.norm(vector), np.finfo(np.float64).tiny)
            vector = self.normal(vector / norm)
        # The Lipschitz constant of the gradient is twice the largest eigenvalue of
        # Z'Z, which power iteration approaches from below.
        self.lipschitz = 2.2 * float(np.linalg.norm(vector))

    def _take_columns(self, staying: Index, entering: Index) -> None:
        """Compute Z and Z'Z of a new working set, or take them from X'X."""
        if self.gram is not None:
            self._ZtX = self.gram.take(self.S, axis=0)
            self._ZtZ = self._ZtX.take(self.S, axis=1)
            return
        known = np.zeros((0, 0))
        if self._ZtZ is not None:
            known = self._ZtZ[np.ix_(staying, staying)]
        if self.X.out_of_core and self.XtY is not None:
            (cross,) = self.X.sums_over_rows(_cross_gram, (), self.S, entering)
            precision = np.dtype(np.float64)
        else:
            precision, self.side = self.X.precision, self._cheaper_side()
            self.Z, self._ZtZ = self.X.take(self.S).rounded(precision), None
            if self.side != "features":
                return
            cross = self.Z.transpose_dot(self.Z.columns(slice(len(known), None)))
        above, corner = cross[: len(known)], cross[len(known) :]
        ZtZ = np.block([[known, above], [above.T, corner]])
        self._ZtZ = ZtZ.astype(precision, copy=False)

    def _cheaper_side(self) -> str:
        """Return the side whose factorisation is cheaper, or "neither"."""
        n, a, c = self.X.shape[0], len(self.S), self.W.shape[1]
        gradient = 2 * c * a * min(2 * n, a)
        features, samples = a**3 / 3, n**2 * a + n**3 / 3
        if min(features, samples) > GRADIENTS_PER_FACTORISATION * gradient:
            return "neither"
        products = 2 * PRODUCTS_PER_FACTORISATION * c * a
        cheaper = features + products * a <= samples + products * 2 * n
        return "features" if cheaper else "samples"

    def gradient_steps(
        self,
        lam: float,
        n_steps: int,
        callback: Callable[[float], bool] | None = None,
    ) -> bool:
        """Take accelerated proximal gradient steps that never increase the objective.

        Return whether ``callback`` asked to stop.
        """
        W, ZtZW, momentum = self.W, self.ZtZW, 1.0
        value = self.objective(lam, W, ZtZW)
        for _ in range(n_steps if len(self.S) else 0):
            new = ZtZW - self.ZtY
            new *= -2 / self.lipschitz
            new += W
            new = self.penalty.prox(new, lam / self.lipschitz)
            new_ZtZW = self.normal(new)
            new_value = self.objective(lam, new, new_ZtZW)
            rise = new_value - value
            if rise > ROUNDING * self.squared:
                if W is self.W and rise > OVERSHOOT * self.squared:
                    # Without momentum, the objective increases only if the Lipschitz
                    # constant was estimated too low.
                    self.lipschitz *= 2
                # Restart without momentum.
                W, ZtZW, momentum = self.W, self.ZtZW, 1.0
            else:
                moved = new - self.W
                if np.vdot(W - new, moved) > 0:
                    momentum = 1.0
                following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
                share = (momentum - 1) / following
                W, ZtZW, momentum = new, new_ZtZW, following
                if share:
                    W = np.multiply(moved, share, out=moved)
                    W += new
                    ZtZW = new_ZtZW - self.ZtZW
                    ZtZW *= share
                    ZtZW += new_ZtZW
                self.W, self.ZtZW, value = new, new_ZtZW, new_value
            if callback is not None and callback(self.squared + value):
                return True
        return False

    def ridge(self, lam: float, *, through_samples: bool = False) -> Ridge | None:
        """Return the ridge regression that majorises the group lasso at W (E3).

        As ``|w| <= |w|^2 / (2 |v|) + |v| / 2``, with equality at w = v, its objective
        is an upper bound of that of the group lasso. None if W = 0, or if it is too
        expensive.
        """
        inverse_weights = 2 * row_norms(self.W) / lam
        if not inverse_weights.any():
            return None
        if self._ZtZ is not None and not through_samples:
            return FeatureRidge(self._ZtZ, inverse_weights)
        if self.Z is None or self.side == "neither":
            return None
        return SampleRidge(self.Z, inverse_weights)

    def newton_step(self, lam: float, ridge: Ridge, n_steps: int) -> None:
        """Take a Newton step with the ridge regression at W as preconditioner.

        Zero rows stay zero, and the objective does not increase.
        """
        norms = row_norms(self.W)
        inside = norms > 0
        weights = np.divide(lam / 2, norms, out=np.zeros_like(norms), where=inside)
        # W is transposed here, in the memory order that LAPACK expects.
        W = np.ascontiguousarray(self.W.T)
        unit = W / np.where(inside, norms, 1.0)
        # Half the gradient of the penalty is lam w / (2 |w|).
        descent = ((self.ZtY - self.ZtZW).T - weights * W) * inside
        with np.errstate(all="ignore"):
            step = conjugate_gradients(descent, ridge, weights, unit, n_steps).T
        value = self.objective(lam, self.W, self.ZtZW)
        if np.linalg.norm(step) <= MIN_STEP * np.linalg.norm(self.W):
            # Near the solution a step gains less than rounding, but still reduces the
            # gap. A long step without gain would only change collinear features.
            value += ROUNDING * self.squared
        sizes = NEWTON_SIZES if np.isfinite(step).all() else ()
        # Last, the solution of the ridge regression, which increases the objective by
        # rounding at most.
        for size in (*sizes, None):
            new = ridge.inverse(self.ZtY) if size is None else self.W + size * step
            # The penalty is not smooth at zero: set rows that would pass it to zero.
            new[np.einsum("ij,ij->i", self.W, new) <= 0] = 0.0
            ZtZW = self.normal(new)
            if self.objective(lam, new, ZtZW) < value:
                self.W, self.ZtZW = new, ZtZW
                return

    def coordinate_steps(self, lam: float, ratios: Float, n_steps: int) -> None:
        """Minimise over single rows, those with the largest KKT ratios.

        A small row grows slowly in Newton steps, due to its large ridge weight, and in
        gradient steps, due to the Lipschitz constant of all features.
        """
        worst = np.argsort(-ratios[self.S], kind="stable")[:n_steps]
        for i in worst[ratios[self.S[worst]] > 1.0]:
            if self._ZtZ is not None:
                products = self._ZtZ[:, i].astype(np.float64)
            else:
                assert self.Z is not None
                products = self.Z.transpose_dot(self.Z.columns(np.array([i]))).ravel()
            old, square = self.W[i].copy(), products[i]
            right = self.ZtY[i] - self.ZtZW[i] + square * old
            new = self.penalty.prox(right[np.newaxis] / square, lam / (2 * square))[0]
            self.W[i] = new
            self.ZtZW += np.outer(products, new - old)

    def descend(self, lam: float, n_gradients: int, n_cg: int) -> None:
        """Take gradient steps before and after a Newton step, or more without one."""
        if not len(self.S):
            return
        if not self.penalty.smooth or self.side == "neither":
            n_gradients *= GRADIENTS_WITHOUT_NEWTON
        self.gradient_steps(lam, n_gradients)
        ridge = self.ridge(lam)
        if ridge is not None:
            self.newton_step(lam, ridge, n_cg)
        self.gradient_steps(lam, n_gradients)

    def solve(
        self,
        lam: float,
        *,
        tol: float = 1e-6,
        max_rounds: int = 100,
        n_coordinate_steps: int = 0,
    ) -> Solution:
        """Solve until the duality gap is at most tol, relative to ``|Y|^2``.

        Rounding may keep the gap above tol, above all in single precision: the solver
        also stops after ``MAX_IDLE_ROUNDS`` rounds without progress.
        """
        least, idle = np.inf, 0
        for n_rounds in range(max_rounds + 1):
            ratios = self.kkt_ratios(lam)
            gap = self.gap(lam, float(ratios.max()))
            least, idle = (gap, 0) if gap < least else (least, idle + 1)
            if gap <= tol or idle == MAX_IDLE_ROUNDS or n_rounds == max_rounds:
                break
            self.admit(ratios)
            if n_coordinate_steps:
                self.coordinate_steps(lam, ratios, n_coordinate_steps)
            n_gradients = 1 + (n_rounds + 1) // ROUNDS_PER_GRADIENT
            n_cg = min(FIRST_CG_STEPS + MORE_CG_STEPS * n_rounds, MAX_CG_STEPS)
            self.descend(lam, n_gradients, n_cg)
        return Solution(self.coef(), self.error(), ratios, gap)


def conjugate_gradients(
    right: Float, ridge: Ridge, weights: Float, unit: Float, n_steps: int
) -> Float:
    """Solve ``(M - R) V = right`` with the matrix M of the ridge regression (E7).

    M is the preconditioner. M - R is half the second derivative of the objective, with
    ``R = weights u u'`` in every row. Directions are combinations of ``M^-1 residual``,
    so their products with M are combinations of residuals, and no other product with M
    or ``Z'Z`` is needed.
    """
    V, direction, image = (np.zeros_like(right) for _ in range(3))
    residual, before = right.copy(), np.inf
    largest = CG_TOLERANCE * np.linalg.norm(right)
    for _ in range(n_steps):
        if np.linalg.norm(residual) <= largest:
            break
        preconditioned = ridge.inverse(residual.T).T
        decrease = float(np.vdot(residual, preconditioned))
        direction *= decrease / before
        direction += preconditioned
        image *= decrease / before
        image += residual
        curved = image - weights * np.einsum("ij,ij->j", unit, direction) * unit
        second = np.vdot(direction, curved)
        if second <= MIN_SECOND_DERIVATIVE * np.vdot(direction, image):
            # Collinear columns: the remaining residual is a rounding error.
            break
        step_size = decrease / second
        V += step_size * direction
        curved *= step_size
        residual -= curved
        before = decrease
    return V


def _cross_gram(
    X: DataMatrix, rows: Arrays, S: Index, entering: Index
) -> tuple[Arrays, Arrays]:
    """Return the columns of ``Z'Z`` of the entering features."""
    return (), (X.columns(S).T @ X.columns(entering),)
