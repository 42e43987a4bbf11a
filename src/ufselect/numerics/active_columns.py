"""Columns that enter and leave a regression, and systems with their Gram matrix."""

import copy

import numpy as np

# Without the checks of their wrappers, which take longer than so small systems.
from scipy.linalg.lapack import dposv, dpotrf, dpotrs, dtrtrs

from ufselect.matrix.base import Float


# Columns for which there is room at first, and for which more is made at a time.
ROOM = 32


class ActiveColumns:
    """The columns Z in the model, and systems with ``Z'Z + ridge I``.

    While there are no more columns than samples a triangular factor T with
    ``T T' = Z'Z + ridge I`` is kept and changed as columns come and go; from then on
    ``Z Z'``, which is smaller. There is room for more columns, where Z is zero and T is
    that of the unit matrix: LAPACK takes the whole, but would copy a part.
    """

    def __init__(self, n_samples: int, ridge: float) -> None:
        self._n_samples = n_samples
        self._ridge = ridge
        self._size = 0
        # In the order of LAPACK, each column contiguous.
        self._room = np.zeros((n_samples, ROOM), order="F")
        self._factor = np.eye(min(ROOM, n_samples), order="F")
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
        last = self._size - 1
        if self._wide:
            column = self._room[:, place]
            self._outer -= np.outer(column, column)
        else:
            self._delete_from_factor(place)
        self._room[:, place:last] = self._room[:, place + 1 : self._size]
        self._room[:, last] = 0.0
        self._size = last
        if last == self._n_samples:
            gram = self.columns.T @ self.columns
            gram.flat[:: last + 1] += self._ridge
            self._factor[:] = dpotrf(gram, lower=1)[0]

    def solve(self, right: Float) -> Float:
        """Return ``(Z'Z + ridge I)^-1 right``."""
        if not self._size:
            return np.empty(0)
        if not self._wide:
            padded = np.zeros(len(self._factor))
            padded[: self._size] = right
            solution = dpotrs(self._factor, padded, lower=1, overwrite_b=1)[0]
            return np.asarray(solution[: self._size])
        # (Z'Z + r I)^-1 s = (s - Z'(Z Z' + r I)^-1 Z s) / r
        system = self._outer.copy()
        system.flat[:: len(system) + 1] += self._ridge
        # Symmetric, so that the transpose, in the order LAPACK likes, is the same.
        inner = dposv(system.T, self.columns @ right, overwrite_a=1, overwrite_b=1)[1]
        return np.asarray((right - self.columns.T @ inner) / self._ridge)

    def _append_to_factor(self, column: Float) -> None:
        """Add the row ``t' = (T^-1 Z'z)'`` and the corner that completes ``z'z``."""
        products = self._room[:, : len(self._factor)].T @ column
        row = dtrtrs(self._factor, products, lower=1, overwrite_b=1)[0]
        corner = float(column @ column) + self._ridge - float(row @ row)
        # It is at least the ridge, but for rounding errors.
        row[self._size] = np.sqrt(max(corner, self._ridge))
        self._factor[self._size] = row

    def _delete_from_factor(self, place: int) -> None:
        """Remove a row; below it, T becomes the factor of ``T T' + t t'``."""
        last = self._size - 1
        below, moved = slice(place + 1, self._size), slice(place, last)
        if place < last:
            rest = self._factor[below, place : self._size]
            product = rest @ rest.T
            self._factor[moved, :place] = self._factor[below, :place]
            self._factor[moved, moved] = dpotrf(product.T, lower=1, overwrite_a=1)[0]
        self._factor[last] = 0.0
        self._factor[last, last] = 1.0

    def _make_room(self) -> None:
        room = np.zeros((self._n_samples, self._size + ROOM), order="F")
        room[:, : self._size] = self._room
        self._room = room
        known = self._factor
        self._factor = np.eye(min(room.shape[1], self._n_samples), order="F")
        self._factor[: len(known), : len(known)] = known
