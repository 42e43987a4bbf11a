"""Least angle regression in lasso mode with a ridge: the path of the elastic net.

``minimise |X a - y|^2 / 2 + ridge |a|^2 / 2 + penalty |a|_1`` for a penalty that falls
from where a = 0. Between two events, a feature that enters or one that leaves, all
coefficients move along a line. Only products with X are needed: the ridge lets more
features enter than there are samples, without any p x p matrix.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ufselect.matrix.base import DataMatrix, Float, Index

# Correlations below this share of the first penalty are rounding errors.
END_OF_PATH = 1e-10

# Features that keep leaving lengthen a path; equal columns could do so for ever.
LARGEST_DETOUR = 10


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


def elastic_net_point(
    matrix: DataMatrix, target: Float, n_nonzero: int, ridge: float
) -> PathPoint:
    """Follow the path to the end of the first line with n_nonzero features.

    Where the path ends before, its last point is returned.
    """
    path = ElasticNetPath(matrix, target, ridge)
    for _ in range(LARGEST_DETOUR * n_nonzero + 10):
        if path.exhausted:
            break
        path.advance()
        if np.count_nonzero(path.coef) >= n_nonzero:
            break
    return PathPoint(path.coef, path.entries(), path.penalty)


class ElasticNetPath:
    """A walk along the path, from one event to the next."""

    def __init__(self, matrix: DataMatrix, target: Float, ridge: float) -> None:
        self._matrix = matrix
        self._ridge = ridge
        self._correlation = matrix.transpose_dot(target[:, np.newaxis]).ravel()
        self._target_correlation = self._correlation.copy()
        self.coef = np.zeros(matrix.shape[1])
        self.penalty = float(np.abs(self._correlation).max())
        self._end = END_OF_PATH * self.penalty
        self._active: Index = np.empty(0, dtype=np.intp)
        self._signs = np.empty(0)
        self._model = ActiveColumns(matrix.shape[0], ridge)
        self._left, self._left_sign = -1, 0.0
        if not self.exhausted:
            self._enter(int(np.abs(self._correlation).argmax()))

    @property
    def exhausted(self) -> bool:
        """Whether the penalty has come down to rounding errors."""
        return self.penalty <= self._end

    def advance(self) -> None:
        """Move to the next event, and let a feature enter or leave."""
        direction = self._direction()
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

    def entries(self) -> Float:
        """Return when each feature would enter, as a share of the penalty."""
        if self.exhausted:
            return np.where(self.coef != 0, 1.0, 0.0)
        lengths = np.minimum(self._entry_lengths(self._direction()), self.penalty)
        entry = 1.0 - lengths / self.penalty
        entry[self._active] = 1.0
        return entry

    def _direction(self) -> Direction:
        """Return the line along which correlations in the model fall at rate one."""
        active = self._model.solve(self._signs)
        moved = (self._model.columns @ active)[:, np.newaxis]
        correlation = self._matrix.transpose_dot(moved).ravel()
        correlation[self._active] += self._ridge * active
        return Direction(active, correlation)

    def _entry_lengths(self, direction: Direction) -> Float:
        """Return how far to go until each feature has the largest correlation."""
        correlation, change = self._correlation, direction.correlation
        lengths = np.full(len(correlation), np.inf)
        for sign in (1.0, -1.0):
            slower = 1.0 - sign * change
            room = np.maximum(self.penalty - sign * correlation, 0.0)
            # A feature that falls as fast as the penalty never catches up with it.
            ahead = slower > 1e-12
            length = np.full(len(correlation), np.inf)
            np.divide(room, slower, out=length, where=ahead)
            if self._left >= 0 and sign == self._left_sign:
                # It has just left, with the largest correlation of this sign.
                length[self._left] = np.inf
            np.minimum(lengths, length, out=lengths)
        lengths[self._active] = np.inf
        return lengths

    def _crossing_lengths(self, direction: Direction) -> Float:
        """Return how far to go until each coefficient in the model is zero."""
        coef = self.coef[self._active]
        lengths = np.full(len(coef), np.inf)
        falling = coef * direction.active < 0
        np.divide(-coef, direction.active, out=lengths, where=falling)
        return lengths

    def _move(self, direction: Direction, length: float) -> None:
        self.coef[self._active] += length * direction.active
        self.penalty -= length
        fitted = self._model.columns @ self.coef[self._active]
        # From the start each time, so that rounding errors do not add up.
        self._correlation = (
            self._target_correlation
            - self._matrix.transpose_dot(fitted[:, np.newaxis]).ravel()
        )
        self._correlation -= self._ridge * self.coef

    def _enter(self, feature: int) -> None:
        self._model.append(self._matrix.columns(np.array([feature])))
        self._active = np.append(self._active, feature)
        self._signs = np.append(self._signs, np.sign(self._correlation[feature]))

    def _leave(self, place: int) -> None:
        self._left = int(self._active[place])
        self._left_sign = float(self._signs[place])
        self.coef[self._left] = 0.0
        self._model.delete(place)
        self._active = np.delete(self._active, place)
        self._signs = np.delete(self._signs, place)


class ActiveColumns:
    """The columns Z in the model, and systems with ``Z'Z + ridge I``.

    While there are no more columns than samples ``Z'Z`` is kept, from then on
    ``Z Z'``: whichever is smaller.
    """

    def __init__(self, n_samples: int, ridge: float) -> None:
        self.columns = np.empty((n_samples, 0))
        self._ridge = ridge
        self._product = np.empty((0, 0))

    @property
    def _wide(self) -> bool:
        return self.columns.shape[1] > self.columns.shape[0]

    def append(self, column: Float) -> None:
        """Add an n x 1 column."""
        cross = self.columns.T @ column
        was_wide = self._wide
        self.columns = np.hstack([self.columns, column])
        if was_wide:
            self._product += column @ column.T
        elif self._wide:
            self._product = self.columns @ self.columns.T
        else:
            corner = column.T @ column
            self._product = np.block([[self._product, cross], [cross.T, corner]])

    def delete(self, place: int) -> None:
        """Remove the column at a place."""
        column = self.columns[:, [place]]
        was_wide = self._wide
        self.columns = np.delete(self.columns, place, axis=1)
        if self._wide:
            self._product -= column @ column.T
        elif was_wide:
            self._product = self.columns.T @ self.columns
        else:
            rows_left = np.delete(self._product, place, axis=0)
            self._product = np.delete(rows_left, place, axis=1)

    def solve(self, right: Float) -> Float:
        """Return ``(Z'Z + ridge I)^-1 right``."""
        if not self._wide:
            return solve_with_ridge(self._product, right, self._ridge)
        # (Z'Z + r I)^-1 s = (s - Z'(Z Z' + r I)^-1 Z s) / r
        inner = solve_with_ridge(self._product, self.columns @ right, self._ridge)
        return (right - self.columns.T @ inner) / self._ridge


def solve_with_ridge(gram: Float, right: Float, ridge: float) -> Float:
    """Return ``(gram + ridge I)^-1 right``."""
    matrix = gram.copy()
    matrix.flat[:: len(matrix) + 1] += ridge
    factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
    return cho_solve(factor, right, check_finite=False)
