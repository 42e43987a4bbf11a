"""Columns that enter and leave a regression, and systems with their Gram matrix."""

import copy
import math

import numpy as np

# Without the checks of their wrappers, which take longer than so small systems.
from scipy.linalg.blas import dger
from scipy.linalg.lapack import dposv, dpotrf, dtrtri

from ufselect.matrix.base import Float

# Columns for which there is room at first, and for which more is made at a time.
ROOM = 32

# Up to so many columns for each sample, a system of their number is solved sooner.
WIDE = 1.25


def largest_root(n_samples: int) -> int:
    """Return the number of columns up to which a root of their inverse is kept."""
    return int(WIDE * n_samples)


class ActiveColumns:
    """The columns Z in the model, and systems with ``Z'Z + ridge I``.

    While there are not many more columns than samples a root W with
    ``W'W = (Z'Z + ridge I)^-1`` is kept and changed as columns come and go; from then
    on ``Z Z'``, which is smaller. There is room for more columns, where Z and W are
    zero, so that W may be changed as a whole: a part of it would be copied for that.

    ``even`` is the solution of the system with ones on the right.
    """

    def __init__(self, n_samples: int, ridge: float) -> None:
        self._largest = largest_root(n_samples)
        self._ridge = ridge
        self._size = 0
        # Each column contiguous.
        self._room = np.zeros((n_samples, ROOM), order="F")
        self._root = np.zeros((min(ROOM, self._largest),) * 2)
        self._outer = np.empty((0, 0))
        self.even = np.empty(0)

    def copy(self) -> "ActiveColumns":
        """Return a model that may change alone."""
        other = copy.copy(self)
        other._room = self._room.copy(order="F")
        other._root = self._root.copy()
        other._outer = self._outer.copy()
        return other

    @property
    def columns(self) -> Float:
        """Return Z."""
        return self._room[:, : self._size]

    @property
    def _wide(self) -> bool:
        return self._size > self._largest

    def append(self, column: Float) -> None:
        """Add a column of length n."""
        if self._size == self._room.shape[1]:
            self._make_room()
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
        """Remove the column at a place, which the last one takes."""
        last = self._size - 1
        if self._wide:
            column = self._room[:, place]
            self._outer -= np.outer(column, column)
        else:
            self._delete_from_root(place)
        self._room[:, place] = self._room[:, last]
        self._room[:, last] = 0.0
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
        # Symmetric, so that the transpose, in the order LAPACK likes, is the same.
        inner = dposv(system.T, self.columns @ right, overwrite_a=1, overwrite_b=1)[1]
        return np.asarray((right - self.columns.T @ inner) / self._ridge)

    def _put(self, column: Float) -> None:
        self._room[:, self._size] = column
        self._size += 1

    def _append_to_root(self, column: Float) -> None:
        """Add the row ``(-t'W, 1) / c`` with ``t = W Z'z``, ``c^2 = z'z + r - t't``."""
        size = self._size
        root = self._root[:size, :size]
        products = root @ (self.columns.T @ column)
        corner = float(column @ column) + self._ridge - float(products @ products)
        # It is at least the ridge, but for rounding errors.
        scale = 1.0 / math.sqrt(max(corner, self._ridge))
        row = self._root[size, : size + 1]
        np.multiply(products @ root, -scale, out=row[:size])
        row[size] = scale
        self._put(column)
        even = row * float(np.add.reduce(row))
        even[:size] += self.even
        self.even = even

    def _delete_from_root(self, place: int) -> None:
        """Remove a row and a column, once the root is turned so that both meet alone.

        No other row has a part in the column then. Turned by a reflection, the root is
        one as before.
        """
        last = self._size - 1
        axis = self._root[:, place].copy()
        axis[last] += np.copysign(np.sqrt(axis @ axis), axis[last])
        turned, scale = axis @ self._root, -2.0 / (axis @ axis)
        root = dger(scale, turned, axis, a=self._root.T, overwrite_a=1).T
        root[:, place] = root[:, last]
        root[last] = root[:, last] = 0.0
        self._root = root

    def _fresh_root(self) -> Float:
        gram = self.columns.T @ self.columns
        gram.flat[:: self._size + 1] += self._ridge
        return np.asarray(dtrtri(dpotrf(gram, lower=1)[0], lower=1)[0])

    def _make_room(self) -> None:
        room = np.zeros((len(self._room), self._size + ROOM), order="F")
        room[:, : self._size] = self._room
        self._room = room
        known, order = self._root, min(room.shape[1], self._largest)
        self._root = np.zeros((order, order))
        self._root[: len(known), : len(known)] = known
