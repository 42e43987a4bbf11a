"""Paths of the elastic net for many columns, with screening.

For a number of events, a path considers only the columns that are likely to enter.
Then one product with all columns shows whether another column would have entered: since
correlations and the penalty are linear between events, comparing them at the events is
sufficient. If so, the path is repeated with that column. The result is the same as
without screening.
"""

import numpy as np

from ufselect.matrix import DenseMatrix
from ufselect.matrix.base import DataMatrix, Float, Index
from ufselect.solvers.lars import (
    MAX_EVENTS_PER_FEATURE,
    ElasticNetPath,
    LineDirection,
    PathPoint,
    column_reader,
    elastic_net_paths,
    elastic_net_points,
    points,
)

# Screened columns per feature to select, and their smallest number.
SCREENED_PER_FEATURE, MIN_SCREENED = 4, 250

# Events between two checks of all columns: initial and largest number.
FIRST_EVENTS, MAX_EVENTS = 8, 24

# Differences of correlations below this share of the first penalty are rounding errors.
ROUNDING = 1e-12

# Avoids a division by zero if the penalty does not change.
MIN_SPAN = np.finfo(np.float64).tiny


def screened_points(
    matrix: DataMatrix, targets: Float, n_nonzero: int, ridge: float
) -> list[PathPoint]:
    """Return the points of ``elastic_net_points``, faster if there are many columns."""
    n_screened = number_screened(matrix, n_nonzero)
    if not isinstance(matrix, DenseMatrix) or n_screened == matrix.shape[1]:
        return elastic_net_points(matrix, targets, n_nonzero, ridge)
    paths = elastic_net_paths(matrix, targets, ridge)
    approximate = ApproximateProducts(matrix)
    ends = [
        ScreenedPath(matrix, target, path, n_screened).end(approximate, n_nonzero)
        for target, path in zip(targets.T, paths, strict=True)
    ]
    # Entries of features outside the model need all columns.
    predicted = np.column_stack([path.predicted() for path in ends])
    correlations = matrix.transpose_dot(targets - predicted)
    everything = np.arange(matrix.shape[1])
    for path, correlation in zip(ends, correlations.T, strict=True):
        path.restrict_to(column_reader(matrix), everything, correlation)
    return points(matrix, ends)


def number_screened(matrix: DataMatrix, n_nonzero: int) -> int:
    """Return the number of columns to consider; all, if screening does not pay."""
    few = max(SCREENED_PER_FEATURE * n_nonzero, MIN_SCREENED)
    # Selected columns of a sparse matrix would be dense.
    dense = isinstance(matrix, DenseMatrix)
    return few if dense and 3 * few <= matrix.shape[1] else matrix.shape[1]


def screened_bytes(matrix: DataMatrix, n_nonzero: int) -> int:
    """Return the memory for screened columns and for X in single precision."""
    n_samples, n_features = matrix.shape
    few = number_screened(matrix, n_nonzero)
    return 0 if few == n_features else n_samples * (4 * n_features + 16 * few)


