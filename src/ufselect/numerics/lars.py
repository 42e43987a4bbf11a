"""Least angle regression in lasso mode with a ridge: the path of the elastic net.

``minimise |X a - y|^2 / 2 + ridge |a|^2 / 2 + penalty |a|_1`` for a penalty that falls
from where a = 0. Between two events, a feature that enters or one that leaves, all
coefficients move along a line. Only products with X are needed: the ridge lets more
features enter than there are samples, without any p x p matrix. Paths of several
targets are followed side by side, since one product with X then serves them all.
"""

import copy
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from ufselect.matrix import DenseMatrix
from ufselect.matrix.base import DataMatrix, Float, Index
from ufselect.numerics.active_columns import ActiveColumns

# Correlations below this share of the first penalty are rounding errors.
END_OF_PATH = 1e-10

# Features that keep leaving lengthen a path; equal columns could do so for ever.
LARGEST_DETOUR = 10

# A ridge of this share of the mean square of the columns is a rounding error.
LEAST_RIDGE = 1e-12

# Difference of speeds, with that of the penalty being one, that is a rounding error.
SLOWEST = 1e-12

# Up to so many columns, BLAS multiplies them faster one by one than together.
FEW = 4


# The column at a place among those that a path looks at.
ColumnAt = Callable[[int], Float]


class PathPoint(NamedTuple):
    """Coefficients on a path, and when features outside the model would enter.

    ``entry`` is the penalty at which a feature enters if all coefficients keep
    moving as they do at this point, divided by the penalty here. It is one for
    features in the model, and exact for the next to enter.
    """

    coef: Float
    entry: Float
    penalty: float


class Direction(NamedTuple):
    """Change of the coefficients in the model, and of all correlations."""

    active: Float
    correlation: Float


def elastic_net_points(
    matrix: DataMatrix, targets: Float, n_nonzero: int, ridge: float
) -> list[PathPoint]:
    """Follow the path of each column to the end of its first line with n_nonzero.

    Where a path ends before, its last point is returned.
    """
    paths = elastic_net_paths(matrix, targets, ridge)
    for _ in range(LARGEST_DETOUR * n_nonzero + 10):
        short = [path for path in paths if path.continues(n_nonzero)]
        if not short:
            break
        advance(matrix, short)
    lines = directions(matrix, paths)
    return [
        PathPoint(path.coef, path.entries(line), path.penalty)
        for path, line in zip(paths, lines, strict=True)
    ]


def elastic_net_points_from_sums(
    gram: Float, correlations: Float, n_nonzero: int, ridge: float
) -> list[PathPoint]:
    """Return the same points from ``X'X`` and ``X'Y``, for samples that are elsewhere.

    A triangle R with ``R'R = X'X + r I``, and T with ``R'T = X'Y``, stand for X and Y:
    with what is then left of the ridge, the problem is the same. Half of the ridge is
    taken, so that R exists where columns of X depend on each other.
    """
    n_features = len(gram)
    # A ridge that is lost beside rounding errors is raised to them.
    half = max(ridge / 2, LEAST_RIDGE * float(np.trace(gram)) / n_features)
    raised = gram.copy()
    raised.flat[:: n_features + 1] += half
    root = cholesky(raised, overwrite_a=True, check_finite=False)
    targets = solve_triangular(root, correlations, trans="T", check_finite=False)
    return elastic_net_points(DenseMatrix(root), targets, n_nonzero, half)


def elastic_net_paths(
    matrix: DataMatrix, targets: Float, ridge: float
) -> list["ElasticNetPath"]:
    """Return the starts of the paths, one for each column of the targets."""
    correlations = matrix.transpose_dot(targets)
    return [ElasticNetPath(matrix, column, ridge) for column in correlations.T]


def advance(matrix: DataMatrix, paths: Sequence["ElasticNetPath"]) -> None:
    """Move each path to its next event, and let a feature enter or leave."""
    for path, line in zip(paths, directions(matrix, paths), strict=True):
        path.follow(line)


def directions(
    matrix: DataMatrix, paths: Sequence["ElasticNetPath"]
) -> list[Direction]:
    """Return the line of each path."""
    changes = [path.active_change() for path in paths]
    moves = [path.move_of(change) for path, change in zip(paths, changes, strict=True)]
    step = 1 if len(moves) <= FEW else len(moves)
    products = [
        matrix.transpose_dot(np.column_stack(moves[first : first + step])).T
        for first in range(0, len(moves), step)
    ]
    return [
        path.direction(change, np.ascontiguousarray(correlation))
        for path, change, correlation in zip(
            paths, changes, np.vstack(products), strict=True
        )
    ]


def column_cutter(matrix: DataMatrix) -> ColumnAt:
    """Return what cuts a column out of a matrix."""
    return lambda place: matrix.columns(slice(place, place + 1)).ravel()


