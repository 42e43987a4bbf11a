"""Regularisation path of the elastic net by least angle regression (LARS-EN).

``minimise |X a - y|^2 / 2 + ridge |a|^2 / 2 + penalty |a|_1`` for a decreasing penalty,
starting where a = 0. Coefficients are linear in the penalty between two events; at an
event a feature enters or leaves the model. Only products with X are needed: with the
ridge, more features than samples may enter without a p x p matrix. The paths of several
targets are computed together, so that they share the products with X.
"""

import copy
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.linalg.blas import dger
from scipy.linalg.lapack import dposv, dpotrf, dtrtri

from ufselect.matrix import DenseMatrix
from ufselect.matrix.base import DataMatrix, Float, Index

# The path ends at this share of the first penalty; smaller ones are rounding errors.
END_OF_PATH = 1e-10

# Limit on the events of a path: equal columns could enter and leave without end.
MAX_EVENTS_PER_FEATURE = 10

# Smallest ridge, as a share of the mean square of the columns.
MIN_RIDGE = 1e-12

# Rates of change of a gap below this are rounding errors; that of the penalty is one.
SPEED_ROUNDING = 1e-12

# Gaps below this share of the penalty count as zero.
GAP_ROUNDING = 1e-30

# Constants of every event, created once.
ZERO, FALL_AND_RISE = np.zeros(1), np.array([[-1.0], [1.0]])

# Up to this many columns, separate BLAS products are faster than a common one.
MAX_SEPARATE_COLUMNS = 4


# Returns the column at a position among the columns of a path.
ColumnAt = Callable[[int], Float]

# Initial capacity of the buffer, in columns, and the number by which it grows.
CAPACITY_STEP = 32

# Up to this many columns per sample, it is faster to solve a system of their size.
MAX_COLUMNS_PER_SAMPLE = 1.25


class PathPoint(NamedTuple):
    """Coefficients at a point of a path, and when other features would enter.

    ``entry`` is the penalty at which a feature enters if the current direction is
    extrapolated, divided by the current penalty. It is one for features in the model,
    and exact for the next feature to enter.
    """

    coef: Float
    entry: Float
    penalty: float


class LineDirection(NamedTuple):
    """Change of the coefficients in the model, and of all correlations."""

    active: Float
    correlation: Float


def elastic_net_points(
    matrix: DataMatrix, targets: Float, n_nonzero: int, ridge: float
) -> list[PathPoint]:
    """Return the first point of each path with n_nonzero nonzero coefficients.

    It is at the end of a linear piece. If a path ends before, its last point is
    returned.
    """
    paths = elastic_net_paths(matrix, targets, ridge)
    for _ in range(MAX_EVENTS_PER_FEATURE * n_nonzero + 10):
        short = [path for path in paths if path.continues(n_nonzero)]
        if not short:
            break
        advance(matrix, short)
    return points(matrix, paths)


def points(matrix: DataMatrix, paths: Sequence["ElasticNetPath"]) -> list[PathPoint]:
    """Return the current points of paths over all columns."""
    lines = directions(matrix, paths)
    return [
        PathPoint(path.coef, path.entries(line), path.penalty)
        for path, line in zip(paths, lines, strict=True)
    ]


def elastic_net_points_from_sums(
    gram: Float, correlations: Float, n_nonzero: int, ridge: float
) -> list[PathPoint]:
    """Return the same points from ``X'X`` and ``X'Y``, for out-of-core samples.

    X and Y are replaced by a triangular R with ``R'R = X'X + r I`` and by T with
    ``R'T = X'Y``, and the ridge is reduced by r, which leaves the problem unchanged. r
    is half of the ridge, so that R exists even if columns of X are linearly dependent.
    """
    n_features = len(gram)
    # A ridge below rounding errors is raised to their size.
    half = max(ridge / 2, MIN_RIDGE * float(np.trace(gram)) / n_features)
    raised = gram.copy()
    raised.flat[:: n_features + 1] += half
    root = cholesky(raised, overwrite_a=True, check_finite=False)
    targets = solve_triangular(root, correlations, trans="T", check_finite=False)
    return elastic_net_points(DenseMatrix(root), targets, n_nonzero, half)


def elastic_net_paths(
    matrix: DataMatrix, targets: Float, ridge: float
) -> list["ElasticNetPath"]:
    """Return a path at its start for each column of the targets."""
    correlations = matrix.transpose_dot(targets)
    return [ElasticNetPath(matrix, column, ridge) for column in correlations.T]