class ScreenedPath:
    """A path that considers few columns at a time."""

    def __init__(
        self, matrix: DenseMatrix, target: Float, path: ElasticNetPath, n_screened: int
    ) -> None:
        self._matrix, self._target, self._path = matrix, target, path
        self._n_screened = n_screened
        self._rounding = ROUNDING * path.penalty

    def end(self, approximate: "ApproximateProducts", n_nonzero: int) -> ElasticNetPath:
        """Return the path at its first point with n_nonzero nonzero coefficients."""
        n_left, n_events = MAX_EVENTS_PER_FEATURE * n_nonzero + 10, FIRST_EVENTS
        # A penalty of zero means that no column correlates: the path is at its end.
        shares = approximate.of(self._target / (self._path.penalty or 1.0))
        self._restrict_to(self._nearest(shares))
        while self._path.continues(n_nonzero) and n_left > 0:
            known = self._path.copy()
            residuals, bounds = self._advance(n_nonzero, min(n_events, n_left))
            last = approximate.of(residuals[-1] / bounds[-1])
            ends = np.maximum(shares, last)
            missed = approximate.violations(
                ends, residuals, bounds, self._path.features
            )
            if len(missed):
                features = np.union1d(self._path.features, missed)
                self._path, n_events = known, max(n_events // 2, 1)
                self._restrict_to(features)
                continue
            n_left -= len(bounds) - 1
            n_events = min(2 * n_events, MAX_EVENTS)
            # Correlations that have grown are likely to grow further.
            self._restrict_to(self._nearest(2 * last - shares))
            shares = last
        return self._path

    def _advance(self, n_nonzero: int, most: int) -> tuple[Float, Float]:
        """Move over at most ``most`` events; return residuals and bounds.

        Both belong to the start and to each event. The bounds are the penalties plus a
        tolerance for rounding errors.
        """
        path, screened = self._path, self._screened.T
        moves: list[Float] = []
        penalties = [path.penalty]
        while path.continues(n_nonzero) and len(moves) < most:
            change = path.active_change()
            moves.append(path.move_of(change))
            path.advance(LineDirection(change, screened.dot(moves[-1])))
            penalties.append(path.penalty)
        residuals = np.array([self._residual, *moves])
        residuals[1:] *= np.diff(penalties)[:, np.newaxis]
        return np.cumsum(residuals, axis=0), np.array(penalties) + self._rounding

    def _nearest(self, shares: Float) -> Index:
        """Return the held columns and those with the largest shares."""
        distance = -shares
        distance[self._path.held] = -np.inf
        return np.sort(np.argpartition(distance, self._n_screened)[: self._n_screened])

    def _restrict_to(self, features: Index) -> None:
        screened = self._screened = self._matrix.columns(features)
        self._residual = self._target - self._path.predicted()
        correlation = screened.T @ self._residual
        self._path.restrict_to(lambda place: screened[:, place], features, correlation)


class ApproximateProducts:
    """Products with all columns in single precision, with error bounds.

    This is sufficient for columns that are far from entering; the few others are
    checked again in double precision.
    """

    def __init__(self, matrix: DenseMatrix) -> None:
        self._matrix = matrix
        self._rows = np.empty(matrix.shape[::-1], np.float32)
        self._norms = np.empty(matrix.shape[1])
        for block in matrix.column_blocks():
            # Avoid a copy if possible.
            columns = matrix.raw[:, block] if matrix.plain else matrix.columns(block)
            self._rows[block] = columns.T
            self._norms[block] = np.sqrt(np.einsum("ij,ij->j", columns, columns))

    def of(self, left: Float) -> Float:
        """Return approximate ``|X.T @ left|``."""
        return np.abs(self._rows @ left.astype(np.float32))

    def violations(
        self, ends: Float, residuals: Float, bounds: Float, known: Index
    ) -> Index:
        """Return columns whose correlation exceeds a bound, except the known ones.

        ``ends`` are the correlations divided by the bound, the larger one of the first
        and the last residual.
        """
        most = ends + self._norms * uncertainty(residuals, bounds)
        most[known] = 0.0
        near = np.flatnonzero(most > 1.0)
        if not len(near):
            return near
        exact = np.abs(residuals @ self._matrix.columns(near))
        return np.asarray(near[(exact > bounds[:, np.newaxis]).any(axis=0)])


def uncertainty(residuals: Float, bounds: Float) -> float:
    """Return how far correlation / bound may exceed its values at both ends.

    The result is for a column of unit length, and values at the ends in single
    precision. If residuals and bounds were linear between the ends, no ratio would
    exceed both values. The excess is therefore at most the distance of the residuals
    from that line, divided by the bound.
    """
    span = max(bounds[0] - bounds[-1], MIN_SPAN)
    place = ((bounds[0] - bounds) / span)[:, np.newaxis]
    off = residuals - residuals[0]
    off -= place * off[-1]
    detours = np.sqrt(np.einsum("ij,ij->i", off, off)) / bounds
    norms = np.linalg.norm(residuals[[0, -1]], axis=1) / bounds[[0, -1]]
    # Rounding errors of the factors, the products and the sums.
    single = (residuals.shape[1] + 2) * np.finfo(np.float32).eps
    return float(detours.max() + single * norms.max())