class ElasticNetPath:
    """A walk along the path, from one event to the next.

    It looks at the columns of a matrix, by default at all there are; ``features`` are
    their places in the whole. A column that it does not look at never enters.
    """

    def __init__(self, matrix: DataMatrix, correlation: Float, ridge: float) -> None:
        self._ridge = ridge
        self.penalty = float(np.abs(correlation).max())
        self._end = END_OF_PATH * self.penalty
        # Of the columns in the model: place among those looked at, sign, coefficient.
        self._active: Index = np.empty(0, dtype=np.intp)
        self._signs = np.empty(0)
        self._values = np.empty(0)
        self._model = ActiveColumns(matrix.shape[0], ridge)
        self._left, self._left_sign = -1, 0.0
        everything = np.arange(matrix.shape[1])
        self._look_at(column_cutter(matrix), everything, correlation.copy())
        if not self.exhausted:
            self._enter(int(np.abs(correlation).argmax()))

    @property
    def exhausted(self) -> bool:
        """Whether the penalty has come down to rounding errors."""
        return self.penalty <= self._end

    @property
    def coef(self) -> Float:
        """Coefficients of the columns that it looks at."""
        coef = np.zeros(len(self._correlation))
        coef[self._active] = self._values
        return coef

    @property
    def held(self) -> Index:
        """Features that it must look at: in the model, or just left."""
        left = [self._left] if self._left >= 0 else []
        return np.asarray(self.features[[*self._active, *left]])

    def continues(self, n_nonzero: int) -> bool:
        """Whether there is a next event, and fewer coefficients than that."""
        return not self.exhausted and bool(np.count_nonzero(self._values) < n_nonzero)

    def look_at(self, column_at: ColumnAt, features: Index, correlation: Float) -> None:
        """Look at other columns, all that are held among them."""
        places = np.full(max(features.max(), self.features.max()) + 1, -1)
        places[features] = np.arange(len(features))
        self._active = places[self.features[self._active]]
        if self._left >= 0:
            self._left = int(places[self.features[self._left]])
        self._look_at(column_at, features, correlation)
        self._correlation[self._active] = self.penalty * self._signs

    def _look_at(
        self, column_at: ColumnAt, features: Index, correlation: Float
    ) -> None:
        self._column_at, self.features = column_at, features
        self._correlation = correlation

    def copy(self) -> "ElasticNetPath":
        """Return a path that may go elsewhere from here."""
        other = copy.copy(self)
        other._model = self._model.copy()
        other._correlation = self._correlation.copy()
        return other

    def active_change(self) -> Float:
        """Return the change that lets correlations in the model fall at rate one."""
        return self._model.solve(self._signs)

    def move_of(self, change: Float) -> Float:
        """Return the change of what is predicted, for that of coefficients."""
        return np.asarray(self._model.columns @ change)

    def predicted(self) -> Float:
        """Return what the coefficients predict."""
        return self.move_of(self._values)

    def direction(self, change: Float, correlation: Float) -> Direction:
        """Return the line, given products of the columns with what is predicted."""
        correlation[self._active] += self._ridge * change
        return Direction(change, correlation)

    def follow(self, direction: Direction) -> None:
        """Move to the next event, and let a feature enter or leave."""
        lengths = self._entry_lengths(direction)
        entering = int(lengths.argmin())
        crossings = self._crossing_lengths(direction)
        leaving = int(crossings.argmin()) if len(crossings) else -1
        length = min(float(lengths[entering]), self.penalty)
        if leaving >= 0 and crossings[leaving] < length:
            self._move(direction, float(crossings[leaving]))
            self._leave(leaving)
            return
        self._move(direction, length)
        self._left = -1
        if not self.exhausted and np.isfinite(lengths[entering]):
            self._enter(entering)

    def entries(self, direction: Direction) -> Float:
        """Return when each feature would enter, as a share of the penalty."""
        if self.exhausted:
            return np.where(self.coef != 0, 1.0, 0.0)
        lengths = np.minimum(self._entry_lengths(direction), self.penalty)
        entry = 1.0 - lengths / self.penalty
        entry[self._active] = 1.0
        return entry

    def _entry_lengths(self, direction: Direction) -> Float:
        """Return how far to go until each feature has the largest correlation."""
        # A row for correlations that rise to the penalty, one for those that fall.
        shape = (2, len(self._correlation))
        slower, gaps = np.empty(shape), np.empty(shape)
        np.subtract(1.0, direction.correlation, out=slower[0])
        np.add(1.0, direction.correlation, out=slower[1])
        np.subtract(self.penalty, self._correlation, out=gaps[0])
        np.add(self.penalty, self._correlation, out=gaps[1])
        np.maximum(gaps, 0.0, out=gaps)
        # A feature that falls as fast as the penalty never catches up with it.
        lengths = np.full(shape, np.inf)
        np.divide(gaps, slower, out=lengths, where=slower > SLOWEST)
        if self._left >= 0:
            # It has just left, with the largest correlation of this sign.
            lengths[0 if self._left_sign > 0 else 1, self._left] = np.inf
        shortest = np.minimum(lengths[0], lengths[1])
        shortest[self._active] = np.inf
        return shortest

    def _crossing_lengths(self, direction: Direction) -> Float:
        """Return how far to go until each coefficient in the model is zero."""
        lengths = np.full(len(self._values), np.inf)
        # What moves away never crosses; what has just entered is zero already.
        shrinks = self._values * direction.active < 0
        return np.divide(self._values, -direction.active, out=lengths, where=shrinks)

    def _move(self, direction: Direction, length: float) -> None:
        self._values = self._values + length * direction.active
        self.penalty -= length
        self._correlation -= length * direction.correlation
        # Known exactly, so that rounding errors do not add up.
        self._correlation[self._active] = self.penalty * self._signs

    def _enter(self, feature: int) -> None:
        self._model.append(self._column_at(feature))
        sign = np.sign(self._correlation[feature])
        self._active = np.concatenate([self._active, [feature]])
        self._signs = np.concatenate([self._signs, [sign]])
        self._values = np.concatenate([self._values, [0.0]])

    def _leave(self, place: int) -> None:
        self._left = int(self._active[place])
        self._left_sign = float(self._signs[place])
        self._model.delete(place)
        kept = np.arange(len(self._active)) != place
        self._active = self._active[kept]
        self._signs = self._signs[kept]
        self._values = self._values[kept]
