"""Soft partitions of the samples of a matrix, and one in memory.

A partition has to propose steps and move along them; see ``soft_clustering``. With K
formed in memory that takes one product with K. Otherwise see ``row_partition``.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from ufselect.matrix.base import (
    DataMatrix,
    Float,
    column_sums,
    product_with,
)
from ufselect.numerics.least_squares import Target
from ufselect.numerics.responses import Response
from ufselect.numerics.row_sparse import RowSparseRegression
from ufselect.numerics.simplex import project_rows_to_simplex
from ufselect.numerics.soft_clustering import ALIVE, Change, Slope, Sums, indicator

# What is aimed at is looked up anew.
KEPT_SUMS = ("sizes", "overlap", "similarity", "agreement")


class SoftPartition(ABC):
    """A soft partition P with its sums, and the T at which it aims."""

    sums: Sums
    # |T|^2
    explained = 0.0

    def __init__(self, n_samples: int) -> None:
        self.n_samples = n_samples

    @abstractmethod
    def target(self, intercept: bool, *, values: bool) -> Target:
        """Return G as the target of a regression, centred if there is an intercept."""

    @abstractmethod
    def cross(self, regressors: DataMatrix) -> Float:
        """Return ``X'G`` for the X of the regression."""

    @property
    @abstractmethod
    def memberships(self) -> Any:
        """The memberships, n x c."""

    @abstractmethod
    def aim(self, regression: RowSparseRegression) -> None:
        """Take what a regression predicts for T."""

    @abstractmethod
    def follow(
        self, regression: RowSparseRegression, penalty: float
    ) -> Response | None:
        """Let T be what a regression with fixed slacks predicts, wherever G goes.

        None, and T stays as it is, where that is too much work.
        """

    def state(self) -> dict[str, Float]:
        """Return all that is needed to go on from here."""
        own = self._state()
        return own | {f"sums_{name}": getattr(self.sums, name) for name in KEPT_SUMS}

    def restore(self, state: dict[str, Float]) -> None:
        """Go on from where a partition of the same samples was."""
        self._restore(state)
        sizes, overlap, similarity, agreement = (
            state[f"sums_{name}"] for name in KEPT_SUMS
        )
        self.sums = Sums(sizes, overlap, similarity, agreement)

    @abstractmethod
    def _state(self) -> dict[str, Float]:
        """Return P and its product."""

    @abstractmethod
    def _restore(self, state: dict[str, Float]) -> None:
        """Take P and its product."""

    def propose(self, slope: Slope, length: float) -> Change:
        """Project a step against the slope; return the sums along it."""
        change = self._propose(slope, length)
        sizes = self.sums.sizes + change.sizes
        if sizes.min() < ALIVE * self.n_samples / len(sizes):
            change = self._keep_alive()
        return change

    @abstractmethod
    def _propose(self, slope: Slope, length: float) -> Change:
        """Project a step against the slope."""

    @abstractmethod
    def _keep_alive(self) -> Change:
        """Mix a little of the uniform partition into what was proposed."""

    @abstractmethod
    def move(self, step: float) -> None:
        """Go so far along what was proposed last."""


def projected(memberships: Float, slope: Float, length: float) -> Float:
    """Return D, from P to its projected step against the slope."""
    direction = project_rows_to_simplex(memberships - length * slope)
    direction -= memberships
    return direction


def kept_alive(memberships: Float, direction: Float) -> Float:
    """Return D, from P to a mixture of ``P + D`` and the uniform partition."""
    n_clusters = memberships.shape[1]
    return (1 - ALIVE) * direction + ALIVE * (1 / n_clusters - memberships)


class KernelPartition(SoftPartition):
    """A partition in memory, beside ``K = X X'``.

    Parameters
    ----------
    memberships : ndarray of shape (n, c)
    kernel : ndarray of shape (n, n)
    """

    def __init__(self, memberships: Float, kernel: Float) -> None:
        super().__init__(len(memberships))
        self._memberships, self._kernel = memberships.copy(), kernel
        self._product = product_with(kernel, memberships)
        self._fitted: Float = np.zeros_like(memberships)
        self._direction: Float = np.zeros_like(memberships)
        self._response: Response | None = None
        self.sums = Sums(
            column_sums(memberships),
            memberships.T @ memberships,
            memberships.T @ self._product,
            np.zeros(memberships.shape[1]),
        )

    @property
    def memberships(self) -> Float:
        """The memberships, n x c."""
        return self._memberships

    def cross(self, regressors: DataMatrix) -> Float:
        """Return ``X'G`` for the X of the regression."""
        return regressors.transpose_dot(indicator(self.memberships))

    def target(self, intercept: bool, *, values: bool) -> Target:
        """Return G as the target of a regression."""
        target = indicator(self.memberships)
        return Target.of(target - target.mean(axis=0) if intercept else target)

    def aim(self, regression: RowSparseRegression) -> None:
        """Take what a regression predicts for T."""
        self._fitted, self._response = regression.fitted(), None
        self.explained = float(np.vdot(self._fitted, self._fitted))
        self._agree()

    def follow(
        self, regression: RowSparseRegression, penalty: float
    ) -> Response | None:
        """Let T be what a regression with fixed slacks predicts, wherever G goes."""
        self._response = regression.sample_response(penalty)
        if self._response is not None:
            self._fitted = self._response.fitted(self.memberships)
            self._agree()
        return self._response

    def _agree(self) -> None:
        agreement = np.einsum("ij,ij->j", self.memberships, self._fitted)
        follows = self._response is not None
        self.sums = self.sums._replace(agreement=agreement, follows=follows)

    def _propose(self, slope: Slope, length: float) -> Change:
        gradient = self._product @ slope.of_product
        gradient += self.memberships @ slope.of_memberships
        gradient -= self._fitted * slope.of_fitted
        gradient += slope.of_ones
        self._direction = projected(self.memberships, gradient, length)
        return self._change()

    def _state(self) -> dict[str, Float]:
        return {"memberships": self._memberships, "product": self._product}

    def _restore(self, state: dict[str, Float]) -> None:
        self._memberships, self._product = state["memberships"], state["product"]

    def _keep_alive(self) -> Change:
        self._direction = kept_alive(self.memberships, self._direction)
        return self._change()

    def _change(self) -> Change:
        memberships, direction = self.memberships, self._direction
        self._moved = product_with(self._kernel, direction)
        response = np.zeros(direction.shape[1])
        if self._response is not None:
            self._fitted_moved = self._response.fitted(direction)
            response = np.einsum("ij,ij->j", direction, self._fitted_moved)
        self._last = Change(
            column_sums(direction),
            memberships.T @ direction,
            direction.T @ direction,
            memberships.T @ self._moved,
            direction.T @ self._moved,
            np.einsum("ij,ij->j", direction, self._fitted),
            response,
        )
        return self._last

    def move(self, step: float) -> None:
        """Go so far along what was proposed last."""
        self._memberships += step * self._direction
        self._product += step * self._moved
        if self._response is not None:
            self._fitted = self._fitted + step * self._fitted_moved
        self.sums = self.sums.moved(self._last, step)
