"""Columns that enter and leave a regression, and systems with their Gram matrix."""

import copy

import numpy as np

# Without the checks of their wrappers, which take longer than so small systems.
from scipy.linalg.lapack import dposv, dpotrf, dpotrs, dtrtrs

from ufselect.matrix.base import Float


class ActiveColumns:
    """The columns Z in the model, and systems with ``Z'Z + ridge I``.

    While there are no more columns than samples a triangular factor T with
    ``T T' = Z'Z + ridge I`` is kept and changed as columns come and go; from then on
    ``Z Z'``, which is smaller.
    """

    def __init__(self, n_samples: int, ridge: float) -> None:
        self._n_samples = n_samples
        self._ridge = ridge
        self._size = 0
        # Room for more columns, each of them contiguous.
        self._room = np.empty((n_samples, 8), order="F")
        order = min(8, n_samples)
        self._factor = np.zeros((order, order), order="F")
        self._outer = np.empty((0, 0))

    def copy(self) -> "ActiveColumns":
        """Return a model that may change alone."""
        other = copy.copy(self)
        other._room = self._room.copy(order="F")
        other._factor = self._factor.copy(order="F")
        other._outer = self._outer.copy()
        return other

    @property
    def columns(self) -> Float:
        """Return Z."""
        return self._room[:, : self._size]

    @property
    def _triangle(self) -> Float:
        return self._factor[: self._size, : self._size]

    @property
    def _wide(self) -> bool:
        return self._size > self._n_samples

    def append(self, column: Float) -> None:
        """Add a column of length n."""
        if self._size == self._room.shape[1]:
            self._make_room()
        if self._wide:
            self._outer += np.outer(column, column)
        elif self._size < self._n_samples:
            self._append_to_factor(column)
        self._room[:, self._size] = column
        self._size += 1
        if self._size == self._n_samples + 1:
            self._outer = self.columns @ self.columns.T

    def delete(self, place: int) -> None:
        """Remove the column at a place."""
        column = self._room[:, place].copy()
        last = self._size - 1
        if not self._wide:
            self._delete_from_factor(place)
        self._room[:, place:last] = self._room[:, place + 1 : self._size].copy()
        self._size = last
        if self._wide:
            self._outer -= np.outer(column, column)
        elif last == self._n_samples:
            gram = self.columns.T @ self.columns
            gram.flat[:: last + 1] += self._ridge
            self._triangle[:] = dpotrf(gram, lower=1)[0]

    def solve(self, right: Float) -> Float:
        """Return ``(Z'Z + ridge I)^-1 right``."""
        if not self._size:
            return np.empty(0)
        if not self._wide:
            return np.asarray(dpotrs(self._triangle, right, lower=1)[0])
        # (Z'Z + r I)^-1 s = (s - Z'(Z Z' + r I)^-1 Z s) / r
        system = self._outer.copy()
        system.flat[:: len(system) + 1] += self._ridge
        # Symmetric, so that the transpose, in the order LAPACK likes, is the same.
        inner = dposv(system.T, self.columns @ right, overwrite_a=1, overwrite_b=1)[1]
        return np.asarray((right - self.columns.T @ inner) / self._ridge)

    def _append_to_factor(self, column: Float) -> None:
        """Add the row ``t' = (T^-1 Z'z)'`` and the corner that completes ``z'z``."""
        corner = float(column @ column) + self._ridge
        if self._size:
            row = dtrtrs(self._triangle, self.columns.T @ column, lower=1)[0]
            self._factor[self._size, : self._size] = row
            corner -= float(row @ row)
        # It is at least the ridge, but for rounding errors.
        corner = max(corner, self._ridge)
        self._factor[self._size, self._size] = np.sqrt(corner)

    def _delete_from_factor(self, place: int) -> None:
        """Remove a row; below it, T becomes the factor of ``T T' + t t'``."""
        below = slice(place + 1, self._size)
        rest, left = self._factor[below, below], self._factor[below, place]
        product = rest @ rest.T + np.outer(left, left)
        moved = slice(place, self._size - 1)
        self._factor[moved, :place] = self._factor[below, :place].copy()
        if len(product):
            self._factor[moved, moved] = dpotrf(product.T, lower=1)[0]

    def _make_room(self) -> None:
        capacity = 2 * self._size
        room = np.empty((self._n_samples, capacity), order="F")
        room[:, : self._size] = self.columns
        self._room = room
        kept, order = len(self._triangle), min(capacity, self._n_samples)
        factor = np.zeros((order, order), order="F")
        factor[:kept, :kept] = self._triangle
        self._factor = factor
