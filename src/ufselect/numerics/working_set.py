"""A working set of features, with their coefficients and all that is asked of them.

How much of X'X is kept depends on its size and on where the samples are.
"""

from abc import ABC, abstractmethod

import numpy as np

from ufselect.matrix.base import Arrays, DataMatrix, Float, Index, product_with
from ufselect.numerics.least_squares import (
    DualLeastSquares,
    FirstOrderLeastSquares,
    Form,
    LeastSquares,
    Point,
    PrimalLeastSquares,
    Target,
    choose_form,
    curvature_from,
)
from ufselect.numerics.rows import row_norms

# Up to this many features, X'X is made once and serves every working set.
LARGEST_FULL_GRAM = 4096

# Up to this many, it takes little memory even next to fewer samples.
SMALL_FULL_GRAM = 2048


class WorkingSet(ABC):
    """Some features of a matrix, and what the rest would add to them."""

    # Whether Y itself has to be there, or ``X'Y`` is enough.
    needs_values = True

    def __init__(self, matrix: DataMatrix, n_targets: int) -> None:
        self.matrix = matrix
        self.index: Index = np.zeros(0, dtype=np.intp)
        empty = np.zeros((0, n_targets))
        self._point: Point | None = Point(empty, empty)
        self._coef: Float = empty
        self.target = Target(0.0, None, None)
        self.problem: LeastSquares | None = None

    @property
    def coef(self) -> Float:
        """The rows of W that may differ from zero."""
        return self._coef

    @property
    def point(self) -> Point:
        """The same with their product, which is formed when it is asked for."""
        if self._point is None:
            assert self.problem is not None
            self._point = self.problem.at(self._coef)
        return self._point

    def place(self, coef: Float, point: Point | None = None) -> None:
        """Go on from these coefficients."""
        self._coef, self._point = coef, point

    @abstractmethod
    def set_target(self, target: Target) -> None:
        """Aim at another target."""

    @abstractmethod
    def fitted(self) -> Float:
        """Return ``X W``."""

    @abstractmethod
    def overlaps(self) -> tuple[float, float]:
        """Return ``<Y, X W>`` and ``|X W|^2``."""

    @abstractmethod
    def correlation(self) -> Float:
        """Return ``X'(Y - X W)`` for all features."""

    @abstractmethod
    def _restrict(self, staying: Index) -> LeastSquares:
        """Return the problem on the present index; staying are places in the old."""

    def curvature(self) -> float:
        """Return about the largest eigenvalue of ``2 Z'Z``, or more."""
        assert self.problem is not None
        return self.problem.curvature()

    def admit(self, entering: Index) -> None:
        """Drop the features whose row is zero and take in others."""
        staying = np.flatnonzero(self.coef.any(axis=1))
        self.index = np.concatenate([self.index[staying], entering])
        fresh = np.zeros((len(entering), self.coef.shape[1]))
        self.place(np.concatenate([self.coef[staying], fresh]))
        self.problem = self._restrict(staying)

    def full_coef(self) -> Float:
        """Return W with a row for every feature."""
        coef = np.zeros((self.matrix.shape[1], self.coef.shape[1]))
        coef[self.index] = self.coef
        return coef


class GramWorkingSet(WorkingSet):
    """Knows ``X'Y`` and the Gram matrix of the set, and nothing of the samples."""

    needs_values = False

    def set_target(self, target: Target) -> None:
        self.target = target
        self.cross = target.cross_with(self.matrix)
        self._aim()

    def fitted(self) -> Float:
        return self.matrix.dot(self.full_coef())

    def overlaps(self) -> tuple[float, float]:
        if self.problem is None:
            return 0.0, 0.0
        explained = float(np.vdot(*self.point))
        return float(np.vdot(self.coef, self.problem.cross)), explained

    def _restrict(self, staying: Index) -> LeastSquares:
        self.problem = PrimalLeastSquares(self._gram_of_set(staying))
        self._aim()
        return self.problem

    @abstractmethod
    def _gram_of_set(self, staying: Index) -> Float:
        """Return ``Z'Z`` for the present index; staying are places in the old."""

    def _aim(self) -> None:
        if self.problem is not None:
            self.problem.target = self.target
            self.problem.cross = self.cross[self.index]
            self.problem.squared_target = self.target.squared