def advance(matrix: DataMatrix, paths: Sequence["ElasticNetPath"]) -> None:
    """Move each path to its next event."""
    for path, line in zip(paths, directions(matrix, paths), strict=True):
        path.advance(line)


def directions(
    matrix: DataMatrix, paths: Sequence["ElasticNetPath"]
) -> list[LineDirection]:
    """Return the direction of each path."""
    changes = [path.active_change() for path in paths]
    moves = [path.move_of(change) for path, change in zip(paths, changes, strict=True)]
    step = 1 if len(moves) <= MAX_SEPARATE_COLUMNS else len(moves)
    products = [
        matrix.transpose_dot(np.column_stack(moves[first : first + step])).T
        for first in range(0, len(moves), step)
    ]
    return [
        LineDirection(*line) for line in zip(changes, np.vstack(products), strict=True)
    ]


def column_reader(matrix: DataMatrix) -> ColumnAt:
    """Return a function that returns a column of the matrix."""
    return lambda place: matrix.columns(slice(place, place + 1)).ravel()


class ElasticNetPath:
    """The state of a path, which moves from one event to the next.

    Only the columns ``features`` are considered, by default all; other columns never
    enter.
    """

    def __init__(self, matrix: DataMatrix, correlation: Float, ridge: float) -> None:
        self.penalty = float(np.abs(correlation).max())
        self._end = END_OF_PATH * self.penalty
        # Of each column in the model: position in ``features``, sign of the
        # coefficient, and its absolute value. Columns with a negative sign are negated
        # in the model, so that all of its coefficients are positive.
        self._active: list[int] = []
        self._signs: list[float] = []
        self._sizes = np.empty(0)
        self._model = ActiveColumns(matrix.shape[0], ridge)
        # Position of the column that left in the last event, and the row of its gap.
        self._left, self._left_row = -1, 0
        everything = np.arange(matrix.shape[1])
        self._restrict_to(column_reader(matrix), everything, correlation)
        if not self.exhausted:
            first = int(np.abs(correlation).argmax())
            self._enter(int(correlation[first] < 0), first)

    @property
    def exhausted(self) -> bool:
        """Whether the penalty is at the level of rounding errors."""
        return self.penalty <= self._end

    @property
    def coef(self) -> Float:
        """Coefficients of the columns ``features``."""
        coef = np.zeros(len(self.features))
        # Add to zero, so that a new coefficient is not a negative zero.
        coef[self._active] += self._sizes * self._signs
        return coef

    @property
    def held(self) -> Index:
        """Features that must be considered: in the model, or just removed from it."""
        left = [self._left] if self._left >= 0 else []
        return np.asarray(self.features[[*self._active, *left]])

    def continues(self, n_nonzero: int) -> bool:
        """Return whether there is a next event, and fewer nonzero coefficients."""
        if self.exhausted:
            return False
        few = len(self._active) < n_nonzero
        return few or bool(np.count_nonzero(self._sizes) < n_nonzero)

    def restrict_to(
        self, column_at: ColumnAt, features: Index, correlation: Float
    ) -> None:
        """Consider other columns, in ascending order and including all ``held``."""
        places = np.searchsorted(features, self.held).tolist()
        if self._left >= 0:
            self._left = places.pop()
        self._active = places
        self._restrict_to(column_at, features, correlation)

    def _restrict_to(
        self, column_at: ColumnAt, features: Index, correlation: Float
    ) -> None:
        self._column_at, self.features = column_at, features
        # Distances of the correlations from the penalty and from its negative.
        self._gaps = FALL_AND_RISE * correlation + self.penalty
        # Columns in the model cannot enter.
        self._gaps[:, self._active] = np.inf
        if self._left >= 0:
            self._gaps[self._left_row, self._left] = np.inf

    def copy(self) -> "ElasticNetPath":
        """Return an independent copy of the path."""
        other = copy.copy(self)
        other._active, other._signs = self._active.copy(), self._signs.copy()
        other._model = self._model.copy()
        other._gaps = self._gaps.copy()
        return other

    def active_change(self) -> Float:
        """Return the change at which correlations in the model decrease at rate one."""
        return self._model.even

    def move_of(self, change: Float) -> Float:
        """Return the change of the fitted values for a change of the coefficients."""
        # For arrays this small, the method is faster than the operator.
        return self._model.columns.dot(change)

    def predicted(self) -> Float:
        """Return the fitted values."""
        return self.move_of(self._sizes)

    def advance(self, direction: LineDirection) -> None:
        """Move to the next event, at which a feature enters or leaves."""
        closing = _closing(direction)
        # The gap that closes first has the largest inverse step.
        gaps = np.maximum(self._gaps, GAP_ROUNDING * self.penalty)
        inverse_steps = np.divide(closing, gaps, out=gaps)
        first = int(inverse_steps.argmax())
        if closing.item(first) <= SPEED_ROUNDING:
            # A gap that does not close within rounding errors is no event.
            inverse_steps[closing <= SPEED_ROUNDING] = 0.0
            first = int(inverse_steps.argmax())
        row, place = divmod(first, closing.shape[1])
        speed, step = float(closing[row, place]), self.penalty
        if speed > SPEED_ROUNDING:
            step = min(max(float(self._gaps[row, place]), 0.0) / speed, step)
        sizes = self._sizes + step * direction.active
        if len(sizes) and sizes[sizes.argmin()] < 0:
            # Only a coefficient that shrinks can reach zero; a new one is zero already.
            crossings = np.full(len(self._sizes), np.inf)
            shrinks = self._sizes * direction.active < 0
            np.divide(self._sizes, -direction.active, out=crossings, where=shrinks)
            leaving = int(crossings.argmin())
            if crossings[leaving] < step:
                step = float(crossings[leaving])
                self._sizes = self._sizes + step * direction.active
                self._move(closing, step)
                self._leave(leaving)
                return
        self._sizes = sizes
        self._move(closing, step)
        self._left = -1
        if not self.exhausted:
            self._enter(row, place)

    def entries(self, direction: LineDirection) -> Float:
        """Return the penalty at which each feature would enter, as a share."""
        if self.exhausted:
            return np.where(self.coef != 0, 1.0, 0.0)
        closing = _closing(direction)
        steps = np.full(closing.shape, np.inf)
        np.divide(self._gaps, closing, out=steps, where=closing > SPEED_ROUNDING)
        shares = np.clip(steps.min(axis=0) / self.penalty, 0.0, 1.0)
        entry = 1.0 - shares
        entry[self._active] = 1.0
        return np.asarray(entry)

    def _move(self, closing: Float, step: float) -> None:
        """Decrease the penalty and update the gaps."""
        self.penalty -= step
        closing *= step
        self._gaps -= closing
        if self._left >= 0:
            # Its gap was zero when the column left.
            gap = -closing[self._left_row, self._left]
            self._gaps[self._left_row, self._left] = gap

    def _enter(self, row: int, place: int) -> None:
        sign = -1.0 if row else 1.0
        self._model.append(sign * self._column_at(place))
        self._active.append(place)
        self._signs.append(sign)
        self._sizes = np.concatenate([self._sizes, ZERO])
        self._gaps[:, place] = np.inf

    def _leave(self, which: int) -> None:
        self._left, self._left_row = self._active[which], int(self._signs[which] < 0)
        # Move the last column to the free position, as in the model.
        self._model.delete(which)
        self._active[which], self._signs[which] = self._active[-1], self._signs[-1]
        del self._active[-1], self._signs[-1]
        self._sizes[which] = self._sizes[-1]
        self._sizes = self._sizes[:-1]
        # Its correlation equals the penalty, but it must not enter again at once.
        self._gaps[self._left_row, self._left] = np.inf
        self._gaps[1 - self._left_row, self._left] = 2 * self.penalty


