"""A soft partition beside the rows of X, wherever these are.

A step takes one pass over the rows: every block of them makes its part of the step from
p x c and c x c numbers, and returns p x c and c x c sums.
"""

from typing import Any

import numpy as np

from ufselect.matrix.base import Arrays, Beside, DataMatrix, Float, column_sums
from ufselect.numerics.least_squares import Target
from ufselect.numerics.partitions import SoftPartition, kept_alive, projected
from ufselect.numerics.responses import FeatureResponse, Response
from ufselect.numerics.row_sparse import RowSparseRegression
from ufselect.numerics.soft_clustering import Change, Slope, Sums, indicator


class RowPartition(SoftPartition):
    """A partition beside the rows of X, of which only sums come here.

    Parameters
    ----------
    matrix : DataMatrix
        X in the first term, centred.
    memberships : Beside
        P, beside the rows of X.
    offset : ndarray of shape (p,), optional
        Added to every row of X in the regression, where that is not centred.
    """

    def __init__(
        self, matrix: DataMatrix, memberships: Beside, offset: Float | None = None
    ) -> None:
        super().__init__(matrix.shape[0])
        self.matrix, self._rows = matrix, memberships
        self._offset = np.zeros(matrix.shape[1]) if offset is None else offset
        self._rows, found = matrix.over_rows(_first_sums, memberships)
        self.image, sizes, overlap = found
        agreement = np.zeros_like(sizes)
        self.sums = Sums(sizes, overlap, self.image.T @ self.image, agreement)
        self._coef: Float = np.zeros_like(self.image)
        self._response: FeatureResponse | None = None
        self._pending = 0.0

    def target(self, intercept: bool, *, values: bool) -> Target:
        """Return G as the target of a regression, from ``X'G`` if that is enough."""
        if values:
            target = indicator(self.matrix.gather(self.rows))
            return Target.of(target - target.mean(axis=0) if intercept else target)
        squared = np.sum(np.diag(self.sums.overlap) / self.sums.sizes) - intercept
        return Target(float(squared), self._cross(), None)

    def cross(self, regressors: DataMatrix) -> Float:
        """Return ``X'G`` for the X of the regression, which is known already."""
        return self._cross()

    def _cross(self) -> Float:
        root = np.sqrt(self.sums.sizes)
        return self.image / root + np.outer(self._offset, root)

    def aim(self, regression: RowSparseRegression) -> None:
        """Take what a regression predicts for T."""
        self._coef, self._response = regression.full_coef(), None
        self.explained = regression.explained()
        self._agree()

    def follow(
        self, regression: RowSparseRegression, penalty: float
    ) -> Response | None:
        """Let T be what a regression with fixed slacks predicts, wherever G goes."""
        self._response = regression.feature_response(penalty)
        if self._response is not None:
            cross = self._shifted(self.image, self.sums.sizes)
            self._coef = self._response.coef(cross)
            self._agree()
        return self._response

    def _agree(self) -> None:
        agreement = self._agreement(self.image, self.sums.sizes, self._coef)
        follows = self._response is not None
        self.sums = self.sums._replace(agreement=agreement, follows=follows)

    def _shifted(self, image: Float, sizes: Float) -> Float:
        """Return ``X'P`` for the X of the regression."""
        return image + np.outer(self._offset, sizes)

    def _agreement(self, image: Float, sizes: Float, coef: Float) -> Float:
        shared = np.einsum("ij,ij->j", image, coef)
        return shared + sizes * (self._offset @ coef)

    def _propose(self, slope: Slope, length: float) -> Change:
        factor = self.image @ slope.of_product - self._coef * slope.of_fitted
        row = slope.of_ones - (self._offset @ self._coef) * slope.of_fitted
        self._rows, found = self.matrix.over_rows(
            _proposal,
            self._rows,
            *(self._pending, factor, slope.of_memberships, row, length),
        )
        self._pending = 0.0
        return self._change(*found)

    def _state(self) -> dict[str, Float]:
        memberships = self.matrix.gather(self.rows)
        if self.matrix.scattered:
            # What was gathered is sent back, or a cluster would have to remember every
            # step since the start in case it loses some rows.
            self._send(memberships)
        return {"memberships": memberships, "product": self.image}

    def _restore(self, state: dict[str, Float]) -> None:
        self.image = state["product"]
        self._send(state["memberships"])

    def _send(self, memberships: Float) -> None:
        nowhere = np.zeros_like(memberships)
        self._rows, self._pending = self.matrix.beside(memberships, nowhere), 0.0

    def _keep_alive(self) -> Change:
        self._rows, found = self.matrix.over_rows(_mixture, self._rows)
        return self._change(*found)

    def _change(
        self, moved: Float, sizes: Float, overlap: Float, square: Float
    ) -> Change:
        self._moved = moved
        response = np.zeros_like(sizes)
        if self._response is not None:
            self._coef_moved = self._response.coef(self._shifted(moved, sizes))
            response = self._agreement(moved, sizes, self._coef_moved)
        self._last = Change(
            sizes,
            overlap,
            square,
            self.image.T @ moved,
            moved.T @ moved,
            self._agreement(moved, sizes, self._coef),
            response,
        )
        return self._last

    def move(self, step: float) -> None:
        """Go so far along what was proposed last; the rows follow in the next pass."""
        self._pending = step
        self.image = self.image + step * self._moved
        if self._response is not None:
            self._coef = self._coef + step * self._coef_moved
        self.sums = self.sums.moved(self._last, step)

    @property
    def rows(self) -> Beside:
        """The memberships beside the rows of X."""
        if self._pending:
            self._rows, _ = self.matrix.over_rows(_moved, self._rows, self._pending)
            self._pending = 0.0
        return self._rows

    @property
    def memberships(self) -> Any:
        """The memberships, n x c, where the rows of X are."""
        return self.matrix.as_array(self.rows)


def _first_sums(block: DataMatrix, rows: Arrays) -> tuple[Arrays, Arrays]:
    memberships = rows[0]
    overlap = memberships.T @ memberships
    sums = (block.transpose_dot(memberships), column_sums(memberships), overlap)
    return (memberships, np.zeros_like(memberships)), sums


def _proposal(
    block: DataMatrix,
    rows: Arrays,
    pending: float,
    factor: Float,
    of_memberships: Float,
    row: Float,
    length: float,
) -> tuple[Arrays, Arrays]:
    (memberships, _), _ = _moved(block, rows, pending)
    slope = block.dot(factor)
    slope += memberships @ of_memberships
    slope += row
    return _proposed(block, memberships, projected(memberships, slope, length))


def _mixture(block: DataMatrix, rows: Arrays) -> tuple[Arrays, Arrays]:
    return _proposed(block, rows[0], kept_alive(*rows))


def _proposed(
    block: DataMatrix, memberships: Float, direction: Float
) -> tuple[Arrays, Arrays]:
    overlap, square = memberships.T @ direction, direction.T @ direction
    sums = (block.transpose_dot(direction), column_sums(direction), overlap, square)
    return (memberships, direction), sums


def _moved(block: DataMatrix, rows: Arrays, step: float) -> tuple[Arrays, Arrays]:
    memberships, direction = rows
    if step:
        memberships = memberships + step * direction
    return (memberships, direction), ()