class TallWorkingSet(GramWorkingSet):
    """For no more features than samples: everything is read off ``X'X``."""

    def __init__(
        self, matrix: DataMatrix, n_targets: int, gram: Float | None = None
    ) -> None:
        super().__init__(matrix, n_targets)
        self.gram = matrix.feature_gram() if gram is None else gram
        self._curvature: float | None = None
        self._outside = np.arange(len(self.gram))
        # The rows of ``X'X`` outside, in the columns of the set.
        self._between: Float = np.empty((len(self.gram), 0))

    def correlation(self) -> Float:
        correlation = self.cross.copy()
        if self.problem is not None:
            correlation[self.index] -= self.point.image
            correlation[self._outside] -= product_with(self._between, self.coef)
        return correlation

    def curvature(self) -> float:
        """Return that of all features, which is known once and for all."""
        if self._curvature is None:
            # Of no target, so that a fit that goes on finds the same.
            longest = int(row_norms(self.gram).argmax())
            first = self.gram[:, [longest]].astype(np.float64)
            everything = PrimalLeastSquares(self.gram)
            self._curvature = curvature_from(everything.normal, first)
        return self._curvature

    def _gram_of_set(self, staying: Index) -> Float:
        self._outside = np.setdiff1d(np.arange(len(self.gram)), self.index)
        self._between = self._cut(self._outside)
        return self._cut(self.index)

    def _cut(self, rows: Index) -> Float:
        # Twice as fast as both at once.
        return self.gram.take(rows, axis=0).take(self.index, axis=1)


class StreamedWorkingSet(GramWorkingSet):
    """For many features of samples that are elsewhere: a pass for each question."""

    def correlation(self) -> Float:
        if not len(self.index):
            return self.cross
        return self.cross - self.matrix.normal_dot(self.full_coef())

    def _gram_of_set(self, staying: Index) -> Float:
        kept = len(staying)
        old = self.problem
        known = old.gram if isinstance(old, PrimalLeastSquares) else np.zeros((0, 0))
        entering = self.index[kept:]
        cross = self.matrix.over_rows(_cross_gram, (), self.index, entering)[1][0]
        return grown_gram(known[np.ix_(staying, staying)], cross)


def _cross_gram(
    block: DataMatrix, rows: Arrays, index: Index, entering: Index
) -> tuple[Arrays, Arrays]:
    return (), (block.columns(index).T @ block.columns(entering),)


def grown_gram(known: Float, cross: Float) -> Float:
    """Return a Gram matrix from the part that stays and the columns that enter."""
    kept, total = len(known), len(cross)
    gram = np.empty((total, total), known.dtype)
    gram[:kept, :kept] = known
    gram[:, kept:] = cross
    gram[kept:, :kept] = cross[:kept].T
    return gram


class WideWorkingSet(WorkingSet):
    """For many features: the columns of the set are cut out of X."""

    def __init__(self, matrix: DataMatrix, n_targets: int, form: Form = "auto") -> None:
        super().__init__(matrix, n_targets)
        self.form = form
        self.columns: DataMatrix | None = None

    def set_target(self, target: Target) -> None:
        self.target = target
        self._aim()

    def fitted(self) -> Float:
        if self.columns is None:
            return np.zeros_like(self.target.given_values())
        return self.columns.dot(self.coef)

    def overlaps(self) -> tuple[float, float]:
        fitted = self.fitted()
        shared = np.vdot(self.target.given_values(), fitted)
        return float(shared), float(np.vdot(fitted, fitted))

    def correlation(self) -> Float:
        return self.matrix.transpose_dot(self.target.given_values() - self.fitted())

    def _restrict(self, staying: Index) -> LeastSquares:
        precision = self.matrix.precision
        self.columns = self.matrix.take(self.index).rounded(precision)
        form = self.form
        if form == "auto":
            form = choose_form(self.matrix.shape[0], *self.coef.shape)
        if form == "primal":
            gram = self._grown_gram(staying).astype(precision, copy=False)
            self.problem = PrimalLeastSquares(gram)
        elif form == "dual":
            self.problem = DualLeastSquares(self.columns)
        else:
            self.problem = FirstOrderLeastSquares(self.columns)
        self._aim()
        return self.problem

    def _grown_gram(self, staying: Index) -> Float:
        """Return the Gram matrix of the set, reusing the part that stays."""
        assert self.columns is not None
        if not isinstance(self.problem, PrimalLeastSquares):
            return self.columns.feature_gram()
        entering = self.columns.columns(slice(len(staying), len(self.index)))
        known = self.problem.gram[np.ix_(staying, staying)]
        return grown_gram(known, self.columns.transpose_dot(entering))

    def _aim(self) -> None:
        if self.problem is not None and self.columns is not None:
            self.problem.target = self.target
            self.problem.cross = self.target._replace(cross=None).cross_with(
                self.columns
            )
            self.problem.squared_target = self.target.squared


def reads_full_gram(shape: tuple[int, int]) -> bool:
    """Return whether X'X is made once and serves every working set."""
    n_samples, n_features = shape
    if n_features <= SMALL_FULL_GRAM:
        return n_features <= 3 * n_samples
    return n_features <= min(n_samples, LARGEST_FULL_GRAM)


def working_set(
    matrix: DataMatrix,
    n_targets: int,
    form: Form = "auto",
    gram: Float | None = None,
) -> WorkingSet:
    """Return an empty working set of the kind that suits the shape of the matrix."""
    if form == "auto" and reads_full_gram(matrix.shape):
        return TallWorkingSet(matrix, n_targets, gram)
    if form == "streamed":
        return StreamedWorkingSet(matrix, n_targets)
    return WideWorkingSet(matrix, n_targets, form)