def _closing(direction: LineDirection) -> Float:
    """Return the rates at which the gaps to the penalty and its negative close."""
    closing = FALL_AND_RISE * direction.correlation
    closing += 1.0
    return closing


def max_root_columns(n_samples: int) -> int:
    """Return the largest number of columns for which a root of the inverse is kept."""
    return int(MAX_COLUMNS_PER_SAMPLE * n_samples)


class ActiveColumns:
    """The columns Z in the model, and the solution of systems with ``Z'Z + ridge I``.

    If there are not many more columns than samples, a root W with
    ``W'W = (Z'Z + ridge I)^-1`` is kept and updated when a column is added or removed;
    otherwise ``Z Z'`` is kept, which is smaller. The buffer has free columns in which Z
    and W are zero, so that W is updated as a whole; updating a part would copy it.

    ``even`` is the solution of the system with a right-hand side of ones.
    """

    def __init__(self, n_samples: int, ridge: float) -> None:
        self._largest = max_root_columns(n_samples)
        self._ridge = ridge
        self._size = 0
        # Columns are contiguous.
        self._buffer = np.zeros((n_samples, CAPACITY_STEP), order="F")
        self._root = np.zeros((min(CAPACITY_STEP, self._largest),) * 2)
        self._outer = np.empty((0, 0))
        self.even = np.empty(0)

    def copy(self) -> "ActiveColumns":
        """Return an independent copy."""
        other = copy.copy(self)
        other._buffer = self._buffer.copy(order="F")
        other._root = self._root.copy()
        other._outer = self._outer.copy()
        return other

    @property
    def columns(self) -> Float:
        """Return Z."""
        return self._buffer[:, : self._size]

    @property
    def _wide(self) -> bool:
        return self._size > self._largest

    def append(self, column: Float) -> None:
        """Add a column of n entries."""
        if self._size == self._buffer.shape[1]:
            self._grow()
        if self._size < self._largest:
            self._append_to_root(column)
            return
        self._put(column)
        if self._size == self._largest + 1:
            self._outer = self.columns @ self.columns.T
        else:
            self._outer += np.outer(column, column)
        self.even = self.solve(np.ones(self._size))

    def delete(self, place: int) -> None:
        """Remove the column at a position and move the last column there."""
        last = self._size - 1
        if self._wide:
            column = self._buffer[:, place]
            self._outer -= np.outer(column, column)
        else:
            self._delete_from_root(place)
        self._buffer[:, place] = self._buffer[:, last]
        self._buffer[:, last] = 0.0
        self._size = last
        if last == self._largest:
            self._root[:] = self._fresh_root()
        self.even = self.solve(np.ones(last))

    def solve(self, right: Float) -> Float:
        """Return ``(Z'Z + ridge I)^-1 right``."""
        if not self._size:
            return np.empty(0)
        if not self._wide:
            root = self._root[: self._size, : self._size]
            return np.asarray((root @ right) @ root)
        # (Z'Z + r I)^-1 s = (s - Z'(Z Z' + r I)^-1 Z s) / r
        system = self._outer.copy()
        system.flat[:: len(system) + 1] += self._ridge
        # The matrix is symmetric; its transpose has the memory order of LAPACK.
        inner = dposv(system.T, self.columns @ right, overwrite_a=1, overwrite_b=1)[1]
        return np.asarray((right - self.columns.T @ inner) / self._ridge)

    def _put(self, column: Float) -> None:
        self._buffer[:, self._size] = column
        self._size += 1

    def _append_to_root(self, column: Float) -> None:
        """Add the row ``(-t'W, 1) / c`` with ``t = W Z'z``, ``c^2 = z'z + r - t't``."""
        size = self._size
        root = self._root[:size, :size]
        products = root @ self.columns.T.dot(column)
        corner = column.dot(column) + self._ridge - products.dot(products)
        # In exact arithmetic it is at least the ridge.
        scale = 1.0 / math.sqrt(max(corner, self._ridge))
        row = self._root[size, : size + 1]
        np.multiply(products @ root, -scale, out=row[:size])
        row[size] = scale
        self._put(column)
        even = row * float(np.add.reduce(row))
        even[:size] += self.even
        self.even = even

    def _delete_from_root(self, place: int) -> None:
        """Remove a row and a column of the root, after a Householder reflection.

        The reflection makes the column zero in all other rows, and a reflected root is
        still a root.
        """
        last = self._size - 1
        axis = self._root[:, place].copy()
        axis[last] += np.copysign(np.sqrt(axis @ axis), axis[last])
        reflected, scale = axis @ self._root, -2.0 / (axis @ axis)
        root = dger(scale, reflected, axis, a=self._root.T, overwrite_a=1).T
        root[:, place] = root[:, last]
        root[last] = root[:, last] = 0.0
        self._root = root

    def _fresh_root(self) -> Float:
        gram = self.columns.T @ self.columns
        gram.flat[:: self._size + 1] += self._ridge
        return np.asarray(dtrtri(dpotrf(gram, lower=1)[0], lower=1)[0])

    def _grow(self) -> None:
        buffer = np.zeros((len(self._buffer), self._size + CAPACITY_STEP), order="F")
        buffer[:, : self._size] = self._buffer
        self._buffer = buffer
        known, order = self._root, min(buffer.shape[1], self._largest)
        self._root = np.zeros((order, order))
        self._root[: len(known), : len(known)] = known
